//! A queue that several servers share. Each claim locks its row with `FOR UPDATE SKIP LOCKED`, so
//! concurrent claims do not block each other. A unique index ensures that each project has at most
//! one running job.

mod offer;

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use nacre_traces::catalog::{
    CatalogError, Claim, ClaimOrder, JobQueue, JobState, MAX_ATTEMPTS, Outcome, QueueFilter,
    QueueJob, ServiceRun, StateCounts, later_sessions, wait_after,
};
use nacre_types::WaitingSessions;

use crate::postgres::database::{Database, DatabaseError, Result, millis_after, moment, plain};

/// Maximum number of times that a session may be claimed without being finished.
const MAX_CLAIMS: i32 = 10;

/// How often a claim is attempted. An attempt fails if another worker claims a job from the same
/// project at the same moment.
const MAX_TRIES: usize = 50;

/// Duplicate sessions are skipped with a reason that starts with this prefix, and are counted
/// together.
const SAME: &str = "same session as ";

const GIVE_BACK: &str = "
UPDATE job SET lease = NULL, lease_until = NULL, changed = $1, reason = 'the worker went away',
  state = CASE WHEN attempts < $2 THEN 'pending' ELSE 'dead' END
WHERE state = 'running'";

#[derive(Clone, Debug)]
pub struct SharedQueue {
    database: Database,
    /// Only sessions that this server can read are claimed. `None` means no restriction.
    reader: Option<String>,
}

/// SQL condition for jobs `j` that the server `$reader` can read. If `$reader` is null, the
/// condition is true for every job.
macro_rules! readable {
    ($reader:literal) => {
        concat!(
            "($",
            $reader,
            "::text IS NULL OR EXISTS (SELECT 1 FROM job_reader r WHERE r.server = $",
            $reader,
            " AND r.job = j.place))"
        )
    };
}

/// SQL condition for jobs `j` that are due at `$1` and whose project has no running job.
macro_rules! due {
    () => {
        "state = 'pending' AND not_before <= $1 AND NOT EXISTS (
           SELECT 1 FROM job r WHERE r.state = 'running' AND r.project IS NOT DISTINCT FROM j.project)"
    };
}

impl SharedQueue {
    /// Opens the queue. The schema must be up to date.
    pub fn open(database: &Database) -> Result<Self> {
        database.check_schema()?;
        Ok(Self { database: database.clone(), reader: None })
    }

    /// Restricts claims to sessions that this server offered.
    #[must_use]
    pub fn for_server(self, server: &str) -> Self {
        Self { reader: Some(server.to_owned()), ..self }
    }

    /// Returns whether a job is due, including jobs with expired leases.
    pub fn is_due(&self, now: Timestamp) -> Result<bool, CatalogError> {
        let sql = concat!(
            "SELECT EXISTS (SELECT 1 FROM job j WHERE state = 'running' AND lease_until <= $1 AND ",
            readable!(2),
            ") OR EXISTS (SELECT 1 FROM job j WHERE ",
            due!(),
            " AND ",
            readable!(2),
            ")"
        );
        Ok(self.database.query_one(sql, &[&now.as_millisecond(), &self.reader])?.get(0))
    }

    /// Returns the waiting sessions. Directories outside projects are excluded, because they are
    /// recorded only in each server's own catalog.
    pub fn waiting(&self, now: Timestamp) -> Result<WaitingSessions, CatalogError> {
        let sql = "
SELECT CASE WHEN not_before <= $1 THEN 0 WHEN attempts = 0 THEN 1 ELSE 2 END, count(*), max(not_before), min(key)
FROM job WHERE state = 'pending' GROUP BY 1";
        let mut waiting = WaitingSessions::default();
        for row in self.database.query(sql, &[&now.as_millisecond()])? {
            let sessions = row.get::<_, i64>(1).unsigned_abs();
            let later = later_sessions(sessions, moment(row.get(2)), row.get(3), now);
            match row.get::<_, i32>(0) {
                0 => waiting.ready = sessions,
                1 => waiting.active = Some(later),
                _ => waiting.retried = Some(later),
            }
        }
        Ok(waiting)
    }

    /// Returns at most two keys with this prefix, which is enough to tell whether it is ambiguous.
    pub fn keys_starting(&self, start: &str) -> Result<Vec<String>, CatalogError> {
        let start = plain(start);
        let sql =
            "SELECT key FROM job WHERE starts_with(key, $1) ORDER BY key = $1 DESC, key LIMIT 2";
        let rows = self.database.query(sql, &[&start])?;
        let keys: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        Ok(if keys.first() == Some(&start) { vec![start] } else { keys })
    }

