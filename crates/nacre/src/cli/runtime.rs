//! What a command works with: settings, the project around the current folder, and the stores.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use nacre_core::config::projects::Projects;
use nacre_core::config::{
    self, EmbeddingChoice, NACRE_CONFIG, NACRE_EMBEDDING_KEY, Resolved, ScopeMode, SearchSettings,
    Settings, Source,
};
use nacre_core::memory::{Rules, Store};
use nacre_core::safefs::{Access, ChangeSet, Owner, RelPath, WriteScope};
use nacre_core::search::{Builtin, EmbedError, Embedder, minilm};
use nacre_engine::model::{EmbeddingService, Secret, ServiceEmbedder};

use super::env::Environment;
use super::error::CommandError;
use super::ui::Ui;
use super::{Globals, When};

/// The folder of a store inside a repository.
pub(crate) const STORE_FOLDER: &str = ".nacre";

/// Larger configuration files are refused by the `config` room; this bounds the read.
const MAX_CONFIG_BYTES: u64 = 2 << 20;

/// How long the embedding service may take for one request, and how soon it is asked again.
const EMBEDDING_PATIENCE: Duration = Duration::from_secs(30);
const EMBEDDING_FIRST_WAIT: Duration = Duration::from_millis(250);

/// Everything a command is given.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub(crate) environment: Environment,
    pub(crate) resolved: Resolved,
    pub(crate) projects: Projects,
    /// The project to work on, where there is one.
    pub(crate) project: Option<ProjectRoot>,
    home: Option<PathBuf>,
}

/// Whether a command can work although a configuration file is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tolerance {
    None,
    Mistakes,
}

/// A repository that has, or may get, a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProjectRoot {
    pub(crate) path: PathBuf,
    /// Its registered name.
    pub(crate) name: Option<String>,
}

/// Whose memories a store holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Project,
    Global,
}

impl Whose {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Global => "global",
        }
    }
}

/// A store and whose memories it holds.
#[derive(Debug)]
pub(crate) struct ScopedStore {
    pub(crate) whose: Whose,
    pub(crate) store: Store,
}

impl Runtime {
    /// Reads the settings and finds the project.
    pub(crate) fn open(
        ui: &mut Ui,
        environment: Environment,
        globals: &Globals,
        tolerance: Tolerance,
    ) -> Result<Self, CommandError> {
        if environment.is_folder_gone {
            return Err(CommandError::failed("The current folder is gone")
                .hint("Go to one that is there: cd"));
        }
        if let Some(name) = environment.garbled_vars.first() {
            return Err(CommandError::usage(format!("The value of `{name}` is no text")));
        }
        let home = environment.nacre_home();
        let projects = read_projects(home.as_deref())?;
        let project =
            find_project(&environment, &projects, home.as_deref(), globals.project.as_deref())?;
        let sources = config_sources(&environment, home.as_deref(), project.as_ref())?;
        let resolved = match config::resolve(&sources, &environment.vars, &flags(globals)) {
            // The command that mends a mistake must not be stopped by it.
            Err(mistake) if tolerance == Tolerance::Mistakes => {
                ui.warning(&mistake, mistake.hint().as_deref());
                config::resolve(&[], &[], &[])?
            }
            resolved => resolved?,
        };
        ui.configure(resolved.settings.ui.color);
        for warning in &resolved.warnings {
            ui.warning(warning, warning.hint().as_deref());
        }
        Ok(Self { environment, resolved, projects, project, home })
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.resolved.settings
    }

    /// The settings, read again; `None` when they make no sense.
    pub(crate) fn settings_now(&self) -> Option<Settings> {
        let sources =
            config_sources(&self.environment, self.home.as_deref(), self.project.as_ref()).ok()?;
        Some(config::resolve(&sources, &self.environment.vars, &[]).ok()?.settings)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.environment.now()
    }

    /// This process, as others see it in a lock.
    pub(crate) fn owner(&self, command: &str) -> Owner {
        Owner {
            pid: self.environment.pid,
            command: format!("nacre {command}"),
            since: self.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }
    }

    /// The folder of global data.
    pub(crate) fn home(&self) -> Result<&Path, CommandError> {
        self.home.as_deref().ok_or_else(|| {
            CommandError::failed("There is no home folder to keep global data in")
                .hint("Set NACRE_HOME to a folder of yours")
        })
    }

