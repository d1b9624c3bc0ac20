//! Shows the events of a task, in order; on request, waits for the next ones.

use std::time::Duration;

use nacre_api::wire::{TaskEvent, TaskShowReport, TaskShowRequest};
use nacre_engine::record::Runner;
use nacre_engine::record::state::EventRecord;
use serde_json::{Map, Value};

use super::{entry, find, row_limit};
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

/// Events that are shown when no limit is given.
const USUAL: usize = 1000;

/// How often a task that is waited for is looked at.
const POLL: Duration = Duration::from_millis(200);

/// How long a database is listened to at once: each time takes a connection of its own.
const SHARED_PATIENCE: Duration = Duration::from_secs(2);

/// Shows a task and its events. With `wait`, no events means that the task is over or the caller cancelled.
pub fn show(
    host: &Host,
    request: &TaskShowRequest,
    events: &Events,
) -> Result<TaskShowReport, OpError> {
    let TaskShowRequest { task, limit, after, wait } = request;
    let (mut state, found) = find(host, task)?;
    let id = found.id;
    let limit = row_limit(*limit, USUAL);
    loop {
        // Looked at first, so that nothing can come between the last events and the end.
        let task = state.task(&id)?;
        let found = state.events(&id, *after, limit)?;
        let is_over = task.state.is_terminal() || events.cancel().is_cancelled();
        if !wait || is_over || !found.is_empty() {
            let events = found.into_iter().map(task_event).collect();
            return Ok(TaskShowReport { task: entry(task), events });
        }
        let here = Runner::here(host.environment.pid);
        if state.clear_dead(&here, host.now())?.is_empty() {
            // Told at once by a database, looked for by a file; the caller may cancel meanwhile.
            let patience = if host.has_database() { SHARED_PATIENCE } else { POLL };
            state.wait_for_events(&id, *after, 1, patience)?;
        }
    }
}

fn task_event(event: EventRecord) -> TaskEvent {
    let mut fields = match event.fields {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    };
    // These two are the record's own.
    fields.retain(|key, _| key != "sequence" && key != "at");
    TaskEvent { sequence: event.sequence, at: event.at.to_string(), fields }
}
