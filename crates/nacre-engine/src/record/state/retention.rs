//! What is too old or too much is let go, whole tasks at a time.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::db::State;
use super::error::StateError;
use super::row::count;

/// One round lets go of at most so many tasks: others wait while it lasts.
const MAX_PER_ROUND: i64 = 500;

/// How long and how much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Since the end of a task.
    pub max_age: Duration,
    /// Events of all tasks together.
    pub max_events: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { max_age: Duration::from_secs(30 * 24 * 3600), max_events: 2_000_000 }
    }
}

/// What was let go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrimReport {
    pub n_tasks: u64,
    pub n_events: u64,
}

impl State {
    /// Lets go of finished tasks beyond the limits, the oldest first. Unfinished ones always stay.
    pub fn trim(
        &mut self,
        retention: &Retention,
        now: Timestamp,
    ) -> Result<TrimReport, StateError> {
        let age = i64::try_from(retention.max_age.as_micros()).unwrap_or(i64::MAX);
        let cutoff = now.as_microsecond().saturating_sub(age);
        let mut victims = self.read(|connection| too_old(connection, cutoff))?;
        let kept = self.read(|connection| {
            Ok(connection.query_row("SELECT coalesce(sum(n_events), 0) FROM task", [], |row| {
                count(row, 0)
            })?)
        })?;
        let gone: u64 = victims.iter().map(|(_, n_events)| n_events).sum();
        let mut excess = kept.saturating_sub(gone).saturating_sub(retention.max_events);
        if excess > 0 {
            let mut oldest = self.read(|connection| oldest_since(connection, cutoff))?;
            oldest.retain(|(_, n_events)| {
                let is_victim = excess > 0;
                excess = excess.saturating_sub(*n_events);
                is_victim
            });
            victims.extend(oldest);
        }
        if victims.is_empty() {
            return Ok(TrimReport::default());
        }
        self.write(|transaction| {
            let mut report = TrimReport::default();
            for (task, n_events) in &victims {
                for table in ["event", "model_call", "message"] {
                    transaction
                        .prepare_cached(&format!("DELETE FROM {table} WHERE task = ?1"))?
                        .execute([task])?;
                }
                report.n_tasks += transaction
                    .prepare_cached("DELETE FROM task WHERE id = ?1")?
                    .execute([task])? as u64;
                report.n_events += n_events;
            }
            transaction.execute(
                // A conversation stays until a person removes it.
                "DELETE FROM session WHERE updated < ?1 AND is_conversation = 0
                 AND id NOT IN (SELECT session FROM task)",
                [cutoff],
            )?;
            transaction.execute(
                "DELETE FROM runner WHERE lease_until < ?1 AND id NOT IN (SELECT runner FROM task)",
                [cutoff],
            )?;
            Ok(report)
        })
    }
}

fn too_old(connection: &Connection, cutoff: i64) -> Result<Vec<(String, u64)>, StateError> {
    tasks(connection, "ended < ?1", cutoff)
}

fn oldest_since(connection: &Connection, cutoff: i64) -> Result<Vec<(String, u64)>, StateError> {
    tasks(connection, "ended >= ?1", cutoff)
}

fn tasks(
    connection: &Connection,
    which: &str,
    cutoff: i64,
) -> Result<Vec<(String, u64)>, StateError> {
    let sql = format!("SELECT id, n_events FROM task WHERE {which} ORDER BY ended, place LIMIT ?2");
    let mut rows = connection.prepare_cached(&sql)?;
    let found =
        rows.query_map(params![cutoff, MAX_PER_ROUND], |row| Ok((row.get(0)?, count(row, 1)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}
