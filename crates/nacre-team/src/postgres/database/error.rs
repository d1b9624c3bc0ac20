//! Database errors.

use std::error::Error;
use std::io;
use std::time::Duration;

use crate::people::PeopleError;
use nacre_engine::record::state::StateError;
use nacre_traces::catalog::CatalogError;
use tokio_postgres::error::SqlState;

pub(crate) type Result<T, E = DatabaseError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The message does not include the URL, which may contain a password.
    #[error("The database URL is not a valid PostgreSQL URL")]
    Url(#[source] Box<dyn Error + Send + Sync>),
    #[error("The database URL contains no user")]
    NoUser,
    #[error("The database URL contains a password")]
    PasswordInUrl,
    #[error("Cannot use the database certificates: {what}")]
    Certificates { what: String },
    #[error("Cannot start the database thread")]
    Thread(#[source] io::Error),
    /// The database is temporarily unavailable, so the current request may or may not have
    /// succeeded.
    #[error("Cannot reach the database")]
    Away(#[source] Box<dyn Error + Send + Sync>),
    #[error("The database did not respond within {} ms", limit.as_millis())]
    TooSlow { limit: Duration },
    #[error("The database cancelled a request that took too long")]
    GaveUp(#[source] Box<tokio_postgres::Error>),
    #[error("All {n_connections} connections to the database are in use")]
    Exhausted { n_connections: usize },
    #[error("The database schema was created by a newer version (format {found})")]
    Newer { found: i32 },
    #[error("The database schema is not up to date (format {found} of {needed})")]
    Older { found: i32, needed: i32 },
    #[error("The database requires the extension `vector` {needed} or newer, but has {found}")]
    Extension { needed: &'static str, found: String },
    #[error("The database contains vectors of the model `{found}`, but this server uses `{used}`")]
    OtherModel { found: String, used: String },
    /// Another program may be using the server's port.
    #[error("Cannot trust the server at the database address: {0}")]
    Distrusted(Distrust),
    #[error("The database rejected a request")]
    Refused(#[source] Box<tokio_postgres::Error>),
    #[error("The database contains an invalid row: {what}")]
    Damaged { what: &'static str },
    /// A task's state forbids the change, so the transaction is rolled back.
    #[error(transparent)]
    State(Box<StateError>),
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
pub enum Distrust {
    #[error("it requests the password without SCRAM or verified TLS")]
    PasswordRequest,
    #[error("it does not prove by SCRAM that it has the password")]
    NoProof,
    #[error("its SCRAM iteration count is too low to protect the password")]
    WeakProof,
    #[error("its response is too large")]
    Flood,
}

impl DatabaseError {
    /// Returns whether the same request may succeed later.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Away(_) | Self::TooSlow { .. } | Self::GaveUp(_) | Self::Exhausted { .. }
        )
    }

    /// Returns whether another server inserted the row first, or a deadlock or conflict rolled the
    /// transaction back.
    pub(crate) fn is_conflict(&self) -> bool {
        const CODES: [SqlState; 3] = [
            SqlState::UNIQUE_VIOLATION,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
        ];
        matches!(self, Self::Refused(error) if error.code().is_some_and(|code| CODES.contains(code)))
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        let reading = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        let distrust = reading.and_then(|error| error.get_ref()?.downcast_ref::<Distrust>());
        match error.code() {
            None => match distrust {
                Some(distrust) => Self::Distrusted(*distrust),
                None => Self::Away(Box::new(error)),
            },
            Some(code) if is_away(code) => Self::Away(Box::new(error)),
            // These codes mean that a statement or lock timeout expired.
            Some(&(SqlState::QUERY_CANCELED | SqlState::LOCK_NOT_AVAILABLE)) => {
                Self::GaveUp(Box::new(error))
            }
            Some(_) => Self::Refused(Box::new(error)),
        }
    }
}

/// Returns whether the server is stopping, starting or out of connections.
fn is_away(code: &SqlState) -> bool {
    code.code().starts_with("08")
        || [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::TOO_MANY_CONNECTIONS,
        ]
        .contains(code)
}

impl From<DatabaseError> for CatalogError {
    fn from(error: DatabaseError) -> Self {
        Self::Shared { is_passing: error.is_passing(), source: Box::new(error) }
    }
}

impl From<DatabaseError> for PeopleError {
    fn from(error: DatabaseError) -> Self {
        Self::Shared { is_passing: error.is_passing(), source: Box::new(error) }
    }
}

impl From<DatabaseError> for StateError {
    fn from(error: DatabaseError) -> Self {
        if let DatabaseError::State(error) = error {
            *error
        } else {
            Self::Shared { is_passing: error.is_passing(), source: Box::new(error) }
        }
    }
}

impl From<StateError> for DatabaseError {
    fn from(error: StateError) -> Self {
        Self::State(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_time_heals_what_is_passing() {
        assert!(DatabaseError::Exhausted { n_connections: 4 }.is_passing());
        assert!(!DatabaseError::Newer { found: 9 }.is_passing());
        let text = DatabaseError::TooSlow { limit: Duration::from_millis(250) }.to_string();
        assert_eq!(text, "The database did not respond within 250 ms");
    }
}
