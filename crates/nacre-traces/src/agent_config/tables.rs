//! Appends tables to TOML text and removes them again.

use std::path::Path;

use super::undo::{EntryState, Undo};
use nacre_base::config::{ConfigError, foreign};

/// A TOML table. `body` contains the lines after its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TomlTable {
    pub path: Vec<String>,
    pub lines: Vec<String>,
}

impl TomlTable {
    fn to_lines(&self) -> Vec<String> {
        let names: Vec<String> =
            self.path.iter().map(|name| toml_edit::Key::new(name).to_string()).collect();
        let header = format!("[{}]", names.join("."));
        std::iter::once(header).chain(self.lines.iter().cloned()).collect()
    }

    fn value(&self) -> Option<toml::Value> {
        toml::from_str::<toml::Table>(&self.lines.join("\n")).ok().map(toml::Value::Table)
    }
}

/// Placeholder for the path in error messages. The caller knows the real path and reports it.
const ORIGIN: &str = "the file";

/// Appends the missing tables. Existing tables are not changed.
pub(super) fn put(text: &str, tables: &[TomlTable]) -> Result<(String, Undo), ConfigError> {
    let mut new_text = text.to_owned();
    for table in tables {
        new_text = foreign::append_table(&new_text, Path::new(ORIGIN), &table.to_lines())?;
    }
    let appended = Some(new_text[text.len()..].to_owned());
    Ok((new_text, Undo { appended, ..Undo::default() }))
}

/// Removes the appended text if it is unchanged. Otherwise, removes each table by its header.
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
    // If the original text had no final newline, keep it separate from text that was later added
    // after the tables.
    if after.is_empty() || before.is_empty() || before.ends_with('\n') {
        return Some([before, after].concat());
    }
    let newline = if added.starts_with("\r\n") { "\r\n" } else { "\n" };
    Some([before, newline, after].concat())
}

pub(super) fn find(text: &str, tables: &[TomlTable]) -> Result<EntryState, ConfigError> {
    foreign::check(text, Path::new(ORIGIN))?;
    let document = toml::from_str::<toml::Table>(text.trim_start_matches('\u{feff}'));
    let document = toml::Value::Table(document.unwrap_or_default());
    let at = |table: &TomlTable| {
        table.path.iter().try_fold(&document, |value, name| value.get(name)).cloned()
    };
    let found: Vec<_> = tables.iter().map(|table| (at(table), table.value())).collect();
    if found.iter().all(|(there, _)| there.is_none()) {
        return Ok(EntryState::Missing);
    }
    let is_same = found.iter().all(|(there, ours)| there == ours);
    Ok(if is_same { EntryState::Current } else { EntryState::Outdated })
}
