//! One machine's persistent queue. A worker whose lease has expired can no longer change the job.
//! Only one job per project runs at a time, because concurrent runs could change the same memories.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, named_params};

use super::*;

/// Maximum number of claims that end without an outcome. A session that reaches this limit has
/// probably crashed its workers, and is not claimed again.
const MAX_CLAIMS: u32 = 10;

impl JobQueue for Catalog {
    fn claim(
        &mut self,
        token: &str,
        now: Timestamp,
        length: Duration,
        order: ClaimOrder,
    ) -> Result<Option<Claim>> {
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

    fn heartbeat(&mut self, claim: &Claim, now: Timestamp, length: Duration) -> Result<()> {
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
        let lost = || CatalogError::LeaseLost { id: claim.key.clone() };
        (n_kept == 1).then_some(()).ok_or_else(lost)
    }

    fn finish(&mut self, claim: &Claim, outcome: &Outcome, now: Timestamp) -> Result<JobState> {
        let (state, reason, run, wait) = match outcome {
            Outcome::Done { run } => (JobState::Done, None, Some(run), Duration::ZERO),
            Outcome::Empty { reason } => (JobState::Empty, Some(reason), None, Duration::ZERO),
            Outcome::Released => (JobState::Pending, None, None, Duration::ZERO),
            Outcome::Failed { reason } if claim.attempts >= MAX_ATTEMPTS => {
                (JobState::Dead, Some(reason), None, Duration::ZERO)
            }
            Outcome::Failed { reason } => {
                (JobState::Pending, Some(reason), None, wait_after(claim.attempts))
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
            // The run missed data that was written to the transcript after the claim.
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

    fn give_back(&mut self, prefix: &str, now: Timestamp) -> Result<usize> {
        self.end_leases(prefix, i64::MAX, now)
    }

    fn jobs(&self, filter: &QueueFilter) -> Result<Vec<QueueJob>> {
        let sql =
            "SELECT s.key, j.state, j.reason, j.attempts, j.not_before, j.run, j.changed, s.agent, s.title, s.project
             FROM job j JOIN session s ON s.id = j.session
             WHERE (:state IS NULL OR j.state = :state) AND (:project IS NULL OR s.project = :project)
             ORDER BY j.changed DESC, s.last_activity DESC, s.id LIMIT :limit";
        let params = named_params! {
            ":state": filter.state.map(JobState::as_str), ":project": filter.project,
            ":limit": limit_of(filter.limit),
        };
        Ok(rows(&self.connection, sql, params, job_of)?)
    }

    fn retry(&mut self, keys: &[String], now: Timestamp) -> Result<Vec<String>> {
        self.set_state(keys, JobState::Pending, None, now)
    }

    fn skip(&mut self, keys: &[String], reason: &str, now: Timestamp) -> Result<Vec<String>> {
        self.set_state(keys, JobState::Skipped, Some(reason), now)
    }

    fn begin_run(&mut self, id: &str, what: &str, now: Timestamp) -> Result<()> {
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO service_run (id, what, started) VALUES (?1, ?2, ?3)
                 ON CONFLICT (id) DO UPDATE SET what = ?2, started = ?3, finished = NULL, outcome = NULL",
                (id, what, now.as_millisecond()),
            )
        })
        .map(drop)
    }

    fn end_run(&mut self, id: &str, outcome: &str, now: Timestamp) -> Result<()> {
        self.write(|transaction| {
            transaction.execute(
                "UPDATE service_run SET finished = ?2, outcome = ?3 WHERE id = ?1",
                (id, now.as_millisecond(), outcome),
            )
        })
        .map(drop)
    }

    fn last_run(&self, what: &str) -> Result<Option<ServiceRun>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, finished, outcome FROM service_run WHERE what = ?1
             ORDER BY started DESC, id DESC LIMIT 1",
        )?;
        let run = statement.query_row([what], |row| {
            Ok(ServiceRun {
                id: row.get(0)?,
                finished: row.get::<_, Option<i64>>(1)?.map(time_of),
                outcome: row.get(2)?,
            })
        });
        Ok(run.optional()?)
    }

    fn counts(&self) -> Result<BTreeMap<(Option<String>, String), StateCounts>> {
        let mut counts: BTreeMap<(Option<String>, String), StateCounts> = BTreeMap::new();
        // A transaction keeps both counts consistent while other processes refresh the catalog.
        let view = self.connection.unchecked_transaction()?;
        let sql = "SELECT project, agent, count(*) FROM session GROUP BY project, agent";
        let seen = rows(&view, sql, [], |row| {
            Ok(((row.get(0)?, row.get(1)?), row.get::<_, i64>(2)?.unsigned_abs()))
        })?;
        for (key, n_seen) in seen {
            counts.entry(key).or_default().seen = n_seen;
        }
        let sql = "SELECT s.project, s.agent, j.state, CASE
               WHEN j.state != 'skipped' THEN NULL
               WHEN substr(j.reason, 1, length(?1)) = ?1 THEN ?1 || 'another'
               ELSE coalesce(j.reason, '') END, count(*)
             FROM job j JOIN session s ON s.id = j.session GROUP BY 1, 2, 3, 4";
        rows(&view, sql, [SAME], |row| {
            let n_found = row.get::<_, i64>(4)?.unsigned_abs();
            let entry = counts.entry((row.get(0)?, row.get(1)?)).or_default();
            if let Some(state) = JobState::from_name(&row.get::<_, String>(2)?) {
                *entry.by_state.entry(state).or_default() += n_found;
            }
            if let Some(reason) = row.get(3)? {
                *entry.skipped.entry(reason).or_default() += n_found;
            }
            Ok(())
        })?;
        Ok(counts)
    }
}

