//! Sessions: what tasks that belong together have in common.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::db::State;
use super::error::StateError;
use super::row::{Bad, bad, time};
use crate::record::SessionId;

/// A title is a line, not a letter.
const MAX_TITLE_CHARS: usize = 60;

/// A session as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    pub id: SessionId,
    /// The first words of its first task.
    pub title: String,
    pub workspace: Option<String>,
    pub created: Timestamp,
    pub updated: Timestamp,
}

impl State {
    /// The latest sessions, the one in use last first.
    pub fn sessions(&self, limit: usize) -> Result<Vec<SessionRecord>, StateError> {
        self.read(|connection| {
            let mut rows = connection.prepare_cached(
                "SELECT id, title, workspace, created, updated FROM session ORDER BY updated DESC, id LIMIT ?1",
            )?;
            let sessions = rows.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
                let id: String = row.get(0)?;
                Ok(SessionRecord {
                    id: id.parse().map_err(|_| bad(0, Bad::Id))?,
                    title: row.get(1)?,
                    workspace: row.get(2)?,
                    created: time(row, 3)?,
                    updated: time(row, 4)?,
                })
            })?;
            Ok(sessions.collect::<Result<_, _>>()?)
        })
    }
}

/// Makes the session where it is missing, and notes that it was used.
pub(super) fn touch(
    connection: &Connection,
    id: &SessionId,
    title: &str,
    workspace: Option<&str>,
    now: Timestamp,
) -> Result<(), StateError> {
    let title: String =
        title.lines().next().unwrap_or_default().chars().take(MAX_TITLE_CHARS).collect();
    connection
        .prepare_cached(
            "INSERT INTO session (id, title, workspace, created, updated) VALUES (?1, ?2, ?3, ?4, ?4)
             ON CONFLICT (id) DO UPDATE SET updated = max(updated, excluded.updated)",
        )?
        .execute(params![id.as_str(), title, workspace, now.as_microsecond()])?;
    Ok(())
}
