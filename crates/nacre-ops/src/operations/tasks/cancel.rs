//! Cancels a task, whichever process runs it.

use nacre_api::wire::{ErrorCode, TaskCancelReport, TaskCancelRequest};
use nacre_engine::record::state::CancelReport;
use nacre_engine::record::{CancelledBy, Runner, TaskId};

use super::find;
use crate::error::OpError;
use crate::host::Host;

/// Ends a task that waits, and asks the process that runs it to end one that runs.
pub fn cancel(host: &Host, request: &TaskCancelRequest) -> Result<TaskCancelReport, OpError> {
    let TaskCancelRequest { task } = request;
    let (mut state, found) = find(host, task)?;
    // A task whose process was killed is over; nobody is left to ask.
    state.clear_dead(&Runner::here(host.environment.pid), host.now())?;
    let found = state.task(&found.id)?;
    if found.state.is_terminal() {
        let message = format!("Task `{}` is over: {}", found.id, found.state);
        return Err(OpError { code: ErrorCode::Conflict, ..OpError::failed(message) }
            .hint("`nacre events` shows which tasks are running"));
    }
    let CancelReport { ended, asked } = state.cancel(&found.id, CancelledBy::Person, host.now())?;
    let names = |ids: Vec<TaskId>| ids.iter().map(ToString::to_string).collect();
    Ok(TaskCancelReport { task: found.id.to_string(), ended: names(ended), asked: names(asked) })
}
