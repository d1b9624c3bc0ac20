//! The file of people: how it is made, opened and brought up to date.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::error::PeopleError;
use crate::safefs::{Owner, RelPath, WriteScope};

/// The file's name in the global folder.
pub const PEOPLE_FILE: &str = "people.sqlite3";

/// How long one process waits for another's transaction; each is short.
const BUSY_TIMEOUT: Duration = Duration::from_secs(20);

/// The schema, step by step. A step is never changed once released.
const STEPS: &[&str] = &["
CREATE TABLE token (
  place INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  hash TEXT NOT NULL UNIQUE,
  person TEXT NOT NULL,
  permissions TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER,
  revoked INTEGER
) STRICT;
CREATE INDEX token_by_person ON token (person, place);
CREATE TABLE audit (
  place INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  who TEXT NOT NULL,
  what TEXT NOT NULL,
  project TEXT,
  outcome TEXT NOT NULL
) STRICT;
CREATE INDEX audit_by_time ON audit (at);
"];

/// The people of one machine, in one SQLite file that only its owner can read.
#[derive(Debug)]
pub struct LocalPeople {
    connection: Connection,
    path: PathBuf,
}

impl LocalPeople {
    /// Opens the file in the global folder, making it where it is missing.
    pub fn open(home: &WriteScope, owner: &Owner, patience: Duration) -> Result<Self, PeopleError> {
        let file = RelPath::new(PEOPLE_FILE)?;
        if !home.has(&file)? {
            // SQLite would make it readable to others; its side files take over the mode.
            let writer = home.lock(owner, patience)?;
            if !home.has(&file)? {
                writer.write_atomic(&file, b"")?;
            }
        }
        Self::open_file(home.path())
    }

    /// Opens the file where there is one.
    pub fn open_existing(home: &WriteScope) -> Result<Option<Self>, PeopleError> {
        if !home.has(&RelPath::new(PEOPLE_FILE)?)? {
            return Ok(None);
        }
        Self::open_file(home.path()).map(Some)
    }

    fn open_file(folder: &Path) -> Result<Self, PeopleError> {
        // SQLite refuses links anywhere in the path; those on the way to the folder are the person's own.
        let path = folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).join(PEOPLE_FILE);
        let opened = connect(&path);
        let connection =
            opened.map_err(|source| PeopleError::File { path: path.clone(), source })?;
        let mut people = Self { connection, path };
        people.migrate()?;
        Ok(people)
    }

    fn migrate(&mut self) -> Result<(), PeopleError> {
        let newest = STEPS.len() as i64;
        let found = self.read(version)?;
        if newest < found {
            return Err(PeopleError::Newer { path: self.path.clone(), found });
        }
        if found == newest {
            return Ok(());
        }
        self.write(|transaction| {
            // Another process may have been faster.
            let found = usize::try_from(version(transaction)?).unwrap_or(0);
            for step in STEPS.iter().skip(found) {
                transaction.execute_batch(step)?;
            }
            transaction.pragma_update(None, "user_version", newest.max(found as i64))
        })
    }

    /// Runs `work` in one write transaction; an error takes all of it back.
    pub(super) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, PeopleError> {
        let Self { connection, path } = self;
        let run = || {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        run().map_err(|source| PeopleError::File { path: path.clone(), source })
    }

    /// Runs `work`, which only reads.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, PeopleError> {
        work(&self.connection)
            .map_err(|source| PeopleError::File { path: self.path.clone(), source })
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF;
         PRAGMA journal_size_limit = 16777216;",
    )?;
    Ok(connection)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}
