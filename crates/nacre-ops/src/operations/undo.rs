//! Puts back what a run changed, byte for byte.

use nacre_api::wire::{UndoReport, UndoRequest};
use nacre_engine::flows::{run, undo as flow};

use crate::error::OpError;
use crate::host::Host;

pub fn undo(host: &Host, request: &UndoRequest) -> Result<UndoReport, OpError> {
    let scoped = host.store_to_write(None)?;
    let id = run::find(&scoped.store, &request.run)?;
    let (owner, wait) = (host.owner("undo"), host.settings().lock.wait);
    let undone = flow::undo(&scoped.store, &id, &owner, wait, host.now())?;
    Ok(UndoReport { run: undone.run.to_string(), of: undone.of.to_string(), paths: undone.paths })
}
