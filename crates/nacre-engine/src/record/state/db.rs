//! Creates and migrates the SQLite state file, and defines its errors.
//!
//! `user_version` counts the applied schema steps. A released step never changes; new steps are
//! appended.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::ShownLine;
use nacre_base::fs::{
    FsError, Owner, RelPath, WriteScope, database_path, make_database, migrate_database,
    open_database, write_transaction,
};
use nacre_base::redact::ExtraWords;
use rusqlite::types::Type;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Params, Row, Transaction};
use serde_json::Value;

use crate::record::{IllegalMove, SessionId, TaskId};

pub const STATE_FILE: &str = "state.sqlite3";

const STEPS: &[&str] = &[
    include_str!("steps/1-tasks.sql"),
    include_str!("steps/2-calls.sql"),
    include_str!("steps/3-spending.sql"),
    include_str!("steps/4-conversations.sql"),
];

#[derive(Debug)]
pub struct State {
    pub(super) connection: Connection,
    path: PathBuf,
    words: ExtraWords,
}

impl State {
    pub fn open(home: &WriteScope, owner: &Owner, patience: Duration) -> Result<Self> {
        make_database(home, STATE_FILE, owner, patience)?;
        Self::open_file(home.path())
    }

    pub fn open_existing(home: &WriteScope) -> Result<Option<Self>> {
        if !home.has(&RelPath::new(STATE_FILE)?)? {
            return Ok(None);
        }
        Self::open_file(home.path()).map(Some)
    }

    fn open_file(folder: &Path) -> Result<Self> {
        let path = database_path(folder, STATE_FILE);
        let opened = open_database(&path, OpenFlags::empty());
        let connection = opened.map_err(|error| StateError::opening(error, &path))?;
        let mut state = Self { connection, path, words: ExtraWords::default() };
        state.migrate(STEPS)?;
        Ok(state)
    }

    /// Returns the same state, except that these words are redacted from everything written through
    /// it.
    #[must_use]
    pub fn without_words(self, words: ExtraWords) -> Self {
        Self { words, ..self }
    }

    pub(super) fn words(&self) -> &ExtraWords {
        &self.words
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn migrate(&mut self, steps: &[&str]) -> Result<()> {
        let newer = migrate_database(&mut self.connection, steps)
            .map_err(|error| StateError::from(error).in_file(&self.path))?;
        match newer {
            Some(found) => Err(StateError::Newer { path: self.path.clone(), found }),
            None => Ok(()),
        }
    }

    pub(super) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        write_transaction(&mut self.connection, work).map_err(|error| error.in_file(&self.path))
    }

    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        work(&self.connection).map_err(|error| error.in_file(&self.path))
    }
}

