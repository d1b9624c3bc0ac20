//! What stands where in the queue.

use std::collections::BTreeMap;

use jiff::Timestamp;
use nacre_core::catalog::{
    Job, JobState, LaterSessions, QueueFilter, StateCounts, WaitingSessions,
};

use crate::database::{Database, DatabaseError, moment, plain};

/// How the reason of a copy begins; they are counted together.
const SAME: &str = "same session as ";

/// The jobs, latest change first.
pub(super) fn jobs(database: &Database, filter: &QueueFilter) -> Result<Vec<Job>, DatabaseError> {
    let state = filter.state.map(JobState::as_str);
    let limit = filter.limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
    let rows = database.run(async |client| {
        let sql = "
SELECT key, state, reason, attempts, not_before, run, changed, agent, title, project FROM job
WHERE ($1::text IS NULL OR state = $1) AND ($2::text IS NULL OR project = $2)
ORDER BY changed DESC, last_activity DESC NULLS LAST, place LIMIT $3";
        Ok(client.query(sql, &[&state, &filter.project, &limit]).await?)
    })?;
    let jobs = rows.iter().map(|row| {
        let not_before: i64 = row.get(4);
        Job {
            key: row.get(0),
            state: JobState::from_name(row.get(1)).unwrap_or(JobState::Dead),
            reason: row.get(2),
            attempts: u32::try_from(row.get::<_, i32>(3)).unwrap_or(0),
            not_before: (not_before > 0).then(|| moment(not_before)),
            run: row.get(5),
            changed: moment(row.get(6)),
            agent: row.get(7),
            title: row.get(8),
            project: row.get(9),
        }
    });
    Ok(jobs.collect())
}

/// How many sessions stand where.
pub(super) fn counts(
    database: &Database,
) -> Result<BTreeMap<(Option<String>, String), StateCounts>, DatabaseError> {
    let rows = database.run(async |client| {
        let sql = "
SELECT project, agent, state, CASE
    WHEN state <> 'skipped' THEN NULL
    WHEN starts_with(reason, $1) THEN $1 || 'another'
    ELSE coalesce(reason, '') END AS why, count(*)
FROM job GROUP BY 1, 2, 3, 4";
        Ok(client.query(sql, &[&SAME]).await?)
    })?;
    let mut counts: BTreeMap<(Option<String>, String), StateCounts> = BTreeMap::new();
    for row in rows {
        let n_found = row.get::<_, i64>(4).unsigned_abs();
        let entry = counts.entry((row.get(0), row.get(1))).or_default();
        entry.seen += n_found;
        if let Some(state) = JobState::from_name(row.get(2)) {
            *entry.by_state.entry(state).or_default() += n_found;
        }
        if let Some(reason) = row.get::<_, Option<String>>(3) {
            *entry.skipped.entry(reason).or_default() += n_found;
        }
    }
    Ok(counts)
}

/// What waits at `now`.
pub(super) fn waiting(
    database: &Database,
    now: Timestamp,
) -> Result<WaitingSessions, DatabaseError> {
    let now_ms = now.as_millisecond();
    let rows = database.run(async |client| {
        let sql = "
SELECT CASE WHEN not_before <= $1 THEN 0 WHEN attempts = 0 THEN 1 ELSE 2 END, count(*), max(not_before), min(key)
FROM job WHERE state = 'pending' GROUP BY 1";
        Ok(client.query(sql, &[&now_ms]).await?)
    })?;
    let mut waiting = WaitingSessions::default();
    for row in rows {
        let sessions = row.get::<_, i64>(1).unsigned_abs();
        let later = LaterSessions { sessions, ready_at: moment(row.get(2)), example: row.get(3) };
        match row.get::<_, i32>(0) {
            0 => waiting.ready = sessions,
            1 => waiting.active = Some(later),
            _ => waiting.retried = Some(later),
        }
    }
    Ok(waiting)
}

/// The queue in a few numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueDepth {
    /// Sessions that wait, and those of them that may be claimed now.
    pub pending: u64,
    pub due: u64,
    /// Leases that are held, and those whose time is over.
    pub running: u64,
    pub expired: u64,
    pub dead: u64,
    /// Since when the one waits that has waited longest.
    pub oldest: Option<Timestamp>,
}

/// Counts what waits and what is held at `now`.
pub(super) fn depth(database: &Database, now: Timestamp) -> Result<QueueDepth, DatabaseError> {
    let now_ms = now.as_millisecond();
    let row = database.run(async |client| {
        let sql = "
SELECT count(*) FILTER (WHERE state = 'pending'),
  count(*) FILTER (WHERE state = 'pending' AND not_before <= $1),
  count(*) FILTER (WHERE state = 'running'),
  count(*) FILTER (WHERE state = 'running' AND lease_until <= $1),
  count(*) FILTER (WHERE state = 'dead'),
  min(changed) FILTER (WHERE state = 'pending')
FROM job WHERE state IN ('pending', 'running', 'dead')";
        Ok(client.query_one(sql, &[&now_ms]).await?)
    })?;
    let count = |column: usize| row.get::<_, i64>(column).unsigned_abs();
    Ok(QueueDepth {
        pending: count(0),
        due: count(1),
        running: count(2),
        expired: count(3),
        dead: count(4),
        oldest: row.get::<_, Option<i64>>(5).map(moment),
    })
}

/// The keys that begin with `start`: enough of them to tell whether there is one.
pub(super) fn keys_starting(
    database: &Database,
    start: &str,
) -> Result<Vec<String>, DatabaseError> {
    let start = plain(start);
    let rows = database.run(async |client| {
        let sql =
            "SELECT key FROM job WHERE starts_with(key, $1) ORDER BY key = $1 DESC, key LIMIT 2";
        Ok(client.query(sql, &[&start]).await?)
    })?;
    let keys: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    Ok(if keys.first() == Some(&start) { vec![start] } else { keys })
}
