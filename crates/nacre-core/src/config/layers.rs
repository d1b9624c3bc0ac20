//! Defaults, files, variables and flags, folded into one set of values that remember where they came from.
//!
//! A higher layer replaces a lower one, except that lists add up. What came with a repository is held to
//! the table's `from_repo` column, and so is a `NACRE_CONFIG` file that lies inside the repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use toml_edit::{Item, Key, TableLike};

use super::document::{Doc, entries, written};
use super::error::{ConfigError, ConfigPlace, ConfigWarning, shown};
use super::families::{self, Family, ProjectKey};
use super::keys::{self, FromRepo, KEYS, KeySpec};
use super::nearest;
use super::origin::{Entry, Layer, Origin};
use super::settings::{
    HookSettings, LeadSettings, LimitSettings, LockSettings, MapSettings, MemorySettings,
    PushSettings, ReadingSettings, RedactSettings, RunSettings, SafeSettings, SearchSettings,
    ServerSettings, Settings, ShareSettings, TelemetrySettings, UiSettings,
};
use super::value::{Value, not_a_table};
use super::vars::{NACRE_MODEL, PREFIX, VARS};

/// A configuration file that the caller has read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    layer: Layer,
    path: PathBuf,
    text: String,
    author: Author,
}

/// Whose words a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Author {
    User,
    Repo,
}

impl Source {
    /// The user's own `config.toml`, in the global folder.
    pub fn home(path: &Path, text: String) -> Self {
        Self { layer: Layer::Home, path: path.to_owned(), text, author: Author::User }
    }

    /// The `config.toml` that came with the repository.
    pub fn repo(path: &Path, text: String) -> Self {
        Self { layer: Layer::Repo, path: path.to_owned(), text, author: Author::Repo }
    }

    /// The file that `NACRE_CONFIG` names.
    ///
    /// Both paths are absolute and resolved. Inside the project, the file is the repository's and held to its rules:
    /// a variable set by a directory's environment file must not lift them.
    pub fn file(path: &Path, text: String, project: Option<&Path>) -> Self {
        let inside = project.is_some_and(|project| path.starts_with(project));
        let author = if inside { Author::Repo } else { Author::User };
        Self { layer: Layer::File, path: path.to_owned(), text, author }
    }
}

/// The settings in effect, and how they came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    pub settings: Settings,
    /// Every key of the table, by name.
    pub entries: BTreeMap<&'static str, Entry>,
    /// What is set in tables that people name themselves, by the whole key: `roles.lead.model`.
    pub tables: BTreeMap<String, Entry>,
    pub warnings: Vec<ConfigWarning>,
}

/// Folds all layers into settings.
///
/// `vars` may be the whole environment; an empty variable counts as not set. `flags` are pairs of key and value.
pub fn resolve(
    sources: &[Source],
    vars: &[(String, String)],
    flags: &[(String, String)],
) -> Result<Resolved, ConfigError> {
    resolve_over(shipped()?, sources, vars, flags)
}

/// The shipped defaults; one process reads them once.
fn shipped() -> Result<Fold, ConfigError> {
    static SHIPPED: OnceLock<Fold> = OnceLock::new();
    if let Some(fold) = SHIPPED.get() {
        return Ok(fold.clone());
    }
    let fold = defaults_of(super::DEFAULTS)?;
    Ok(SHIPPED.get_or_init(|| fold).clone())
}

fn defaults_of(text: &str) -> Result<Fold, ConfigError> {
    let mut fold = Fold::default();
    fold.file(&Source {
        layer: Layer::Defaults,
        path: PathBuf::from("defaults.toml"),
        text: text.to_owned(),
        author: Author::User,
    })?;
    Ok(fold)
}

fn resolve_over(
    mut fold: Fold,
    sources: &[Source],
    vars: &[(String, String)],
    flags: &[(String, String)],
) -> Result<Resolved, ConfigError> {
    let mut sources: Vec<&Source> = sources.iter().collect();
    sources.sort_by_key(|source| source.layer);
    for source in sources {
        fold.file(source)?;
    }
    for (name, text) in vars {
        fold.var(name, text)?;
    }
    for (key, text) in flags {
        let spec = keys::find(key).ok_or_else(|| unknown_key(key, ConfigPlace::CommandLine))?;
        let value = spec.parse(text, &ConfigPlace::CommandLine)?;
        fold.put(spec, value, Origin { layer: Layer::Flag, place: ConfigPlace::CommandLine });
    }
    let Fold { entries, tables, warnings } = fold;
    Ok(Resolved { settings: settings(&entries, &tables)?, entries, tables, warnings })
}

