//! Sessions into the queue, a batch in one transaction.

use nacre_core::catalog::{Job, OfferedSession};

use crate::database::{Database, DatabaseError, plain};

/// Rows of one statement.
const MAX_BATCH: usize = 1000;

/// What is offered, as a table. Columns are cast once, here.
const OFFERED: &str = "unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::text[],
  $9::text[], $10::bigint[], $11::bigint[]) WITH ORDINALITY
  AS new (key, agent, session_id, title, project, last_activity, grown, state, reason, not_before, offered, nth)";

/// Whether an offered session changes where the one that is there stands. One that is not ready to be worked on does so only where it has
/// grown, and this server knows no less of its project than the one that offered it before.
const MOVES: &str = "job.state <> 'running' AND NOT (job.state = 'skipped' AND job.reason = 'by hand') AND CASE new.state
  WHEN 'pending' THEN new.grown > job.grown OR (job.state IN ('skipped', 'dead') AND new.offered > job.offered)
  ELSE new.grown > job.grown AND new.project IS NOT DISTINCT FROM job.project END";

/// Offers sessions; returns how many are new or wait again.
pub(super) fn offer(
    database: &Database,
    reader: Option<&str>,
    sessions: &[OfferedSession],
) -> Result<u64, DatabaseError> {
    let mut n_waiting = 0;
    for batch in sessions.chunks(MAX_BATCH) {
        n_waiting += offer_batch(database, reader, &Columns::new(batch))?;
    }
    Ok(n_waiting)
}

/// A batch, column by column.
#[derive(Default)]
struct Columns {
    keys: Vec<String>,
    agents: Vec<String>,
    session_ids: Vec<String>,
    titles: Vec<Option<String>>,
    projects: Vec<Option<String>>,
    last_activities: Vec<Option<i64>>,
    growths: Vec<i64>,
    states: Vec<&'static str>,
    reasons: Vec<Option<String>>,
    due: Vec<i64>,
    decided: Vec<i64>,
}

impl Columns {
    fn new(batch: &[OfferedSession]) -> Self {
        let mut columns = Self::default();
        for session in batch {
            columns.keys.push(plain(&session.key));
            columns.agents.push(plain(&session.agent));
            columns.session_ids.push(plain(&session.session_id));
            columns.titles.push(session.title.as_deref().map(plain));
            columns.projects.push(session.project.as_deref().map(plain));
            columns.last_activities.push(session.last_activity_ms);
            columns.growths.push(session.grown);
            columns.states.push(session.state.as_str());
            columns.reasons.push(session.reason.as_deref().map(plain));
            columns.due.push(session.not_before_ms);
            columns.decided.push(session.decided_ms);
        }
        columns
    }
}

fn offer_batch(
    database: &Database,
    reader: Option<&str>,
    columns: &Columns,
) -> Result<u64, DatabaseError> {
    let Columns { keys, agents, session_ids, titles, projects, .. } = columns;
    let Columns { last_activities, growths, states, reasons, due, decided, .. } = columns;
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
    database.run(async |client| {
        let transaction = client.transaction().await?;
        // Offers of two servers would take their rows in different orders.
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        let mut n_waiting = 0;
        for (sql, counts) in [(&moved, true), (&known, false), (&added, true)] {
            let n_rows = transaction
                .execute(
                    sql,
                    &[
                        keys,
                        agents,
                        session_ids,
                        titles,
                        projects,
                        last_activities,
                        growths,
                        states,
                        reasons,
                        due,
                        decided,
                    ],
                )
                .await?;
            n_waiting += if counts { n_rows } else { 0 };
        }
        if let Some(reader) = reader {
            let readers = "INSERT INTO job_reader (server, job) SELECT $1, place FROM job WHERE key = ANY ($2)
                           ON CONFLICT DO NOTHING";
            transaction.execute(readers, &[&reader, keys]).await?;
        }
        transaction.commit().await?;
        Ok(n_waiting)
    })
}

/// Takes over the runs that worked on sessions.
pub(super) fn take_runs(database: &Database, jobs: &[Job]) -> Result<(), DatabaseError> {
    let (keys, runs): (Vec<String>, Vec<String>) =
        jobs.iter().filter_map(|job| Some((plain(&job.key), plain(job.run.as_deref()?)))).unzip();
    database.run(async |client| {
        let sql =
            "UPDATE job SET run = new.run FROM unnest($1::text[], $2::text[]) AS new (key, run)
                   WHERE job.key = new.key AND job.run IS NULL";
        client.execute(sql, &[&keys, &runs]).await?;
        Ok(())
    })
}

/// Takes a session from what a server can read.
pub(super) fn cannot_read(
    database: &Database,
    reader: &str,
    key: &str,
) -> Result<(), DatabaseError> {
    database.run(async |client| {
        let sql = "DELETE FROM job_reader WHERE server = $1 AND job = (SELECT place FROM job WHERE key = $2)";
        client.execute(sql, &[&reader, &key]).await?;
        Ok(())
    })
}

/// Held while sessions are offered.
const LOCK: i64 = 0x6e61_6372_6502;
