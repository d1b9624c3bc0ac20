//! `nacre memory edit`
//!
//! The editor works on a draft, not on the memory: a save that is no memory leaves the memory as it
//! was and the draft where it is, and an edit of somebody else's meanwhile is a conflict.

use std::process::Command;

use clap::Args;
use nacre_core::config::{EDITOR, VISUAL};
use nacre_core::memory::Store;
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
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_edit(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &EditArgs,
) -> Result<Exit, CommandError> {
    let EditArgs { id, scope } = args;
    let editor = editor(runtime)?;
    let scoped = runtime.store_of(scope.mode(), id)?;
    let store = &scoped.store;
    let at = store.locate(id)?;
    let before = store.read_file(&at.path)?;
    let draft = RelPath::new(&format!("workspace/edit-{}.md", at.id))?;
    let start = start_draft(runtime, store, &draft, &before)?;
    if start == Start::Resumed {
        ui.warning("Going on with the draft of an earlier edit", None);
    }
    run_editor(&editor, store, &draft)?;
    let edited = store.read_file(&draft)?;
    let text = String::from_utf8(edited.clone())
        .map_err(|_| CommandError::failed("The edited text is not valid UTF-8"))?;
    if edited == before {
        finish_draft(runtime, store, &draft, &edited)?;
        print_done(ui, "left unchanged", at.id.as_str(), None)?;
        return Ok(Exit::Done);
    }
    let mut batch = store.begin(&runtime.owner("memory edit"), runtime.settings().lock.wait)?;
    let kept_draft = |error: CommandError| {
        error.hint(format!("Your text is kept; go on with it: nacre memory edit {}", at.id))
    };
    batch.rewrite(&at, &before, &text, runtime.now()).map_err(|error| kept_draft(error.into()))?;
    let redacted = batch.redactions().clone();
    let kept = batch.commit().map_err(|error| kept_draft(error.into()))?;
    warn_kept(ui, &kept);
    warn_redacted(ui, &redacted);
    finish_draft(runtime, store, &draft, &edited)?;
    print_done(ui, "edited", at.id.as_str(), None)?;
    Ok(Exit::Done)
}

/// Whether the editor starts from the memory or from an earlier draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Fresh,
    Resumed,
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

fn start_draft(
    runtime: &Runtime,
    store: &Store,
    draft: &RelPath,
    before: &[u8],
) -> Result<Start, CommandError> {
    let batch = store.begin(&runtime.owner("memory edit"), runtime.settings().lock.wait)?;
    if batch.writer().scope().has(draft)? {
        return Ok(Start::Resumed);
    }
    let mut set = ChangeSet::new();
    set.create(draft.clone(), before.to_vec());
    batch.writer().commit(set)?;
    Ok(Start::Fresh)
}

fn finish_draft(
    runtime: &Runtime,
    store: &Store,
    draft: &RelPath,
    edited: &[u8],
) -> Result<(), CommandError> {
    let batch = store.begin(&runtime.owner("memory edit"), runtime.settings().lock.wait)?;
    let mut set = ChangeSet::new();
    set.remove(draft.clone(), edited);
    batch.writer().commit(set)?;
    Ok(())
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
