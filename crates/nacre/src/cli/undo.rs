//! `nacre undo`

use clap::Args;
use nacre_engine::flows::{run, undo::undo};
use serde_json::json;

use super::error::{CommandError, Exit};
use super::runtime::Runtime;
use super::ui::{Role, Ui};

/// Put back what a run changed, byte for byte
///
/// Every file must still be what the run made of it; otherwise nothing is changed. An undo is a run and can be undone.
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// The run's id, or the start or end of it
    run: String,
}

pub(crate) fn cmd_undo(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &UndoArgs,
) -> Result<Exit, CommandError> {
    let UndoArgs { run } = args;
    undo_run(ui, runtime, run)
}

/// Puts back what the run that a person named changed.
pub(crate) fn undo_run(ui: &mut Ui, runtime: &Runtime, run: &str) -> Result<Exit, CommandError> {
    let scoped = runtime.store_to_write(None)?;
    let id = run::find(&scoped.store, run)?;
    let owner = runtime.owner("undo");
    let undone = undo(&scoped.store, &id, &owner, runtime.settings().lock.wait, runtime.now())?;
    if ui.is_json() {
        ui.json(&json!({ "run": undone.run, "of": undone.of, "paths": undone.paths }))?;
        return Ok(Exit::Done);
    }
    for path in &undone.paths {
        ui.line(path)?;
    }
    ui.status(format!("Undid {}", ui.paint(Role::Id, &undone.of)))?;
    ui.status(format!("Run: {}", undone.run))?;
    Ok(Exit::Done)
}