    /// Opens the global folder for writing, making it where it is missing.
    pub(crate) fn home_scope(&self) -> Result<WriteScope, CommandError> {
        let home = self.home()?;
        let opened = match (home.parent(), home.file_name().and_then(|name| name.to_str())) {
            _ if home.is_dir() => WriteScope::open(home, Access::Private),
            (Some(parent), Some(name)) => WriteScope::create_inside(parent, name, Access::Private),
            _ => WriteScope::open(home, Access::Private),
        };
        Ok(opened?)
    }

    /// The model that searches go by.
    pub(crate) fn embedder(&self) -> Result<Box<dyn Embedder>, CommandError> {
        match self.settings().search.embedding {
            EmbeddingChoice::Builtin => Ok(Box::new(Builtin::shipped()?)),
            EmbeddingChoice::Minilm => {
                let home = WriteScope::open(self.home()?, Access::Private)?;
                let model = minilm::installed(&home)?.ok_or_else(|| {
                    CommandError::failed("The model `minilm` is not installed")
                        .hint("nacre model install minilm")
                })?;
                Ok(Box::new(model))
            }
            EmbeddingChoice::Endpoint => Ok(Box::new(self.embedding_service()?)),
        }
    }

    fn embedding_service(&self) -> Result<ServiceEmbedder, CommandError> {
        let SearchSettings { endpoint_url, endpoint_model, .. } = &self.settings().search;
        for (key, value, example) in [
            ("search.endpoint_url", endpoint_url, "http://localhost:11434/v1"),
            ("search.endpoint_model", endpoint_model, "nomic-embed-text"),
        ] {
            if value.is_empty() {
                return Err(CommandError::failed(format!("`{key}` is not set"))
                    .hint(format!("nacre config set {key} {example}")));
            }
        }
        let key = self.environment.vars.iter().find(|(name, _)| name == NACRE_EMBEDDING_KEY);
        let service = EmbeddingService {
            base_url: endpoint_url.clone(),
            model: endpoint_model.clone(),
            key: key.and_then(|(_, key)| Secret::new(key)),
            patience: EMBEDDING_PATIENCE,
            first_wait: EMBEDDING_FIRST_WAIT,
        };
        let connected = ServiceEmbedder::connect(service);
        connected.map_err(|error| EmbedError::Service(Box::new(error)).into())
    }

    /// Changes a small text of ours under the scope's lock; a person's edit meanwhile is a conflict.
    ///
    /// The text is read under the lock, for another process may have changed it since we started.
    pub(crate) fn edit_text(
        &self,
        scope: &WriteScope,
        name: &str,
        command: &str,
        change: impl FnOnce(&str, &Path) -> Result<String, CommandError>,
    ) -> Result<(), CommandError> {
        let writer = scope.lock(&self.owner(command), self.settings().lock.wait)?;
        let before = read_text_in(scope, name)?;
        let after = change(before.as_deref().unwrap_or_default(), &scope.path().join(name))?;
        let mut set = ChangeSet::new();
        set.put(RelPath::new(name)?, before.as_deref().map(str::as_bytes), after.into_bytes());
        writer.commit(set)?;
        Ok(())
    }

    /// The stores to read, in the order they are searched.
    pub(crate) fn stores_to_read(
        &self,
        scope: Option<ScopeMode>,
    ) -> Result<Vec<ScopedStore>, CommandError> {
        let mode = scope.unwrap_or(self.settings().memory.scope);
        let mut stores = Vec::new();
        match mode {
            ScopeMode::ProjectFallbackGlobal => {
                stores.extend(self.project_store()?);
                stores.extend(self.global_store()?);
            }
            ScopeMode::ProjectOnly => stores.extend(self.project_store()?),
            ScopeMode::GlobalOnly => stores.extend(self.global_store()?),
        }
        match (stores.is_empty(), mode) {
            (false, _) => Ok(stores),
            (true, ScopeMode::GlobalOnly) => Err(CommandError::failed(
                "There are no global memories yet",
            )
            .hint("nacre memory add --scope global_only \"Write commit subjects in lower case\"")),
            (true, ScopeMode::ProjectFallbackGlobal | ScopeMode::ProjectOnly) => {
                Err(self.no_project())
            }
        }
    }

