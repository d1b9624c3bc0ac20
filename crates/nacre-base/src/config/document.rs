//! Parses TOML within limits and edits it without reformatting the rest of the file.
//!
//! Edits replace parts of the original text at the positions that the parser reports, because
//! serializing a parsed document would regroup dotted keys and change line breaks. Only inline
//! tables are serialized again. The size and the number of tables are limited, because parsing a
//! table that follows one of its own sub-tables takes time proportional to the number of tables: 1
//! MB of such tables took 49 s in a debug build.

use std::ops::Range;
use std::path::Path;

use toml::de::DeTable;
use toml_edit::{Document, Item, Key, Table, TableLike, Value as Toml};

use super::error::{ConfigError, ConfigPlace, MAX_BYTES, MAX_TABLES, Result, shorten};

/// Listing all errors takes memory proportional to their number, so for larger texts, only the
/// error at which the parser stops is reported.
const MAX_BYTES_TO_LIST_ERRORS: usize = 64 << 10;

pub(super) struct Doc<'t> {
    pub(super) text: &'t str,
    path: &'t Path,
    parsed: Document<&'t str>,
    line_starts: Vec<usize>,
}

impl<'t> Doc<'t> {
    pub(super) fn parse(text: &'t str, path: &'t Path) -> Result<Self> {
        if MAX_BYTES < text.len() {
            return Err(ConfigError::TooLarge { path: path.to_owned(), bytes: text.len() });
        }
        // This also counts lines that begin a nested array, but real files contain few of those.
        let tables = text.lines().filter(|line| line.trim_start().starts_with('[')).count();
        if MAX_TABLES < tables {
            return Err(ConfigError::TooManyTables { path: path.to_owned(), tables });
        }
        let line_starts = line_starts(text);
        if let Some((offset, message)) = first_error(text) {
            let line = line_of(&line_starts, offset);
            return Err(ConfigError::Malformed { path: path.to_owned(), line, message });
        }
        match Document::parse(text) {
            Ok(parsed) => Ok(Self { text, path, parsed, line_starts }),
            Err(error) => {
                let line = line_of(&line_starts, error.span().map_or(0, |span| span.start));
                let message = crate::text::collapse_whitespace(error.message());
                Err(ConfigError::Malformed { path: path.to_owned(), line, message })
            }
        }
    }

    pub(super) fn root(&self) -> &Table {
        self.parsed.as_table()
    }

    pub(super) fn place(&self, key: Option<&Key>) -> ConfigPlace {
        let offset = key.and_then(Key::span).map_or(0, |span| span.start);
        ConfigPlace::File { path: self.path.to_owned(), line: line_of(&self.line_starts, offset) }
    }

    pub(super) fn line_around(&self, offset: usize) -> Range<usize> {
        let line_idx = line_of(&self.line_starts, offset) - 1;
        let end = self.line_starts.get(line_idx + 1).copied().unwrap_or(self.text.len());
        self.line_starts[line_idx]..end
    }
}

pub(super) fn entries(table: &dyn TableLike) -> impl Iterator<Item = (Option<&Key>, &str, &Item)> {
    table.iter().map(|(name, item)| (table.key(name), name, item))
}

/// Formats a key as TOML, shortened for use in a message.
pub(super) fn write_key(path: &[&str]) -> String {
    let names: Vec<String> = path.iter().map(|name| Key::new(*name).to_string()).collect();
    shorten(&names.join("."))
}

/// Returns the first error in the text, as its offset and message.
///
/// By default, `toml` reports structural errors before errors inside values, so an unclosed quote
/// on line 1 shows up as a missing `=` further down. This check runs before `toml_edit`, which
/// takes 2 ms for each duplicate table header in a text with 100,000 keys.
fn first_error(text: &str) -> Option<(usize, String)> {
    let errors = if text.len() <= MAX_BYTES_TO_LIST_ERRORS {
        DeTable::parse_recoverable(text).1
    } else {
        DeTable::parse(text).err().into_iter().collect()
    };
    let offset = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    let first = errors.iter().min_by_key(|error| offset(error))?;
    Some((offset(first), crate::text::collapse_whitespace(first.message())))
}

fn line_starts(text: &str) -> Vec<usize> {
    let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    std::iter::once(0).chain(breaks.map(|(offset, _)| offset + 1)).collect()
}

fn line_of(line_starts: &[usize], offset: usize) -> usize {
    line_starts.partition_point(|start| *start <= offset).max(1)
}

pub(super) fn replace(text: &str, range: Range<usize>, with: &str) -> String {
    [&text[..range.start], with, &text[range.end..]].concat()
}

pub(super) fn append_table(text: &str, lines: &[String]) -> String {
    let newline = newline(text);
    let mut new_text = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        new_text += newline;
    }
    if !text.is_empty() {
        new_text += newline;
    }
    for line in lines {
        new_text += line;
        new_text += newline;
    }
    new_text
}

