//! Sessions that were seen, and how many of them stand where.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::{Row, named_params};

use super::admission::SAME;
use super::columns::stamp_of;
use super::db::Catalog;
use super::error::CatalogError;
use super::job::JobState;
use crate::base::ContentHash;
use crate::transcript::{Agent, ReadReport, SessionFacts, Source, Trace};

/// A session as the catalog knows it.
#[derive(Clone, Debug)]
pub struct SessionRow {
    /// A short name that stays the same for life.
    pub key: String,
    pub trace: Trace,
    pub project: Option<String>,
    pub facts: SessionFacts,
    pub report: ReadReport,
    pub state: JobState,
    pub reason: Option<String>,
}

/// Which sessions to list.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    pub agent: Option<Agent>,
    pub project: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub limit: Option<usize>,
}

/// How many sessions of one agent in one project are in each state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateCounts {
    /// Counted without looking at states: the sum of the others, or something is wrong.
    pub seen: u64,
    pub by_state: BTreeMap<JobState, u64>,
    /// Why sessions were skipped, with how many.
    pub skipped: BTreeMap<String, u64>,
}

impl StateCounts {
    /// Whether every session seen is in exactly one state.
    pub fn adds_up(&self) -> bool {
        self.by_state.values().sum::<u64>() == self.seen
    }
}

const COLUMNS: &str = "s.key, o.agent, o.path, o.size, o.modified, o.inode, s.inner_id, s.revision,
    s.project, s.facts, s.report, j.state, j.reason";

impl Catalog {
    /// Sessions, the latest first.
    pub fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionRow>, CatalogError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM session s JOIN source o ON o.id = s.source JOIN job j ON j.session = s.id
             WHERE (:agent IS NULL OR s.agent = :agent) AND (:project IS NULL OR s.project = :project)
               AND (:since IS NULL OR s.last_activity >= :since) AND (:until IS NULL OR s.last_activity < :until)
             ORDER BY s.last_activity DESC, s.id LIMIT :limit"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map(
            named_params! {
                ":agent": filter.agent.map(Agent::as_str), ":project": filter.project,
                ":since": filter.since.map(Timestamp::as_millisecond),
                ":until": filter.until.map(Timestamp::as_millisecond),
                ":limit": filter.limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(-1),
            },
            session_of,
        )?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The session whose key or own id starts with `prefix`.
    pub fn session(&self, prefix: &str) -> Result<SessionRow, CatalogError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM session s JOIN source o ON o.id = s.source JOIN job j ON j.session = s.id
             WHERE substr(s.key, 1, length(:prefix)) = :prefix OR substr(s.session_id, 1, length(:prefix)) = :prefix
             ORDER BY s.last_activity DESC LIMIT 16"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map(named_params! { ":prefix": prefix }, session_of)?;
        let mut found: Vec<SessionRow> = rows.collect::<Result<_, _>>()?;
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(CatalogError::UnknownTrace { id: prefix.to_owned() }),
            _ if prefix.is_empty() => Err(CatalogError::UnknownTrace { id: prefix.to_owned() }),
            n_found => Err(CatalogError::Ambiguous { id: prefix.to_owned(), n_found }),
        }
    }

    /// The keys of jobs that start with `prefix`.
    pub fn keys_starting(&self, prefix: &str) -> Result<Vec<String>, CatalogError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT key FROM session WHERE substr(key, 1, length(?1)) = ?1 ORDER BY key",
        )?;
        let rows = statement.query_map([prefix], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many sessions stand where, by project and agent.
    pub fn counts(&self) -> Result<BTreeMap<(Option<String>, String), StateCounts>, CatalogError> {
        let mut counts: BTreeMap<(Option<String>, String), StateCounts> = BTreeMap::new();
        // Both sums are of one moment, also while another process is reading traces.
        let view = self.connection.unchecked_transaction()?;
        let mut seen = view.prepare_cached(
            "SELECT project, agent, count(*) FROM session GROUP BY project, agent",
        )?;
        for row in seen.query_map([], |row| {
            Ok(((row.get(0)?, row.get(1)?), row.get::<_, i64>(2)?.unsigned_abs()))
        })? {
            let (key, n_seen) = row?;
            counts.entry(key).or_default().seen = n_seen;
        }
        let mut states = view.prepare_cached(
            "SELECT s.project, s.agent, j.state, CASE
               WHEN j.state != 'skipped' THEN NULL
               WHEN substr(j.reason, 1, length(?1)) = ?1 THEN ?1 || 'another'
               ELSE coalesce(j.reason, '') END, count(*)
             FROM job j JOIN session s ON s.id = j.session GROUP BY 1, 2, 3, 4",
        )?;
        let rows = states.query_map([SAME], |row| {
            let key: (Option<String>, String) = (row.get(0)?, row.get(1)?);
            Ok((
                key,
                row.get::<_, String>(2)?,
                row.get::<_, Option<String>>(3)?,
                row.get::<_, i64>(4)?.unsigned_abs(),
            ))
        })?;
        for row in rows {
            let (key, state, reason, n_found) = row?;
            let entry = counts.entry(key).or_default();
            if let Some(state) = JobState::from_name(&state) {
                *entry.by_state.entry(state).or_default() += n_found;
            }
            if let Some(reason) = reason {
                *entry.skipped.entry(reason).or_default() += n_found;
            }
        }
        Ok(counts)
    }
}

/// The short name of a session: of its agent, its file and its place in it.
pub fn key_of(trace: &Trace) -> String {
    let parts = [
        trace.source.agent.as_str().as_bytes(),
        trace.source.path.as_os_str().as_encoded_bytes(),
        trace.session.as_deref().unwrap_or_default().as_bytes(),
    ];
    ContentHash::of(&parts.join(&0)).to_string()[..12].to_owned()
}

fn session_of(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let agent = Agent::from_name(&row.get::<_, String>(1)?).unwrap_or(Agent::Generic);
    let inner: String = row.get(6)?;
    let facts: String = row.get(9)?;
    let report: String = row.get(10)?;
    let stamp = stamp_of(row.get(3)?, row.get(4)?, row.get(5)?);
    Ok(SessionRow {
        key: row.get(0)?,
        trace: Trace {
            source: Source { agent, path: row.get::<_, String>(2)?.into(), stamp },
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
