//! Rows of any of the SQLite layouts.

use std::borrow::Cow;

use rusqlite::Row;

use super::super::emit::Emitter;
use super::super::store;
use super::super::voice::{self, Spot};
use super::talk::Talk;

/// A column as text; what had to be mended is counted.
pub(super) fn column(row: &Row<'_>, idx: usize, out: &mut Emitter<'_>) -> Option<String> {
    let text = store::text(row, idx)?;
    let is_mended = matches!(&text, Cow::Owned(_));
    out.report.invalid_utf8 += u64::from(is_mended);
    Some(text.into_owned())
}

/// Notes a row that is too long to be read.
pub(super) fn too_long(part: &str, talk: &Talk, out: &mut Emitter<'_>) {
    out.report.lines += 1;
    out.report.long_lines += 1;
    let place = voice::row(&format!("part:{part}"));
    let spot = Spot { place: &place, key: part, time: talk.time, lane: talk.lane };
    voice::failure(&spot, "A row that is too long to be read", out);
}
