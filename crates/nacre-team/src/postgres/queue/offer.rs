//! Offers sessions to the shared queue, in one transaction per batch.

use nacre_traces::catalog::{CatalogError, OfferedSession, QueueJob};
use serde_json::{Value, json};

use super::SharedQueue;
use crate::postgres::database::{Result, plain};

/// Maximum number of rows per statement.
const MAX_BATCH: usize = 1000;

const LOCK: i64 = 0x6e61_6372_6502;

const OFFERED: &str = "ROWS FROM (json_to_recordset($1::text::json) AS (key text, agent text, session_id text, title text,
  project text, last_activity bigint, grown bigint, state text, reason text, not_before bigint, offered bigint)) WITH ORDINALITY
  AS new (key, agent, session_id, title, project, last_activity, grown, state, reason, not_before, offered, nth)";

/// SQL condition for offered sessions that change the state of their existing job. A session that
/// is not ready changes this state only if it has grown and the previous offer had the same
/// project.
const MOVES: &str = "job.state <> 'running' AND NOT (job.state = 'skipped' AND job.reason = 'by hand') AND CASE new.state
  WHEN 'pending' THEN new.grown > job.grown OR (job.state IN ('skipped', 'dead') AND new.offered > job.offered)
  ELSE new.grown > job.grown AND new.project IS NOT DISTINCT FROM job.project END";

impl SharedQueue {
    /// Queues new sessions, and requeues sessions that have grown. Returns the number of rows
    /// changed.
    ///
    /// Running jobs and jobs that the user skipped are not changed. An unknown project never
    /// replaces a known one.
    pub fn offer(&mut self, sessions: &[OfferedSession]) -> Result<u64, CatalogError> {
        let mut n_queued = 0;
        for batch in sessions.chunks(MAX_BATCH) {
            n_queued += self.offer_batch(batch)?;
        }
        Ok(n_queued)
    }

    fn offer_batch(&self, batch: &[OfferedSession]) -> Result<u64> {
        let keys: Vec<String> = batch.iter().map(|session| plain(&session.key)).collect();
        let rows = Value::from_iter(batch.iter().map(row)).to_string();
        let moved = format!(
            "UPDATE job SET state = new.state, reason = new.reason, attempts = 0, not_before = new.not_before, changed = new.offered,
               project = new.project FROM {OFFERED} WHERE job.key = new.key AND {MOVES}"
        );
        let known = format!(
            "UPDATE job SET title = new.title, last_activity = new.last_activity, session_id = new.session_id,
               grown = greatest(job.grown, new.grown), offered = greatest(job.offered, new.offered)
             FROM {OFFERED} WHERE job.key = new.key
               AND (new.grown > job.grown OR new.offered > job.offered OR job.title IS DISTINCT FROM new.title)"
        );
        let added = format!(
            "INSERT INTO job (key, agent, session_id, title, project, last_activity, grown, state, reason, not_before, changed,
               offered)
             SELECT key, agent, session_id, title, project, last_activity, grown, state, reason, not_before, offered, offered
             FROM {OFFERED} ORDER BY nth ON CONFLICT (key) DO NOTHING"
        );
        self.database.run(async |client| {
            let transaction = client.transaction().await?;
            // Without this lock, two servers could lock the rows in different orders and deadlock.
            transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
            let n_moved = transaction.execute(&moved, &[&rows]).await?;
            transaction.execute(&known, &[&rows]).await?;
            let n_added = transaction.execute(&added, &[&rows]).await?;
            if let Some(reader) = &self.reader {
                let readers = "INSERT INTO job_reader (server, job) SELECT $1, place FROM job WHERE key = ANY ($2)
                               ON CONFLICT DO NOTHING";
                transaction.execute(readers, &[reader, &keys]).await?;
            }
            transaction.commit().await?;
            Ok(n_moved + n_added)
        })
    }

    /// Records runs. Runs that are already recorded are not changed.
    pub fn take_runs(&mut self, jobs: &[QueueJob]) -> Result<(), CatalogError> {
        let runs = jobs.iter().filter_map(|job| Some((plain(&job.id), plain(job.run.as_deref()?))));
        let (keys, runs): (Vec<String>, Vec<String>) = runs.unzip();
        let sql =
            "UPDATE job SET run = new.run FROM unnest($1::text[], $2::text[]) AS new (key, run)
                   WHERE job.key = new.key AND job.run IS NULL";
        self.database.execute(sql, &[&keys, &runs])?;
        Ok(())
    }

    /// Prevents this server from claiming the session again until it is offered again.
    pub fn cannot_read(&mut self, key: &str) -> Result<(), CatalogError> {
        let Some(reader) = &self.reader else { return Ok(()) };
        let sql = "DELETE FROM job_reader WHERE server = $1 AND job = (SELECT place FROM job WHERE key = $2)";
        self.database.execute(sql, &[reader, &key])?;
        Ok(())
    }
}

fn row(session: &OfferedSession) -> Value {
    json!({
        "key": plain(&session.key),
        "agent": plain(&session.agent),
        "session_id": plain(&session.session_id),
        "title": session.title.as_deref().map(plain),
        "project": session.project.as_deref().map(plain),
        "last_activity": session.last_activity_ms,
        "grown": session.grown,
        "state": session.state.as_str(),
        "reason": session.reason.as_deref().map(plain),
        "not_before": session.not_before_ms,
        "offered": session.decided_ms,
    })
}
