//! The catalog's file: schema, version and how it is opened.
//!
//! A file that SQLite cannot read is moved aside and made anew: sources and sessions come back with
//! the next refresh. The queue's history is lost then, which costs runs that find nothing to do, and
//! no memory.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::error::CatalogError;

/// Grows with the schema.
const FORMAT: i64 = 3;

/// How long one process waits for another's transaction; each is short.
const BUSY_TIMEOUT: Duration = Duration::from_secs(20);

pub(super) const SCHEMA: &str = "
CREATE TABLE source (
  id INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  path TEXT NOT NULL,
  size INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  version INTEGER NOT NULL,
  problem TEXT,
  UNIQUE (agent, path)
) STRICT;
CREATE TABLE session (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  source INTEGER NOT NULL REFERENCES source (id),
  inner_id TEXT NOT NULL,
  revision TEXT,
  watermark TEXT,
  agent TEXT NOT NULL,
  session_id TEXT NOT NULL,
  title TEXT,
  cwd TEXT,
  project TEXT,
  started INTEGER,
  last_activity INTEGER,
  grown INTEGER NOT NULL,
  facts TEXT NOT NULL,
  report TEXT NOT NULL,
  said INTEGER NOT NULL DEFAULT 0,
  words_read INTEGER NOT NULL DEFAULT 0,
  words_kept INTEGER NOT NULL DEFAULT 0,
  UNIQUE (source, inner_id)
) STRICT;
CREATE INDEX session_by_activity ON session (last_activity DESC);
CREATE INDEX session_by_name ON session (agent, session_id);
CREATE INDEX session_unplaced ON session (cwd) WHERE project IS NULL AND cwd IS NOT NULL;
CREATE INDEX session_by_words ON session (project, words_read, words_kept);
CREATE TABLE job (
  session INTEGER PRIMARY KEY REFERENCES session (id),
  state TEXT NOT NULL,
  reason TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  not_before INTEGER NOT NULL DEFAULT 0,
  lease TEXT,
  lease_until INTEGER,
  claimed INTEGER,
  run TEXT,
  changed INTEGER NOT NULL
) STRICT;
CREATE INDEX job_by_state ON job (state, not_before);
CREATE TABLE service_run (
  id TEXT PRIMARY KEY,
  what TEXT NOT NULL,
  started INTEGER NOT NULL,
  finished INTEGER,
  outcome TEXT
) STRICT;
CREATE TABLE message (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session (id),
  sequence INTEGER NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX message_by_session ON message (session, sequence);
";

/// What was seen of every trace, and the queue.
#[derive(Debug)]
pub struct Catalog {
    pub(super) connection: Connection,
    path: PathBuf,
}

impl Catalog {
    /// Opens the catalog at `path`, making it where it is missing; its folder must exist.
    pub fn open(path: &Path) -> Result<Self, CatalogError> {
        match Self::open_once(path) {
            Err(CatalogError::Open { source, .. }) if is_damaged(&source) => {
                set_aside(path);
                Self::open_once(path)
            }
            opened => opened,
        }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn open_once(path: &Path) -> Result<Self, CatalogError> {
        let failed = |source| CatalogError::open(path, source);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NOFOLLOW
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA journal_size_limit = 67108864;").map_err(failed)?;
        let found: i64 =
            connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(failed)?;
        match found {
            FORMAT => {}
            0 => create(&mut connection).map_err(failed)?,
            1 | 2 => upgrade(&mut connection).map_err(failed)?,
            found => return Err(CatalogError::Newer { path: path.to_owned(), found }),
        }
        Ok(Self::of(connection, path.to_owned()))
    }

    /// A catalog over a connection whose tables are there.
    pub(super) fn of(connection: Connection, path: PathBuf) -> Self {
        connection.set_prepared_statement_cache_capacity(64);
        Self { connection, path }
    }

    /// Runs `work` in one write transaction.
    pub(super) fn write<T>(
        &mut self,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, CatalogError> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let result = work(&transaction)?;
        transaction.commit()?;
        Ok(result)
    }
}

/// Makes the tables, unless another process was faster.
fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found == 0 {
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    transaction.commit()
}

/// From the first format: what was said is indexed outside of the catalog. From the second: each session says which
/// words were kept out of it.
fn upgrade(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found == 1 {
        transaction.execute_batch(
            "DROP TRIGGER message_added; DROP TRIGGER message_removed; DROP TABLE message_text;
             ALTER TABLE session ADD COLUMN said INTEGER NOT NULL DEFAULT 0;
             UPDATE session SET said = 1 WHERE id IN (SELECT session FROM message);
             CREATE INDEX IF NOT EXISTS session_by_name ON session (agent, session_id);
             CREATE INDEX IF NOT EXISTS session_unplaced ON session (cwd)
               WHERE project IS NULL AND cwd IS NOT NULL;",
        )?;
    }
    if (1..FORMAT).contains(&found) {
        transaction.execute_batch(
            "ALTER TABLE session ADD COLUMN words_read INTEGER NOT NULL DEFAULT 0;
             ALTER TABLE session ADD COLUMN words_kept INTEGER NOT NULL DEFAULT 0;
             CREATE INDEX session_by_words ON session (project, words_read, words_kept);",
        )?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    transaction.commit()
}

fn is_damaged(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt)
    )
}

/// Keeps one damaged file for whoever wants to look at it.
#[expect(clippy::disallowed_methods, reason = "the database's own files are no scope's")]
fn set_aside(path: &Path) {
    for tail in ["", "-wal", "-shm"] {
        let from = PathBuf::from(format!("{}{tail}", path.display()));
        let _ = std::fs::rename(&from, format!("{}.damaged{tail}", path.display()));
    }
}
