//! Columns of tables under a name that promises a secret: Markdown, CSV, TSV, and what databases print.

use std::ops::Range;

use super::judge;
use super::names::{Name, Role};
use super::text::Text;

/// A longer line is no row of a table.
const MAX_LINE: usize = 512;

/// Rows are looked at as far below their header, which is what a stream remembers.
const MAX_BELOW: usize = 4096;

/// The longest title of a column.
const MAX_TITLE: usize = 40;

/// Returns the cells below `name` that look like secrets, if it is the title of a column.
pub(super) fn cells(text: &mut Text<'_>, name: &Name, role: Role) -> Vec<Range<usize>> {
    let Some(separator) = separator_beside(text, name) else { return Vec::new() };
    let lines = Lines::around(text, name.end);
    let header = lines.line_around(text, name.start);
    // A row of a table is no header of another.
    let is_row = text.table.start < header.start && header.start < text.table.end;
    if header.len() > MAX_LINE || is_row || !is_header(text, &header, separator) {
        return Vec::new();
    }
    let column = count(text.slice(header.start, name.start), separator);
    let n_separators = count(text.slice(header.start, header.end), separator);
    let limit = text.bytes.len().min(header.end + MAX_BELOW);
    let mut found = Vec::new();
    let mut pos = header.end;
    while let Some(row) = lines.next(text, pos, limit) {
        if count(text.slice(row.start, row.end), separator) != n_separators
            && !is_rule(text.slice(row.start, row.end))
        {
            break;
        }
        let cell = cell_at(text, &row, separator, column);
        found.extend(cell.filter(|cell| is_secret(text.slice(cell.start, cell.end), role)));
        pos = row.end;
    }
    if pos > header.end {
        text.table = header.start..pos;
    }
    found
}

/// Returns what separates the cells of the line, if `name` fills one.
fn separator_beside(text: &Text<'_>, name: &Name) -> Option<u8> {
    let is_blank = |byte: &&u8| matches!(**byte, b' ' | b'"');
    let rest = text.rest(name.end);
    let n_blanks = rest.iter().take(MAX_TITLE).take_while(is_blank).count();
    let next = rest.get(n_blanks).copied();
    let head = text.slice(name.start.saturating_sub(MAX_TITLE), name.start);
    let before = head.iter().rev().find(|byte| !is_blank(byte)).copied();
    let is_separator = |byte: &u8| matches!(byte, b'|' | b',' | b'\t');
    // In a JSON string a backslash begins the end of a line, and its letter stands before the next.
    let ends_line =
        |byte: Option<u8>| matches!(byte, None | Some(b'\n' | b'\r' | b'\\' | b'n' | b':'));
    match (before.filter(is_separator), next.filter(is_separator)) {
        (Some(before), Some(next)) => (before == next).then_some(next),
        (Some(before), None) => ends_line(next).then_some(before),
        (None, Some(next)) => ends_line(before).then_some(next),
        (None, None) => None,
    }
}

/// Says whether a line has nothing but titles of columns.
fn is_header(text: &Text<'_>, line: &Range<usize>, separator: u8) -> bool {
    let is_title = |cell: &[u8]| {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-.\"\r/*".contains(byte);
        cell.len() <= MAX_TITLE && cell.iter().all(is_word)
    };
    let line = text.slice(line.start, line.end);
    let is_filled = |cell: &&[u8]| !cell.trim_ascii().is_empty();
    // A list of arguments, one a line, is no table.
    line.split(|byte| *byte == separator).filter(is_filled).count() > 1
        && line.split(|byte| *byte == separator).all(is_title)
}

/// Says whether a line only divides a header from its rows: `|---|---|`, `-----+-----`.
fn is_rule(line: &[u8]) -> bool {
    line.contains(&b'-') && line.iter().all(|byte| b"-+|: \r".contains(byte))
}

fn count(line: &[u8], separator: u8) -> usize {
    memchr::memchr_iter(separator, line).count()
}

