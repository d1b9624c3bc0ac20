//! Lists the latest tasks.

use nacre_api::wire::{TaskListReport, TaskListRequest};
use nacre_engine::record::Runner;
use nacre_engine::record::state::{TaskRecord, TaskStore};

use super::{entry, open_state, row_limit, shared_tasks};
use crate::error::OpError;
use crate::host::Host;

/// Tasks that are listed when no limit is given.
const USUAL: usize = 20;

pub fn list(host: &Host, request: &TaskListRequest) -> Result<TaskListReport, OpError> {
    let TaskListRequest { limit } = request;
    let limit = row_limit(*limit, USUAL);
    let mut tasks = match shared_tasks(host)? {
        Some(mut shared) => latest(host, &mut shared, limit)?,
        None => Vec::new(),
    };
    if let Some(mut state) = open_state(host)? {
        let local = latest(host, &mut state, limit)?;
        let is_new = |task: &TaskRecord| !tasks.iter().any(|known| known.id == task.id);
        let local: Vec<TaskRecord> = local.into_iter().filter(is_new).collect();
        // Those of one state are in order already.
        let is_mixed = !tasks.is_empty() && !local.is_empty();
        tasks.extend(local);
        if is_mixed {
            tasks.sort_by_key(|task| std::cmp::Reverse(task.created));
            tasks.truncate(limit);
        }
    }
    Ok(TaskListReport { tasks: tasks.into_iter().map(entry).collect() })
}

fn latest(
    host: &Host,
    state: &mut dyn TaskStore,
    limit: usize,
) -> Result<Vec<TaskRecord>, OpError> {
    // What a killed process left is over, and is shown so.
    state.clear_dead(&Runner::here(host.environment.pid), host.now())?;
    Ok(state.tasks(limit)?)
}