    fn claim_once(
        &self,
        token: &str,
        now: Timestamp,
        length: Duration,
        order: ClaimOrder,
    ) -> Result<Option<Claim>> {
        // Sort like SQLite, where a missing time is older than any other.
        let order = match order {
            ClaimOrder::NewestFirst => "last_activity DESC NULLS LAST, session_id DESC, place DESC",
            ClaimOrder::OldestFirst => "last_activity ASC NULLS FIRST, session_id ASC, place ASC",
        };
        let sql = format!(
            "WITH next AS (
               SELECT place FROM job j WHERE {} AND {} ORDER BY {order} LIMIT 1 FOR UPDATE SKIP LOCKED)
             UPDATE job SET state = 'running', lease = $2, lease_until = $3, changed = $1, claimed = job.grown,
               attempts = job.attempts + 1
             FROM next WHERE job.place = next.place RETURNING job.key, job.attempts, job.project",
            due!(),
            readable!(4)
        );
        let (now_ms, until) = (now.as_millisecond(), millis_after(now, length));
        let row = self.database.query_opt(&sql, &[&now_ms, &token, &until, &self.reader])?;
        Ok(row.map(|row| Claim {
            key: row.get(0),
            lease: token.to_owned(),
            attempts: u32::try_from(row.get::<_, i32>(1)).unwrap_or(0),
            project: row.get(2),
        }))
    }

    /// Sets the state of jobs that are not running. Returns the keys of the changed jobs.
    fn set_state(
        &self,
        keys: &[String],
        state: JobState,
        reason: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<String>, CatalogError> {
        let wanted: Vec<String> = keys.iter().map(|key| plain(key)).collect();
        let sql = "
UPDATE job SET state = $1, reason = $2, attempts = 0, not_before = 0, changed = $3
WHERE state <> 'running' AND key = ANY ($4) RETURNING key";
        let (state, reason) = (state.as_str(), reason.map(plain));
        let rows = self.database.query(sql, &[&state, &reason, &now.as_millisecond(), &wanted])?;
        let moved: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        // Return the keys in the requested order.
        Ok(keys.iter().filter(|key| moved.contains(key)).cloned().collect())
    }
}

impl JobQueue for SharedQueue {
    fn claim(
        &mut self,
        token: &str,
        now: Timestamp,
        length: Duration,
        order: ClaimOrder,
    ) -> Result<Option<Claim>, CatalogError> {
        let expired = format!("{GIVE_BACK} AND lease_until <= $1");
        self.database.execute(&expired, &[&now.as_millisecond(), &MAX_CLAIMS])?;
        let token = plain(token);
        let mut last = None;
        for _ in 0..MAX_TRIES {
            match self.claim_once(&token, now, length, order) {
                Err(error) if error.is_conflict() => last = Some(error),
                result => return Ok(result?),
            }
        }
        last.map_or(Ok(None), |error| Err(error.into()))
    }

    fn heartbeat(
        &mut self,
        claim: &Claim,
        now: Timestamp,
        length: Duration,
    ) -> Result<(), CatalogError> {
        let (now_ms, until) = (now.as_millisecond(), millis_after(now, length));
        let sql = "
UPDATE job SET lease_until = $1 WHERE key = $2 AND lease = $3 AND state = 'running' AND lease_until > $4";
        let n_kept = self.database.execute(sql, &[&until, &claim.key, &claim.lease, &now_ms])?;
        if n_kept == 1 { Ok(()) } else { Err(lease_lost(claim)) }
    }

    /// Finishes a job. If the trace has grown since it was claimed, the job is queued again.
    fn finish(
        &mut self,
        claim: &Claim,
        outcome: &Outcome,
        now: Timestamp,
    ) -> Result<JobState, CatalogError> {
        let (now_ms, mut due) = (now.as_millisecond(), now.as_millisecond());
        let (mut run, mut n_refunded) = (None, 0_i32);
        let (state, reason) = match outcome {
            Outcome::Done { run: done_by } => {
                run = Some(plain(done_by));
                (JobState::Done, None)
            }
            Outcome::Empty { reason } => (JobState::Empty, Some(reason)),
            Outcome::Released => {
                n_refunded = 1;
                (JobState::Pending, None)
            }
            Outcome::Failed { reason } if claim.attempts >= MAX_ATTEMPTS => {
                (JobState::Dead, Some(reason))
            }
            Outcome::Failed { reason } => {
                due = millis_after(now, wait_after(claim.attempts));
                (JobState::Pending, Some(reason))
            }
        };
        let (state, reason) = (state.as_str(), reason.map(|reason| plain(reason)));
        let sql = "
UPDATE job SET
  state = CASE WHEN again THEN 'pending' ELSE $1 END,
  reason = CASE WHEN again THEN 'the trace grew during its run' ELSE $2 END,
  attempts = CASE WHEN again THEN 0 ELSE attempts - $3 END,
  run = coalesce($4, run), lease = NULL, lease_until = NULL, not_before = $5, changed = $6
FROM (SELECT place AS of, $1 IN ('done', 'empty') AND grown > claimed AS again FROM job WHERE key = $7 FOR UPDATE) AS held
WHERE place = held.of AND lease = $8 AND state = 'running' AND lease_until > $6 RETURNING state";
        let ended = self.database.query_opt(
            sql,
            &[&state, &reason, &n_refunded, &run, &due, &now_ms, &claim.key, &claim.lease],
        )?;
        let state: String = ended.ok_or_else(|| lease_lost(claim))?.get(0);
        let damaged = DatabaseError::Damaged { what: "job state" };
        JobState::from_name(&state).ok_or_else(|| damaged.into())
    }

