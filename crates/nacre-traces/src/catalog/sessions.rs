//! Queries for single sessions, waiting sessions and daily activity.

use jiff::Timestamp;
use nacre_types::{LaterSessions, WaitingSessions};
use rusqlite::{Row, named_params};

use super::*;

use crate::transcript::{Agent, ReadReport, SessionFacts, Trace, TraceSource};
use nacre_base::ContentHash;

#[derive(Clone, Debug)]
pub struct SessionRow {
    pub key: String,
    pub trace: Trace,
    pub project: Option<String>,
    pub facts: SessionFacts,
    pub report: ReadReport,
    pub state: JobState,
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    pub agent: Option<Agent>,
    pub project: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub limit: Option<usize>,
}

const SELECT: &str =
    "SELECT s.key, o.agent, o.path, o.size, o.modified, o.inode, s.inner_id, s.revision,
      s.project, s.facts, s.report, j.state, j.reason
    FROM session s JOIN source o ON o.id = s.source JOIN job j ON j.session = s.id";

impl Catalog {
    pub fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionRow>> {
        let sql = format!(
            "{SELECT} WHERE (:agent IS NULL OR s.agent = :agent) AND (:project IS NULL OR s.project = :project)
               AND (:since IS NULL OR s.last_activity >= :since) AND (:until IS NULL OR s.last_activity < :until)
             ORDER BY s.last_activity DESC, s.id LIMIT :limit"
        );
        let params = named_params! {
            ":agent": filter.agent.map(Agent::as_str), ":project": filter.project,
            ":since": filter.since.map(Timestamp::as_millisecond),
            ":until": filter.until.map(Timestamp::as_millisecond), ":limit": limit_of(filter.limit),
        };
        Ok(rows(&self.connection, &sql, params, session_of)?)
    }

    pub fn session(&self, prefix: &str) -> Result<SessionRow> {
        let sql = format!(
            "{SELECT} WHERE substr(s.key, 1, length(:prefix)) = :prefix OR substr(s.session_id, 1, length(:prefix)) = :prefix
             ORDER BY s.last_activity DESC LIMIT 16"
        );
        let params = named_params! { ":prefix": prefix };
        let mut found = rows(&self.connection, &sql, params, session_of)?;
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(CatalogError::UnknownTrace { id: prefix.to_owned() }),
            _ if prefix.is_empty() => Err(CatalogError::UnknownTrace { id: prefix.to_owned() }),
            n_found => Err(CatalogError::Ambiguous { id: prefix.to_owned(), n_found }),
        }
    }

    pub fn keys_starting(&self, prefix: &str) -> Result<Vec<String>> {
        let sql = "SELECT key FROM session WHERE substr(key, 1, length(?1)) = ?1 ORDER BY key";
        Ok(rows(&self.connection, sql, [prefix], |row| row.get(0))?)
    }
}

/// Returns a session's short name, derived from its agent, its file and its ID within the file.
pub fn key_of(trace: &Trace) -> String {
    let parts = [
        trace.source.agent.as_str().as_bytes(),
        trace.source.path.as_os_str().as_encoded_bytes(),
        trace.session.as_deref().unwrap_or_default().as_bytes(),
    ];
    ContentHash::of(&parts.join(&0)).to_string()[..12].to_owned()
}

