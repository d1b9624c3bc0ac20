//! What services did and when: one row a run.

use jiff::Timestamp;
use rusqlite::OptionalExtension as _;

use super::db::Catalog;
use super::error::CatalogError;

/// One run of a service such as `sync`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceRun {
    pub id: String,
    pub what: String,
    pub started: Timestamp,
    /// `None` while it runs, or when it never came to its end.
    pub finished: Option<Timestamp>,
    pub outcome: Option<String>,
}

impl Catalog {
    /// Records that a run began; an id that was used before is begun again.
    pub fn begin_run(&mut self, id: &str, what: &str, now: Timestamp) -> Result<(), CatalogError> {
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO service_run (id, what, started) VALUES (?1, ?2, ?3)
                 ON CONFLICT (id) DO UPDATE SET what = ?2, started = ?3, finished = NULL, outcome = NULL",
                (id, what, now.as_millisecond()),
            )
        })?;
        Ok(())
    }

    /// Records how a run ended.
    pub fn end_run(&mut self, id: &str, outcome: &str, now: Timestamp) -> Result<(), CatalogError> {
        self.write(|transaction| {
            transaction.execute(
                "UPDATE service_run SET finished = ?2, outcome = ?3 WHERE id = ?1",
                (id, now.as_millisecond(), outcome),
            )
        })?;
        Ok(())
    }

    /// The latest run of a service.
    pub fn last_run(&self, what: &str) -> Result<Option<ServiceRun>, CatalogError> {
        let time =
            |millis: i64| Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH);
        let mut statement = self.connection.prepare_cached(
            "SELECT id, what, started, finished, outcome FROM service_run WHERE what = ?1
             ORDER BY started DESC, id DESC LIMIT 1",
        )?;
        let run = statement.query_row([what], |row| {
            Ok(ServiceRun {
                id: row.get(0)?,
                what: row.get(1)?,
                started: time(row.get(2)?),
                finished: row.get::<_, Option<i64>>(3)?.map(time),
                outcome: row.get(4)?,
            })
        });
        Ok(run.optional()?)
    }
}
