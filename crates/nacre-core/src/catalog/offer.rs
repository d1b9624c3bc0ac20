//! Sessions as one machine offers them to a queue that several share, and takes back where they stand there.

use rusqlite::{Row, named_params};

use super::db::Catalog;
use super::error::CatalogError;
use super::job::{Job, JobState};

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
    /// Grows with what is in the trace, and is the same on every machine that has read as much of it.
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
            "SELECT s.key, s.agent, s.session_id, s.title, s.project, s.last_activity,
               coalesce(s.last_activity, 0) + (SELECT coalesce(sum(value), 0) FROM json_each(s.facts, '$.counts')), j.state, j.reason,
               j.not_before, j.changed
             FROM session s JOIN job j ON j.session = s.id
             WHERE s.facts != '' AND j.state != 'running' AND j.changed >= ?1 ORDER BY s.id",
        )?;
        let rows = statement.query_map([since_ms], offered)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Takes over where sessions of this machine stand in a queue that several share; returns how many there are. One that is
    /// worked on there waits here.
    pub fn adopt(&mut self, jobs: &[Job]) -> Result<usize, CatalogError> {
        self.write(|transaction| {
            let mut n_adopted = 0;
            let mut statement = transaction.prepare_cached(
                "UPDATE job SET state = :state, reason = :reason, attempts = :attempts, not_before = :due, run = coalesce(:run, run),
                   changed = :changed, lease = NULL, lease_until = NULL
                 WHERE session = (SELECT id FROM session WHERE key = :key)",
            )?;
            for job in jobs {
                let state = if job.state == JobState::Running { JobState::Pending } else { job.state };
                n_adopted += statement.execute(named_params! {
                    ":state": state.as_str(), ":reason": job.reason, ":attempts": job.attempts, ":run": job.run,
                    ":due": job.not_before.map_or(0, jiff::Timestamp::as_millisecond),
                    ":changed": job.changed.as_millisecond(), ":key": job.key,
                })?;
            }
            Ok(n_adopted)
        })
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