pub type Result<T, E = StateError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum StateError {
    #[error("Cannot open `{}`", path.display())]
    Open { path: PathBuf, source: rusqlite::Error },
    /// The database file is damaged. It is not moved aside automatically, because it contains the
    /// user's conversations.
    #[error("`{}` is damaged or not a Nacre file", path.display())]
    Damaged { path: PathBuf, source: rusqlite::Error },
    #[error("`{}` was written by a newer version (format {found})", path.display())]
    Newer { path: PathBuf, found: i64 },
    #[error("Another process is writing to the state")]
    Busy(#[source] rusqlite::Error),
    #[error("Cannot use the state")]
    Sql(#[source] rusqlite::Error),
    #[error("Task `{}` not found", ShownLine(id))]
    UnknownTask { id: String },
    #[error("`{}` fits {n_found} tasks", ShownLine(id))]
    Ambiguous { id: String, n_found: usize },
    #[error("`{session}` already has {cap} queued tasks")]
    QueueFull { session: SessionId, cap: usize },
    #[error("Conversation `{}` not found", ShownLine(id))]
    UnknownSession { id: String },
    #[error("A session named `{session}` already exists")]
    SessionExists { session: SessionId },
    #[error("`{session}` is in use")]
    SessionInUse { session: SessionId },
    #[error("`{task}` is not the running task of `{session}` in this process")]
    NotHeld { session: SessionId, task: TaskId },
    /// A message has the wrong number. Messages must be numbered from 1 without gaps, and none may
    /// follow the last one.
    #[error("`{task}` cannot have message {given} now; {expected}")]
    MessageOrder { task: TaskId, given: u64, expected: String },
    #[error("An item or message is not a JSON document")]
    NotJson(#[source] serde_json::Error),
    /// The team's shared database failed. `is_passing` is set for temporary failures.
    #[error("Cannot use the shared state")]
    Shared { is_passing: bool, source: Box<dyn std::error::Error + Send + Sync> },
    #[error(transparent)]
    Move(#[from] IllegalMove),
    #[error(transparent)]
    Fs(#[from] FsError),
}

impl From<rusqlite::Error> for StateError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};

        match error.sqlite_error_code() {
            Some(DatabaseBusy | DatabaseLocked) => Self::Busy(error),
            Some(_) | None => Self::Sql(error),
        }
    }
}

impl StateError {
    #[must_use]
    pub(super) fn in_file(self, path: &Path) -> Self {
        if let Self::Sql(source) = self {
            return match is_damage(&source) {
                true => Self::Damaged { path: path.to_owned(), source },
                false => Self::Sql(source),
            };
        }
        self
    }

    pub(super) fn opening(error: rusqlite::Error, path: &Path) -> Self {
        let error = Self::from(error).in_file(path);
        if let Self::Sql(source) = error {
            return Self::Open { path: path.to_owned(), source };
        }
        error
    }
}

/// Returns whether the error means that the file is not a valid state file: it is not a database,
/// is corrupt, or contains unexpected tables or values.
fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase, Unknown};

    matches!(error.sqlite_error_code(), Some(NotADatabase | DatabaseCorrupt | Unknown))
        || matches!(
            error,
            rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::SqlInputError { .. }
        )
}

pub(super) fn execute(connection: &Connection, sql: &str, params: impl Params) -> Result<usize> {
    Ok(connection.prepare_cached(sql)?.execute(params)?)
}

pub(super) fn rows<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    Ok(connection.prepare_cached(sql)?.query_map(params, read)?.collect::<Result<_, _>>()?)
}

pub(super) fn row<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>> {
    Ok(connection.prepare_cached(sql)?.query_row(params, read).optional()?)
}

pub(super) fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(super) fn bad(column: usize, why: &'static str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, why.into())
}

pub(super) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    Timestamp::from_microsecond(row.get(column)?).map_err(|_| bad(column, "not a time"))
}

pub(super) fn time_if_set(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    row.get::<_, Option<i64>>(column)?.map(|_| time(row, column)).transpose()
}

/// Parses a text column. `why` is the error for an invalid value.
pub(super) fn parse_column<T: FromStr>(
    row: &Row<'_>,
    column: usize,
    why: &'static str,
) -> rusqlite::Result<T> {
    row.get::<_, String>(column)?.parse().map_err(|_| bad(column, why))
}

pub(super) fn parse_optional_column<T: FromStr>(
    row: &Row<'_>,
    column: usize,
    why: &'static str,
) -> rusqlite::Result<Option<T>> {
    row.get::<_, Option<String>>(column)?.map(|_| parse_column(row, column, why)).transpose()
}

pub(super) fn json(row: &Row<'_>, column: usize, why: &'static str) -> rusqlite::Result<Value> {
    serde_json::from_str(&row.get::<_, String>(column)?).map_err(|_| bad(column, why))
}

pub(super) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// Converts to `i64`, saturating at `i64::MAX`, the largest SQLite integer.
pub(super) fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests act as the disk")]

    use nacre_base::fs::schema_version;

    use super::*;
    use crate::record::state::TaskStore as _;
    use crate::record::state::support_tests::{Home, at};

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
            "`~/state.sqlite3` is damaged or not a Nacre file"
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
        assert_eq!(schema_version(&state.connection).unwrap(), newest);
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
        assert_eq!(schema_version(&other).unwrap(), 1);
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
