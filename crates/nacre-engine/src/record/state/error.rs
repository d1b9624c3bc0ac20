//! Why the state could not be read or changed.

use std::path::{Path, PathBuf};

use nacre_core::base::ShownLine;
use nacre_core::safefs::FsError;

use crate::record::{IllegalMove, SessionId, TaskId};

/// A failure of the state as a whole, or of one request to it.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    #[error("Cannot open `{}`", path.display())]
    Open { path: PathBuf, source: rusqlite::Error },
    /// It is never moved aside by itself: conversations are in it.
    #[error("`{}` is damaged or not Nacre's", path.display())]
    Damaged { path: PathBuf, source: rusqlite::Error },
    #[error("`{}` was written by a newer version (format {found})", path.display())]
    Newer { path: PathBuf, found: i64 },
    #[error("Another process is writing to the state")]
    Busy(#[source] rusqlite::Error),
    #[error("Cannot use the state")]
    Sql(#[source] rusqlite::Error),
    #[error("No task is named `{}`", ShownLine(id))]
    UnknownTask { id: String },
    #[error("`{}` fits {n_found} tasks", ShownLine(id))]
    Ambiguous { id: String, n_found: usize },
    #[error("`{session}` has {cap} tasks that wait already")]
    QueueFull { session: SessionId, cap: usize },
    #[error("No conversation is named `{}`", ShownLine(id))]
    UnknownSession { id: String },
    #[error("A session named `{session}` exists already")]
    SessionExists { session: SessionId },
    /// Its tasks are not over.
    #[error("`{session}` is in use")]
    SessionInUse { session: SessionId },
    #[error("`{task}` is not the running task of `{session}` in this process")]
    NotHeld { session: SessionId, task: TaskId },
    /// Messages are numbered from 1 without gaps, and the last one is the last.
    #[error("`{task}` cannot have a message {given} now; {expected}")]
    MessageOrder { task: TaskId, given: u64, expected: String },
    #[error("An item or message is not a JSON document")]
    NotJson(#[source] serde_json::Error),
    /// The database that a team shares failed; `is_passing` says that it may come back.
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
    /// Names the file when it is the file that is at fault.
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

    /// A failure to open the file.
    pub(super) fn opening(error: rusqlite::Error, path: &Path) -> Self {
        let error = Self::from(error).in_file(path);
        if let Self::Sql(source) = error {
            return Self::Open { path: path.to_owned(), source };
        }
        error
    }
}

/// Whether the file is not what we would have written: no database, a broken one, or one with other tables or values.
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
