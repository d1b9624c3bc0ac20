//! Tables of a TOML text, added at its end and taken out again.

use std::path::Path;

use super::undo::Undo;
use crate::config::{ConfigError, foreign};

/// A table with the lines below its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TomlTable {
    pub path: Vec<String>,
    pub lines: Vec<String>,
}

impl TomlTable {
    fn written(&self) -> Vec<String> {
        let names: Vec<String> =
            self.path.iter().map(|name| toml_edit::Key::new(name).to_string()).collect();
        let header = format!("[{}]", names.join("."));
        std::iter::once(header).chain(self.lines.iter().cloned()).collect()
    }

    fn value(&self) -> Option<toml::Value> {
        toml::from_str::<toml::Table>(&self.lines.join("\n")).ok().map(toml::Value::Table)
    }
}

/// What a table of ours looks like in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableEntry {
    Missing,
    Same,
    Different,
}

/// Errors name the line of a text, and the caller its path.
const ORIGIN: &str = "the file";

/// Adds tables that are not there; one that is there stays, for the caller to see.
pub(super) fn put(text: &str, tables: &[TomlTable]) -> Result<(String, Undo), ConfigError> {
    let mut new_text = text.to_owned();
    for table in tables {
        new_text = foreign::append_table(&new_text, Path::new(ORIGIN), &table.written())?;
    }
    let appended = Some(new_text[text.len()..].to_owned());
    Ok((new_text, Undo { appended, ..Undo::default() }))
}

/// Takes tables out: the very text that was added, where it still stands, else by their headers.
pub(super) fn remove(text: &str, tables: &[TomlTable], undo: &Undo) -> Result<String, ConfigError> {
    if let Some(shorter) = undo.appended.as_ref().and_then(|added| without_added(text, added)) {
        return Ok(shorter);
    }
    let mut text = text.to_owned();
    for table in tables {
        let path: Vec<&str> = table.path.iter().map(String::as_str).collect();
        if let Some(shorter) = foreign::remove_table(&text, Path::new(ORIGIN), &path)? {
            text = shorter;
        }
    }
    Ok(text)
}

fn without_added(text: &str, added: &str) -> Option<String> {
    let (before, after) = text.split_once(added).filter(|_| !added.is_empty())?;
    // A line that went on without a break before must not run into what was written behind ours.
    if after.is_empty() || before.is_empty() || before.ends_with('\n') {
        return Some([before, after].concat());
    }
    let newline = if added.starts_with("\r\n") { "\r\n" } else { "\n" };
    Some([before, newline, after].concat())
}

/// What stands in the place of each table, taken together.
pub(super) fn find(text: &str, tables: &[TomlTable]) -> Result<TableEntry, ConfigError> {
    foreign::check(text, Path::new(ORIGIN))?;
    let document = toml::from_str::<toml::Table>(text.trim_start_matches('\u{feff}'));
    let document = toml::Value::Table(document.unwrap_or_default());
    let at = |table: &TomlTable| {
        table.path.iter().try_fold(&document, |value, name| value.get(name)).cloned()
    };
    let found: Vec<_> = tables.iter().map(|table| (at(table), table.value())).collect();
    if found.iter().all(|(there, _)| there.is_none()) {
        return Ok(TableEntry::Missing);
    }
    let is_same = found.iter().all(|(there, ours)| there == ours);
    Ok(if is_same { TableEntry::Same } else { TableEntry::Different })
}
