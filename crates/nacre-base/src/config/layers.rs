//! Merges defaults, files, variables and flags into one set of values, and records the origin of
//! each value.
//!
//! A higher layer replaces a lower one, except that lists are concatenated. The `from_repo` column
//! of the key table limits which values a repository may set. The same limits apply to a
//! `NACRE_CONFIG` file inside the repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Map, Value as Json};
use toml_edit::{Item, Key, TableLike};

use super::document::{Doc, entries, write_key};
use super::error::{ConfigError, ConfigPlace, ConfigWarning, Result, nearest, shorten};
use super::families::{self, Family};
use super::keys::{self, FromRepo, KEYS, KeySpec, NACRE_MODEL, PREFIX, VARS};
use super::settings::Settings;
use super::value::{Value, not_a_table};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigSource {
    layer: Layer,
    path: PathBuf,
    text: String,
    is_of_repo: bool,
}

impl ConfigSource {
    pub fn home(path: &Path, text: String) -> Self {
        Self { layer: Layer::Home, path: path.to_owned(), text, is_of_repo: false }
    }

    pub fn repo(path: &Path, text: String) -> Self {
        Self { layer: Layer::Repo, path: path.to_owned(), text, is_of_repo: true }
    }

    /// The file named by `NACRE_CONFIG`.
    ///
    /// Both paths must be absolute and resolved. A file inside the project has the same
    /// restrictions as the repository's configuration, because an env file in the repository may
    /// have set the variable.
    pub fn file(path: &Path, text: String, project: Option<&Path>) -> Self {
        let is_of_repo = project.is_some_and(|project| path.starts_with(project));
        Self { layer: Layer::File, path: path.to_owned(), text, is_of_repo }
    }
}

/// Sources of values, from lowest to highest precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    Defaults,
    Home,
    Repo,
    File,
    Var,
    Flag,
}

