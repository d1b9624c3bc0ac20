//! Values of a row that are more than numbers and texts.

use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::Type;

/// A value that nobody here would have written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Bad {
    #[error("not an id")]
    Id,
    #[error("not a state")]
    State,
    #[error("not a time")]
    Time,
    #[error("not an event")]
    Event,
    #[error("not a JSON document")]
    Json,
}

pub(super) fn bad(column: usize, why: Bad) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(why))
}

pub(super) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    Timestamp::from_microsecond(row.get(column)?).map_err(|_| bad(column, Bad::Time))
}

/// Reads a number that cannot be negative.
pub(super) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// SQLite counts to half of what a `u64` can.
pub(super) fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
