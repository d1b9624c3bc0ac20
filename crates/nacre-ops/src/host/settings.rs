//! The environment of the process, the settings derived from it and from files, and the state
//! shared between calls.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use nacre_base::LocalNames;
use nacre_base::config::{
    self, ConfigSource, EDITOR, NACRE_CHILD, NACRE_CONFIG, NACRE_HOME, NACRE_HOOKS_DEADLINE_MS,
    NACRE_NOW, NACRE_PAGER, NACRE_UI_THEME, Resolved, Settings, VISUAL,
};
use nacre_base::fs::without_dots;
use nacre_base::redact::ExtraWords;
use nacre_map::indexer::GitPlaces;
use nacre_memory::search::{DueLook, KeptSnapshots};
use nacre_memory::{Actor, KeptLedgers};
use nacre_traces::agents::connectable_agents;

use super::database::OpenDatabase;
use super::files::{if_there, read_text, read_text_in};
use super::{STORE_FOLDER, key_variable, provider_names};
use crate::prelude::*;

pub(crate) struct ConfigFiles<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) home: Option<&'a Path>,
    pub(crate) repositories: Vec<&'a Path>,
}

impl ConfigFiles<'_> {
    pub(crate) fn resolve(
        &self,
        target: Option<&Path>,
        flags: &[(String, String)],
    ) -> Result<Resolved> {
        let sources = self.sources(target)?;
        let mut resolved = config::resolve(&sources, &self.environment.vars, flags)?;
        if self.environment.actor() != Actor::Agent {
            return Ok(resolved);
        }
        // Environment variables set in an agent's shell must not affect what is trusted or where
        // memories are written.
        let own: Vec<ConfigSource> = self.own_file()?.into_iter().collect();
        let own = config::resolve(&own, &[], &[])?;
        resolved.settings.safe = own.settings.safe;
        if target.is_none() {
            resolved.settings.memory.scope = own.settings.memory.scope;
        }
        Ok(resolved)
    }

    fn own_file(&self) -> Result<Option<ConfigSource>> {
        let Some(home) = self.home else { return Ok(None) };
        let text = read_text(home, "config.toml")?;
        Ok(text.map(|text| ConfigSource::home(&home.join("config.toml"), text)))
    }

    pub(crate) fn sources(&self, target: Option<&Path>) -> Result<Vec<ConfigSource>> {
        let mut sources: Vec<ConfigSource> = self.own_file()?.into_iter().collect();
        // Links are not followed, because they could lead outside the repository.
        if let Some(root) = target
            && let Some(scope) =
                if_there(WriteScope::open_inside(root, STORE_FOLDER, Access::Shared))?
        {
            let path = root.join(STORE_FOLDER).join("config.toml");
            let text = read_text_in(&scope, "config.toml")?;
            sources.extend(text.map(|text| ConfigSource::repo(&path, text)));
        }
        sources.extend(self.find_explicit_file(target)?);
        Ok(sources)
    }

    /// Returns the file named by `NACRE_CONFIG`. A file inside a repository applies only to that
    /// repository.
    fn find_explicit_file(&self, target: Option<&Path>) -> Result<Option<ConfigSource>> {
        let Some(file) = self.environment.var(NACRE_CONFIG) else { return Ok(None) };
        let path = self.environment.absolute(Path::new(file));
        let known = self.repositories.iter().copied().chain(target);
        let owner = known
            .filter(|root| path.starts_with(root))
            .max_by_key(|root| root.components().count());
        if owner.is_some() && owner != target {
            return Ok(None);
        }
        let text = std::fs::read_to_string(&path).map_err(|error| {
            OpError::failed(format!(
                "Cannot read `{}`, which NACRE_CONFIG refers to",
                path.display()
            ))
            .because(error)
        })?;
        Ok(Some(ConfigSource::file(&path, text, owner)))
    }
}

impl Host {
    pub fn settings_for(&self, root: &Path) -> Result<Settings> {
        let is_here = self.project.as_ref().is_some_and(|project| project.path == root);
        match self.config_files().resolve(Some(root), &[]) {
            Ok(resolved) => Ok(resolved.settings),
            // If the current project's settings are invalid, use the settings that are already
            // loaded.
            Err(_) if is_here => Ok(self.settings().clone()),
            Err(error) => Err(error),
        }
    }

    /// Returns the settings from the global directory and from environment variables, ignoring
    /// those of a repository.
    pub fn own_settings(&self) -> Settings {
        let now = self.config_files().resolve(None, &[]);
        now.map_or_else(|_| self.own.clone(), |resolved| resolved.settings)
    }

