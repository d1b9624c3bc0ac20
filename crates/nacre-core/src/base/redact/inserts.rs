//! Rows of `INSERT INTO users (name, password) VALUES ('bob', '…')`: the title of a column stands far from its value.

use std::ops::Range;

use super::breaks;
use super::finding::{FoundSecret, Weight};
use super::judge;
use super::text::Text;
use super::value;

/// The longest list of columns.
const MAX_COLUMNS: usize = 512;

/// The longest row.
const MAX_ROW: usize = 1024;

/// The most rows that are looked at, as far below as a stream remembers.
const MAX_ROWS: usize = 64;
const MAX_BELOW: usize = 3072;

/// What makes a column one of secrets, at the end of its name.
const COLUMNS: &[(&str, &str)] = &[
    ("password", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("pass", "password"),
    ("pwd", "password"),
    ("secret", "secret"),
    ("token", "token"),
    ("api_key", "api-key"),
    ("apikey", "api-key"),
    ("private_key", "api-key"),
];

/// Appends the secrets of the rows behind the word that stands at `start..end`.
pub(super) fn find(text: &mut Text<'_>, start: usize, end: usize, found: &mut Vec<FoundSecret>) {
    let Some(columns) = columns_before(text, start) else { return };
    if columns.iter().all(Option::is_none) {
        return;
    }
    let word_end = start + "values".len();
    let limit = end + MAX_BELOW;
    let mut pos = breaks::skip_lines(text, word_end);
    for _ in 0..MAX_ROWS {
        let Some(row) = Row::read(text, pos).filter(|row| row.cells.len() == columns.len()) else {
            return;
        };
        let cells = columns.iter().zip(row.cells);
        found.extend(cells.filter_map(|(kind, cell)| {
            let (kind, cell) = ((*kind)?, cell?);
            is_secret(text.slice(cell.start, cell.end), kind).then_some(FoundSecret::new(
                cell.start..cell.end,
                kind,
                Weight::Name,
            ))
        }));
        let next = breaks::skip_lines(text, row.end);
        if text.at(next) != Some(b',') || next > limit {
            return;
        }
        pos = breaks::skip_lines(text, next + 1);
    }
}

/// Returns what every column before `start` promises.
fn columns_before(text: &Text<'_>, start: usize) -> Option<Vec<Option<&'static str>>> {
    let head = text.slice(start.saturating_sub(MAX_COLUMNS), start);
    let head = trim_lines(head).strip_suffix(b")")?;
    let open = memchr::memrchr2(b'(', b')', head).filter(|at| head[*at] == b'(')?;
    let columns = head[open + 1..].split(|byte| *byte == b',');
    Some(columns.map(|column| promise(trim_name(column))).collect())
}

/// Leaves out blanks and line breaks at the end, also those of a JSON string.
fn trim_lines(mut bytes: &[u8]) -> &[u8] {
    loop {
        bytes = match bytes {
            [rest @ .., b' ' | b'\t' | b'\n' | b'\r'] => rest,
            [rest @ .., b'\\', b'n' | b't' | b'r'] => rest,
            _ => return bytes,
        };
    }
}

/// Leaves out what stands around the name of a column: blanks, quotes, brackets.
fn trim_name(column: &[u8]) -> &[u8] {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let end = column.iter().rposition(is_name).map_or(0, |at| at + 1);
    let start = column[..end].iter().rposition(|byte| !is_name(byte)).map_or(0, |at| at + 1);
    &column[start..end]
}

fn promise(name: &[u8]) -> Option<&'static str> {
    let ends_with = |word: &str| {
        let head = name.len().checked_sub(word.len());
        head.is_some_and(|at| {
            name[at..].eq_ignore_ascii_case(word.as_bytes())
                && (at == 0 || !name[at - 1].is_ascii_lowercase() || name[at].is_ascii_uppercase())
        })
    };
    COLUMNS.iter().find(|(word, _)| ends_with(word)).map(|(_, kind)| *kind)
}

/// The cells of one row; `None` stands for what is no literal.
struct Row {
    cells: Vec<Option<Range<usize>>>,
    end: usize,
}

impl Row {
    fn read(text: &mut Text<'_>, pos: usize) -> Option<Self> {
        let mut pos = pos + text.rest(pos).starts_with(b"(").then_some(1)?;
        let limit = pos + MAX_ROW;
        let mut cells = Vec::new();
        while pos < limit {
            pos = breaks::skip_lines(text, pos);
            let (cell, end) = read_cell(text, pos)?;
            cells.push(cell);
            pos = breaks::skip_lines(text, end);
            match text.at(pos)? {
                b',' => pos += 1,
                b')' => return Some(Self { cells, end: pos + 1 }),
                _ => return None,
            }
        }
        None
    }
}

/// Returns the cell at `pos`, if it is a literal, and where it ends.
fn read_cell(text: &mut Text<'_>, pos: usize) -> Option<(Option<Range<usize>>, usize)> {
    // `N'…'`, `E'…'`
    let at = pos
        + usize::from(
            matches!(text.at(pos), Some(b'N' | b'E')) && value::quote_at(text, pos + 1).is_some(),
        );
    if value::quote_at(text, at).is_some() {
        let value = value::read_phrase(text, at)?;
        let end = value::quote_at(text, value.end)?.end;
        return Some((Some(value.start..value.end), end));
    }
    let mut depth = 0_usize;
    for (idx, byte) in text.rest(pos).iter().take(MAX_ROW).enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return Some((None, pos + idx)),
            b')' => depth -= 1,
            b',' if depth == 0 => return Some((None, pos + idx)),
            b'"' | b'\n' | b';' => return None,
            _ => {}
        }
    }
    None
}

fn is_secret(cell: &[u8], kind: &str) -> bool {
    let cell = &cell[..cell.len().min(judge::SAMPLE)];
    let is_word =
        !cell.contains(&b' ') && !judge::is_reference(cell) && !judge::has_placeholder(cell);
    is_word && if kind == "password" { judge::is_password(cell) } else { judge::is_chosen(cell) }
}
