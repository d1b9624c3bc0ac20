//! What services did and when.

use jiff::Timestamp;
use nacre_core::catalog::ServiceRun;

use crate::database::{Database, DatabaseError, moment, plain};

/// Records that a run began.
pub(super) fn begin(
    database: &Database,
    id: &str,
    what: &str,
    now: Timestamp,
) -> Result<(), DatabaseError> {
    let (id, what, now_ms) = (plain(id), plain(what), now.as_millisecond());
    database.run(async |client| {
        let sql = "
INSERT INTO service_run (id, what, started) VALUES ($1, $2, $3)
ON CONFLICT (id) DO UPDATE SET what = $2, started = $3, finished = NULL, outcome = NULL";
        client.execute(sql, &[&id, &what, &now_ms]).await?;
        Ok(())
    })
}

/// Records how a run ended.
pub(super) fn end(
    database: &Database,
    id: &str,
    outcome: &str,
    now: Timestamp,
) -> Result<(), DatabaseError> {
    let (id, outcome, now_ms) = (plain(id), plain(outcome), now.as_millisecond());
    database.run(async |client| {
        let sql = "UPDATE service_run SET finished = $2, outcome = $3 WHERE id = $1";
        client.execute(sql, &[&id, &now_ms, &outcome]).await?;
        Ok(())
    })
}

/// The latest run of a service.
pub(super) fn last(database: &Database, what: &str) -> Result<Option<ServiceRun>, DatabaseError> {
    let what = plain(what);
    let row = database.run(async |client| {
        let sql = "
SELECT id, what, started, finished, outcome FROM service_run WHERE what = $1 ORDER BY started DESC, id DESC LIMIT 1";
        Ok(client.query_opt(sql, &[&what]).await?)
    })?;
    Ok(row.map(|row| ServiceRun {
        id: row.get(0),
        what: row.get(1),
        started: moment(row.get(2)),
        finished: row.get::<_, Option<i64>>(3).map(moment),
        outcome: row.get(4),
    }))
}
