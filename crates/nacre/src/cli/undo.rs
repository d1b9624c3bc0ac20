//! `nacre undo`

use clap::Args;
use nacre_engine::flows::{run, undo::undo};
use serde_json::json;

use super::exit::Exit;
use super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;

/// Put back what a run changed, byte for byte
///
/// Every file must still be what the run made of it; otherwise nothing is changed. An undo is a run and can be undone.
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// The run's id, or the start or end of it
    run: String,
}

pub(crate) fn cmd_undo(ui: &mut Ui, host: &Host, args: &UndoArgs) -> Result<Exit, OpError> {
    let UndoArgs { run } = args;
    undo_run(ui, host, run)
}

/// Puts back what the run that a person named changed.
pub(crate) fn undo_run(ui: &mut Ui, host: &Host, run: &str) -> Result<Exit, OpError> {
    let scoped = host.store_to_write(None)?;
    let id = run::find(&scoped.store, run)?;
    let owner = host.owner("undo");
    let undone = undo(&scoped.store, &id, &owner, host.settings().lock.wait, host.now())?;
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
