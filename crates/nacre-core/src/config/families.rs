//! Tables that people name themselves: one a provider of models, and one a role.
//!
//! They are only ever read from a person's own files. Who serves a model sees everything that it is asked, so that no
//! repository may have a say in it, not even by choosing among the providers that are set.

use std::collections::BTreeMap;
use std::str::FromStr;

use toml_edit::{Item, Key, TableLike};

use super::choices::{ApiChoice, EffortChoice, PlainHttpChoice, StrategyChoice};
use super::document::{Doc, entries, written};
use super::error::{BadValue, ConfigError, ConfigPlace, shown};
use super::keys::Kind;
use super::nearest;
use super::origin::Entry;
use super::settings::{ProviderTable, RoleTable};
use super::value::{Value, describe, not_a_table};

/// The roles that a model can be set for; `default` is for all that are not set.
pub const ROLES: &[&str] = &["default", "lead", "explorer", "extract", "summarize", "ask", "chat"];

/// What `NACRE_MODEL` sets.
pub(super) const DEFAULT_MODEL: &str = "roles.default.model";

/// More tables of one family are a mistake.
const MAX_MEMBERS: usize = 100;

/// Tables with the same keys and different names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// `providers`, for tables such as `[providers.own]`.
    pub name: &'static str,
    /// The names that there are; empty where a person chooses.
    pub members: &'static [&'static str],
    pub doc: &'static str,
    pub fields: &'static [Field],
}

/// A key of every table of a family. Without it nothing is set: fields have no defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    /// The tables that have it; empty for all of them.
    pub only_in: &'static [&'static str],
    pub doc: &'static str,
}

/// Every family.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "providers",
        members: &[],
        doc: "Who serves models: `[providers.NAME]`. `anthropic`, `openai`, `openrouter`, `zai`, `ollama`, `llamacpp` \
              and `vllm` are known and need nothing but, some of them, a key in the environment. `claude-code`, `codex`, \
              `opencode`, `gemini` and `copilot` are agents installed on this machine and need no table.",
        fields: &[
            Field {
                name: "api",
                kind: Kind::Choice(ApiChoice::NAMES),
                only_in: &[],
                doc: "Which API it speaks; needed where the provider is not a known one.",
            },
            Field {
                name: "base_url",
                kind: Kind::Text,
                only_in: &[],
                doc: "Its address, such as `http://127.0.0.1:8080/v1`; needed where the provider is not a known one.",
            },
            Field {
                name: "key_variable",
                kind: Kind::Text,
                only_in: &[],
                doc: "The environment variable that holds its key. The key itself stands in no file.",
            },
            Field {
                name: "plain_http",
                kind: Kind::Choice(PlainHttpChoice::NAMES),
                only_in: &[],
                doc: "How far a key may travel unencrypted; `this_machine` unless set.",
            },
        ],
    },
    Family {
        name: "roles",
        members: ROLES,
        doc: "Which model does which job: `[roles.lead]`, `[roles.explorer]`, `[roles.extract]`, `[roles.summarize]`, \
              `[roles.ask]`, `[roles.chat]`, and `[roles.default]` for all that are not set. `NACRE_MODEL` sets the \
              model of the last.",
        fields: &[
            Field {
                name: "model",
                kind: Kind::Text,
                only_in: &[],
                doc: "The model, as `provider/model`, such as `ollama/qwen3` or `claude-code/haiku`; `auto` is the first installed \
                      agent, once you allowed it to answer (`reading.agent`).",
            },
            Field {
                name: "fallbacks",
                kind: Kind::Texts { min_chars: 3 },
                only_in: &[],
                doc: "Models to ask, in this order, when the first one does not answer.",
            },
            Field {
                name: "max_tokens",
                kind: Kind::Int { min: 16, max: 1_000_000 },
                only_in: &[],
                doc: "The longest answer, in tokens.",
            },
            Field {
                name: "context_tokens",
                kind: Kind::Int { min: 1024, max: 10_000_000 },
                only_in: &[],
                doc: "The most that the model is sent at once, in tokens, its answer included: at most its window.",
            },
            Field {
                name: "temperature",
                kind: Kind::Decimal { max: 2 },
                only_in: &[],
                doc: "How freely the model chooses its words; 0 is not at all.",
            },
            Field {
                name: "effort",
                kind: Kind::Choice(EffortChoice::NAMES),
                only_in: &[],
                doc: "How long the model may think before it answers.",
            },
            Field {
                name: "strategy",
                kind: Kind::Choice(StrategyChoice::NAMES),
                only_in: &["extract"],
                doc: "How sessions are read: by rules alone (`offline`), by a model in `windows`, by a model that explores them \
                      by code (`rlm`), or by what there is (`auto`, unless set).",
            },
            Field {
                name: "rlm_above_tokens",
                kind: Kind::Int { min: 1024, max: 100_000_000 },
                only_in: &["extract"],
                doc: "From how many tokens on `auto` explores a session by code instead of reading all of it; 200000 unless set.",
            },
        ],
    },
];

/// A value of a table, with its whole key.
pub(super) struct ProjectKey {
    pub(super) key: String,
    pub(super) value: Value,
    pub(super) place: ConfigPlace,
}

pub(super) fn find(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}

