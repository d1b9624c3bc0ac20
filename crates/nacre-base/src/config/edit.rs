//! Sets or removes one configuration key and leaves all other lines unchanged.
//!
//! The text must be valid TOML but may contain invalid keys or values, which users can then repair
//! with `nacre config`.

use std::path::Path;

use toml_edit::{Item, Key, Table, TableLike, Value as Toml};

use super::document::{self, Doc};
use super::error::{ConfigPlace, Result};
use super::families::{self, Family, Field};
use super::keys::{self, KeySpec};
use super::layers::unknown_key;
use super::value::not_a_table;

/// Sets `key` to `value`, which is plain text rather than TOML.
pub fn set(text: &str, origin: &Path, key: &str, value: &str) -> Result<String> {
    let doc = Doc::parse(text, origin)?;
    let new_text = match (keys::find(key), families::find_key(key)) {
        (Some(spec), _) => {
            let value = spec.kind.parse_as(key, value, &ConfigPlace::CommandLine)?.to_toml();
            put(&doc, spec, &value)?
        }
        (None, Some((family, member, field))) => {
            let value = field.kind.parse_as(key, value, &ConfigPlace::CommandLine)?.to_toml();
            put_in_family(&doc, family, member, field, &value)?
        }
        (None, None) => return Err(unknown_key(key, ConfigPlace::CommandLine)),
    };
    Doc::parse(&new_text, origin)?;
    Ok(new_text)
}

/// Removes `key`, or returns the text unchanged if the key is not set.
///
/// Unknown keys can be removed too, so that users can fix the errors they cause.
pub fn unset(text: &str, origin: &Path, key: &str) -> Result<String> {
    let doc = Doc::parse(text, origin)?;
    let path = Key::parse(key).unwrap_or_default();
    let path: Vec<&str> = path.iter().map(Key::get).collect();
    let removed = match path.as_slice() {
        [section] if keys::is_section(section) || families::find(section).is_some() => None,
        path => document::remove(&doc, path),
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

fn put(doc: &Doc<'_>, spec: &KeySpec, value: &str) -> Result<String> {
    let (section, leaf) = (spec.section(), spec.leaf());
    let new_table = || [format!("[{section}]"), format!("{leaf} = {value}")];
    let table = match doc.root().get_key_value(section) {
        None => return Ok(document::append_table(doc.text, &new_table())),
        Some((_, Item::Table(table))) => table,
        Some((key, item)) => {
            return document::rewrite_inline(doc, item, |table| put_inline(table, leaf, value))
                .ok_or_else(|| not_a_table(section, doc.place(Some(key)), item));
        }
    };
    if table.is_dotted() && !table.contains_key(leaf) {
        let last = document::last_value_end(table).unwrap_or_default();
        let line = format!("{section}.{leaf} = {value}");
        return Ok(document::insert_line_after(doc, last, &line));
    }
    let new_text = put_below_header(doc, table, leaf, value);
    let new_text = new_text.map_err(|(item, place)| spec.kind.mismatch(spec.name, item, &place))?;
    Ok(new_text.unwrap_or_else(|| document::append_table(doc.text, &new_table())))
}

/// Adds or replaces a value in the table and returns the new text, or `None` if the table has no
/// header. Fails with the existing item if that item is not a value.
fn put_below_header<'t>(
    doc: &Doc<'_>,
    table: &'t Table,
    leaf: &str,
    value: &str,
) -> Result<Option<String>, (&'t Item, ConfigPlace)> {
    if let Some((key, item)) = table.get_key_value(leaf) {
        let span = item.as_value().and_then(Toml::span);
        let span = span.ok_or_else(|| (item, doc.place(Some(key))))?;
        return Ok(Some(document::replace(doc.text, span, value)));
    }
    Ok(table.span().filter(|_| !table.is_implicit()).map(|header| {
        let last = document::last_value_end(table).unwrap_or(header.start);
        document::insert_line_after(doc, last, &format!("{leaf} = {value}"))
    }))
}

/// Sets a key in a table that has its own header. Tables written in any other way must be edited by
/// hand.
fn put_in_family(
    doc: &Doc<'_>,
    family: &Family,
    member: &str,
    field: &Field,
    value: &str,
) -> Result<String> {
    let new_table = || [format!("[{}.{member}]", family.name), format!("{} = {value}", field.name)];
    let Some((key, members)) = doc.root().get_key_value(family.name) else {
        return Ok(document::append_table(doc.text, &new_table()));
    };
    let elsewhere = |item| not_a_table(family.name, doc.place(Some(key)), item);
    let members = members.as_table().ok_or_else(|| elsewhere(members))?;
    let Some(item) = members.get(member) else {
        return Ok(document::append_table(doc.text, &new_table()));
    };
    let table =
        item.as_table().filter(|table| !table.is_dotted()).ok_or_else(|| elsewhere(item))?;
    let new_text = put_below_header(doc, table, field.name, value);
    let mismatch = |(item, place)| field.kind.mismatch(field.name, item, &place);
    new_text.map_err(mismatch)?.ok_or_else(|| elsewhere(item))
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