impl Layer {
    pub const ALL: &[Self] =
        &[Self::Defaults, Self::Home, Self::Repo, Self::File, Self::Var, Self::Flag];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Defaults => "default",
            Self::Home => "home",
            Self::Repo => "repo",
            Self::File => "file",
            Self::Var => "variable",
            Self::Flag => "flag",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueOrigin {
    pub layer: Layer,
    pub place: ConfigPlace,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigEntry {
    pub value: Value,
    /// Lowest layer first. Only lists can have more than one origin.
    pub origins: Vec<ValueOrigin>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    pub settings: Settings,
    pub entries: BTreeMap<&'static str, ConfigEntry>,
    /// Values in tables with user-chosen names, keyed by full name, such as `roles.lead.model`.
    pub tables: BTreeMap<String, ConfigEntry>,
    pub warnings: Vec<ConfigWarning>,
}

/// Merges all layers into settings.
///
/// `vars` may be the complete environment; empty variables are ignored. `flags` are pairs of a key
/// and its value.
pub fn resolve(
    sources: &[ConfigSource],
    vars: &[(String, String)],
    flags: &[(String, String)],
) -> Result<Resolved> {
    resolve_over(load_defaults()?, sources, vars, flags)
}

fn load_defaults() -> Result<Fold> {
    static SHIPPED: OnceLock<Fold> = OnceLock::new();
    if let Some(fold) = SHIPPED.get() {
        return Ok(fold.clone());
    }
    let fold = defaults_of(super::DEFAULTS)?;
    Ok(SHIPPED.get_or_init(|| fold).clone())
}

fn defaults_of(text: &str) -> Result<Fold> {
    let mut fold = Fold::default();
    fold.file(&ConfigSource {
        layer: Layer::Defaults,
        path: PathBuf::from("defaults.toml"),
        text: text.to_owned(),
        is_of_repo: false,
    })?;
    Ok(fold)
}

fn resolve_over(
    mut fold: Fold,
    sources: &[ConfigSource],
    vars: &[(String, String)],
    flags: &[(String, String)],
) -> Result<Resolved> {
    let mut sources: Vec<&ConfigSource> = sources.iter().collect();
    sources.sort_by_key(|source| source.layer);
    for source in sources {
        fold.file(source)?;
    }
    for (name, text) in vars {
        fold.var(name, text)?;
    }
    for (key, text) in flags {
        let spec = keys::find(key).ok_or_else(|| unknown_key(key, ConfigPlace::CommandLine))?;
        let value = spec.kind.parse_as(spec.name, text, &ConfigPlace::CommandLine)?;
        fold.put(spec, value, ValueOrigin { layer: Layer::Flag, place: ConfigPlace::CommandLine });
    }
    let Fold { entries, tables, warnings } = fold;
    Ok(Resolved { settings: settings(&entries, &tables)?, entries, tables, warnings })
}

pub(super) fn unknown_key(key: &str, place: ConfigPlace) -> ConfigError {
    let nearest = keys::nearest_key(key).map(str::to_owned);
    ConfigError::UnknownKey { key: shorten(key), place, nearest }
}

#[derive(Clone, Default)]
struct Fold {
    entries: BTreeMap<&'static str, ConfigEntry>,
    tables: BTreeMap<String, ConfigEntry>,
    warnings: Vec<ConfigWarning>,
}

impl Fold {
    fn file(&mut self, source: &ConfigSource) -> Result<()> {
        let doc = Doc::parse(&source.text, &source.path)?;
        for (key, section, item) in entries(doc.root()) {
            if let Some(family) = families::find(section) {
                self.family(source, &doc, family, key, item)?;
                continue;
            }
            match item.as_table_like() {
                Some(table) if keys::is_section(section) => {
                    self.section(source, &doc, section, table)?;
                }
                Some(table) => {
                    return Err(match entries(table).next() {
                        Some((inner, leaf, _)) => {
                            unknown_key(&write_key(&[section, leaf]), doc.place(inner))
                        }
                        None => unknown_key(&write_key(&[section]), doc.place(key)),
                    });
                }
                None if keys::is_section(section) => {
                    return Err(not_a_table(section, doc.place(key), item));
                }
                None => return Err(unknown_key(&write_key(&[section]), doc.place(key))),
            }
        }
        Ok(())
    }

    fn section(
        &mut self,
        source: &ConfigSource,
        doc: &Doc<'_>,
        section: &str,
        table: &dyn TableLike,
    ) -> Result<()> {
        for (key, leaf, item) in entries(table) {
            let place = doc.place(key);
            let spec = keys::find(&format!("{section}.{leaf}"))
                .ok_or_else(|| unknown_key(&write_key(&[section, leaf]), place.clone()))?;
            if !source.is_of_repo {
                let value = spec.kind.read_as(spec.name, item, &place)?;
                self.put(spec, value, origin(source.layer, place));
                continue;
            }
            let key = spec.name.to_owned();
            if spec.from_repo == FromRepo::Refused {
                self.warnings.push(ConfigWarning::RefusedFromRepo { key, place });
                continue;
            }
            let value = spec.kind.read_as(spec.name, item, &place)?;
            let current = self.entries.get(spec.name).map(|entry| &entry.value);
            match (spec.from_repo, current, &value) {
                (FromRepo::Allowed, _, _) => self.put(spec, value, origin(source.layer, place)),
                (FromRepo::OnlyLower, Some(Value::Int(current)), Value::Int(lower))
                | (FromRepo::OnlyLower, Some(Value::Decimal(current)), Value::Decimal(lower))
                    if lower <= current =>
                {
                    self.put(spec, value, origin(source.layer, place));
                }
                (FromRepo::OnlyLower | FromRepo::Refused, current, _) => {
                    let limit = current.map(Value::to_string).unwrap_or_default();
                    self.warnings.push(ConfigWarning::RaisedByRepo { key, place, limit });
                }
            }
        }
        Ok(())
    }

    /// Reads a family's tables. Tables from a repository are refused, because they determine where
    /// prompts and API keys are sent.
    fn family(
        &mut self,
        source: &ConfigSource,
        doc: &Doc<'_>,
        family: &Family,
        key: Option<&Key>,
        item: &Item,
    ) -> Result<()> {
        if source.is_of_repo {
            let (key, place) = (family.name.to_owned(), doc.place(key));
            self.warnings.push(ConfigWarning::RefusedFromRepo { key, place });
            return Ok(());
        }
        for (key, value, place) in family.read(doc, key, item)? {
            let entry = ConfigEntry { value, origins: vec![origin(source.layer, place)] };
            self.tables.insert(key, entry);
        }
        Ok(())
    }

    fn var(&mut self, name: &str, text: &str) -> Result<()> {
        if name == NACRE_MODEL && !text.is_empty() {
            let place = ConfigPlace::Var { name: name.to_owned() };
            let value = Value::Text(text.to_owned());
            let entry = ConfigEntry { value, origins: vec![origin(Layer::Var, place)] };
            self.tables.insert(families::DEFAULT_MODEL.to_owned(), entry);
        } else if let Some(spec) = keys::find_by_variable(name) {
            if !text.is_empty() {
                let place = ConfigPlace::Var { name: name.to_owned() };
                let value = spec.kind.parse_as(spec.name, text, &place)?;
                self.put(spec, value, origin(Layer::Var, place));
            }
        } else if let Some(rest) = name.strip_prefix(PREFIX)
            && !VARS.iter().any(|var| var.name == name)
        {
            // All variables share a prefix, which would make any two names look similar.
            let known: Vec<String> = KEYS.iter().map(KeySpec::variable).collect();
            let known = known.iter().map(String::as_str).chain(VARS.iter().map(|var| var.name));
            let nearest = nearest::among(rest, known.filter_map(|var| var.strip_prefix(PREFIX)));
            let nearest = nearest.map(|meant| format!("{PREFIX}{meant}"));
            self.warnings.push(ConfigWarning::UnknownVariable { name: shorten(name), nearest });
        }
        Ok(())
    }

    fn put(&mut self, spec: &'static KeySpec, value: Value, origin: ValueOrigin) {
        match (self.entries.get_mut(spec.name), value) {
            (Some(ConfigEntry { value: Value::Texts(texts), origins }), Value::Texts(more)) => {
                if more.is_empty() {
                    return;
                }
                if texts.is_empty() {
                    origins.clear();
                }
                origins.push(origin);
                add_missing(texts, more);
            }
            (_, value) => {
                self.entries.insert(spec.name, ConfigEntry { value, origins: vec![origin] });
            }
        }
    }
}

fn origin(layer: Layer, place: ConfigPlace) -> ValueOrigin {
    let place = if layer == Layer::Defaults { ConfigPlace::BuiltIn } else { place };
    ValueOrigin { layer, place }
}

fn add_missing(texts: &mut Vec<String>, more: Vec<String>) {
    for text in more {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
}

fn settings(
    entries: &BTreeMap<&'static str, ConfigEntry>,
    tables: &BTreeMap<String, ConfigEntry>,
) -> Result<Settings> {
    let entries = entries.iter().map(|(key, entry)| (*key, entry));
    let mut root = Json::Object(Map::new());
    for (key, entry) in entries.chain(tables.iter().map(|(key, entry)| (key.as_str(), entry))) {
        let value = key.split('.').fold(&mut root, |table, name| &mut table[name]);
        *value = serde_json::to_value(&entry.value).unwrap_or_default();
    }
    serde_json::from_value(root).map_err(|error| ConfigError::NoDefault(error.to_string()))
}

#[cfg(test)]
mod tests;
