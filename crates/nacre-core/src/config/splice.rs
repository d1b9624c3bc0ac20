//! Changes to a TOML text that leave every other byte where it was.
//!
//! The parser is used for positions only, and the text itself is cut: a parsed document, written out again, regroups
//! dotted keys and line breaks that a person chose. Only an inline table is written anew, as a whole.

use std::ops::Range;

use toml_edit::{Item, Key, Table, TableLike, Value as Toml};

use super::document::{Doc, entries};

/// Returns the text with `range` replaced.
pub(super) fn replace(text: &str, range: Range<usize>, with: &str) -> String {
    [&text[..range.start], with, &text[range.end..]].concat()
}

/// Returns the text with a table of these lines at its end, after a blank line.
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

/// Returns the text with one more line after the line that `offset` stands in.
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

/// Returns the end of the last value that stands directly below the table's header, dotted keys included.
pub(super) fn last_value_end(table: &Table) -> Option<usize> {
    table.get_values().iter().filter_map(|(_, value)| value.span()).map(|span| span.end).max()
}

/// Returns the text with an inline table changed by `change`, or `None` where the item is no inline table.
pub(super) fn rewrite_inline(
    doc: &Doc<'_>,
    item: &Item,
    change: impl FnOnce(&mut dyn TableLike),
) -> Option<String> {
    let span = item.as_inline_table()?.span()?;
    // Parsed by itself it owns its blanks and comments, which a part of a larger document only points to.
    let mut value: Toml = doc.text.get(span.clone())?.parse().ok()?;
    let table = value.as_inline_table_mut()?;
    change(table);
    // On one line there are no comments to lose, and blanks around a changed entry are put right.
    if !doc.text.get(span.clone())?.contains('\n') {
        table.fmt();
    }
    Some(replace(doc.text, span, &value.to_string()))
}

/// Returns the text without the entry at `path`, or `None` where there is none.
///
/// Whole lines go: a value with the comment beside it, a table from its header to its last value. Comments above stay.
pub(super) fn remove(doc: &Doc<'_>, path: &[&str]) -> Option<String> {
    let (mut table, mut rest): (&dyn TableLike, &[&str]) = (doc.root(), path);
    loop {
        let (name, below) = rest.split_first()?;
        let (key, item) = table.get_key_value(name)?;
        match below {
            [] => return Some(without(doc.text, lines_of(doc, key, item))),
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

/// Returns the ranges of whole lines that an entry takes up.
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

/// Returns the lines with the blank one that sets them off: the one before or, at the top of the text, the one after.
fn with_blank_line(doc: &Doc<'_>, lines: Range<usize>) -> Range<usize> {
    let beside = match lines.start.checked_sub(1) {
        Some(before) => doc.line_around(before),
        None => doc.line_around(lines.end),
    };
    if !doc.text[beside.clone()].trim().is_empty() {
        return lines;
    }
    lines.start.min(beside.start)..lines.end.max(beside.end)
}

fn without(text: &str, mut ranges: Vec<Range<usize>>) -> String {
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
