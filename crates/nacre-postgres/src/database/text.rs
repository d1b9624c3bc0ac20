//! Texts and times as the database takes them.

use std::time::Duration;

use jiff::Timestamp;

/// PostgreSQL has no place for the character NUL in a text.
pub(crate) fn plain(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// The moment so long after `now`, in milliseconds.
pub(crate) fn millis_after(now: Timestamp, wait: Duration) -> i64 {
    now.as_millisecond().saturating_add(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX))
}

/// A moment from its milliseconds.
pub(crate) fn moment(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}