/// Returns the error for a key that nobody knows, with the one that may have been meant.
pub(super) fn unknown_key(key: &str, place: ConfigPlace) -> ConfigError {
    let nearest = keys::nearest(key).map(str::to_owned);
    ConfigError::UnknownKey { key: shown(key), place, nearest }
}

#[derive(Clone, Default)]
struct Fold {
    entries: BTreeMap<&'static str, Entry>,
    tables: BTreeMap<String, Entry>,
    warnings: Vec<ConfigWarning>,
}

impl Fold {
    fn file(&mut self, source: &Source) -> Result<(), ConfigError> {
        let doc = Doc::parse(&source.text, &source.path)?;
        for (key, section, item) in entries(doc.root()) {
            if let Some(family) = families::find(section) {
                self.family(source, &doc, family, (key, item))?;
                continue;
            }
            match item.as_table_like() {
                Some(table) if keys::is_section(section) => {
                    self.section(source, &doc, section, table)?;
                }
                Some(table) => return Err(unknown_table(&doc, key, section, table)),
                None if keys::is_section(section) => {
                    return Err(not_a_table(section, doc.place(key), item));
                }
                None => return Err(unknown_key(&written(&[section]), doc.place(key))),
            }
        }
        Ok(())
    }

    fn section(
        &mut self,
        source: &Source,
        doc: &Doc<'_>,
        section: &str,
        table: &dyn TableLike,
    ) -> Result<(), ConfigError> {
        for (key, leaf, item) in entries(table) {
            let place = doc.place(key);
            let spec = keys::find(&format!("{section}.{leaf}"))
                .ok_or_else(|| unknown_key(&written(&[section, leaf]), place.clone()))?;
            match source.author {
                Author::User => {
                    let value = spec.read(item, &place)?;
                    self.put(spec, value, origin(source.layer, place));
                }
                Author::Repo => self.repo_value(source.layer, spec, item, place)?,
            }
        }
        Ok(())
    }

    /// Takes the tables of a family. A repository's own are all refused: they say where texts and keys are sent.
    fn family(
        &mut self,
        source: &Source,
        doc: &Doc<'_>,
        family: &Family,
        (key, item): (Option<&Key>, &Item),
    ) -> Result<(), ConfigError> {
        if source.author == Author::Repo {
            let (key, place) = (family.name.to_owned(), doc.place(key));
            self.warnings.push(ConfigWarning::RefusedFromRepo { key, place });
            return Ok(());
        }
        for ProjectKey { key, value, place } in family.read(doc, key, item)? {
            let entry = Entry { value, origins: vec![origin(source.layer, place)] };
            self.tables.insert(key, entry);
        }
        Ok(())
    }

    fn repo_value(
        &mut self,
        layer: Layer,
        spec: &'static KeySpec,
        item: &Item,
        place: ConfigPlace,
    ) -> Result<(), ConfigError> {
        let key = spec.name.to_owned();
        if spec.from_repo == FromRepo::Refused {
            self.warnings.push(ConfigWarning::RefusedFromRepo { key, place });
            return Ok(());
        }
        let value = spec.read(item, &place)?;
        let current = self.entries.get(spec.name).map(|entry| &entry.value);
        match (spec.from_repo, current, &value) {
            (FromRepo::Allowed, _, _) => self.put(spec, value, origin(layer, place)),
            (FromRepo::OnlyLower, Some(Value::Int(current)), Value::Int(lower))
            | (FromRepo::OnlyLower, Some(Value::Decimal(current)), Value::Decimal(lower))
                if lower <= current =>
            {
                self.put(spec, value, origin(layer, place));
            }
            (FromRepo::OnlyLower | FromRepo::Refused, current, _) => {
                let limit = current.map(Value::to_string).unwrap_or_default();
                self.warnings.push(ConfigWarning::RaisedByRepo { key, place, limit });
            }
        }
        Ok(())
    }