pub(super) fn insert_line_after(doc: &Doc<'_>, offset: usize, line: &str) -> String {
    let at = doc.line_around(offset).end;
    let newline = newline(doc.text);
    let line = if doc.text[..at].ends_with('\n') {
        format!("{line}{newline}")
    } else {
        format!("{newline}{line}{newline}")
    };
    replace(doc.text, at..at, &line)
}

pub(super) fn last_value_end(table: &Table) -> Option<usize> {
    table.get_values().iter().filter_map(|(_, value)| value.span()).map(|span| span.end).max()
}

pub(super) fn rewrite_inline(
    doc: &Doc<'_>,
    item: &Item,
    change: impl FnOnce(&mut dyn TableLike),
) -> Option<String> {
    let span = item.as_inline_table()?.span()?;
    // A separately parsed table owns its whitespace and comments; in the full document, they are
    // only spans of the source.
    let mut value: Toml = doc.text.get(span.clone())?.parse().ok()?;
    let table = value.as_inline_table_mut()?;
    change(table);
    if !doc.text.get(span.clone())?.contains('\n') {
        table.fmt();
    }
    Some(replace(doc.text, span, &value.to_string()))
}

/// Returns the text without the entry at `path`, or `None` if there is no such entry.
///
/// Removes complete lines: for a value, its line including any trailing comment; for a table,
/// everything from its header to its last value. Comments above the entry are kept.
pub(super) fn remove(doc: &Doc<'_>, path: &[&str]) -> Option<String> {
    let (mut table, mut rest): (&dyn TableLike, &[&str]) = (doc.root(), path);
    loop {
        let (name, below) = rest.split_first()?;
        let (key, item) = table.get_key_value(name)?;
        match below {
            [] => return Some(remove_ranges(doc.text, lines_of(doc, key, item))),
            _ if item.is_inline_table() => return remove_inline(doc, item, below),
            _ => (table, rest) = (item.as_table_like()?, below),
        }
    }
}

fn remove_inline(doc: &Doc<'_>, item: &Item, path: &[&str]) -> Option<String> {
    let (leaf, tables) = path.split_last()?;
    let mut removed = None;
    let text = rewrite_inline(doc, item, |mut table| {
        for name in tables {
            match table.get_mut(name).and_then(Item::as_table_like_mut) {
                Some(below) => table = below,
                None => return,
            }
        }
        removed = table.remove(leaf);
    })?;
    removed.map(|_| text)
}

fn lines_of(doc: &Doc<'_>, key: &Key, item: &Item) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    match item {
        Item::None => {}
        Item::Value(value) => {
            if let (Some(key), Some(value)) = (key.span(), value.span()) {
                ranges.push(doc.line_around(key.start).start..doc.line_around(value.end).end);
            }
        }
        Item::Table(table) => ranges = table_lines(doc, table),
        Item::ArrayOfTables(tables) => {
            ranges.extend(tables.iter().flat_map(|table| table_lines(doc, table)));
        }
    }
    ranges
}

fn table_lines(doc: &Doc<'_>, table: &Table) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let has_header = !table.is_dotted() && !table.is_implicit();
    if let Some(header) = table.span().filter(|_| has_header) {
        let last = last_value_end(table).unwrap_or(header.end);
        let lines = doc.line_around(header.start).start..doc.line_around(last).end;
        ranges.push(with_blank_line(doc, lines));
    }
    for (key, _, item) in entries(table) {
        let below_the_header = has_header && (item.is_value() || is_dotted(item));
        if let Some(key) = key.filter(|_| !below_the_header) {
            ranges.extend(lines_of(doc, key, item));
        }
    }
    ranges
}

fn is_dotted(item: &Item) -> bool {
    item.as_table().is_some_and(Table::is_dotted)
}

/// Extends a range of lines by one adjacent blank line: the line before the range or, at the top of
/// the text, the line after it.
fn with_blank_line(doc: &Doc<'_>, lines: Range<usize>) -> Range<usize> {
    let beside = doc.line_around(lines.start.checked_sub(1).unwrap_or(lines.end));
    if !doc.text[beside.clone()].trim().is_empty() {
        return lines;
    }
    lines.start.min(beside.start)..lines.end.max(beside.end)
}

fn remove_ranges(text: &str, mut ranges: Vec<Range<usize>>) -> String {
    ranges.sort_by_key(|range| range.start);
    let (mut kept, mut from) = (String::new(), 0);
    for range in ranges {
        kept += text.get(from..range.start).unwrap_or_default();
        from = from.max(range.end);
    }
    kept + &text[from..]
}

fn newline(text: &str) -> &'static str {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if first.ends_with("\r\n") { "\r\n" } else { "\n" }
}