    pub fn settings_of(&self, project: Option<&Path>) -> Result<Settings> {
        match project {
            Some(root) => self.settings_for(root),
            None => Ok(self.own_settings()),
        }
    }

    /// Returns the current settings for a project, or the user's own settings. Returns `None` if
    /// the settings are invalid.
    pub fn settings_now(&self, project: Option<&Path>) -> Option<Settings> {
        Some(self.config_files().resolve(project, &[]).ok()?.settings)
    }

    /// Returns the words to redact from text about `project`, or from text that belongs to no
    /// project.
    pub fn words_of(&self, project: Option<&str>) -> Result<ExtraWords> {
        let project = project.map(PathBuf::from);
        Ok(words(&self.settings_of(project.as_deref())?))
    }

    /// Returns the user's editor. Like git, falls back to `vi` if there is a terminal.
    pub fn editor(&self) -> Result<&str> {
        let configured = self.settings().ui.editor.as_deref();
        let named = [VISUAL, EDITOR].into_iter().find_map(|name| self.environment.var(name));
        let terminal = self.environment.var("TERM").filter(|name| *name != "dumb");
        configured.or(named).or(terminal.map(|_| "vi")).ok_or_else(|| {
            OpError::new(ErrorCode::NotSet, "No editor is configured")
                .hint("Set $EDITOR, or run `nacre config set ui.editor vim`")
        })
    }

    fn config_files(&self) -> ConfigFiles<'_> {
        ConfigFiles {
            environment: &self.environment,
            home: self.home.as_deref(),
            repositories: self.repositories(),
        }
    }

    pub(super) fn repositories(&self) -> Vec<&Path> {
        let around = self.project.as_ref().map(|project| project.path.as_path());
        self.projects.iter().map(|project| project.path.as_path()).chain(around).collect()
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the words that must not appear in any output, according to the settings.
pub fn words(settings: &Settings) -> ExtraWords {
    ExtraWords::new(&settings.redact.extra)
}

const FILES_HOLD: Duration = Duration::from_secs(1);

const FOLDERS_HOLD: Duration = Duration::from_millis(100);

/// State shared between calls. Clones share the same state.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    pub(super) database: Arc<Mutex<OpenDatabase>>,
    /// The last check of each store. If `None`, every call checks all stores.
    looks: Option<Arc<Mutex<BTreeMap<PathBuf, LastLook>>>>,
    n_changes: Arc<AtomicU64>,
    /// The index cache. If `None`, every call reads the indexes again.
    pub(super) snapshots: Option<Arc<KeptSnapshots>>,
    pub(super) ledgers: Option<Arc<KeptLedgers>>,
    /// Data that operations keep for later calls. If `None`, nothing is kept.
    work: Option<Arc<Mutex<Vec<KeptWork>>>>,
}

type KeptWork = (PathBuf, Box<dyn Any + Send>);

/// Maximum number of entries. If this number is exceeded, the least recently used entry is dropped.
const MAX_WORK: usize = 4;

/// The last check of a store. Times are measured from when the process started.
#[derive(Clone, Copy, Debug)]
struct LastLook {
    files: Duration,
    folders: Duration,
    /// The value of `Shared::n_changes` at the time of the check.
    n_changes: u64,
}

impl Shared {
    /// Enables caching, for a process that handles many calls.
    pub fn for_server() -> Self {
        Self {
            looks: Some(Arc::default()),
            snapshots: Some(Arc::default()),
            ledgers: Some(Arc::default()),
            work: Some(Arc::default()),
            ..Self::default()
        }
    }

    pub(crate) fn keeps_work(&self) -> bool {
        self.work.is_some()
    }

