//! `nacre memory edit`
//!
//! The editor works on a draft, not on the memory: a save that is no memory leaves the memory as it
//! was and the draft where it is, and an edit of somebody else's meanwhile is a conflict.

use std::process::Command;

use clap::Args;
use nacre_core::base::ContentHash;
use nacre_core::config::{EDITOR, VISUAL};
use nacre_core::memory::{Located, Store};
use nacre_core::safefs::{ChangeSet, RelPath, WriteScope};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::output::print_done;
use super::{ScopeArg, warn_kept, warn_redacted};
use nacre_ops::Host;
use nacre_ops::OpError;

/// No draft is larger; a larger one is not a person's.
const MAX_DRAFT_BYTES: u64 = 64 << 20;

/// Edit a memory in your editor; it is checked when you save
///
/// Uses the setting ui.editor, then $VISUAL, then $EDITOR.
#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// The memory's id, or the start of it
    id: String,
    /// Throw away the draft of an earlier edit and start from the memory
    #[arg(long)]
    discard: bool,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_edit(ui: &mut Ui, host: &Host, args: &EditArgs) -> Result<Exit, OpError> {
    let EditArgs { id, discard, scope } = args;
    let editor = editor(host)?;
    let scoped = host.store_of(&ui.events(), scope.mode(), id)?.scoped;
    let store = &scoped.store;
    let at = store.locate(id)?;
    let draft = Draft::of(host, store, &at)?;
    if *discard {
        draft.remove(host)?;
    }
    let before = draft.start(ui, host, store, &at)?;
    run_editor(&editor, &draft)?;
    let kept = |error: OpError| {
        error.hint(format!("Your text is kept; go on with it: nacre memory edit {}", at.id))
    };
    let text = draft.read().map_err(kept)?;
    if text.as_bytes() == before {
        draft.remove(host)?;
        print_done(ui, "left unchanged", at.id.as_str(), None)?;
        return Ok(Exit::Done);
    }
    save(ui, host, store, (&at, &before), &text).map_err(kept)?;
    if let Err(error) = draft.remove(host) {
        ui.warning(
            format!("The memory is saved, but its draft could not be removed: {}", error.message),
            None,
        );
    }
    print_done(ui, "edited", at.id.as_str(), None)?;
    Ok(Exit::Done)
}

/// Puts the edited text in the place of what the edit began from.
fn save(
    ui: &mut Ui,
    host: &Host,
    store: &Store,
    (at, before): (&Located, &[u8]),
    text: &str,
) -> Result<(), OpError> {
    let mut batch = store.begin(&host.owner("memory edit"), host.settings().lock.wait)?;
    batch.rewrite(at, before, text, host.now())?;
    batch.take_over(&at.id)?;
    let redacted = batch.redactions().clone();
    let kept = batch.commit()?;
    warn_kept(ui, &kept);
    warn_redacted(ui, &redacted);
    Ok(())
}

/// A text in the editor, and the memory as it was when the edit began: without that, going on with
/// an old draft would undo what somebody wrote in between. Both lie in the global folder: what lies
/// in a repository may be a stranger's, and an editor follows links.
struct Draft {
    scope: WriteScope,
    text: RelPath,
    base: RelPath,
}

impl Draft {
    fn of(host: &Host, store: &Store, at: &Located) -> Result<Self, OpError> {
        let place = ContentHash::of(store.path().as_os_str().as_encoded_bytes()).short();
        let path = |tail: &str| RelPath::new(&format!("drafts/{place}-{}.{tail}", at.id));
        Ok(Self { scope: host.home_scope()?, text: path("md")?, base: path("base")? })
    }

    /// Puts the memory into a new draft, or goes on with an earlier one; returns what the edit
    /// began from.
    fn start(
        &self,
        ui: &mut Ui,
        host: &Host,
        store: &Store,
        at: &Located,
    ) -> Result<Vec<u8>, OpError> {
        let now = store.read_file(&at.path)?;
        let writer = self.scope.lock(&host.owner("memory edit"), host.settings().lock.wait)?;
        if !self.scope.has(&self.text)? {
            let mut set = ChangeSet::new();
            let stale = self.scope.read_optional(&self.base, MAX_DRAFT_BYTES)?;
            set.create(self.text.clone(), now.clone());
            set.put(self.base.clone(), stale.as_deref(), now.clone());
            writer.commit(set)?;
            return Ok(now);
        }
        let base = self.scope.read_optional(&self.base, MAX_DRAFT_BYTES)?;
        if base.as_ref() != Some(&now) {
            let draft = self.scope.full(&self.text);
            return Err(OpError::failed("The memory was changed after your draft of it was begun")
                .hint(format!("Your draft is {}", draft.display()))
                .hint(format!(
                    "Start again from the memory: nacre memory edit {} --discard",
                    at.id
                )));
        }
        ui.warning("Going on with the draft of an earlier edit", None);
        Ok(now)
    }

    fn read(&self) -> Result<String, OpError> {
        let bytes = self.scope.read(&self.text, MAX_DRAFT_BYTES)?;
        String::from_utf8(bytes).map_err(|_| OpError::failed("The edited text is not valid UTF-8"))
    }

    fn remove(&self, host: &Host) -> Result<(), OpError> {
        let writer = self.scope.lock(&host.owner("memory edit"), host.settings().lock.wait)?;
        let mut set = ChangeSet::new();
        for path in [&self.text, &self.base] {
            if let Some(bytes) = self.scope.read_optional(path, MAX_DRAFT_BYTES)? {
                set.remove(path.clone(), &bytes);
            }
        }
        writer.commit(set)?;
        Ok(())
    }
}

fn editor(host: &Host) -> Result<String, OpError> {
    let configured = host.settings().ui.editor.as_deref();
    let found = configured
        .or_else(|| host.environment.var(VISUAL))
        .or_else(|| host.environment.var(EDITOR));
    found.map(str::to_owned).ok_or_else(|| {
        OpError::failed("No editor is set")
            .hint("Set $EDITOR, or run `nacre config set ui.editor vim`")
    })
}

/// Runs the editor on the draft. The command line is the person's own and may have arguments.
fn run_editor(editor: &str, draft: &Draft) -> Result<(), OpError> {
    let path = draft.scope.full(&draft.text);
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("nacre")
        .arg(&path)
        .status()?;
    if status.success() {
        return Ok(());
    }
    Err(OpError::failed(format!("The editor `{editor}` ended with {status}"))
        .hint("The memory is unchanged; your draft is kept"))
}
