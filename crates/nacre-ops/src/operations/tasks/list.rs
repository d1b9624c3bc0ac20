//! Lists the latest tasks.

use nacre_api::wire::{TaskListReport, TaskListRequest};
use nacre_engine::record::Runner;

use super::{entry, open_state, row_limit};
use crate::error::OpError;
use crate::host::Host;

/// Tasks that are listed when no limit is given.
const USUAL: usize = 20;

pub fn list(host: &Host, request: &TaskListRequest) -> Result<TaskListReport, OpError> {
    let TaskListRequest { limit } = request;
    let Some(mut state) = open_state(host)? else {
        return Ok(TaskListReport { tasks: Vec::new() });
    };
    // What a killed process left is over, and is shown so.
    state.clear_dead(&Runner::here(host.environment.pid), host.now())?;
    let tasks = state.tasks(row_limit(*limit, USUAL))?;
    Ok(TaskListReport { tasks: tasks.into_iter().map(entry).collect() })
}