    fn give_back(&mut self, prefix: &str, now: Timestamp) -> Result<usize, CatalogError> {
        let sql = format!("{GIVE_BACK} AND starts_with(lease, $3)");
        let values = (now.as_millisecond(), plain(prefix));
        let n_given = self.database.execute(&sql, &[&values.0, &MAX_CLAIMS, &values.1])?;
        Ok(usize::try_from(n_given).unwrap_or(usize::MAX))
    }

    fn jobs(&self, filter: &QueueFilter) -> Result<Vec<QueueJob>, CatalogError> {
        let state = filter.state.map(JobState::as_str);
        let limit = filter.limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let sql = "
SELECT key, state, reason, attempts, not_before, run, changed, agent, title, project FROM job
WHERE ($1::text IS NULL OR state = $1) AND ($2::text IS NULL OR project = $2)
ORDER BY changed DESC, last_activity DESC NULLS LAST, place LIMIT $3";
        let rows = self.database.query(sql, &[&state, &filter.project, &limit])?;
        let jobs = rows.iter().map(|row| {
            let not_before: i64 = row.get(4);
            QueueJob {
                id: row.get(0),
                state: JobState::from_name(row.get(1)).unwrap_or(JobState::Dead),
                reason: row.get(2),
                attempts: u32::try_from(row.get::<_, i32>(3)).unwrap_or(0),
                not_before: (not_before > 0).then(|| moment(not_before).to_string()),
                run: row.get(5),
                changed: moment(row.get(6)).to_string(),
                agent: row.get(7),
                title: row.get(8),
                project: row.get(9),
            }
        });
        Ok(jobs.collect())
    }

    fn retry(&mut self, keys: &[String], now: Timestamp) -> Result<Vec<String>, CatalogError> {
        self.set_state(keys, JobState::Pending, None, now)
    }

    fn skip(
        &mut self,
        keys: &[String],
        reason: &str,
        now: Timestamp,
    ) -> Result<Vec<String>, CatalogError> {
        self.set_state(keys, JobState::Skipped, Some(reason), now)
    }

    fn counts(&self) -> Result<BTreeMap<(Option<String>, String), StateCounts>, CatalogError> {
        let sql = "
SELECT project, agent, state, CASE
    WHEN state <> 'skipped' THEN NULL
    WHEN starts_with(reason, $1) THEN $1 || 'another'
    ELSE coalesce(reason, '') END AS why, count(*)
FROM job GROUP BY 1, 2, 3, 4";
        let mut counts: BTreeMap<(Option<String>, String), StateCounts> = BTreeMap::new();
        for row in self.database.query(sql, &[&SAME])? {
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

    fn begin_run(&mut self, id: &str, what: &str, now: Timestamp) -> Result<(), CatalogError> {
        let sql = "
INSERT INTO service_run (id, what, started) VALUES ($1, $2, $3)
ON CONFLICT (id) DO UPDATE SET what = $2, started = $3, finished = NULL, outcome = NULL";
        self.database.execute(sql, &[&plain(id), &plain(what), &now.as_millisecond()])?;
        Ok(())
    }

    fn end_run(&mut self, id: &str, outcome: &str, now: Timestamp) -> Result<(), CatalogError> {
        let sql = "UPDATE service_run SET finished = $2, outcome = $3 WHERE id = $1";
        self.database.execute(sql, &[&plain(id), &now.as_millisecond(), &plain(outcome)])?;
        Ok(())
    }

    fn last_run(&self, what: &str) -> Result<Option<ServiceRun>, CatalogError> {
        let sql = "
SELECT id, finished, outcome FROM service_run WHERE what = $1 ORDER BY started DESC, id DESC LIMIT 1";
        let row = self.database.query_opt(sql, &[&plain(what)])?;
        Ok(row.map(|row| ServiceRun {
            id: row.get(0),
            finished: row.get::<_, Option<i64>>(1).map(moment),
            outcome: row.get(2),
        }))
    }
}

fn lease_lost(claim: &Claim) -> CatalogError {
    CatalogError::LeaseLost { id: claim.key.clone() }
}
