//! Catalog errors.

use std::path::{Path, PathBuf};

pub(super) type Result<T, E = CatalogError> = std::result::Result<T, E>;

/// An error that affects the whole catalog. Reports list errors in individual transcripts instead.
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
    #[error("Trace `{}` not found", nacre_base::Shown(id))]
    UnknownTrace { id: String },
    #[error("`{}` fits {n_found} traces", nacre_base::Shown(id))]
    Ambiguous { id: String, n_found: usize },
    #[error("The lease of job `{id}` has expired")]
    LeaseLost { id: String },
    /// An error from the team's shared database. `is_passing` is `true` if a retry may succeed.
    #[error("Cannot use the shared queue")]
    Shared { is_passing: bool, source: Box<dyn std::error::Error + Send + Sync> },
    #[error(transparent)]
    Trace(#[from] crate::transcript::Error),
}

impl CatalogError {
    pub(super) fn open(path: &Path, source: rusqlite::Error) -> Self {
        if is_busy(&source) {
            return Self::Busy(source);
        }
        Self::Open { path: path.to_owned(), source }
    }
}

impl From<rusqlite::Error> for CatalogError {
    /// Maps a lock timeout to `Busy` and every other error to `Sql`.
    fn from(error: rusqlite::Error) -> Self {
        if is_busy(&error) { Self::Busy(error) } else { Self::Sql(error) }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};

    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}
