//! The schema, step by step.
//!
//! `nacre.migration` says which steps were taken. A step is never changed once released; the next one is added behind it. All of them
//! are taken in one transaction under a lock, so several servers may start at once.

use tokio_postgres::Client;

use super::error::DatabaseError;
use super::pool::Database;

/// The oldest version of the extension `vector` whose index goes on looking when a filter leaves too little.
pub const MIN_VECTOR: &str = "0.8.0";

/// Held while the schema changes.
const LOCK: i64 = 0x6e61_6372_6501;

/// A step of the schema.
struct Step {
    name: &'static str,
    sql: &'static str,
}

const STEPS: &[Step] = &[
    Step { name: "queue", sql: include_str!("steps/1-queue.sql") },
    Step { name: "search", sql: include_str!("steps/2-search.sql") },
    Step { name: "state", sql: include_str!("steps/3-state.sql") },
    Step { name: "readers", sql: include_str!("steps/4-readers.sql") },
    Step { name: "people", sql: include_str!("steps/5-people.sql") },
    Step { name: "audience", sql: include_str!("steps/6-audience.sql") },
];

/// The number of the last step.
pub const NEWEST: i32 = STEPS.len() as i32;

/// What a migration did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migration {
    pub from: i32,
    pub to: i32,
    /// The names of the steps that were taken.
    pub steps: Vec<&'static str>,
}

impl Database {
    /// Takes the steps of the schema that were not taken yet.
    pub fn migrate(&self) -> Result<Migration, DatabaseError> {
        self.run(async |client| {
            let transaction = client.transaction().await?;
            transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
            transaction
                .batch_execute(
                    "CREATE SCHEMA IF NOT EXISTS nacre;
                     CREATE EXTENSION IF NOT EXISTS vector;
                     CREATE TABLE IF NOT EXISTS nacre.migration (
                       version integer PRIMARY KEY, name text NOT NULL, taken timestamptz NOT NULL DEFAULT now());",
                )
                .await?;
            let row = transaction
                .query_one(
                    "SELECT (SELECT coalesce(max(version), 0) FROM nacre.migration),
                       (SELECT extversion FROM pg_extension WHERE extname = 'vector')",
                    &[],
                )
                .await?;
            let (from, vector): (i32, String) = (row.get(0), row.get(1));
            check(from, &vector)?;
            let mut steps = Vec::new();
            for (version, step) in (1..).zip(STEPS).filter(|(version, _)| *version > from) {
                transaction.batch_execute(step.sql).await?;
                let taken = "INSERT INTO nacre.migration (version, name) VALUES ($1, $2)";
                transaction.execute(taken, &[&version, &step.name]).await?;
                steps.push(step.name);
            }
            transaction.commit().await?;
            Ok(Migration { from, to: NEWEST, steps })
        })
    }

    /// The number of the last step that was taken; 0 where there is no schema.
    pub fn schema_version(&self) -> Result<i32, DatabaseError> {
        self.run(async |client| version(client).await)
    }

    /// Looks whether the schema is the one that this version works with.
    pub fn check_schema(&self) -> Result<(), DatabaseError> {
        let found = self.schema_version()?;
        if found > NEWEST {
            return Err(DatabaseError::Newer { found });
        }
        if found < NEWEST {
            return Err(DatabaseError::Older { found, needed: NEWEST });
        }
        Ok(())
    }
}

async fn version(client: &Client) -> Result<i32, DatabaseError> {
    let exists: bool =
        client.query_one("SELECT to_regclass('nacre.migration') IS NOT NULL", &[]).await?.get(0);
    if !exists {
        return Ok(0);
    }
    let newest = "SELECT coalesce(max(version), 0) FROM nacre.migration";
    Ok(client.query_one(newest, &[]).await?.get(0))
}

fn check(found: i32, vector: &str) -> Result<(), DatabaseError> {
    if found > NEWEST {
        return Err(DatabaseError::Newer { found });
    }
    if numbers(vector) < numbers(MIN_VECTOR) {
        return Err(DatabaseError::Extension { needed: MIN_VECTOR, found: vector.to_owned() });
    }
    Ok(())
}

/// The parts of a version such as `0.8.5`.
fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(check(NEWEST, "0.10.1").is_ok());
        assert!(matches!(check(0, "0.7.4"), Err(DatabaseError::Extension { .. })));
        assert!(matches!(check(NEWEST + 1, "0.8.5"), Err(DatabaseError::Newer { .. })));
    }
}
