//! One job at a time: claimed, kept, ended, given back.

use std::time::Duration;

use jiff::Timestamp;
use nacre_core::catalog::{CatalogError, Claim, ClaimOrder, JobState, Outcome, RetryPolicy};

use crate::database::{Database, DatabaseError, millis_after, plain};

/// A session that took down this many workers is not given to another one.
const MAX_CLAIMS: i32 = 10;

/// How often a claim is tried again when another worker takes a job of the same project at the same moment.
const MAX_TRIES: usize = 50;

/// Who claims, and what.
#[derive(Clone, Copy)]
pub(super) struct ClaimRequest<'a> {
    /// The server that must be able to read the session; `None` for any.
    pub(super) reader: Option<&'a str>,
    pub(super) token: &'a str,
    pub(super) now: Timestamp,
    pub(super) length: Duration,
    pub(super) order: ClaimOrder,
}

/// Claims the next job that is due.
pub(super) fn claim(
    database: &Database,
    request: ClaimRequest<'_>,
) -> Result<Option<Claim>, DatabaseError> {
    expire(database, request.now)?;
    let mut last = None;
    for _ in 0..MAX_TRIES {
        match claim_once(database, request) {
            Err(error) if error.is_duplicate() || error.is_conflict() => last = Some(error),
            result => return result,
        }
    }
    last.map_or(Ok(None), Err)
}

/// A job `j` that the server `$reader` can read; every one where there is none.
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

fn claim_once(
    database: &Database,
    request: ClaimRequest<'_>,
) -> Result<Option<Claim>, DatabaseError> {
    let ClaimRequest { reader, token, now, length, order } = request;
    // As SQLite orders them: what has no time comes first when the oldest do, and last when the newest do.
    let order = match order {
        ClaimOrder::NewestFirst => "last_activity DESC NULLS LAST, session_id DESC, place DESC",
        ClaimOrder::OldestFirst => "last_activity ASC NULLS FIRST, session_id ASC, place ASC",
    };
    let readable = readable!(4);
    let sql = format!(
        "WITH next AS (
           SELECT place FROM job j WHERE state = 'pending' AND not_before <= $1 AND NOT EXISTS (
             SELECT 1 FROM job r WHERE r.state = 'running' AND r.project IS NOT DISTINCT FROM j.project)
             AND {readable}
           ORDER BY {order} LIMIT 1 FOR UPDATE SKIP LOCKED)
         UPDATE job SET state = 'running', lease = $2, lease_until = $3, changed = $1, claimed = job.grown,
           attempts = job.attempts + 1
         FROM next WHERE job.place = next.place RETURNING job.key, job.attempts, job.project"
    );
    let (now_ms, until, token) = (now.as_millisecond(), millis_after(now, length), plain(token));
    database.run(async |client| {
        let row = client.query_opt(&sql, &[&now_ms, &token, &until, &reader]).await?;
        Ok(row.map(|row| Claim {
            key: row.get(0),
            lease: token.clone(),
            attempts: u32::try_from(row.get::<_, i32>(1)).unwrap_or(0),
            project: row.get(2),
        }))
    })
}

/// Whether a claim would find something that this server can read: a job that is due, or one whose worker went away.
pub(super) fn is_due(
    database: &Database,
    reader: Option<&str>,
    now: Timestamp,
) -> Result<bool, DatabaseError> {
    let now_ms = now.as_millisecond();
    let sql = concat!(
        "SELECT EXISTS (SELECT 1 FROM job j WHERE state = 'running' AND lease_until <= $1 AND ",
        readable!(2),
        ") OR EXISTS (SELECT 1 FROM job j WHERE state = 'pending' AND not_before <= $1 AND NOT EXISTS (
             SELECT 1 FROM job r WHERE r.state = 'running' AND r.project IS NOT DISTINCT FROM j.project) AND ",
        readable!(2),
        ")"
    );
    database.run(async |client| Ok(client.query_one(sql, &[&now_ms, &reader]).await?.get(0)))
}

/// Keeps a lease.
pub(super) fn heartbeat(
    database: &Database,
    claim: &Claim,
    now: Timestamp,
    length: Duration,
) -> Result<(), CatalogError> {
    let (now_ms, until) = (now.as_millisecond(), millis_after(now, length));
    let n_kept = database.run(async |client| {
        let sql = "UPDATE job SET lease_until = $1 WHERE key = $2 AND lease = $3 AND state = 'running' AND lease_until > $4";
        Ok(client.execute(sql, &[&until, &claim.key, &claim.lease, &now_ms]).await?)
    })?;
    if n_kept == 1 { Ok(()) } else { Err(lost(claim)) }
}

/// Where a job goes with an outcome.
struct Ending<'a> {
    state: JobState,
    reason: Option<&'a str>,
    run: Option<&'a str>,
    wait: Duration,
    /// Tries that do not count.
    refund: i32,
}

