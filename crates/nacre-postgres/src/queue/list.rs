//! What stands where in the queue.

use std::collections::BTreeMap;

use nacre_core::catalog::{Job, JobState, QueueFilter, StateCounts};

use crate::database::{Database, DatabaseError, moment};

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
