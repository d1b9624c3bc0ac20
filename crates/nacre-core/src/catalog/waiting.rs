//! What waits, and why: sessions that are still written to, that are tried again, or that belong to no project.

use jiff::Timestamp;
use rusqlite::named_params;

use super::admission::NO_PROJECT;
use super::db::Catalog;
use super::error::CatalogError;

/// The sessions that no sync has finished.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitingSessions {
    /// Due now.
    pub ready: u64,
    /// Written to a moment ago.
    pub active: Option<LaterSessions>,
    /// Failed, and tried again later.
    pub retried: Option<LaterSessions>,
    /// Of folders that belong to no registered project: the folder and how many, most first.
    pub unregistered: Vec<(String, u64)>,
}

/// Sessions that are due later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaterSessions {
    pub sessions: u64,
    /// When the last of them is due.
    pub ready_at: Timestamp,
    /// The key of one of them.
    pub example: String,
}

impl Catalog {
    /// Counts what waits at `now`.
    pub fn waiting(&self, now: Timestamp) -> Result<WaitingSessions, CatalogError> {
        let mut waiting =
            WaitingSessions { unregistered: self.unregistered()?, ..WaitingSessions::default() };
        let mut statement = self.connection.prepare_cached(
            "SELECT CASE WHEN j.not_before <= :now THEN 0 WHEN j.attempts = 0 THEN 1 ELSE 2 END,
               count(*), max(j.not_before), min(s.key)
             FROM job j JOIN session s ON s.id = j.session WHERE j.state = 'pending' GROUP BY 1",
        )?;
        let mut rows = statement.query(named_params! { ":now": now.as_millisecond() })?;
        while let Some(row) = rows.next()? {
            let sessions = row.get::<_, i64>(1)?.unsigned_abs();
            let later = LaterSessions {
                sessions,
                ready_at: Timestamp::from_millisecond(row.get(2)?).unwrap_or(now),
                example: row.get(3)?,
            };
            match row.get::<_, i64>(0)? {
                0 => waiting.ready = sessions,
                1 => waiting.active = Some(later),
                _ => waiting.retried = Some(later),
            }
        }
        Ok(waiting)
    }

    /// From the index of what has no project: the sessions themselves are large, and none of them is read.
    fn unregistered(&self) -> Result<Vec<(String, u64)>, CatalogError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT s.cwd, count(*) FROM session s INDEXED BY session_unplaced CROSS JOIN job j ON j.session = s.id
             WHERE s.project IS NULL AND s.cwd IS NOT NULL AND j.state = 'skipped' AND j.reason = ?1
             GROUP BY s.cwd ORDER BY 2 DESC, 1",
        )?;
        let rows = statement.query_map([NO_PROJECT], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
