//! One entry of ours in one text: put in, taken out, looked at.

use super::commands::{is_ours, unsilenced};
use super::hooks::{self, HookGroup};
use super::json::Json;
use super::jsonc::{self, ChangeError, value_at};
use super::parts::HookEvent;
use super::tables::{self, TableEntry, TomlTable};
use super::undo::Undo;
use crate::config::ConfigError;

/// Stands in every file that is Nacre's as a whole.
pub const MARK: &str = "Written by `nacre connect`";

/// Why a text cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error(transparent)]
    Json(#[from] ChangeError),
    #[error(transparent)]
    Toml(#[from] ConfigError),
    #[error("there is a `{0}` already that Nacre did not write")]
    Taken(String),
}

/// What belongs into a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// A member of a JSON object, by the keys that lead to it.
    Member { keys: Vec<&'static str>, value: Json },
    /// Hooks in the usual form, by the keys that lead to the events.
    Hooks { agent: &'static str, keys: Vec<&'static str>, groups: Vec<HookGroup> },
    /// Tables of a TOML file.
    Tables(Vec<TomlTable>),
    /// The whole file.
    Whole(String),
}

/// What a text has of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryState {
    Missing,
    /// As it would be written now.
    Current,
    /// Written by another version, for a program in another place, or changed since.
    Outdated,
}

impl Edit {
    /// Puts the entry into a text; none is a file that is not there.
    pub fn put(&self, text: Option<&str>) -> Result<(String, Undo), EditError> {
        let before = text.unwrap_or_default();
        let (new_text, undo) = match self {
            Self::Member { keys, value } => jsonc::put(before, keys, value)?,
            Self::Hooks { keys, groups, .. } => hooks::put(before, keys, groups)?,
            Self::Tables(tables) => match tables::find(before, tables)? {
                TableEntry::Missing => tables::put(before, tables)?,
                TableEntry::Same | TableEntry::Different => {
                    let path = tables.first().map(|table| table.path.join("."));
                    return Err(EditError::Taken(path.unwrap_or_default()));
                }
            },
            Self::Whole(text) => (text.clone(), Undo::default()),
        };
        Ok((new_text, undo))
    }

    /// Takes the entry out of a text that may have been changed since. `None` where nothing is left that is not ours.
    pub fn remove(&self, text: &str, undo: &Undo) -> Result<Option<String>, EditError> {
        Ok(match self {
            Self::Member { keys, .. } => {
                let without = jsonc::remove_entry(text, keys, undo)?;
                Some(jsonc::tidy(&without, undo)?)
            }
            Self::Hooks { agent, keys, .. } => Some(hooks::remove(text, keys, agent, undo)?),
            Self::Tables(tables) => Some(tables::remove(text, tables, undo)?),
            Self::Whole(ours) if text == ours => None,
            Self::Whole(_) => Some(text.to_owned()),
        })
    }

    /// What a text has of the entry.
    pub fn state(&self, text: &str) -> Result<EntryState, EditError> {
        Ok(match self {
            Self::Member { keys, value } => {
                let root = jsonc::parsed(text)?;
                let node = root.as_ref().and_then(|(_, root)| root.at(keys));
                match node.map(|node| value_at(text, node) == value.to_value()) {
                    None => EntryState::Missing,
                    Some(true) => EntryState::Current,
                    Some(false) => EntryState::Outdated,
                }
            }
            Self::Hooks { agent, keys, groups } => {
                let wanted = groups.iter().map(|hook| (hook.event, hook.group.to_value()));
                let mut wanted: Vec<_> =
                    wanted.map(|(name, value)| (name.to_owned(), value)).collect();
                let mut found = hooks::found(text, keys, agent)?;
                wanted.sort_by(|a, b| a.0.cmp(&b.0));
                found.sort_by(|a, b| a.0.cmp(&b.0));
                match found.is_empty() {
                    true => EntryState::Missing,
                    false if found == wanted => EntryState::Current,
                    false => EntryState::Outdated,
                }
            }
            Self::Tables(tables) => match tables::find(text, tables)? {
                TableEntry::Missing => EntryState::Missing,
                TableEntry::Same => EntryState::Current,
                TableEntry::Different => EntryState::Outdated,
            },
            Self::Whole(ours) if text == ours => EntryState::Current,
            Self::Whole(_) if text.contains(MARK) => EntryState::Outdated,
            Self::Whole(_) => EntryState::Missing,
        })
    }

    /// The command that a text has the agent start, with its arguments, where the entry names one.
    pub fn configured_command(&self, text: &str) -> Option<Vec<String>> {
        let value = match self {
            Self::Member { keys, .. } => {
                let (_, root) = jsonc::parsed(text).ok()??;
                value_at(text, root.at(keys)?)
            }
            Self::Tables(tables) => {
                let text = text.trim_start_matches('\u{feff}');
                let document = toml::Value::Table(toml::from_str(text).ok()?);
                let path = &tables.first()?.path;
                let table = path.iter().try_fold(&document, |value, name| value.get(name))?;
                serde_json::to_value(table).ok()?
            }
            Self::Hooks { agent, keys, .. } => {
                let found = hooks::found(text, keys, agent).ok()?;
                let hooks =
                    found.iter().filter_map(|(_, group)| group["hooks"].as_array()).flatten();
                let commands = hooks.filter_map(|hook| hook["command"].as_str());
                // Whoever runs it to see whether it works must see that it fails.
                let ours = commands.filter(|command| is_ours(command, agent)).map(unsilenced);
                let ours: Vec<&str> = ours.collect();
                // The one that a session starts with, wherever it stands.
                let start = format!(" {}", HookEvent::Start.as_str());
                let command =
                    ours.iter().find(|command| command.ends_with(&start)).or(ours.first())?;
                return Some(vec![(*command).to_owned()]);
            }
            Self::Whole(_) => return None,
        };
        // One agent has the command and its arguments in one list.
        let words = |value: &serde_json::Value| match value {
            serde_json::Value::String(word) => vec![word.clone()],
            serde_json::Value::Array(words) => {
                words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect()
            }
            serde_json::Value::Null
            | serde_json::Value::Bool(_)
            | serde_json::Value::Number(_)
            | serde_json::Value::Object(_) => Vec::new(),
        };
        let command = [words(&value["command"]), words(&value["args"])].concat();
        (!command.is_empty()).then_some(command)
    }

    /// The whole text of the file, where all of it is ours.
    pub fn whole(&self) -> Option<&str> {
        match self {
            Self::Whole(text) => Some(text),
            Self::Member { .. } | Self::Hooks { .. } | Self::Tables(_) => None,
        }
    }
}
