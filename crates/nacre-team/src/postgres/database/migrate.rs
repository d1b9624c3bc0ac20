//! Migrates the schema. All pending steps run in one transaction that holds a lock, so that several
//! servers can start at the same time.

use super::error::{DatabaseError, Result};
use super::pool::Database;

/// The first version with iterative index scans, which selective filters need.
pub const MIN_VECTOR: &str = "0.8.0";

const LOCK: i64 = 0x6e61_6372_6501;

/// Each step's name and SQL statements. Append new steps; never change released ones.
const STEPS: &[(&str, &str)] = &[
    ("queue", include_str!("steps/1-queue.sql")),
    ("search", include_str!("steps/2-search.sql")),
    ("state", include_str!("steps/3-state.sql")),
    ("readers", include_str!("steps/4-readers.sql")),
    ("people", include_str!("steps/5-people.sql")),
    ("audience", include_str!("steps/6-audience.sql")),
];

pub const NEWEST: i32 = STEPS.len() as i32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migration {
    pub from: i32,
    pub to: i32,
    pub steps: Vec<&'static str>,
}

impl Database {
    pub fn migrate(&self) -> Result<Migration> {
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
            for (version, (name, sql)) in (1..).zip(STEPS).filter(|(version, _)| *version > from) {
                transaction.batch_execute(sql).await?;
                let taken = "INSERT INTO nacre.migration (version, name) VALUES ($1, $2)";
                transaction.execute(taken, &[&version, name]).await?;
                steps.push(*name);
            }
            transaction.commit().await?;
            Ok(Migration { from, to: NEWEST, steps })
        })
    }

    /// Returns the schema version, or 0 if there is no schema.
    pub fn schema_version(&self) -> Result<i32> {
        self.run(async |client| {
            let exists = "SELECT to_regclass('nacre.migration') IS NOT NULL";
            if !client.query_one(exists, &[]).await?.get::<_, bool>(0) {
                return Ok(0);
            }
            let newest = "SELECT coalesce(max(version), 0) FROM nacre.migration";
            Ok(client.query_one(newest, &[]).await?.get(0))
        })
    }

    pub fn check_schema(&self) -> Result<()> {
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

fn check(found: i32, vector: &str) -> Result<()> {
    if found > NEWEST {
        return Err(DatabaseError::Newer { found });
    }
    if numbers(vector) < numbers(MIN_VECTOR) {
        return Err(DatabaseError::Extension { needed: MIN_VECTOR, found: vector.to_owned() });
    }
    Ok(())
}

/// Parses a version such as `0.8.5` into its parts.
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
