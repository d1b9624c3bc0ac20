//! What agents did day by day: sessions and their tokens, added up without reading a session.

use jiff::Timestamp;
use rusqlite::{Row, named_params};

use super::db::Catalog;
use super::error::CatalogError;

/// What one agent did on one day, by UTC. A session counts on the day of its last activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayActivity {
    /// As `YYYY-MM-DD`.
    pub day: String,
    pub agent: String,
    pub sessions: u64,
    /// Without what came from a cache.
    pub input_tokens: u64,
    /// Read from a cache or written to it.
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// The last activity of the day.
    pub last: Timestamp,
}

impl Catalog {
    /// What agents did since then, in a project or in all of them, by day and agent.
    pub fn activity(
        &self,
        project: Option<&str>,
        since: Timestamp,
    ) -> Result<Vec<DayActivity>, CatalogError> {
        let mut statement = self.connection.prepare_cached(
            // A trace may claim any number, and a sum of whole numbers that are too large is an error.
            "SELECT date(last_activity / 1000, 'unixepoch') AS day, agent, count(*),
                cast(min(total(facts ->> '$.tokens.input'), 9e18) AS INTEGER),
                cast(min(total((facts ->> '$.tokens.cached') + (facts ->> '$.tokens.cache_write')), 9e18) AS INTEGER),
                cast(min(total(facts ->> '$.tokens.output'), 9e18) AS INTEGER), max(last_activity)
             FROM session WHERE last_activity >= :since AND (:project IS NULL OR project = :project)
             GROUP BY day, agent ORDER BY day, agent",
        )?;
        let values = named_params! { ":since": since.as_millisecond(), ":project": project };
        let rows = statement.query_map(values, day_of)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn day_of(row: &Row<'_>) -> rusqlite::Result<DayActivity> {
    let count = |idx: usize| row.get::<_, i64>(idx).map(i64::unsigned_abs);
    Ok(DayActivity {
        // A time before the calendar has no day.
        day: row.get::<_, Option<String>>(0)?.unwrap_or_default(),
        agent: row.get(1)?,
        sessions: count(2)?,
        input_tokens: count(3)?,
        cached_tokens: count(4)?,
        output_tokens: count(5)?,
        last: Timestamp::from_millisecond(row.get(6)?).unwrap_or_default(),
    })
}
