//! Why the catalog could not do what was asked.

use std::path::{Path, PathBuf};

/// A failure of the catalog as a whole; a failing trace is a value in a report.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    #[error("Cannot open the catalog `{}`", path.display())]
    Open { path: PathBuf, source: rusqlite::Error },
    #[error("The catalog `{}` was written by a newer version (format {found})", path.display())]
    Newer { path: PathBuf, found: i64 },
    #[error("Cannot use the catalog")]
    Sql(#[source] rusqlite::Error),
    #[error("Another process is writing to the catalog")]
    Busy(#[source] rusqlite::Error),
    #[error("No trace is named `{}`", crate::base::Shown(id))]
    UnknownTrace { id: String },
    #[error("`{}` fits {n_found} traces", crate::base::Shown(id))]
    Ambiguous { id: String, n_found: usize },
    #[error("The lease of job `{id}` is no longer held")]
    LeaseLost { id: String },
    /// The database that a team shares failed; `is_passing` says that it may come back.
    #[error("Cannot use the shared queue")]
    Shared { is_passing: bool, source: Box<dyn std::error::Error + Send + Sync> },
    #[error(transparent)]
    Index(#[from] crate::search::IndexError),
    #[error(transparent)]
    Trace(#[from] crate::transcript::Error),
}

impl CatalogError {
    /// A failure to open the file, unless it is no more than another process at work on it.
    pub(super) fn open(path: &Path, source: rusqlite::Error) -> Self {
        if is_busy(&source) {
            return Self::Busy(source);
        }
        Self::Open { path: path.to_owned(), source }
    }
}

impl From<rusqlite::Error> for CatalogError {
    /// Tells a lock that was waited for in vain from other failures.
    fn from(error: rusqlite::Error) -> Self {
        if is_busy(&error) { Self::Busy(error) } else { Self::Sql(error) }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};

    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}