    fn var(&mut self, name: &str, text: &str) -> Result<(), ConfigError> {
        if name == NACRE_MODEL && !text.is_empty() {
            let place = ConfigPlace::Var { name: name.to_owned() };
            let value = Value::Text(text.to_owned());
            let entry = Entry { value, origins: vec![origin(Layer::Var, place)] };
            self.tables.insert(families::DEFAULT_MODEL.to_owned(), entry);
        } else if let Some(spec) = KEYS.iter().find(|spec| spec.var == name) {
            if !text.is_empty() {
                let place = ConfigPlace::Var { name: name.to_owned() };
                let value = spec.parse(text, &place)?;
                self.put(spec, value, origin(Layer::Var, place));
            }
        } else if let Some(rest) = name.strip_prefix(PREFIX)
            && !VARS.iter().any(|var| var.name == name)
        {
            // Without the prefix, which would make any two of them look alike.
            let known = VARS.iter().filter_map(|var| var.name.strip_prefix(PREFIX));
            let nearest = nearest::among(rest, known).and_then(|meant| {
                VARS.iter()
                    .map(|var| var.name)
                    .find(|name| name.strip_prefix(PREFIX) == Some(meant))
            });
            self.warnings.push(ConfigWarning::UnknownVariable { name: shown(name), nearest });
        }
        Ok(())
    }

    fn put(&mut self, spec: &'static KeySpec, value: Value, origin: Origin) {
        match (self.entries.get_mut(spec.name), value) {
            (Some(Entry { value: Value::Texts(texts), origins }), Value::Texts(more)) => {
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
                self.entries.insert(spec.name, Entry { value, origins: vec![origin] });
            }
        }
    }
}

fn origin(layer: Layer, place: ConfigPlace) -> Origin {
    let place = if layer == Layer::Defaults { ConfigPlace::BuiltIn } else { place };
    Origin { layer, place }
}