fn session_of(row: &Row) -> rusqlite::Result<SessionRow> {
    let agent = Agent::from_name(&row.get::<_, String>(1)?).unwrap_or(Agent::Generic);
    let inner: String = row.get(6)?;
    let facts: String = row.get(9)?;
    let report: String = row.get(10)?;
    let stamp = stamp_of(row.get(3)?, row.get(4)?, row.get(5)?);
    Ok(SessionRow {
        key: row.get(0)?,
        trace: Trace {
            source: TraceSource { agent, path: row.get::<_, String>(2)?.into(), stamp },
            session: (!inner.is_empty()).then_some(inner.clone()),
            revision: row.get(7)?,
        },
        project: row.get(8)?,
        facts: serde_json::from_str(&facts).unwrap_or_else(|_| SessionFacts::new(agent, &inner)),
        report: serde_json::from_str(&report).unwrap_or_default(),
        state: JobState::from_name(&row.get::<_, String>(11)?).unwrap_or(JobState::Dead),
        reason: row.get(12)?,
    })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnregisteredFolder {
    pub path: String,
    pub sessions: u64,
    /// The address of the repository, if a session recorded it.
    pub repository: Option<String>,
}

impl Catalog {
    /// Counts the sessions in the queue.
    pub fn waiting(&self, now: Timestamp) -> Result<WaitingSessions> {
        let mut waiting = WaitingSessions::default();
        let mut statement = self.connection.prepare_cached(
            "SELECT CASE WHEN j.not_before <= ?1 THEN 0 WHEN j.attempts = 0 THEN 1 ELSE 2 END,
               count(*), max(j.not_before), min(s.key)
             FROM job j JOIN session s ON s.id = j.session WHERE j.state = 'pending' GROUP BY 1",
        )?;
        let mut rows = statement.query([now.as_millisecond()])?;
        while let Some(row) = rows.next()? {
            let sessions = row.get::<_, i64>(1)?.unsigned_abs();
            let later = later_sessions(sessions, time_of(row.get(2)?), row.get(3)?, now);
            match row.get::<_, i64>(0)? {
                0 => waiting.ready = sessions,
                1 => waiting.active = Some(later),
                _ => waiting.retried = Some(later),
            }
        }
        Ok(waiting)
    }

    /// Returns the directories outside registered projects, those with the most sessions first.
    pub fn list_unregistered(&self) -> Result<Vec<UnregisteredFolder>> {
        // Reads only the index of sessions without a project, because session rows are large.
        let sql = "SELECT s.cwd, count(*), (SELECT max(facts ->> '$.repository') FROM (
               SELECT facts FROM session r WHERE r.project IS NULL AND r.cwd = s.cwd LIMIT 8))
             FROM session s INDEXED BY session_unplaced CROSS JOIN job j ON j.session = s.id
             WHERE s.project IS NULL AND s.cwd IS NOT NULL AND j.state = 'skipped' AND j.reason = ?1
             GROUP BY s.cwd ORDER BY 2 DESC, 1";
        Ok(rows(&self.connection, sql, [NO_PROJECT], |row| {
            let sessions = row.get::<_, i64>(1)?.unsigned_abs();
            Ok(UnregisteredFolder { path: row.get(0)?, sessions, repository: row.get(2)? })
        })?)
    }

    /// Returns the number of sessions that name no directory, by agent.
    pub fn count_without_folder(&self) -> Result<Vec<(String, u64)>> {
        let sql = "SELECT s.agent, count(*) FROM job j JOIN session s ON s.id = j.session
             WHERE j.state = 'skipped' AND j.reason = ?1 GROUP BY 1";
        Ok(rows(&self.connection, sql, [NO_FOLDER], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })?)
    }

    /// Returns a project's sessions and their repository, for a project that no longer exists.
    pub fn sessions_of_project(&self, path: &str) -> Result<UnregisteredFolder> {
        let sql = "SELECT count(*), max(facts ->> '$.repository') FROM session
             WHERE project = ?1 AND facts != ''";
        Ok(self.connection.query_row(sql, [path], |row| {
            let sessions = row.get::<_, i64>(0)?.unsigned_abs();
            Ok(UnregisteredFolder { path: path.to_owned(), sessions, repository: row.get(1)? })
        })?)
    }

    /// Assigns a session that names no directory to a project, whose run has read it.
    pub fn assign(&mut self, key: &str, project: &str, run: &str, now: Timestamp) -> Result<()> {
        self.write(|transaction| {
            let sql = "UPDATE job SET state = 'done', reason = NULL, run = ?3, changed = ?4
                 WHERE state = 'skipped' AND reason = ?2
                   AND session = (SELECT id FROM session WHERE key = ?1)";
            let n_assigned =
                transaction.execute(sql, (key, NO_FOLDER, run, now.as_millisecond()))?;
            if n_assigned > 0 {
                let sql =
                    "UPDATE session SET project = ?2, said = said + (said > 0) WHERE key = ?1";
                transaction.execute(sql, (key, project))?;
            }
            Ok(())
        })
    }
}

/// Describes sessions of which the last one is due at `ready_at`.
pub fn later_sessions(
    sessions: u64,
    ready_at: Timestamp,
    example: String,
    now: Timestamp,
) -> LaterSessions {
    let ready_in = u64::try_from(ready_at.duration_since(now).as_secs()).unwrap_or(0);
    LaterSessions { sessions, ready_at: ready_at.to_string(), ready_in, example }
}

/// One agent's activity on one UTC day. A session counts toward the day of its last activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayActivity {
    /// In the format `YYYY-MM-DD`.
    pub day: String,
    pub agent: String,
    pub sessions: u64,
    /// Input tokens, excluding cached tokens.
    pub input_tokens: u64,
    /// Tokens read from a cache or written to it.
    pub cached_tokens: u64,
    pub output_tokens: u64,
    pub last: Timestamp,
}

impl Catalog {
    pub fn activity(&self, project: Option<&str>, since: Timestamp) -> Result<Vec<DayActivity>> {
        let sql =
            // Transcripts may contain arbitrarily large numbers, and SQLite's integer `sum` fails
            // on overflow.
            "SELECT date(last_activity / 1000, 'unixepoch') AS day, agent, count(*),
                cast(min(total(facts ->> '$.tokens.input'), 9e18) AS INTEGER),
                cast(min(total((facts ->> '$.tokens.cached') + (facts ->> '$.tokens.cache_write')), 9e18) AS INTEGER),
                cast(min(total(facts ->> '$.tokens.output'), 9e18) AS INTEGER), max(last_activity)
             FROM session WHERE last_activity >= :since AND (:project IS NULL OR project = :project)
             GROUP BY day, agent ORDER BY day, agent";
        let values = named_params! { ":since": since.as_millisecond(), ":project": project };
        Ok(rows(&self.connection, sql, values, day_of)?)
    }
}

fn day_of(row: &Row) -> rusqlite::Result<DayActivity> {
    let count = |idx: usize| row.get::<_, i64>(idx).map(i64::unsigned_abs);
    Ok(DayActivity {
        // For times that its date functions do not support, SQLite returns NULL.
        day: row.get::<_, Option<String>>(0)?.unwrap_or_default(),
        agent: row.get(1)?,
        sessions: count(2)?,
        input_tokens: count(3)?,
        cached_tokens: count(4)?,
        output_tokens: count(5)?,
        last: Timestamp::from_millisecond(row.get(6)?).unwrap_or_default(),
    })
}
