//! Families of tables such as `[providers.NAME]` and `[roles.NAME]`: one table per model provider
//! and one per role.
//!
//! They are read only from the user's own files. A provider receives every prompt, so a repository
//! must not influence which provider is used, even among those that the user configured.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use toml_edit::{Item, Key};

use super::document::{Doc, entries, write_key};
use super::error::{BadValue, ConfigError, ConfigPlace, Result, nearest, shorten};
use super::keys::{ValueKind, parse_docs};
use super::settings::{ApiChoice, EffortChoice, PlainHttpChoice, StrategyChoice};
use super::value::{Value, describe, not_a_table};

/// Roles that can have their own model. `default` applies to all roles that do not.
pub const ROLES: &[&str] = &["default", "lead", "explorer", "extract", "summarize", "ask", "chat"];

pub(super) const DEFAULT_MODEL: &str = "roles.default.model";

const MAX_MEMBERS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// The family's name, such as `providers` for tables like `[providers.own]`.
    pub name: &'static str,
    /// Allowed table names. Empty if users choose the names.
    pub members: &'static [&'static str],
    pub fields: &'static [Field],
}

/// A field that a family's tables can have. Fields have no defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub kind: ValueKind,
    /// The tables that have this field. Empty if all of them do.
    pub only_in: &'static [&'static str],
}

const fn field(name: &'static str, kind: ValueKind) -> Field {
    Field { name, kind, only_in: &[] }
}

pub const FAMILIES: &[Family] = &[
    Family {
        name: "providers",
        members: &[],
        fields: &[
            field("api", ValueKind::Choice(ApiChoice::NAMES)),
            field("base_url", ValueKind::Text),
            field("key_variable", ValueKind::Text),
            field("plain_http", ValueKind::Choice(PlainHttpChoice::NAMES)),
        ],
    },
    Family {
        name: "roles",
        members: ROLES,
        fields: &[
            field("model", ValueKind::Text),
            field("fallbacks", ValueKind::Texts { min_chars: 3 }),
            field("max_tokens", ValueKind::Int { min: 16, max: 1_000_000 }),
            field("context_tokens", ValueKind::Int { min: 1024, max: 10_000_000 }),
            field("temperature", ValueKind::Decimal { max: 2 }),
            field("effort", ValueKind::Choice(EffortChoice::NAMES)),
            Field {
                only_in: &["extract"],
                ..field("strategy", ValueKind::Choice(StrategyChoice::NAMES))
            },
        ],
    },
];

pub(super) fn find(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}

/// Splits a key such as `roles.lead.model` into its family, table and field.
pub(super) fn find_key(key: &str) -> Option<(&'static Family, &str, &'static Field)> {
    let (family, rest) = key.split_once('.')?;
    let (member, field) = rest.rsplit_once('.')?;
    let family = find(family)?;
    let mut fields = family.fields_of(member);
    let field = fields.find(|known| known.name == field)?;
    family.allows(member).then_some((family, member, field))
}

static DOCS: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| parse_docs(include_str!("families.toml")));

impl Family {
    pub fn doc(&self) -> &'static str {
        DOCS.get(self.name).map_or("", String::as_str)
    }

    pub fn doc_of(&self, field: &str) -> Option<&'static str> {
        DOCS.get(&format!("{}.{field}", self.name)).map(String::as_str)
    }

    pub(super) fn read(
        &self,
        doc: &Doc<'_>,
        key: Option<&Key>,
        item: &Item,
    ) -> Result<Vec<(String, Value, ConfigPlace)>> {
        let Some(members) = item.as_table_like() else {
            return Err(not_a_table(self.name, doc.place(key), item));
        };
        let mut found = Vec::new();
        for (key, member, item) in entries(members).take(MAX_MEMBERS) {
            if !self.allows(member) {
                let near = nearest::among(member, self.members.iter().copied());
                let nearest = near.map(|near| format!("{}.{near}", self.name));
                let key_name = write_key(&[self.name, member]);
                return Err(ConfigError::UnknownKey {
                    key: key_name,
                    place: doc.place(key),
                    nearest,
                });
            }
            let Some(fields) = item.as_table_like() else {
                return Err(self.not_a_member(member, doc.place(key), item));
            };
            for (key, name, item) in entries(fields) {
                let (whole, place) = (write_key(&[self.name, member, name]), doc.place(key));
                let Some(field) = self.fields_of(member).find(|field| field.name == name) else {
                    let near = nearest::among(name, self.fields_of(member).map(|field| field.name));
                    let nearest = near.map(|near| write_key(&[self.name, member, near]));
                    return Err(ConfigError::UnknownKey { key: whole, place, nearest });
                };
                let value = field.kind.read_as(&whole, item, &place)?;
                found.push((format!("{}.{member}.{name}", self.name), value, place));
            }
        }
        Ok(found)
    }

    fn fields_of(&self, member: &str) -> impl Iterator<Item = &'static Field> {
        let has = move |field: &&Field| field.only_in.is_empty() || field.only_in.contains(&member);
        self.fields.iter().filter(has)
    }

    fn allows(&self, member: &str) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let is_name = (1..=40).contains(&member.len()) && member.chars().all(is_plain);
        is_name && (self.members.is_empty() || self.members.contains(&member))
    }

    fn not_a_member(&self, member: &str, place: ConfigPlace, item: &Item) -> ConfigError {
        BadValue {
            key: write_key(&[self.name, member]),
            place,
            expected: format!("a table `[{}.{}]`", self.name, shorten(member)),
            found: describe(item),
            nearest: None,
        }
        .into()
    }
}

#[cfg(test)]
mod tests;