fn add_missing(texts: &mut Vec<String>, more: Vec<String>) {
    for text in more {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
}

/// Names the first key inside, which says more than its table does.
fn unknown_table(
    doc: &Doc<'_>,
    key: Option<&Key>,
    section: &str,
    table: &dyn TableLike,
) -> ConfigError {
    match entries(table).next() {
        Some((inner, leaf, _)) => unknown_key(&written(&[section, leaf]), doc.place(inner)),
        None => unknown_key(&written(&[section]), doc.place(key)),
    }
}

fn settings(
    entries: &BTreeMap<&'static str, Entry>,
    tables: &BTreeMap<String, Entry>,
) -> Result<Settings, ConfigError> {
    let values = Values(entries);
    Ok(Settings {
        memory: MemorySettings {
            scope: values.choice("memory.scope")?,
            max_results: values.int("memory.max_results")?,
            max_file_bytes: values.int("memory.max_file_bytes")?,
        },
        ui: UiSettings {
            color: values.choice("ui.color")?,
            editor: Some(values.text("ui.editor")?.to_owned()).filter(|text| !text.is_empty()),
            theme: values.choice("ui.theme")?,
        },
        lock: LockSettings { wait: Duration::from_millis(values.int("lock.wait_ms")?) },
        safe: SafeSettings {
            folders: values.texts("safe.folders")?.to_vec(),
            memories: values.texts("safe.memories")?.to_vec(),
        },
        redact: RedactSettings { extra: values.texts("redact.extra")?.to_vec() },
        share: ShareSettings { summaries: values.flag("share.summaries")? },
        map: MapSettings {
            deny: values.texts("map.deny")?.to_vec(),
            at_rest: values.choice("map.at_rest")?,
        },
        search: SearchSettings {
            embedding: values.choice("search.embedding")?,
            endpoint_url: values.text("search.endpoint_url")?.to_owned(),
            endpoint_model: values.text("search.endpoint_model")?.to_owned(),
        },
        server: ServerSettings {
            database: values.text("server.database")?.to_owned(),
            database_password_file: values.text("server.database_password_file")?.to_owned(),
            database_certificates: values.text("server.database_certificates")?.to_owned(),
            database_connections: values.int("server.database_connections")?,
            trusted_proxy: values.text("server.trusted_proxy")?.to_owned(),
            trusted_proxy_header: values.text("server.trusted_proxy_header")?.to_owned(),
        },
        push: PushSettings {
            to: values.text("push.to")?.to_owned(),
            transcripts: values.flag("push.transcripts")?,
        },
        telemetry: TelemetrySettings {
            otlp_endpoint: values.text("telemetry.otlp_endpoint")?.to_owned(),
        },
        providers: families::providers(tables),
        roles: families::roles(tables),
        reading: ReadingSettings {
            agent: values.text("reading.agent")?.to_owned(),
            sessions_per_day: values.int("reading.sessions_per_day")?,
        },
        lead: LeadSettings {
            runtime: values.choice("lead.runtime")?,
            persist_sessions_in_workspace: values.flag("lead.persist_sessions_in_workspace")?,
        },
        hooks: HookSettings {
            start_tokens: values.int("hooks.start_tokens")?,
            prompt_tokens: values.int("hooks.prompt_tokens")?,
            pitfalls: values.flag("hooks.pitfalls")?,
            guard: values.flag("hooks.guard")?,
            guard_folders: values.texts("hooks.guard_folders")?.to_vec(),
            sync: values.flag("hooks.sync")?,
            ask_to_record: values.flag("hooks.ask_to_record")?,
            deadline: Duration::from_millis(values.int("hooks.deadline_ms")?),
        },
        runs: RunSettings { keep: values.int("runs.keep")? },
        limits: LimitSettings {
            session_tokens: values.int("limits.session_tokens")?,
            session_usd: values.thousandths("limits.session_usd")?,
            day_tokens: values.int("limits.day_tokens")?,
            day_usd: values.thousandths("limits.day_usd")?,
            project_tokens: values.int("limits.project_tokens")?,
            project_usd: values.thousandths("limits.project_usd")?,
            model_time: Duration::from_secs(values.int("limits.model_seconds")?),
            map_time: Duration::from_secs(values.int("limits.map_seconds")?),
        },
    })
}

/// Typed access to values that the defaults guarantee.
struct Values<'a>(&'a BTreeMap<&'static str, Entry>);

impl Values<'_> {
    fn text(&self, key: &'static str) -> Result<&str, ConfigError> {
        match self.0.get(key).map(|entry| &entry.value) {
            Some(Value::Text(text)) => Ok(text),
            Some(Value::Int(_) | Value::Decimal(_) | Value::Flag(_) | Value::Texts(_)) | None => {
                Err(ConfigError::NoDefault { key })
            }
        }
    }

    fn texts(&self, key: &'static str) -> Result<&[String], ConfigError> {
        match self.0.get(key).map(|entry| &entry.value) {
            Some(Value::Texts(texts)) => Ok(texts),
            Some(Value::Int(_) | Value::Decimal(_) | Value::Flag(_) | Value::Text(_)) | None => {
                Err(ConfigError::NoDefault { key })
            }
        }
    }

    fn choice<T: std::str::FromStr>(&self, key: &'static str) -> Result<T, ConfigError> {
        self.text(key)?.parse().map_err(|_| ConfigError::NoDefault { key })
    }

    fn flag(&self, key: &'static str) -> Result<bool, ConfigError> {
        match self.0.get(key).map(|entry| &entry.value) {
            Some(Value::Flag(flag)) => Ok(*flag),
            Some(Value::Text(_) | Value::Int(_) | Value::Decimal(_) | Value::Texts(_)) | None => {
                Err(ConfigError::NoDefault { key })
            }
        }
    }

    fn int<T: TryFrom<i64>>(&self, key: &'static str) -> Result<T, ConfigError> {
        let number = match self.0.get(key).map(|entry| &entry.value) {
            Some(Value::Int(number)) => T::try_from(*number).ok(),
            Some(Value::Text(_) | Value::Decimal(_) | Value::Flag(_) | Value::Texts(_)) | None => {
                None
            }
        };
        number.ok_or(ConfigError::NoDefault { key })
    }

    fn thousandths(&self, key: &'static str) -> Result<u64, ConfigError> {
        let number = match self.0.get(key).map(|entry| &entry.value) {
            Some(Value::Decimal(number)) => u64::try_from(*number).ok(),
            Some(Value::Text(_) | Value::Int(_) | Value::Flag(_) | Value::Texts(_)) | None => None,
        };
        number.ok_or(ConfigError::NoDefault { key })
    }
}

#[cfg(test)]
mod tests;
