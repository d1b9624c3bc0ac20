//! Why another program's database could not be read, in terms of what to do about it.

use std::path::Path;

use rusqlite::ErrorCode;

use super::super::adapter::Error;

/// Why a database could not be read, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("The database is in use or changed while it was read")]
    Busy,
    #[error("The write-ahead log cannot be read without making files beside the database")]
    LoneLog,
    #[error("The database takes too long to read for its size")]
    TooSlow,
    #[error("The database is damaged")]
    Corrupt(#[source] Box<rusqlite::Error>),
    #[error("The database has another layout than expected")]
    Schema(#[source] Box<rusqlite::Error>),
}

pub(super) fn fault_of(error: rusqlite::Error) -> Fault {
    match error.sqlite_error_code() {
        // A log or a hot journal that a reader may not open or roll back has a writer behind it.
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::ReadOnly
            | ErrorCode::CannotOpen
            | ErrorCode::FileLockingProtocolFailed,
        ) => Fault::Busy,
        Some(ErrorCode::OperationInterrupted) => Fault::TooSlow,
        Some(ErrorCode::Unknown) => Fault::Schema(Box::new(error)),
        Some(_) => Fault::Corrupt(Box::new(error)),
        None => Fault::Schema(Box::new(error)),
    }
}

pub(super) fn store_error(path: &Path, fault: Fault) -> Error {
    let path = path.to_owned();
    match fault {
        Fault::Busy => Error::Busy { path },
        fault @ (Fault::LoneLog | Fault::TooSlow | Fault::Corrupt(_) | Fault::Schema(_)) => {
            Error::Store { path, source: fault }
        }
    }
}
