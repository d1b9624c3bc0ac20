//! Adds a Nacre entry to a settings file's text, removes the entry, or checks its state.

use super::hooks::{self, HookGroup};
use super::json::Json;
use super::jsonc::{self, ChangeError, value_at};
use super::parts::{HookEvent, is_ours, strip_silencer};
use super::tables::{self, TomlTable};
use super::undo::{EntryState, Undo};
use nacre_base::config::ConfigError;
use std::path::PathBuf;

pub const MARK: &str = "Written by `nacre connect`";

#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error(transparent)]
    Json(#[from] ChangeError),
    #[error(transparent)]
    Toml(#[from] ConfigError),
    #[error("`{0}` already exists but was not written by Nacre")]
    Taken(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// A member of a JSON object. `keys` is the path to the member.
    Member { keys: Vec<&'static str>, value: Json },
    /// Hooks in Claude Code's format. `keys` is the path to the object that contains the events.
    Hooks { agent: &'static str, keys: Vec<&'static str>, groups: Vec<HookGroup> },
    /// Tables that are appended to a TOML file.
    Tables(Vec<TomlTable>),
    /// The full text of a file that only Nacre writes.
    Whole(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    /// Possible paths of the file. The first existing path is used, or the first path if none
    /// exists.
    pub candidates: Vec<PathBuf>,
    pub edit: Edit,
}

impl FileEdit {
    pub(crate) fn new(path: PathBuf, edit: Edit) -> Self {
        Self { candidates: vec![path], edit }
    }
}

impl Edit {
    /// Returns the text with the entry added. `text` is `None` if the file does not exist.
    pub fn put(&self, text: Option<&str>) -> Result<(String, Undo), EditError> {
        let before = text.unwrap_or_default();
        let (new_text, undo) = match self {
            Self::Member { keys, value } => jsonc::put(before, keys, value)?,
            Self::Hooks { keys, groups, .. } => hooks::put(before, keys, groups)?,
            Self::Tables(tables) => match tables::find(before, tables)? {
                EntryState::Missing => tables::put(before, tables)?,
                EntryState::Current | EntryState::Outdated => {
                    let path = tables.first().map(|table| table.path.join("."));
                    return Err(EditError::Taken(path.unwrap_or_default()));
                }
            },
            Self::Whole(text) => (text.clone(), Undo::default()),
        };
        Ok((new_text, undo))
    }

    /// Removes the entry, even if other parts of the text have changed since it was added. Returns
    /// `None` if nothing is left and the file can be deleted.
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

    pub fn state(&self, text: &str) -> Result<EntryState, EditError> {
        Ok(match self {
            Self::Member { keys, value } => {
                let root = jsonc::parse_object(text)?;
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
                let mut found = hooks::find_hooks(text, keys, agent)?;
                wanted.sort_by(|a, b| a.0.cmp(&b.0));
                found.sort_by(|a, b| a.0.cmp(&b.0));
                match found.is_empty() {
                    true => EntryState::Missing,
                    false if found == wanted => EntryState::Current,
                    false => EntryState::Outdated,
                }
            }
            Self::Tables(tables) => tables::find(text, tables)?,
            Self::Whole(ours) if text == ours => EntryState::Current,
            Self::Whole(_) if text.contains(MARK) => EntryState::Outdated,
            Self::Whole(_) => EntryState::Missing,
        })
    }

    /// Returns the command and arguments that the entry uses to run Nacre, if it contains any.
    pub fn find_command(&self, text: &str) -> Option<Vec<String>> {
        let value = match self {
            Self::Member { keys, .. } => {
                let (_, root) = jsonc::parse_object(text).ok()??;
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
                let found = hooks::find_hooks(text, keys, agent).ok()?;
                let hooks =
                    found.iter().filter_map(|(_, group)| group["hooks"].as_array()).flatten();
                let commands = hooks.filter_map(|hook| hook["command"].as_str());
                // Callers run the command as a check, so its failures must not be hidden.
                let ours = commands.filter(|command| is_ours(command, agent)).map(strip_silencer);
                let ours: Vec<&str> = ours.collect();
                // Prefer the command of the session start hook.
                let start = format!(" {}", HookEvent::Start.as_str());
                let command =
                    ours.iter().find(|command| command.ends_with(&start)).or(ours.first())?;
                return Some(vec![(*command).to_owned()]);
            }
            Self::Whole(_) => return None,
        };
        // One agent stores the command together with its arguments in a single array.
        let words = |value: &serde_json::Value| -> Vec<String> {
            let words =
                value.as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
            value.as_str().into_iter().chain(words).map(str::to_owned).collect()
        };
        let command = [words(&value["command"]), words(&value["args"])].concat();
        (!command.is_empty()).then_some(command)
    }
}
