//! Why the catalog could not do what was asked.

use std::path::PathBuf;

/// A failure of the catalog as a whole; a failing trace is a value in a report.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    #[error("Cannot open the catalog `{}`", path.display())]
    Open { path: PathBuf, source: rusqlite::Error },
    #[error("The catalog `{}` was written by a newer version (format {found})", path.display())]
    Newer { path: PathBuf, found: i64 },
    #[error("Cannot use the catalog")]
    Sql(#[from] rusqlite::Error),
    #[error("Another process is writing to the catalog")]
    Busy(#[source] rusqlite::Error),
    #[error("No trace is named `{}`", crate::base::Shown(id))]
    UnknownTrace { id: String },
    #[error("`{}` fits {n_found} traces", crate::base::Shown(id))]
    Ambiguous { id: String, n_found: usize },
    #[error("The lease of job `{id}` is no longer held")]
    LeaseLost { id: String },
    #[error(transparent)]
    Trace(#[from] crate::transcript::Error),
}

impl CatalogError {
    /// Tells a lock that was waited for in vain from other failures.
    pub(super) fn of(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
                Self::Busy(error)
            }
            _ => Self::Sql(error),
        }
    }
}