/// Returns the family, the table and the field of a key such as `roles.lead.model`.
pub(super) fn find_key(key: &str) -> Option<(&'static Family, &str, &'static Field)> {
    let (family, rest) = key.split_once('.')?;
    let (member, field) = rest.rsplit_once('.')?;
    let family = find(family)?;
    let mut fields = family.fields_of(member);
    let field = fields.find(|known| known.name == field)?;
    family.allows(member).then_some((family, member, field))
}

impl Family {
    /// Reads every table of the family that stands in a text.
    pub(super) fn read(
        &self,
        doc: &Doc<'_>,
        key: Option<&Key>,
        item: &Item,
    ) -> Result<Vec<ProjectKey>, ConfigError> {
        let Some(members) = item.as_table_like() else {
            return Err(not_a_table(self.name, doc.place(key), item));
        };
        let mut found = Vec::new();
        for (key, member, item) in entries(members).take(MAX_MEMBERS) {
            if !self.allows(member) {
                let near = nearest::among(member, self.members.iter().copied());
                let nearest = near.map(|near| format!("{}.{near}", self.name));
                let key_name = written(&[self.name, member]);
                return Err(ConfigError::UnknownKey {
                    key: key_name,
                    place: doc.place(key),
                    nearest,
                });
            }
            let Some(fields) = item.as_table_like() else {
                return Err(self.not_a_member(member, doc.place(key), item));
            };
            self.read_fields(doc, member, fields, &mut found)?;
        }
        Ok(found)
    }

    fn read_fields(
        &self,
        doc: &Doc<'_>,
        member: &str,
        fields: &dyn TableLike,
        found: &mut Vec<ProjectKey>,
    ) -> Result<(), ConfigError> {
        for (key, name, item) in entries(fields) {
            let (whole, place) = (written(&[self.name, member, name]), doc.place(key));
            let Some(field) = self.fields_of(member).find(|field| field.name == name) else {
                let near = nearest::among(name, self.fields_of(member).map(|field| field.name));
                let nearest = near.map(|near| written(&[self.name, member, near]));
                return Err(ConfigError::UnknownKey { key: whole, place, nearest });
            };
            let value = field.kind.read_as(&whole, item, &place)?;
            found.push(ProjectKey { key: format!("{}.{member}.{name}", self.name), value, place });
        }
        Ok(())
    }

    /// The fields that one table has.
    fn fields_of(&self, member: &str) -> impl Iterator<Item = &'static Field> {
        let has = move |field: &&Field| field.only_in.is_empty() || field.only_in.contains(&member);
        self.fields.iter().filter(has)
    }

    /// Whether a table may have that name.
    fn allows(&self, member: &str) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let is_name = (1..=40).contains(&member.len()) && member.chars().all(is_plain);
        is_name && (self.members.is_empty() || self.members.contains(&member))
    }

    fn not_a_member(&self, member: &str, place: ConfigPlace, item: &Item) -> ConfigError {
        BadValue {
            key: written(&[self.name, member]),
            place,
            expected: format!("a table `[{}.{}]`", self.name, shown(member)),
            found: describe(item),
            nearest: None,
        }
        .into()
    }
}

pub(super) fn providers(tables: &BTreeMap<String, Entry>) -> BTreeMap<String, ProviderTable> {
    let mut providers: BTreeMap<String, ProviderTable> = BTreeMap::new();
    for (member, field, value) in members(tables, "providers") {
        let table = providers.entry(member.to_owned()).or_default();
        match field {
            "api" => table.api = choice(value),
            "base_url" => table.base_url = text(value),
            "key_variable" => table.key_variable = text(value),
            "plain_http" => table.plain_http = choice(value),
            _ => {}
        }
    }
    providers
}

pub(super) fn roles(tables: &BTreeMap<String, Entry>) -> BTreeMap<String, RoleTable> {
    let mut roles: BTreeMap<String, RoleTable> = BTreeMap::new();
    for (member, field, value) in members(tables, "roles") {
        let table = roles.entry(member.to_owned()).or_default();
        match (field, value) {
            ("model", value) => table.model = text(value),
            ("effort", value) => table.effort = choice(value),
            ("strategy", value) => table.strategy = choice(value),
            ("rlm_above_tokens", Value::Int(number)) => {
                table.rlm_above_tokens = usize::try_from(*number).ok();
            }
            ("fallbacks", Value::Texts(models)) => table.fallbacks.clone_from(models),
            ("max_tokens", Value::Int(number)) => table.max_tokens = u32::try_from(*number).ok(),
            ("context_tokens", Value::Int(number)) => {
                table.context_tokens = usize::try_from(*number).ok();
            }
            ("temperature", Value::Decimal(number)) => {
                table.temperature = u32::try_from(*number).ok();
            }
            _ => {}
        }
    }
    roles
}

fn members<'a>(
    tables: &'a BTreeMap<String, Entry>,
    family: &'a str,
) -> impl Iterator<Item = (&'a str, &'a str, &'a Value)> {
    tables.iter().filter_map(move |(key, entry)| {
        let rest = key.strip_prefix(family)?.strip_prefix('.')?;
        let (member, field) = rest.rsplit_once('.')?;
        Some((member, field, &entry.value))
    })
}

/// One of the names that the kind of the field allows: what is none of them was refused where it was read.
fn choice<T: FromStr>(value: &Value) -> Option<T> {
    text(value)?.parse().ok()
}

/// An empty text sets nothing.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Int(_) | Value::Decimal(_) | Value::Flag(_) | Value::Texts(_) => None,
    }
}

#[cfg(test)]
mod tests;
