//! What SQLite says of another program's database, in terms of what to do about it.

use std::path::Path;

use rusqlite::ErrorCode;

use super::super::error::{Error, Fault};

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
        // Refused while the statement was prepared: a table that may not be read.
        Some(ErrorCode::AuthorizationForStatementDenied) => Fault::Computed,
        Some(ErrorCode::Unknown) => Fault::Schema(Box::new(error)),
        Some(_) => Fault::Corrupt(Box::new(error)),
        None => Fault::Schema(Box::new(error)),
    }
}

pub(super) fn store_error(path: &Path, fault: Fault) -> Error {
    let path = path.to_owned();
    match fault {
        Fault::Busy => Error::Busy { path },
        fault @ (Fault::Computed | Fault::TooSlow | Fault::Corrupt(_) | Fault::Schema(_)) => {
            Error::Store { path, source: fault }
        }
    }
}