/// How the lines of a table end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    Raw,
    /// As in a JSON string, which ends the last of them.
    Escaped,
}

impl Lines {
    /// Returns how the line of `pos` ends.
    fn around(text: &Text<'_>, pos: usize) -> Self {
        let rest = text.rest(pos);
        let line = &rest[..rest.len().min(MAX_LINE)];
        let line = memchr::memchr(b'\n', line).map_or(line, |at| &line[..at]);
        let is_escaped = memchr::memmem::find(line, b"\\n").is_some();
        if is_escaped { Self::Escaped } else { Self::Raw }
    }

    fn mark(self) -> &'static [u8] {
        match self {
            Self::Raw => b"\n",
            Self::Escaped => b"\\n",
        }
    }

    /// Returns the length of the line at the beginning of `bytes`.
    fn line_len(self, bytes: &[u8]) -> usize {
        let is_quote = |pair: &[u8]| pair[0] != b'\\' && pair[1] == b'"';
        let n_line = memchr::memmem::find(bytes, self.mark()).unwrap_or(bytes.len());
        match self {
            Self::Raw => n_line,
            Self::Escaped => {
                bytes[..n_line].windows(2).position(is_quote).map_or(n_line, |at| at + 1)
            }
        }
    }

    fn line_around(self, text: &Text<'_>, pos: usize) -> Range<usize> {
        let floor = pos.saturating_sub(MAX_LINE);
        let head = text.slice(floor, pos);
        let start = memchr::memmem::rfind(head, self.mark()).map_or(0, |at| at + self.mark().len());
        let quote = memchr::memrchr(b'"', head).filter(|_| self == Self::Escaped);
        let start = floor + quote.map_or(start, |at| start.max(at + 1));
        let rest = text.rest(pos);
        start..pos + self.line_len(&rest[..rest.len().min(MAX_LINE)])
    }

    /// Returns the line behind the one that ends at `end`.
    fn next(self, text: &Text<'_>, end: usize, limit: usize) -> Option<Range<usize>> {
        let start = end + self.mark().len();
        let is_next = text.slice(end, start) == self.mark();
        let n_line = self.line_len(text.slice(start, limit.min(start + MAX_LINE)));
        (is_next && n_line > 0).then_some(start..start + n_line)
    }
}

/// Returns the text of a cell, without blanks and quotes around it.
fn cell_at(
    text: &Text<'_>,
    row: &Range<usize>,
    separator: u8,
    column: usize,
) -> Option<Range<usize>> {
    let line = text.slice(row.start, row.end);
    let mut start = 0;
    for _ in 0..column {
        start += memchr::memchr(separator, line.get(start..)?)? + 1;
    }
    let cell = line.get(start..)?;
    let cell = &cell[..memchr::memchr(separator, cell).unwrap_or(cell.len())];
    let is_edge = |byte: &&u8| matches!(**byte, b' ' | b'"' | b'\'' | b'`' | b'\r');
    let n_before = cell.iter().take_while(is_edge).count();
    let n_after = cell[n_before..].iter().rev().take_while(is_edge).count();
    let start = row.start + start + n_before;
    Some(start..start + cell.len() - n_before - n_after)
}

fn is_secret(cell: &[u8], role: Role) -> bool {
    let is_word = cell.len() >= 8 && cell.iter().all(u8::is_ascii_graphic);
    let is_quoted = cell.iter().any(|byte| b"\"'`\\()".contains(byte));
    if !is_word || is_quoted || judge::is_reference(cell) || judge::has_placeholder(cell) {
        return false;
    }
    let is_name = cell.iter().all(|byte| byte.is_ascii_alphabetic() || b"_-./".contains(byte));
    match role {
        Role::Password => judge::is_random(cell) || (judge::is_mixed(cell) && !is_name),
        Role::Secret | Role::Token | Role::Key => judge::is_random(cell),
        Role::Credential | Role::Weak => false,
    }
}
