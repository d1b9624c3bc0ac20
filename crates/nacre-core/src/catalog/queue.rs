//! The durable queue: claim one, keep the lease, end it.
//!
//! A lease is a token that its holder must still have when it ends the job; a worker that slept past
//! its lease finds the token gone and changes nothing. One job of a project runs at a time, since
//! two runs would decide about the same memories.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, named_params};

use super::db::Catalog;
use super::error::CatalogError;
use super::job::{Job, JobState, Outcome, RetryPolicy};

/// A session that took down this many workers is not given to another one.
const MAX_CLAIMS: u32 = 10;

/// Which of the waiting jobs is claimed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimOrder {
    NewestFirst,
    OldestFirst,
}

/// A job that this worker may run until its lease ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub key: String,
    pub lease: String,
    pub attempts: u32,
    pub project: Option<String>,
}

/// Which jobs to show.
#[derive(Clone, Debug, Default)]
pub struct QueueFilter {
    pub state: Option<JobState>,
    pub project: Option<String>,
    pub limit: Option<usize>,
}

impl Catalog {
    /// Claims the next job that is due, for a lease of `length` under the caller's `token`. Of two that ended at the same moment
    /// the name decides, not which file happened to be read first.
    pub fn claim(
        &mut self,
        token: &str,
        now: Timestamp,
        length: Duration,
        order: ClaimOrder,
    ) -> Result<Option<Claim>, CatalogError> {
        let direction = match order {
            ClaimOrder::NewestFirst => "DESC",
            ClaimOrder::OldestFirst => "ASC",
        };
        let next = format!(
            "SELECT s.id, s.key, j.attempts, s.project, s.grown FROM job j JOIN session s ON s.id = j.session
             WHERE j.state = 'pending' AND j.not_before <= :now AND NOT EXISTS (
               SELECT 1 FROM job r JOIN session o ON o.id = r.session
               WHERE r.state = 'running' AND o.project IS s.project)
             ORDER BY s.last_activity {direction}, s.session_id {direction}, s.id {direction} LIMIT 1"
        );
        self.expire(now)?;
        self.write(|transaction| {
            let found = transaction
                .query_row(&next, named_params! { ":now": now.as_millisecond() }, |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
                })
                .optional()?;
            let Some((session, key, attempts, project, grown)) = found else { return Ok(None) };
            let (session, attempts, grown): (i64, u32, i64) = (session, attempts, grown);
            transaction.execute(
                "UPDATE job SET state = 'running', lease = :lease, lease_until = :until, changed = :now,
                   claimed = :grown, attempts = attempts + 1 WHERE session = :session",
                named_params! {
                    ":lease": token, ":until": millis_after(now, length),
                    ":now": now.as_millisecond(), ":session": session, ":grown": grown,
                },
            )?;
            Ok(Some(Claim { key, lease: token.to_owned(), attempts: attempts + 1, project }))
        })
    }

    /// Keeps a lease for another `length`.
    pub fn heartbeat(
        &mut self,
        claim: &Claim,
        now: Timestamp,
        length: Duration,
    ) -> Result<(), CatalogError> {
        let n_kept = self.write(|transaction| {
            transaction.execute(
                "UPDATE job SET lease_until = :until WHERE lease = :lease AND state = 'running'
                   AND lease_until > :now AND session = (SELECT id FROM session WHERE key = :key)",
                named_params! {
                    ":until": millis_after(now, length), ":now": now.as_millisecond(),
                    ":lease": claim.lease, ":key": claim.key,
                },
            )
        })?;
        held(n_kept, claim)
    }

    /// Ends a claimed job, if its lease is still held; says where the job stands then.
    pub fn finish(
        &mut self,
        claim: &Claim,
        outcome: &Outcome,
        now: Timestamp,
        policy: &RetryPolicy,
    ) -> Result<JobState, CatalogError> {
        let (state, reason, run, wait) = match outcome {
            Outcome::Done { run } => (JobState::Done, None, Some(run), Duration::ZERO),
            Outcome::Empty { reason } => (JobState::Empty, Some(reason), None, Duration::ZERO),
            Outcome::Released => (JobState::Pending, None, None, Duration::ZERO),
            Outcome::Failed { reason } if claim.attempts >= policy.max_attempts => {
                (JobState::Dead, Some(reason), None, Duration::ZERO)
            }
            Outcome::Failed { reason } => {
                (JobState::Pending, Some(reason), None, policy.wait_after(claim.attempts))
            }
        };
        let refund = u32::from(*outcome == Outcome::Released);
        let ended = self.write(|transaction| {
            let n_ended = transaction.execute(
                "UPDATE job SET state = :state, reason = :reason, run = coalesce(:run, run), lease = NULL,
                   lease_until = NULL, not_before = :due, changed = :now, attempts = attempts - :refund
                 WHERE lease = :lease AND state = 'running' AND lease_until > :now
                   AND session = (SELECT id FROM session WHERE key = :key)",
                named_params! {
                    ":state": state.as_str(), ":reason": reason, ":run": run, ":refund": refund,
                    ":due": millis_after(now, wait), ":now": now.as_millisecond(),
                    ":lease": claim.lease, ":key": claim.key,
                },
            )?;
            if n_ended == 0 {
                return Ok(None);
            }
            // What was written to the trace after the claim was not part of the run.
            let n_again = transaction.execute(
                "UPDATE job SET state = 'pending', reason = 'the trace grew during its run', attempts = 0
                 WHERE state IN ('done', 'empty') AND session = (
                   SELECT id FROM session WHERE key = :key AND grown > job.claimed)",
                named_params! { ":key": claim.key },
            )?;
            Ok(Some(if n_again == 0 { state } else { JobState::Pending }))
        })?;
        ended.ok_or_else(|| CatalogError::LeaseLost { id: claim.key.clone() })
    }

    /// Gives back the jobs that are held under a token beginning with `prefix`: for whoever knows that their
    /// holders are gone, and need not wait for their leases to end.
    pub fn give_back(&mut self, prefix: &str, now: Timestamp) -> Result<usize, CatalogError> {
        self.write(|transaction| {
            transaction.execute(
                "UPDATE job SET lease = NULL, lease_until = NULL, changed = ?1, reason = 'the worker went away',
                   state = CASE WHEN attempts < ?2 THEN 'pending' ELSE 'dead' END
                 WHERE state = 'running' AND substr(lease, 1, length(?3)) = ?3",
                (now.as_millisecond(), MAX_CLAIMS, prefix),
            )
        })
    }

    /// Gives back the jobs of workers that went away without a word.
    fn expire(&mut self, now: Timestamp) -> Result<(), CatalogError> {
        let expired: bool = self.connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM job WHERE state = 'running' AND lease_until <= ?1)",
            [now.as_millisecond()],
            |row| row.get(0),
        )?;
        if !expired {
            return Ok(());
        }
        self.write(|transaction| {
            transaction.execute(
                "UPDATE job SET lease = NULL, lease_until = NULL, changed = ?1, reason = 'the worker went away',
                   state = CASE WHEN attempts < ?2 THEN 'pending' ELSE 'dead' END
                 WHERE state = 'running' AND lease_until <= ?1",
                (now.as_millisecond(), MAX_CLAIMS),
            )
        })?;
        Ok(())
    }

    /// The jobs, latest change first.
    pub fn jobs(&self, filter: &QueueFilter) -> Result<Vec<Job>, CatalogError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT s.key, j.state, j.reason, j.attempts, j.not_before, j.run, j.changed, s.agent, s.title, s.project
             FROM job j JOIN session s ON s.id = j.session
             WHERE (:state IS NULL OR j.state = :state) AND (:project IS NULL OR s.project = :project)
             ORDER BY j.changed DESC, s.last_activity DESC, s.id LIMIT :limit",
        )?;
        let limit = filter.limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(-1);
        let rows = statement.query_map(
            named_params! {
                ":state": filter.state.map(JobState::as_str), ":project": filter.project, ":limit": limit,
            },
            job_of,
        )?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Puts jobs back into the queue as if they had never been tried; returns their keys.
    pub fn retry(&mut self, keys: &[String], now: Timestamp) -> Result<Vec<String>, CatalogError> {
        self.set_state(keys, JobState::Pending, None, now)
    }

    /// Takes jobs out of the queue; returns their keys.
    pub fn skip(
        &mut self,
        keys: &[String],
        reason: &str,
        now: Timestamp,
    ) -> Result<Vec<String>, CatalogError> {
        self.set_state(keys, JobState::Skipped, Some(reason), now)
    }

    fn set_state(
        &mut self,
        keys: &[String],
        state: JobState,
        reason: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<String>, CatalogError> {
        self.write(|transaction| {
            let mut changed = Vec::new();
            for key in keys {
                // A running job is its worker's.
                let n_changed = transaction.execute(
                    "UPDATE job SET state = :state, reason = :reason, attempts = 0, not_before = 0, changed = :now
                     WHERE state != 'running' AND session = (SELECT id FROM session WHERE key = :key)",
                    named_params! {
                        ":state": state.as_str(), ":reason": reason, ":now": now.as_millisecond(), ":key": key,
                    },
                )?;
                if n_changed > 0 {
                    changed.push(key.clone());
                }
            }
            Ok(changed)
        })
    }
}

fn held(n_rows: usize, claim: &Claim) -> Result<(), CatalogError> {
    if n_rows == 1 { Ok(()) } else { Err(CatalogError::LeaseLost { id: claim.key.clone() }) }
}

fn millis_after(now: Timestamp, wait: Duration) -> i64 {
    now.as_millisecond().saturating_add(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX))
}

fn job_of(row: &Row<'_>) -> rusqlite::Result<Job> {
    let time = |millis: i64| Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH);
    let not_before: i64 = row.get(4)?;
    Ok(Job {
        key: row.get(0)?,
        state: JobState::from_name(&row.get::<_, String>(1)?).unwrap_or(JobState::Dead),
        reason: row.get(2)?,
        attempts: row.get(3)?,
        not_before: (not_before > 0).then(|| time(not_before)),
        run: row.get(5)?,
        changed: time(row.get(6)?),
        agent: row.get(7)?,
        title: row.get(8)?,
        project: row.get(9)?,
    })
}
