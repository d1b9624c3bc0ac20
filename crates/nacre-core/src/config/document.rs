//! A TOML text with its line numbers, parsed within limits.
//!
//! The parser bounds depth by itself. Size and the number of tables are bounded here: a table that is defined after its
//! sub-table costs it time in the number of all tables, and a megabyte of those took 49 s in a debug build.

use std::ops::Range;
use std::path::Path;

use toml::de::DeTable;
use toml_edit::{Document, Item, Key, Table, TableLike};

use super::error::{ConfigError, ConfigPlace, MAX_BYTES, MAX_TABLES, shown};

/// Listing every error costs memory in their number, so only a text of a person's size is searched for its first.
const MAX_BYTES_TO_LIST_ERRORS: usize = 64 << 10;

/// A parsed text that remembers where everything stands.
pub(super) struct Doc<'t> {
    pub(super) text: &'t str,
    path: &'t Path,
    parsed: Document<&'t str>,
    line_starts: Vec<usize>,
}

impl<'t> Doc<'t> {
    pub(super) fn parse(text: &'t str, path: &'t Path) -> Result<Self, ConfigError> {
        if MAX_BYTES < text.len() {
            return Err(ConfigError::TooLarge { path: path.to_owned(), bytes: text.len() });
        }
        // Nested arrays may begin a line too; nobody has thousands of those either.
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
                let message = one_line(error.message());
                Err(ConfigError::Malformed { path: path.to_owned(), line, message })
            }
        }
    }

    pub(super) fn root(&self) -> &Table {
        self.parsed.as_table()
    }

    /// Returns where a key stands.
    pub(super) fn place(&self, key: Option<&Key>) -> ConfigPlace {
        let offset = key.and_then(Key::span).map_or(0, |span| span.start);
        ConfigPlace::File { path: self.path.to_owned(), line: line_of(&self.line_starts, offset) }
    }

    /// Returns the whole line that `offset` stands in, with its line break.
    pub(super) fn line_around(&self, offset: usize) -> Range<usize> {
        let line_idx = line_of(&self.line_starts, offset) - 1;
        let end = self.line_starts.get(line_idx + 1).copied().unwrap_or(self.text.len());
        self.line_starts[line_idx]..end
    }
}

/// Returns the entries of a table with their keys, in the order of the text.
pub(super) fn entries(table: &dyn TableLike) -> impl Iterator<Item = (Option<&Key>, &str, &Item)> {
    table.iter().map(|(name, item)| (table.key(name), name, item))
}

/// Returns a key the way it is written in TOML, short enough for a message.
pub(super) fn written(path: &[&str]) -> String {
    let names: Vec<String> = path.iter().map(|name| Key::new(*name).to_string()).collect();
    shown(&names.join("."))
}

/// Returns offset and message of the first error in the text.
///
/// Parsers report structural errors before those inside a value, so that a quote left open on line 1 would be shown as a
/// missing `=` further down. `toml` can list them all. It also comes first because `toml_edit` takes 2 ms for each table
/// that repeats one of 100,000 keys, where `toml` takes none.
fn first_error(text: &str) -> Option<(usize, String)> {
    let errors = if text.len() <= MAX_BYTES_TO_LIST_ERRORS {
        DeTable::parse_recoverable(text).1
    } else {
        DeTable::parse(text).err().into_iter().collect()
    };
    let offset = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    let first = errors.iter().min_by_key(|error| offset(error))?;
    Some((offset(first), one_line(first.message())))
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn line_starts(text: &str) -> Vec<usize> {
    let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    std::iter::once(0).chain(breaks.map(|(offset, _)| offset + 1)).collect()
}

fn line_of(line_starts: &[usize], offset: usize) -> usize {
    line_starts.partition_point(|start| *start <= offset).max(1)
}
