//! The rows of events: how one is added, and how the last one of a task is.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::error::StateError;
use super::row::whole;
use crate::record::{Event, TaskId, TaskState};

/// Adds an event, and returns how many are new: the same one is kept once.
pub(super) fn insert(
    connection: &Connection,
    task: &TaskId,
    sequence: u64,
    at: Timestamp,
    name: &str,
    json: &str,
) -> Result<u64, StateError> {
    let n_new = connection
        .prepare_cached("INSERT OR IGNORE INTO event (task, sequence, at, name, fields) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![task.as_str(), whole(sequence), at.as_microsecond(), name, json])?;
    Ok(n_new as u64)
}

/// Writes the end of a task whose own voice is not there to tell it.
pub(super) fn append_end(
    connection: &Connection,
    task: &TaskId,
    state: TaskState,
    at: Timestamp,
) -> Result<(), StateError> {
    let last: i64 = connection
        .prepare_cached("SELECT coalesce(max(sequence), 0) FROM event WHERE task = ?1")?
        .query_row([task.as_str()], |row| row.get(0))?;
    let event = Event::TaskState(state);
    let json = serde_json::to_string(&event).unwrap_or_default();
    insert(connection, task, last.unsigned_abs() + 1, at, event.name(), &json)?;
    connection
        .prepare_cached("UPDATE task SET n_events = n_events + 1 WHERE id = ?1")?
        .execute([task.as_str()])?;
    Ok(())
}
