//! Exports this machine's sessions to a shared queue, and imports their states from it.

use jiff::Timestamp;
use rusqlite::{Row, named_params};

use super::*;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedSession {
    pub key: String,
    pub agent: String,
    pub session_id: String,
    pub title: Option<String>,
    pub project: Option<String>,
    pub last_activity_ms: Option<i64>,
    /// How much of the transcript has been read. The value never decreases, and all machines that
    /// have read the same content agree on it.
    pub grown: i64,
    pub state: JobState,
    pub reason: Option<String>,
    pub not_before_ms: i64,
    pub decided_ms: i64,
}

impl Catalog {
    /// Returns the sessions whose queue state changed at or after `since_ms`, in discovery order.
    /// Running sessions are omitted.
    pub fn list_offered(&self, since_ms: i64) -> Result<Vec<OfferedSession>> {
        let sql =
            "SELECT s.key, s.agent, s.session_id, s.title, s.project, s.last_activity,
               coalesce(s.last_activity, 0) + (SELECT coalesce(sum(value), 0) FROM json_each(s.facts, '$.counts')), j.state, j.reason,
               j.not_before, j.changed
             FROM session s JOIN job j ON j.session = s.id
             WHERE s.facts != '' AND j.state != 'running' AND j.changed >= ?1 ORDER BY s.id";
        Ok(rows(&self.connection, sql, [since_ms], read_offered)?)
    }

    /// Marks an ended session as ready, even though its transcript changed recently. Sessions that
    /// failed keep their delay.
    pub fn stop_waiting(&mut self, session_id: &str, now: Timestamp) -> Result<usize> {
        let sql = "UPDATE job SET not_before = 0, changed = ?2
             WHERE state = 'pending' AND attempts = 0 AND not_before > 0
               AND session IN (SELECT id FROM session WHERE session_id = ?1)";
        self.write(|transaction| transaction.execute(sql, (session_id, now.as_millisecond())))
    }

    /// Imports the states of this machine's sessions from a shared queue, and returns how many were
    /// updated. A session that is running elsewhere becomes pending here.
    pub fn adopt(&mut self, jobs: &[QueueJob]) -> Result<usize> {
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
                    ":due": job.not_before.as_deref().map_or(0, millis_of),
                    ":changed": millis_of(&job.changed), ":key": job.id,
                })?;
            }
            Ok(n_adopted)
        })
    }
}

fn millis_of(time: &str) -> i64 {
    time.parse::<Timestamp>().map_or(0, Timestamp::as_millisecond)
}

fn read_offered(row: &Row) -> rusqlite::Result<OfferedSession> {
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
