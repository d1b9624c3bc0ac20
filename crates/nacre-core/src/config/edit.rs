//! One key set or taken out of a configuration text, with every other line as it was.
//!
//! The text has to be TOML but may hold other mistakes, so that a wrong value can be put right by command.

use std::path::Path;

use toml_edit::{Item, Key, TableLike, Value as Toml};

use super::document::Doc;
use super::error::{ConfigError, ConfigPlace};
use super::families::{self, Family, Field};
use super::keys::{self, KeySpec};
use super::layers::unknown_key;
use super::splice;
use super::value::not_a_table;

/// Returns the text with `key` set to `value`, which is given as plain text.
pub fn set(text: &str, origin: &Path, key: &str, value: &str) -> Result<String, ConfigError> {
    let doc = Doc::parse(text, origin)?;
    let new_text = match (keys::find(key), families::find_key(key)) {
        (Some(spec), _) => {
            let value = spec.parse(value, &ConfigPlace::CommandLine)?.to_toml();
            put(&doc, spec, &value)?
        }
        (None, Some((family, member, field))) => {
            let value = field.kind.parse_as(key, value, &ConfigPlace::CommandLine)?.to_toml();
            put_in_family(&doc, (family, member, field), &value)?
        }
        (None, None) => return Err(unknown_key(key, ConfigPlace::CommandLine)),
    };
    // A file that cannot be read back is never handed out to be written.
    Doc::parse(&new_text, origin)?;
    Ok(new_text)
}

/// Returns the text without `key`; unchanged where it is not set.
///
/// An unknown key can be taken out too, as the way out of the error that it causes.
pub fn unset(text: &str, origin: &Path, key: &str) -> Result<String, ConfigError> {
    let doc = Doc::parse(text, origin)?;
    let path = Key::parse(key).unwrap_or_default();
    let path: Vec<&str> = path.iter().map(Key::get).collect();
    let removed = match path.as_slice() {
        [section] if keys::is_section(section) || families::find(section).is_some() => None,
        path => splice::remove(&doc, path),
    };
    match removed {
        Some(new_text) => {
            Doc::parse(&new_text, origin)?;
            Ok(new_text)
        }
        None if keys::find(key).is_some() || families::find_key(key).is_some() => {
            Ok(text.to_owned())
        }
        None => Err(unknown_key(key, ConfigPlace::CommandLine)),
    }
}

fn put(doc: &Doc<'_>, spec: &KeySpec, value: &str) -> Result<String, ConfigError> {
    let (section, leaf) = (spec.section(), spec.leaf());
    let new_table = || [format!("[{section}]"), format!("{leaf} = {value}")];
    let table = match doc.root().get_key_value(section) {
        None => return Ok(splice::append_table(doc.text, &new_table())),
        Some((_, Item::Table(table))) => table,
        Some((key, item)) => {
            return splice::rewrite_inline(doc, item, |table| put_inline(table, leaf, value))
                .ok_or_else(|| not_a_table(section, doc.place(Some(key)), item));
        }
    };
    match table.get_key_value(leaf) {
        Some((key, item)) => match item.as_value().and_then(Toml::span) {
            Some(span) => Ok(splice::replace(doc.text, span, value)),
            None => Err(spec.mismatch(item, &doc.place(Some(key)))),
        },
        None if table.is_dotted() => {
            let last = splice::last_value_end(table).unwrap_or_default();
            Ok(splice::insert_line_after(doc, last, &format!("{section}.{leaf} = {value}")))
        }
        // A table that only its sub-tables imply has no header to stand below.
        None => match table.span().filter(|_| !table.is_implicit()) {
            Some(header) => {
                let last = splice::last_value_end(table).unwrap_or(header.start);
                Ok(splice::insert_line_after(doc, last, &format!("{leaf} = {value}")))
            }
            None => Ok(splice::append_table(doc.text, &new_table())),
        },
    }
}

/// Sets a key of a table with a header of its own; one that is written otherwise is left to a person.
fn put_in_family(
    doc: &Doc<'_>,
    (family, member, field): (&Family, &str, &Field),
    value: &str,
) -> Result<String, ConfigError> {
    let line = format!("{} = {value}", field.name);
    let new_table = || [format!("[{}.{member}]", family.name), line.clone()];
    let Some((key, members)) = doc.root().get_key_value(family.name) else {
        return Ok(splice::append_table(doc.text, &new_table()));
    };
    let elsewhere = |item| not_a_table(family.name, doc.place(Some(key)), item);
    let members = members.as_table().ok_or_else(|| elsewhere(members))?;
    let Some(item) = members.get(member) else {
        return Ok(splice::append_table(doc.text, &new_table()));
    };
    let table =
        item.as_table().filter(|table| !table.is_dotted()).ok_or_else(|| elsewhere(item))?;
    match table.get_key_value(field.name) {
        Some((key, item)) => match item.as_value().and_then(Toml::span) {
            Some(span) => Ok(splice::replace(doc.text, span, value)),
            None => Err(field.kind.mismatch_as(field.name, item, &doc.place(Some(key)))),
        },
        None => {
            let header = table.span().filter(|_| !table.is_implicit());
            let header = header.ok_or_else(|| elsewhere(item))?;
            let last = splice::last_value_end(table).unwrap_or(header.start);
            Ok(splice::insert_line_after(doc, last, &line))
        }
    }
}

fn put_inline(table: &mut dyn TableLike, leaf: &str, value: &str) {
    let Ok(mut new) = value.parse::<Toml>() else { return };
    match table.get_mut(leaf).and_then(Item::as_value_mut) {
        Some(old) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        None => {
            table.insert(leaf, Item::Value(new));
        }
    }
}

#[cfg(test)]
mod tests;
