//! Columns of a row, as lenient as SQLite's own typing.

use std::borrow::Cow;

use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::super::view::time_of;

/// A column as text; bytes that are not UTF-8 are replaced.
pub(in super::super) fn text<'a>(row: &'a Row<'_>, idx: usize) -> Option<Cow<'a, str>> {
    match row.get_ref(idx).ok()? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes)),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => None,
    }
}

/// A column as bytes.
pub(in super::super) fn bytes<'a>(row: &'a Row<'_>, idx: usize) -> Option<&'a [u8]> {
    match row.get_ref(idx).ok()? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => None,
    }
}

/// A column as a whole number.
pub(in super::super) fn number(row: &Row<'_>, idx: usize) -> Option<i64> {
    match row.get_ref(idx).ok()? {
        ValueRef::Integer(number) => Some(number),
        #[expect(clippy::cast_possible_truncation, reason = "a time with a fraction")]
        ValueRef::Real(number) => Some(number as i64),
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok()?.parse().ok(),
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}

/// A column as a point in time.
pub(in super::super) fn time(row: &Row<'_>, idx: usize) -> Option<Timestamp> {
    time_of(number(row, idx)?)
}
