//! Opens the catalog's SQLite file and manages its schema. A damaged file is moved aside and
//! recreated, and the next refresh fills the new file from the transcripts. The queue history is
//! lost, so some sessions are processed again, but no memories are lost.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::{Connection, ErrorCode, OpenFlags, Params, Row};

use super::*;

use crate::transcript::Stamp;
use nacre_base::fs::{open_database, schema_version, write_transaction};

const FORMAT: i64 = 3;

const SCHEMA: &str = include_str!("catalog.sql");

/// Copies the tables that determine the queue state of sessions. A single transaction keeps them
/// consistent with each other. Messages do not affect the queue.
const COPY: &str = "BEGIN;
    INSERT INTO main.source SELECT * FROM kept.source;
    INSERT INTO main.session SELECT * FROM kept.session;
    INSERT INTO main.job SELECT * FROM kept.job;
    COMMIT;
    DETACH DATABASE kept;
    CREATE TRIGGER no_texts BEFORE INSERT ON message BEGIN SELECT RAISE(IGNORE); END;";

#[derive(Debug)]
pub struct Catalog {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

impl Catalog {
    /// Opens the catalog, creating the file if necessary. Its directory must exist.
    pub fn open(path: &Path) -> Result<Self> {
        match Self::open_once(path) {
            Err(CatalogError::Open { source, .. }) if is_damaged(&source) => {
                set_aside(path);
                Self::open_once(path)
            }
            opened => opened,
        }
    }

    fn open_once(path: &Path) -> Result<Self> {
        let failed = |source| CatalogError::open(path, source);
        let create_missing = OpenFlags::SQLITE_OPEN_CREATE;
        let mut connection = open_database(path, create_missing).map_err(failed)?;
        match schema_version(&connection).map_err(failed)? {
            FORMAT => {}
            0 => create(&mut connection).map_err(failed)?,
            found => return Err(CatalogError::Newer { path: path.to_owned(), found }),
        }
        Ok(Self { connection, path: path.to_owned() })
    }

    pub(super) fn write<T>(
        &mut self,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        Ok(write_transaction(&mut self.connection, work)?)
    }

    /// Returns an in-memory copy, so that dry runs execute the same code as real runs.
    pub fn rehearsal(&self) -> Result<Self> {
        let path = &self.path;
        let failed = |source| CatalogError::open(path, source);
        // Without `SQLITE_OPEN_CREATE`, a deleted catalog causes an error instead of an empty
        // database.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NOFOLLOW
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(":memory:", flags).map_err(failed)?;
        connection.execute_batch(SCHEMA).map_err(failed)?;
        connection
            .execute("ATTACH DATABASE ?1 AS kept", [path.to_string_lossy()])
            .map_err(failed)?;
        connection.execute_batch(COPY).map_err(failed)?;
        Ok(Self { connection, path: PathBuf::new() })
    }
}

fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    write_transaction(connection, |transaction| {
        if schema_version(transaction)? == 0 {
            transaction.execute_batch(SCHEMA)?;
            transaction.pragma_update(None, "user_version", FORMAT)?;
        }
        Ok(())
    })
}

fn is_damaged(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

/// Renames a damaged database and its log files, so that they can be inspected later.
#[expect(clippy::disallowed_methods, reason = "the database manages its own files")]
fn set_aside(path: &Path) {
    for tail in ["", "-wal", "-shm"] {
        let from = PathBuf::from(format!("{}{tail}", path.display()));
        let _ = std::fs::rename(&from, format!("{}.damaged{tail}", path.display()));
    }
}

/// Serializes a value of a type for which serialization cannot fail.
pub(super) fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

pub(super) fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

pub(super) fn columns(stamp: Stamp) -> [i64; 3] {
    let modified =
        stamp.modified.map_or(0, |modified| i64::try_from(modified.as_nanosecond()).unwrap_or(0));
    [i64::try_from(stamp.size).unwrap_or(i64::MAX), modified, stamp.inode.cast_signed()]
}

pub(super) fn stamp_of(size: i64, modified: i64, inode: i64) -> Stamp {
    Stamp {
        size: size.unsigned_abs(),
        modified: Timestamp::from_nanosecond(i128::from(modified)).ok(),
        inode: inode.cast_unsigned(),
    }
}

pub(super) fn time_of(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Converts an optional limit for SQLite, which treats a negative limit as no limit.
pub(super) fn limit_of(limit: Option<usize>) -> i64 {
    limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(-1)
}

pub(super) fn rows<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map(params, read)?.collect()
}
