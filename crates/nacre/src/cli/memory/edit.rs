//! `nacre memory edit`

use std::path::Path;
use std::process::Command;

use clap::Args;
use nacre_api::wire::MemoryEditRequest;
use nacre_ops::{Host, OpError, memory as ops};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::ScopeArg;
use super::output::print_change;

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
    cmd_edit_one(ui, host, id, *discard, *scope)
}

/// Opens one memory in the editor.
pub(crate) fn cmd_edit_one(
    ui: &mut Ui,
    host: &Host,
    id: &str,
    discard: bool,
    scope: ScopeArg,
) -> Result<Exit, OpError> {
    let request = MemoryEditRequest { id: id.to_owned(), discard, scope: scope.mode() };
    let editor = host.editor()?;
    let report = ops::edit(host, &request, &|draft| run_editor(host, editor, draft), &ui.events())?;
    ui.report(&report, print_change)
}

/// Runs the editor on the draft. The command line is the person's own and may have arguments.
pub(crate) fn run_editor(host: &Host, editor: &str, draft: &Path) -> Result<(), OpError> {
    let status = Command::new("/bin/sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("nacre")
        .arg(draft)
        .env("PATH", host.environment.var("PATH").unwrap_or_default())
        .status()?;
    if status.success() {
        return Ok(());
    }
    Err(OpError::failed(format!("The editor `{editor}` ended with {status}"))
        .hint("The memory is unchanged; your draft is kept"))
}