    /// The store that new memories go to. The global one is made when it is missing.
    pub(crate) fn store_to_write(
        &self,
        scope: Option<ScopeMode>,
    ) -> Result<ScopedStore, CommandError> {
        match scope.unwrap_or(self.settings().memory.scope) {
            ScopeMode::ProjectFallbackGlobal | ScopeMode::ProjectOnly => {
                self.project_store()?.ok_or_else(|| self.no_project())
            }
            ScopeMode::GlobalOnly => {
                Ok(ScopedStore { whose: Whose::Global, store: self.store(self.home_scope()?)? })
            }
        }
    }

    /// The store, among those to read, that holds the memory `id`.
    pub(crate) fn store_of(
        &self,
        scope: Option<ScopeMode>,
        id: &str,
    ) -> Result<ScopedStore, CommandError> {
        let mut first_error = None;
        for scoped in self.stores_to_read(scope)? {
            match scoped.store.locate(id) {
                Ok(_) => return Ok(scoped),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.map_or_else(|| self.no_project(), CommandError::from))
    }

    /// The project's store, where it has one.
    pub(crate) fn project_store(&self) -> Result<Option<ScopedStore>, CommandError> {
        let Some(project) = &self.project else { return Ok(None) };
        match WriteScope::open_inside(&project.path, STORE_FOLDER, Access::Shared) {
            Ok(scope) => Ok(Some(ScopedStore { whose: Whose::Project, store: self.store(scope)? })),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a change was left halfway in a store that would be read. Who opens it puts that right, and so changes it.
    pub(crate) fn has_unsettled_store(&self) -> bool {
        let project = self.project.as_ref().map(|project| project.path.join(STORE_FOLDER));
        let folders = project.into_iter().chain(self.home.clone());
        let scopes = folders.filter_map(|folder| WriteScope::open(&folder, Access::Shared).ok());
        scopes.map(|scope| scope.is_interrupted()).any(|is| is.unwrap_or(true))
    }

    /// The store of the project at `root`.
    pub(crate) fn store_at(&self, root: &Path) -> Result<Store, CommandError> {
        match WriteScope::open_inside(root, STORE_FOLDER, Access::Shared) {
            Ok(scope) => self.store(scope),
            Err(error) if error.is_missing() => Err(CommandError::failed(format!(
                "There is no `.nacre` folder in `{}`",
                root.display()
            ))
            .hint("Run `nacre init` there")),
            Err(error) => Err(error.into()),
        }
    }

    /// The global store, where there is one.
    pub(crate) fn global_store(&self) -> Result<Option<ScopedStore>, CommandError> {
        let Some(home) = self.home.as_deref().filter(|home| home.is_dir()) else { return Ok(None) };
        let scope = WriteScope::open(home, Access::Private)?;
        Ok(Some(ScopedStore { whose: Whose::Global, store: self.store(scope)? }))
    }

    /// Takes a folder as a store, after dealing with a change that was left halfway.
    pub(crate) fn store(&self, scope: WriteScope) -> Result<Store, CommandError> {
        let rules = Rules {
            max_file_bytes: self.settings().memory.max_file_bytes,
            redact_extra: self.settings().redact.extra.clone(),
        };
        let store = Store::new(scope, rules);
        store.settle(&self.owner("recovery"))?;
        Ok(store)
    }

    fn no_project(&self) -> CommandError {
        let folder =
            self.project.as_ref().map_or(&self.environment.folder, |project| &project.path);
        CommandError::failed(format!(
            "There is no `.nacre` folder in `{}` or above it",
            folder.display()
        ))
        .hint("Run `nacre init` to prepare this repository")
    }
}

/// Flags that set a key of the configuration.
fn flags(globals: &Globals) -> Vec<(String, String)> {
    let color = globals.color.map(|when| match when {
        When::Auto => "auto",
        When::Always => "always",
        When::Never => "never",
    });
    color.map(|color| ("ui.color".to_owned(), color.to_owned())).into_iter().collect()
}

fn read_projects(home: Option<&Path>) -> Result<Projects, CommandError> {
    let Some(home) = home else { return Ok(Projects::default()) };
    let text = read_text(home, "projects.toml")?.unwrap_or_default();
    Ok(Projects::parse(&text, &home.join("projects.toml"))?)
}

fn config_sources(
    environment: &Environment,
    home: Option<&Path>,
    project: Option<&ProjectRoot>,
) -> Result<Vec<Source>, CommandError> {
    let mut sources = Vec::new();
    if let Some(home) = home
        && let Some(text) = read_text(home, "config.toml")?
    {
        sources.push(Source::home(&home.join("config.toml"), text));
    }
    if let Some(project) = project {
        let path = project.path.join(STORE_FOLDER).join("config.toml");
        // A link in the store's place, or in its file's, is a stranger's: nothing is read through it.
        let scope = match WriteScope::open_inside(&project.path, STORE_FOLDER, Access::Shared) {
            Err(error) if error.is_missing() => None,
            scope => Some(scope?),
        };
        if let Some(scope) = scope
            && let Some(text) = read_text_in(&scope, "config.toml")?
        {
            sources.push(Source::repo(&path, text));
        }
    }
    if let Some(file) = environment.var(NACRE_CONFIG) {
        let path = environment.absolute(Path::new(file));
        let text = std::fs::read_to_string(&path).map_err(|error| CommandError {
            causes: vec![error.to_string()],
            ..CommandError::failed(format!(
                "Cannot read `{}`, named by NACRE_CONFIG",
                path.display()
            ))
        })?;
        sources.push(Source::file(&path, text, project.map(|project| project.path.as_path())));
    }
    Ok(sources)
}

/// Reads a small text of ours; `None` when the file or its folder is not there.
pub(crate) fn read_text(folder: &Path, name: &str) -> Result<Option<String>, CommandError> {
    let scope = match WriteScope::open(folder, Access::Private) {
        Err(error) if error.is_missing() => return Ok(None),
        scope => scope?,
    };
    read_text_in(&scope, name)
}

/// Reads a small text inside a scope; `None` when it is not there.
fn read_text_in(scope: &WriteScope, name: &str) -> Result<Option<String>, CommandError> {
    let folder = scope.path();
    let Some(bytes) = scope.read_optional(&RelPath::new(name)?, MAX_CONFIG_BYTES)? else {
        return Ok(None);
    };
    let not_text =
        |_| CommandError::failed(format!("`{}` is not valid UTF-8", folder.join(name).display()));
    String::from_utf8(bytes).map(Some).map_err(not_text)
}

/// The project that was asked for, or the nearest one around the current folder.
fn find_project(
    environment: &Environment,
    projects: &Projects,
    home: Option<&Path>,
    asked: Option<&str>,
) -> Result<Option<ProjectRoot>, CommandError> {
    let Some(asked) = asked else {
        let registered = projects.containing(&environment.folder);
        let around = store_around(&environment.folder, home);
        let depth = |path: &Path| path.components().count();
        return Ok(match (registered, around) {
            (Some(project), Some(path)) if depth(&path) > depth(&project.path) => {
                Some(ProjectRoot { path, name: None })
            }
            (Some(project), _) => {
                Some(ProjectRoot { path: project.path.clone(), name: Some(project.name.clone()) })
            }
            (None, path) => path.map(|path| ProjectRoot { path, name: None }),
        });
    };
    if let Some(project) = projects.find(asked) {
        return Ok(Some(ProjectRoot {
            path: project.path.clone(),
            name: Some(project.name.clone()),
        }));
    }
    let path = environment.absolute(Path::new(asked));
    if path.is_dir() {
        let name = projects
            .iter()
            .find(|project| project.path == path)
            .map(|project| project.name.clone());
        return Ok(Some(ProjectRoot { path, name }));
    }
    let error = CommandError::usage(format!("No project is named `{asked}`"));
    Err(match projects.nearest(asked) {
        Some(name) => error.hint(format!("Did you mean `{name}`?")),
        None => error.hint("`nacre project list` shows every project"),
    })
}

/// The nearest folder upwards that has a store; a search that starts in a git repository ends there.
fn store_around(folder: &Path, home: Option<&Path>) -> Option<PathBuf> {
    for dir in folder.ancestors() {
        let store = dir.join(STORE_FOLDER);
        if store.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
            && Some(store.as_path()) != home
        {
            return Some(dir.to_owned());
        }
        if dir.join(".git").exists() {
            return None;
        }
    }
    None
}

/// The root of the git repository around `folder`.
pub(crate) fn git_root(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|dir| dir.join(".git").exists()).map(Path::to_owned)
}
