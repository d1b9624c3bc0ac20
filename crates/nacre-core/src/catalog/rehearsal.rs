//! A copy of the catalog in memory, on which a dry run does what a sync would do.
//!
//! It refreshes, admits and claims with the same code, and the file stays as it is. What was said is not copied and not
//! kept: no decision about the queue depends on it.

use std::path::PathBuf;

use rusqlite::{Connection, OpenFlags};

use super::db::{Catalog, SCHEMA};
use super::error::CatalogError;

/// What decides where a session stands in the queue.
const TABLES: &[&str] = &["source", "session", "job"];

const NO_TEXTS: &str =
    "CREATE TRIGGER no_texts BEFORE INSERT ON message BEGIN SELECT RAISE(IGNORE); END;";

impl Catalog {
    /// The catalog as it is now, in memory.
    pub fn rehearsal(&self) -> Result<Self, CatalogError> {
        let path = self.path();
        let failed = |source| CatalogError::open(path, source);
        // Without the flag to create it, a catalog that went away is an error and not an empty one.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NOFOLLOW
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(":memory:", flags).map_err(failed)?;
        connection.execute_batch(SCHEMA).map_err(failed)?;
        connection
            .execute("ATTACH DATABASE ?1 AS kept", [path.to_string_lossy()])
            .map_err(failed)?;
        // One transaction: all tables are of the same moment.
        let mut copy = String::from("BEGIN;");
        for table in TABLES {
            let columns = columns(&connection, table).map_err(failed)?;
            copy.push_str(&format!(
                "INSERT INTO main.{table} ({columns}) SELECT {columns} FROM kept.{table};"
            ));
        }
        copy.push_str("COMMIT; DETACH DATABASE kept;");
        connection.execute_batch(&copy).map_err(failed)?;
        connection.execute_batch(NO_TEXTS).map_err(failed)?;
        Ok(Self::of(connection, PathBuf::new()))
    }
}

/// The columns of a table by name: a file of an older format may have them in another order.
fn columns(connection: &Connection, table: &str) -> rusqlite::Result<String> {
    connection.query_row(
        "SELECT group_concat(name) FROM pragma_table_info(?1, 'main')",
        [table],
        |row| row.get(0),
    )
}