impl<'a> Ending<'a> {
    fn new(claim: &Claim, outcome: &'a Outcome, policy: &RetryPolicy) -> Self {
        let still = Self {
            state: JobState::Done,
            reason: None,
            run: None,
            wait: Duration::ZERO,
            refund: 0,
        };
        match outcome {
            Outcome::Done { run } => Self { run: Some(run), ..still },
            Outcome::Empty { reason } => {
                Self { state: JobState::Empty, reason: Some(reason), ..still }
            }
            Outcome::Released => Self { state: JobState::Pending, refund: 1, ..still },
            Outcome::Failed { reason } if claim.attempts >= policy.max_attempts => {
                Self { state: JobState::Dead, reason: Some(reason), ..still }
            }
            Outcome::Failed { reason } => {
                let wait = policy.wait_after(claim.attempts);
                Self { state: JobState::Pending, reason: Some(reason), wait, ..still }
            }
        }
    }
}

/// Ends a claimed job. What was written to the trace after the claim was not part of the run: such a job waits again.
pub(super) fn finish(
    database: &Database,
    claim: &Claim,
    outcome: &Outcome,
    now: Timestamp,
    policy: &RetryPolicy,
) -> Result<JobState, CatalogError> {
    let ending = Ending::new(claim, outcome, policy);
    let (now_ms, due) = (now.as_millisecond(), millis_after(now, ending.wait));
    let (state, reason, run) =
        (ending.state.as_str(), ending.reason.map(plain), ending.run.map(plain));
    let ended = database.run(async |client| {
        let sql = "
UPDATE job SET
  state = CASE WHEN again THEN 'pending' ELSE $1 END,
  reason = CASE WHEN again THEN 'the trace grew during its run' ELSE $2 END,
  attempts = CASE WHEN again THEN 0 ELSE attempts - $3 END,
  run = coalesce($4, run), lease = NULL, lease_until = NULL, not_before = $5, changed = $6
FROM (SELECT place AS of, $1 IN ('done', 'empty') AND grown > claimed AS again FROM job WHERE key = $7 FOR UPDATE) AS held
WHERE place = held.of AND lease = $8 AND state = 'running' AND lease_until > $6 RETURNING state";
        let row = client
            .query_opt(
                sql,
                &[&state, &reason, &ending.refund, &run, &due, &now_ms, &claim.key, &claim.lease],
            )
            .await?;
        Ok(row.map(|row| row.get::<_, String>(0)))
    })?;
    let state = ended.ok_or_else(|| lost(claim))?;
    let damaged = DatabaseError::Damaged { what: "the state of a job" };
    JobState::from_name(&state).ok_or_else(|| damaged.into())
}

/// Gives back what is held under tokens that begin with `prefix`.
pub(super) fn give_back(
    database: &Database,
    prefix: &str,
    now: Timestamp,
) -> Result<usize, DatabaseError> {
    let (now_ms, prefix) = (now.as_millisecond(), plain(prefix));
    let n_given = database.run(async |client| {
        let sql = format!("{GIVE_BACK} AND starts_with(lease, $3)");
        Ok(client.execute(&sql, &[&now_ms, &MAX_CLAIMS, &prefix]).await?)
    })?;
    Ok(usize::try_from(n_given).unwrap_or(usize::MAX))
}

/// Gives back the jobs of workers that went away without a word.
fn expire(database: &Database, now: Timestamp) -> Result<(), DatabaseError> {
    let now_ms = now.as_millisecond();
    database.run(async |client| {
        let sql = format!("{GIVE_BACK} AND lease_until <= $1");
        client.execute(&sql, &[&now_ms, &MAX_CLAIMS]).await?;
        Ok(())
    })
}

const GIVE_BACK: &str = "
UPDATE job SET lease = NULL, lease_until = NULL, changed = $1, reason = 'the worker went away',
  state = CASE WHEN attempts < $2 THEN 'pending' ELSE 'dead' END
WHERE state = 'running'";

/// Moves jobs that nobody is working on; returns the keys of those that moved.
pub(super) fn set_state(
    database: &Database,
    keys: &[String],
    state: JobState,
    reason: Option<&str>,
    now: Timestamp,
) -> Result<Vec<String>, DatabaseError> {
    let (now_ms, state, reason) = (now.as_millisecond(), state.as_str(), reason.map(plain));
    let asked: Vec<String> = keys.iter().map(|key| plain(key)).collect();
    let moved: Vec<String> = database.run(async |client| {
        let sql = "
UPDATE job SET state = $1, reason = $2, attempts = 0, not_before = 0, changed = $3
WHERE state <> 'running' AND key = ANY ($4) RETURNING key";
        let rows = client.query(sql, &[&state, &reason, &now_ms, &asked]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    })?;
    // In the order in which they were asked for.
    Ok(keys.iter().filter(|key| moved.contains(key)).cloned().collect())
}

fn lost(claim: &Claim) -> CatalogError {
    CatalogError::LeaseLost { id: claim.key.clone() }
}