impl Catalog {
    fn expire(&mut self, now: Timestamp) -> Result<()> {
        let expired: bool = self.connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM job WHERE state = 'running' AND lease_until <= ?1)",
            [now.as_millisecond()],
            |row| row.get(0),
        )?;
        if !expired {
            return Ok(());
        }
        self.end_leases("", now.as_millisecond(), now)?;
        Ok(())
    }

    /// Ends the leases whose token begins with `prefix` and that expire no later than `until`.
    fn end_leases(&mut self, prefix: &str, until: i64, now: Timestamp) -> Result<usize> {
        let sql =
            "UPDATE job SET lease = NULL, lease_until = NULL, changed = ?1, reason = 'the worker went away',
               state = CASE WHEN attempts < ?2 THEN 'pending' ELSE 'dead' END
             WHERE state = 'running' AND substr(lease, 1, length(?3)) = ?3 AND lease_until <= ?4";
        let values = (now.as_millisecond(), MAX_CLAIMS, prefix, until);
        self.write(|transaction| transaction.execute(sql, values))
    }

    fn set_state(
        &mut self,
        keys: &[String],
        state: JobState,
        reason: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<String>> {
        self.write(|transaction| {
            let mut changed = Vec::new();
            for key in keys {
                // A running job belongs to its worker and is left unchanged.
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

fn millis_after(now: Timestamp, wait: Duration) -> i64 {
    now.as_millisecond().saturating_add(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX))
}

fn job_of(row: &Row) -> rusqlite::Result<QueueJob> {
    let not_before: i64 = row.get(4)?;
    Ok(QueueJob {
        id: row.get(0)?,
        state: JobState::from_name(&row.get::<_, String>(1)?).unwrap_or(JobState::Dead),
        reason: row.get(2)?,
        attempts: row.get(3)?,
        not_before: (not_before > 0).then(|| time_of(not_before).to_string()),
        run: row.get(5)?,
        changed: time_of(row.get(6)?).to_string(),
        agent: row.get(7)?,
        title: row.get(8)?,
        project: row.get(9)?,
    })
}
