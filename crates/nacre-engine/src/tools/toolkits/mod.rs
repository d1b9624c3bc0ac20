//! The tools, a folder for each kit and a file for each tool.

pub(crate) mod checklist;
pub mod code;
pub mod file;
pub mod git;
pub(crate) mod memory;
pub(crate) mod shell;
pub mod skill;
pub(crate) mod trace;
pub(crate) mod web;

use super::tool::{ToolContext, ToolError};
use crate::model::Cancel;
use crate::record::Fault;

/// Runs work that waits for the disk beside the runtime. It is handed the call's `Cancel`, and looks at it often.
async fn off_thread<T: Send + 'static>(
    ctx: &ToolContext,
    work: impl FnOnce(&Cancel) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let cancel = ctx.cancel.clone();
    match tokio::task::spawn_blocking(move || work(&cancel)).await {
        Ok(result) => result,
        Err(_) => Err(ToolError::new(Fault::Io, "The tool broke down inside", "Try another way.")),
    }
}

/// Refuses to go on with a call that was stopped; asked before anything is changed.
fn check_running(cancel: &Cancel) -> Result<(), ToolError> {
    match cancel.is_cancelled() {
        true => Err(ToolError::new(Fault::Cancelled, "The call was stopped", "Nothing changed.")),
        false => Ok(()),
    }
}
