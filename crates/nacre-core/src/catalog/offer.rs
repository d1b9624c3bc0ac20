//! Sessions as one machine offers them to a queue that several share.

use rusqlite::Row;

use super::db::Catalog;
use super::error::CatalogError;
use super::job::JobState;

/// A session that this machine has seen, and where it would stand if it were in the queue of this machine alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedSession {
    pub key: String,
    pub agent: String,
    /// The name that its agent gave it.
    pub session_id: String,
    pub title: Option<String>,
    pub project: Option<String>,
    pub last_activity_ms: Option<i64>,
    /// Grows whenever something new was read of it.
    pub grown: i64,
    pub state: JobState,
    pub reason: Option<String>,
    pub not_before_ms: i64,
    /// When this machine last decided about it.
    pub decided_ms: i64,
}

impl Catalog {
    /// The sessions that were read, in the order in which they were first seen; from `since_ms` on, by when they were decided about.
    pub fn offered(&self, since_ms: i64) -> Result<Vec<OfferedSession>, CatalogError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT s.key, s.agent, s.session_id, s.title, s.project, s.last_activity, s.grown, j.state, j.reason,
               j.not_before, j.changed
             FROM session s JOIN job j ON j.session = s.id
             WHERE s.facts != '' AND j.state != 'running' AND j.changed >= ?1 ORDER BY s.id",
        )?;
        let rows = statement.query_map([since_ms], offered)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn offered(row: &Row<'_>) -> rusqlite::Result<OfferedSession> {
    Ok(OfferedSession {
        key: row.get(0)?,
        agent: row.get(1)?,
        session_id: row.get(2)?,
        title: row.get(3)?,
        project: row.get(4)?,
        last_activity_ms: row.get(5)?,
        grown: row.get(6)?,
        state: JobState::from_name(&row.get::<_, String>(7)?).unwrap_or(JobState::Dead),
        reason: row.get(8)?,
        not_before_ms: row.get(9)?,
        decided_ms: row.get(10)?,
    })
}
