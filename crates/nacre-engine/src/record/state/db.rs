//! The file of the state: how it is made, opened and brought up to date.
//!
//! `user_version` counts the steps of the schema that were taken. A step is never changed once released; the next
//! one is added behind it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nacre_core::base::redact::ExtraWords;
use nacre_core::safefs::{Owner, RelPath, WriteScope};
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::error::StateError;

/// The file's name in the global folder.
pub const STATE_FILE: &str = "state.sqlite3";

/// How long one process waits for another's transaction; each is short.
const BUSY_TIMEOUT: Duration = Duration::from_secs(20);

/// The schema, step by step.
const STEPS: &[&str] = &[
    "
CREATE TABLE session (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  workspace TEXT,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL
) STRICT;
CREATE TABLE runner (
  id INTEGER PRIMARY KEY,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  birth TEXT NOT NULL,
  lease_until INTEGER NOT NULL,
  UNIQUE (host, pid, birth)
) STRICT;
CREATE TABLE task (
  place INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL REFERENCES session (id),
  parent TEXT,
  project TEXT,
  agent TEXT NOT NULL,
  class TEXT NOT NULL,
  title TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  asked TEXT,
  runner INTEGER NOT NULL REFERENCES runner (id),
  created INTEGER NOT NULL,
  started INTEGER,
  ended INTEGER,
  n_events INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX task_unfinished ON task (session, place) WHERE ended IS NULL;
CREATE INDEX task_by_parent ON task (parent) WHERE parent IS NOT NULL;
CREATE INDEX task_by_end ON task (ended);
CREATE TABLE event (
  task TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  at INTEGER NOT NULL,
  name TEXT NOT NULL,
  fields TEXT NOT NULL,
  PRIMARY KEY (task, sequence)
) STRICT, WITHOUT ROWID;
CREATE TABLE tool_call (
  task TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  step INTEGER NOT NULL,
  call TEXT NOT NULL,
  tool TEXT NOT NULL,
  fault TEXT,
  cache TEXT NOT NULL,
  at INTEGER NOT NULL,
  duration INTEGER NOT NULL,
  bytes_in INTEGER NOT NULL,
  bytes_out INTEGER NOT NULL,
  shown INTEGER NOT NULL,
  PRIMARY KEY (task, sequence)
) STRICT, WITHOUT ROWID;
CREATE TABLE model_call (
  id INTEGER PRIMARY KEY,
  task TEXT NOT NULL,
  step INTEGER NOT NULL,
  model TEXT NOT NULL,
  stop TEXT NOT NULL,
  at INTEGER NOT NULL,
  first_token INTEGER,
  duration INTEGER NOT NULL,
  input INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  output INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  cost INTEGER
) STRICT;
CREATE INDEX model_call_by_task ON model_call (task);
", "
-- What an event tells already is not stored a second time.
DROP TABLE tool_call;
CREATE VIEW tool_call AS SELECT task, sequence, at,
  fields ->> 'tool' AS tool, fields ->> 'fault' AS fault, fields ->> 'cache' AS cache,
  fields ->> 'duration_us' AS duration, fields ->> 'bytes_out' AS bytes_out, fields ->> 'shown_bytes' AS shown
FROM event WHERE name = 'tool.result';
",
    "
CREATE TABLE spending (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  project TEXT,
  session TEXT NOT NULL,
  role TEXT NOT NULL,
  model TEXT NOT NULL,
  input INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cost INTEGER
) STRICT;
CREATE INDEX spending_by_time ON spending (at);
CREATE INDEX spending_by_session ON spending (session);
",
    "
-- A session may be a conversation: it has items, stays until it is removed, and can be resumed.
ALTER TABLE session ADD COLUMN is_conversation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN project TEXT;
ALTER TABLE session ADD COLUMN model TEXT;
ALTER TABLE session ADD COLUMN approval TEXT;
ALTER TABLE session ADD COLUMN parent TEXT;
ALTER TABLE session ADD COLUMN archived INTEGER;
CREATE INDEX session_conversations ON session (updated) WHERE is_conversation = 1;
CREATE INDEX task_by_session ON task (session);
CREATE TABLE active_session (
  workspace TEXT PRIMARY KEY,
  session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE
) STRICT;
CREATE TABLE item (
  id INTEGER PRIMARY KEY,
  session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
  sequence INTEGER NOT NULL,
  task TEXT NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  json TEXT NOT NULL,
  UNIQUE (session, sequence)
) STRICT;
CREATE TABLE message (
  id INTEGER PRIMARY KEY,
  task TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  is_last INTEGER NOT NULL,
  json TEXT NOT NULL,
  UNIQUE (task, sequence)
) STRICT;
",
];

/// Sessions, tasks and what they told.
#[derive(Debug)]
pub struct State {
    pub(super) connection: Connection,
    path: PathBuf,
    words: ExtraWords,
}

impl State {
    /// Opens the state in the global folder, making it where it is missing.
    pub fn open(home: &WriteScope, owner: &Owner, patience: Duration) -> Result<Self, StateError> {
        let file = RelPath::new(STATE_FILE)?;
        if !home.has(&file)? {
            // SQLite would make it readable to others; its side files take over the mode.
            let writer = home.lock(owner, patience)?;
            if !home.has(&file)? {
                writer.write_atomic(&file, b"")?;
            }
        }
        Self::open_file(home.path())
    }

    /// Opens the state where there is one.
    pub fn open_existing(home: &WriteScope) -> Result<Option<Self>, StateError> {
        if !home.has(&RelPath::new(STATE_FILE)?)? {
            return Ok(None);
        }
        Self::open_file(home.path()).map(Some)
    }

    fn open_file(folder: &Path) -> Result<Self, StateError> {
        // SQLite refuses links anywhere in the path; those on the way to the folder are the person's own.
        let path = folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).join(STATE_FILE);
        let connection = connect(&path).map_err(|error| StateError::opening(error, &path))?;
        let mut state = Self { connection, path, words: ExtraWords::default() };
        state.migrate(STEPS)?;
        Ok(state)
    }

    /// The same state; what is written through it contains no word of the list.
    #[must_use]
    pub fn without_words(self, words: ExtraWords) -> Self {
        Self { words, ..self }
    }

    pub(super) fn words(&self) -> &ExtraWords {
        &self.words
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the steps of the schema that were not taken yet.
    fn migrate(&mut self, steps: &[&str]) -> Result<(), StateError> {
        let newest = steps.len() as i64;
        let found = self.read(|connection| Ok(version(connection)?))?;
        if newest < found {
            return Err(StateError::Newer { path: self.path.clone(), found });
        }
        if found == newest {
            return Ok(());
        }
        self.write(|transaction| {
            // Another process may have been faster.
            let found = usize::try_from(version(transaction)?).unwrap_or(0);
            for step in steps.iter().skip(found) {
                transaction.execute_batch(step)?;
            }
            Ok(transaction.pragma_update(None, "user_version", newest.max(found as i64))?)
        })
    }

    /// Runs `work` in one write transaction; an error takes all of it back.
    pub(super) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        let Self { connection, path, .. } = self;
        let run = || {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        run().map_err(|error: StateError| error.in_file(path))
    }

    /// Runs `work`, which only reads.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        work(&self.connection).map_err(|error| error.in_file(&self.path))
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF; PRAGMA journal_size_limit = 67108864;",
    )?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests play the disk")]

    use super::*;
    use crate::record::state::testing::{Home, at};

    fn refusal(bytes: &[u8]) -> String {
        let home = Home::new();
        std::fs::write(home.path().join(STATE_FILE), bytes).unwrap();
        let error = home.try_open().unwrap_err();
        assert_eq!(std::fs::read(home.path().join(STATE_FILE)).unwrap(), bytes, "it is left alone");
        error.to_string().replace(&*home.path().to_string_lossy(), "~")
    }

    #[test]
    fn a_file_that_is_no_database_is_named_and_left_alone() {
        assert_eq!(
            refusal(b"no database, but long enough to be one"),
            "`~/state.sqlite3` is damaged or not Nacre's"
        );
    }

    #[test]
    fn a_database_of_somebody_else_is_refused_when_it_is_used() {
        let home = Home::new();
        let other = Connection::open(home.path().join(STATE_FILE)).unwrap();
        let newest = STEPS.len();
        let theirs = format!("CREATE TABLE task (x); PRAGMA user_version = {newest};");
        other.execute_batch(&theirs).unwrap();
        drop(other);
        let state = home.open();
        assert!(matches!(state.tasks(10), Err(StateError::Damaged { .. })));
    }

    #[test]
    fn a_row_that_makes_no_sense_is_damage_and_no_panic() {
        let home = Home::new();
        let mut state = home.open();
        home.accept(&mut state, 1, at(0));
        state.connection.execute("UPDATE task SET state = 'asleep'", []).unwrap();
        assert!(matches!(state.tasks(10), Err(StateError::Damaged { .. })));
    }

    #[test]
    fn a_newer_file_is_refused() {
        let home = Home::new();
        home.open().connection.pragma_update(None, "user_version", 99).unwrap();
        assert!(matches!(home.try_open(), Err(StateError::Newer { found: 99, .. })));
    }

    #[test]
    fn the_next_step_of_the_schema_keeps_what_is_there() {
        let home = Home::new();
        let mut state = home.open();
        home.accept(&mut state, 1, at(0));
        let steps = [STEPS, &["ALTER TABLE task ADD COLUMN mood TEXT;"]].concat();
        let newest = steps.len() as i64;
        state.migrate(&steps).unwrap();
        state.migrate(&steps).unwrap();
        assert_eq!(version(&state.connection).unwrap(), newest);
        assert_eq!(state.tasks(10).unwrap().len(), 1);
        let error = state.migrate(STEPS).unwrap_err();
        assert!(matches!(error, StateError::Newer { found, .. } if found == newest));
    }

    #[test]
    fn a_database_of_somebody_else_that_looks_older_is_refused_and_left_alone() {
        let home = Home::new();
        let other = Connection::open(home.path().join(STATE_FILE)).unwrap();
        other.execute_batch("CREATE TABLE task (x); PRAGMA user_version = 1;").unwrap();
        assert!(matches!(home.try_open(), Err(StateError::Damaged { .. })));
        assert_eq!(version(&other).unwrap(), 1);
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let home = Home::new();
        let elsewhere = Home::new();
        drop(elsewhere.open());
        std::os::unix::fs::symlink(elsewhere.path().join(STATE_FILE), home.path().join(STATE_FILE))
            .unwrap();
        assert!(home.try_open().is_err());
    }

    #[test]
    fn it_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;

        let home = Home::new();
        let mut state = home.open();
        home.accept(&mut state, 1, at(0));
        for tail in ["", "-wal", "-shm"] {
            let file = home.path().join(format!("{STATE_FILE}{tail}"));
            assert_eq!(
                std::fs::metadata(file).unwrap().permissions().mode() & 0o777,
                0o600,
                "{tail}"
            );
        }
    }
}