    /// Removes and returns the data kept for `place`. A concurrent call gets `None`.
    pub(crate) fn take_work<T: Send + 'static>(&self, place: &Path) -> Option<T> {
        let mut work = self.work.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let found = work.iter().position(|(of, kept)| of == place && kept.is::<T>())?;
        work.remove(found).1.downcast().ok().map(|kept| *kept)
    }

    pub(crate) fn keep_work<T: Send + 'static>(&self, place: &Path, kept: T) {
        let Some(work) = &self.work else { return };
        let mut work = work.lock().unwrap_or_else(PoisonError::into_inner);
        work.retain(|(of, other)| of != place || !other.is::<T>());
        if work.len() >= MAX_WORK {
            work.remove(0);
        }
        work.push((place.to_owned(), Box::new(kept)));
    }

    /// Records that a call may have changed a store, so that the next call checks the store again.
    pub fn note_change(&self) {
        self.n_changes.fetch_add(1, Ordering::Release);
    }

    /// Returns what a call must check in the store at `path`, and records the check. `now` is the
    /// time since the process started.
    pub(super) fn due_look(&self, path: &Path, now: Duration) -> DueLook {
        let Some(looks) = &self.looks else { return DueLook::Files };
        let n_changes = self.n_changes.load(Ordering::Acquire);
        let mut looks = looks.lock().unwrap_or_else(PoisonError::into_inner);
        match looks.get_mut(path) {
            Some(last) if now.saturating_sub(last.files) < FILES_HOLD => {
                let is_recent = now.saturating_sub(last.folders) < FOLDERS_HOLD;
                if is_recent && last.n_changes == n_changes {
                    return DueLook::Nothing;
                }
                *last = LastLook { folders: now, n_changes, ..*last };
                DueLook::Folders
            }
            Some(_) | None => {
                looks.insert(path.to_owned(), LastLook { files: now, folders: now, n_changes });
                DueLook::Files
            }
        }
    }
}

/// Environment variables that agents set in the shells they start.
const SHELL_VARIABLES: &[&str] = &["AI_AGENT"];

pub type SystemClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

#[derive(Clone)]
pub struct Environment {
    /// Environment variables whose names and values are valid UTF-8.
    pub vars: Vec<(String, String)>,
    /// The names of Nacre's environment variables whose values are not valid UTF-8.
    pub garbled_vars: Vec<String>,
    pub folder: PathBuf,
    pub is_folder_gone: bool,
    pub home: Option<PathBuf>,
    pub host: Option<String>,
    pub pid: u32,
    pub program: Option<PathBuf>,
    /// Always the system clock, even in tests.
    pub clock: SystemClock,
    pub uptime: Arc<dyn Fn() -> Duration + Send + Sync>,
    pub random: fn(&mut [u8]) -> std::io::Result<()>,
}

// Environment variables may contain secrets, so they are not printed.
nacre_base::debug_only!(Environment { folder });

impl Environment {
    pub(super) fn check(&self) -> Result<()> {
        if self.is_folder_gone {
            return Err(OpError::failed("The current directory no longer exists")
                .hint("Change to an existing directory: cd"));
        }
        match self.garbled_vars.first() {
            Some(name) => Err(OpError::usage(format!("`{name}` is not valid UTF-8"))),
            None => Ok(()),
        }
    }

    /// Returns the value of an environment variable, or `None` if it is empty or not set.
    pub fn var(&self, name: &str) -> Option<&str> {
        let found = self.vars.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Returns whether this process was started by an agent that Nacre is using as a model.
    pub fn is_child(&self) -> bool {
        self.var(NACRE_CHILD).is_some()
    }

    /// Agents are recognized by environment variables that they set in their shells.
    pub fn actor(&self) -> Actor {
        let marks = connectable_agents().flat_map(|agent| agent.shell_variables);
        let is_marked = marks.chain(SHELL_VARIABLES).any(|name| self.var(name).is_some());
        if is_marked || self.is_child() { Actor::Agent } else { Actor::Owner }
    }

    pub fn nacre_home(&self) -> Option<PathBuf> {
        match self.var(NACRE_HOME) {
            Some(home) => Some(self.absolute(Path::new(home))),
            None => self.home.as_ref().map(|home| self.absolute(&home.join(".nacre"))),
        }
    }

    pub fn git_places(&self) -> GitPlaces {
        let plain = |name: &str| self.var(name).map(PathBuf::from);
        let below_home = |path: &str| self.home.as_ref().map(|home| home.join(path));
        let folder = plain("XDG_CONFIG_HOME").or_else(|| below_home(".config"));
        let folder = folder.map(|folder| folder.join("git"));
        let mut configs = Vec::new();
        if self.var("GIT_CONFIG_NOSYSTEM").is_none() {
            let system = plain("GIT_CONFIG_SYSTEM");
            configs.push(system.unwrap_or_else(|| PathBuf::from("/etc/gitconfig")));
        }
        match plain("GIT_CONFIG_GLOBAL") {
            Some(config) => configs.push(config),
            None => {
                configs.extend(folder.as_ref().map(|folder| folder.join("config")));
                configs.extend(below_home(".gitconfig"));
            }
        }
        let default_excludes = folder.map(|folder| folder.join("ignore"));
        GitPlaces { configs, default_excludes, home: self.home.clone() }
    }

    /// Returns the names of this machine and its user, which must be redacted from text about the
    /// repository at `root`.
    pub fn local_names(&self, root: &Path) -> LocalNames {
        let user = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| self.var(name));
        let host = self.host.as_deref().or_else(|| self.var("HOSTNAME"));
        LocalNames::new(Some(root), self.home.as_deref(), user, host)
    }

