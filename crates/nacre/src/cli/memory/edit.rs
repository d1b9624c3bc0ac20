//! `nacre memory edit`
//!
//! The editor works on a draft, not on the memory: a save that is no memory leaves the memory as it
//! was and the draft where it is, and an edit of somebody else's meanwhile is a conflict.

use std::process::Command;

use clap::Args;
use nacre_core::config::{EDITOR, VISUAL};
use nacre_core::memory::{Located, Store};
use nacre_core::safefs::{ChangeSet, RelPath};

use super::super::error::{CommandError, Exit};
use super::super::runtime::Runtime;
use super::super::ui::Ui;
use super::output::print_done;
use super::{ScopeArg, warn_kept, warn_redacted};

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

pub(crate) fn cmd_edit(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &EditArgs,
) -> Result<Exit, CommandError> {
    let EditArgs { id, discard, scope } = args;
    let editor = editor(runtime)?;
    let scoped = runtime.store_of(scope.mode(), id)?;
    let store = &scoped.store;
    let at = store.locate(id)?;
    let draft = Draft::of(&at)?;
    if *discard {
        draft.remove(runtime, store)?;
    }
    let before = draft.start(ui, runtime, store, &at)?;
    run_editor(&editor, store, &draft.text)?;
    let text = String::from_utf8(store.read_file(&draft.text)?)
        .map_err(|_| CommandError::failed("The edited text is not valid UTF-8"))?;
    if text.as_bytes() == before {
        draft.remove(runtime, store)?;
        print_done(ui, "left unchanged", at.id.as_str(), None)?;
        return Ok(Exit::Done);
    }
    let kept_draft = |error: CommandError| {
        error.hint(format!("Your text is kept; go on with it: nacre memory edit {}", at.id))
    };
    let mut batch = store.begin(&runtime.owner("memory edit"), runtime.settings().lock.wait)?;
    batch.rewrite(&at, &before, &text, runtime.now()).map_err(|error| kept_draft(error.into()))?;
    let redacted = batch.redactions().clone();
    let kept = batch.commit().map_err(|error| kept_draft(error.into()))?;
    warn_kept(ui, &kept);
    warn_redacted(ui, &redacted);
    draft.remove(runtime, store)?;
    print_done(ui, "edited", at.id.as_str(), None)?;
    Ok(Exit::Done)
}

/// A text in the editor, and the memory as it was when the edit began: without that, going on with
/// an old draft would undo what somebody wrote in between.
struct Draft {
    text: RelPath,
    base: RelPath,
}

impl Draft {
    fn of(at: &Located) -> Result<Self, CommandError> {
        let path = |tail: &str| RelPath::new(&format!("workspace/edit-{}.{tail}", at.id));
        Ok(Self { text: path("md")?, base: path("base")? })
    }

    /// Puts the memory into a new draft, or goes on with an earlier one; returns what the edit
    /// began from.
    fn start(
        &self,
        ui: &mut Ui,
        runtime: &Runtime,
        store: &Store,
        at: &Located,
    ) -> Result<Vec<u8>, CommandError> {
        let batch = store.begin(&runtime.owner("memory edit"), runtime.settings().lock.wait)?;
        let now = store.read_file(&at.path)?;
        let scope = batch.writer().scope();
        if !scope.has(&self.text)? || !scope.has(&self.base)? {
            let mut set = ChangeSet::new();
            set.create(self.text.clone(), now.clone());
            set.create(self.base.clone(), now.clone());
            batch.writer().commit(set)?;
            return Ok(now);
        }
        let base = store.read_file(&self.base)?;
        if base != now {
            let draft = store.path().join(self.text.as_str());
            return Err(CommandError::failed(
                "The memory was changed after your draft of it was begun",
            )
            .hint(format!("Your draft is {}", draft.display()))
            .hint(format!("Start again from the memory: nacre memory edit {} --discard", at.id)));
        }
        ui.warning("Going on with the draft of an earlier edit", None);
        Ok(base)
    }

    fn remove(&self, runtime: &Runtime, store: &Store) -> Result<(), CommandError> {
        let batch = store.begin(&runtime.owner("memory edit"), runtime.settings().lock.wait)?;
        let mut set = ChangeSet::new();
        for path in [&self.text, &self.base] {
            if batch.writer().scope().has(path)? {
                set.remove(path.clone(), &store.read_file(path)?);
            }
        }
        batch.writer().commit(set)?;
        Ok(())
    }
}

fn editor(runtime: &Runtime) -> Result<String, CommandError> {
    let configured = runtime.settings().ui.editor.as_deref();
    let found = configured
        .or_else(|| runtime.environment.var(VISUAL))
        .or_else(|| runtime.environment.var(EDITOR));
    found.map(str::to_owned).ok_or_else(|| {
        CommandError::failed("No editor is set")
            .hint("Set $EDITOR, or run `nacre config set ui.editor vim`")
    })
}

/// Runs the editor on the draft. The command line is the person's own and may have arguments.
fn run_editor(editor: &str, store: &Store, draft: &RelPath) -> Result<(), CommandError> {
    let path = store.path().join(draft.as_str());
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("nacre")
        .arg(&path)
        .status()?;
    if status.success() {
        return Ok(());
    }
    Err(CommandError::failed(format!("The editor `{editor}` ended with {status}"))
        .hint("The memory is unchanged; your draft is kept"))
}