    pub fn now(&self) -> Timestamp {
        self.var(NACRE_NOW).and_then(|now| now.parse().ok()).unwrap_or_else(|| (self.clock)())
    }

    pub(crate) fn random_bytes<const N: usize>(&self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        (self.random)(&mut bytes).map_err(|error| {
            OpError::failed(format!("The system random number generator failed: {error}"))
        })?;
        Ok(bytes)
    }

    /// Resolves `path` relative to the current directory, removing `.` and `..`, and following
    /// links if the path exists.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        let joined = self.folder.join(path);
        nacre_base::platform::canonicalize(&joined).unwrap_or_else(|_| without_dots(&joined))
    }
}

/// Nacre's environment variables that do not affect operations, or that have the same value in all
/// processes with this home directory.
const SHARED: &[&str] =
    &[NACRE_HOME, NACRE_HOOKS_DEADLINE_MS, NACRE_NOW, NACRE_PAGER, NACRE_UI_THEME];

/// Returns whether this process has its own settings. If so, a server cannot run operations for it.
pub fn has_own_settings(host: &Host) -> bool {
    // An agent that the user allowed in this process counts as its own setting.
    host.allowed.get().is_some() || has_own_variables(&host.environment)
}

/// Like `has_own_settings`, but checks only environment variables.
pub fn has_own_variables(environment: &Environment) -> bool {
    let is_ours = |name: &str| name.starts_with("NACRE_") && !SHARED.contains(&name);
    let mut garbled = environment.garbled_vars.iter();
    environment.vars.iter().any(|(name, _)| is_ours(name)) || garbled.any(|name| is_ours(name))
}

pub fn has_own_key(host: &Host) -> bool {
    let mut variables =
        provider_names(host).into_iter().filter_map(|name| key_variable(host, &name));
    variables.any(|variable| host.environment.var(&variable).is_some())
}

#[cfg(test)]
mod shared_tests {
    use super::*;

    #[test]
    fn a_server_looks_now_and_then_and_after_its_own_changes_and_a_command_always() {
        let (store, at) = (Path::new("/a"), Duration::from_millis);
        let shared = Shared::for_server();
        let looks = |times: &[u64]| -> Vec<DueLook> {
            times.iter().map(|now| shared.due_look(store, at(*now))).collect()
        };
        assert_eq!(looks(&[0, 10, 99]), [DueLook::Files, DueLook::Nothing, DueLook::Nothing]);
        assert_eq!(looks(&[100, 199, 200]), [DueLook::Folders, DueLook::Nothing, DueLook::Folders]);
        shared.note_change();
        assert_eq!(looks(&[201, 202]), [DueLook::Folders, DueLook::Nothing]);
        assert_eq!(looks(&[1000, 1001]), [DueLook::Files, DueLook::Nothing]);
        assert_eq!(shared.due_look(Path::new("/b"), at(1001)), DueLook::Files);
        assert_eq!(Shared::default().due_look(store, at(0)), DueLook::Files);
        assert_eq!(Shared::default().due_look(store, at(1)), DueLook::Files);
    }

    #[test]
    fn what_is_kept_is_taken_by_one_and_only_so_much_of_it_is() {
        let (shared, a) = (Shared::for_server(), Path::new("/a"));
        shared.keep_work(a, 1_u32);
        assert_eq!((shared.take_work::<u8>(a), shared.take_work::<u32>(a)), (None, Some(1)));
        assert_eq!(shared.take_work::<u32>(a), None, "somebody has it");
        for n in 0..10_usize {
            shared.keep_work(Path::new(&format!("/{n}")), n);
        }
        let n_kept = (0..10).filter_map(|n| shared.take_work::<usize>(Path::new(&format!("/{n}"))));
        assert_eq!(n_kept.collect::<Vec<_>>(), [6, 7, 8, 9]);
        Shared::default().keep_work(a, 1_u32);
        assert!(!Shared::default().keeps_work());
    }
}
