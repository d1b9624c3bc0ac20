//! What a command works with: settings, the project around the current folder, and the stores.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use nacre_core::base::Person;
use nacre_core::base::git::GitProgram;
use nacre_core::config::projects::Projects;
use nacre_core::config::{
    self, EmbeddingChoice, NACRE_EMBEDDING_KEY, Resolved, ScopeMode, SearchSettings, Settings,
};
use nacre_core::memory::{Rules, Store};
use nacre_core::safefs::{Access, ChangeSet, Owner, RelPath, WriteScope};
use nacre_core::search::{Builtin, EmbedError, Embedder, minilm};
use nacre_engine::model::{EmbeddingService, Secret, ServiceEmbedder};

use super::env::Environment;
use super::error::CommandError;
use super::finding::{self, Search};
use super::layers::{ConfigFiles, words};
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
    pub(super) home: Option<PathBuf>,
    /// Who uses the program, and whose folders they trust.
    pub(crate) person: Person,
    git: OnceLock<GitProgram>,
    /// The person's own settings, as they were when the command began.
    pub(super) own: Settings,
    /// What is wrong with the repository's settings, where the command works without them.
    pub(crate) mistake: Option<String>,
    local_model: LocalModel,
}

/// A model on this machine, opened once: it is sent nothing, so that all stores may share it.
#[derive(Default)]
struct LocalModel(Mutex<Option<(EmbeddingChoice, Arc<dyn Embedder>)>>);

impl fmt::Debug for LocalModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LocalModel")
    }
}

/// Whether a command can work although a configuration file is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tolerance {
    None,
    /// A mistake of the repository is named, and the person's own settings hold.
    OfRepository,
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
    /// Those of its project, or the person's own.
    pub(crate) settings: Settings,
}

/// The settings that hold although a file is wrong; `None` where the command cannot work without it.
fn without_mistake(
    files: &ConfigFiles<'_>,
    globals: &Globals,
    tolerance: Tolerance,
) -> Option<Resolved> {
    match tolerance {
        Tolerance::None => None,
        // The person's own files are still to be right.
        Tolerance::OfRepository => files.resolve(None, &flags(globals)).ok(),
        // The command that mends a mistake must not be stopped by it.
        Tolerance::Mistakes => config::resolve(&[], &[], &[]).ok(),
    }
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
        let person = person(&environment, home.as_deref());
        let search = Search {
            environment: &environment,
            projects: &projects,
            home: home.as_deref(),
            person: &person,
        };
        let project = search.project(ui, globals.project.as_deref())?;
        let around = project.as_ref().map(|project| project.path.as_path());
        let registered = projects.iter().map(|project| project.path.as_path());
        let files = ConfigFiles {
            environment: &environment,
            home: home.as_deref(),
            repositories: registered.chain(around).collect(),
        };
        let (resolved, mistake) = match files.resolve(around, &flags(globals)) {
            Ok(resolved) => (resolved, None),
            Err(mistake) => {
                let without = without_mistake(&files, globals, tolerance);
                let Some(resolved) = without else { return Err(mistake) };
                ui.warning(&mistake.message, mistake.hints.first().map(String::as_str));
                (resolved, Some(mistake.message))
            }
        };
        let own = match (around, files.resolve(None, &[])) {
            (None, _) => resolved.settings.clone(),
            (Some(_), Err(_)) if tolerance == Tolerance::Mistakes => resolved.settings.clone(),
            (Some(_), own) => own?.settings,
        };
        ui.configure(resolved.settings.ui.color);
        for warning in &resolved.warnings {
            ui.warning(warning, warning.hint().as_deref());
        }
        Ok(Self {
            environment,
            resolved,
            projects,
            project,
            home,
            person,
            git: OnceLock::new(),
            own,
            mistake,
            local_model: LocalModel::default(),
        })
    }

    /// The settings around the current folder: for what a command shows, and for what no repository may set. What works
    /// on a store goes by the settings of that store.
    pub(crate) fn settings(&self) -> &Settings {
        &self.resolved.settings
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.environment.now()
    }

    /// The git of this machine, over the repositories that the person may use. It sees no settings of theirs, and all that
    /// a command asks of it shares one time.
    pub(crate) fn git(&self) -> GitProgram {
        self.git.get_or_init(|| self.fresh_git()).clone()
    }

    /// The same with a time of its own, for a command that goes on.
    pub(crate) fn fresh_git(&self) -> GitProgram {
        GitProgram::new(self.environment.var("PATH").unwrap_or_default())
            .with_person(self.person.clone())
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

    /// The model that searches go by, for what belongs to no project.
    pub(crate) fn own_embedder(&self) -> Result<Arc<dyn Embedder>, CommandError> {
        self.embedder(&self.own_settings())
    }

    /// The model that searches go by, under the settings of the project or person whose texts it reads.
    pub(crate) fn embedder(&self, settings: &Settings) -> Result<Arc<dyn Embedder>, CommandError> {
        let choice = settings.search.embedding;
        if choice == EmbeddingChoice::Endpoint {
            return Ok(Arc::new(self.embedding_service(settings)?));
        }
        let mut opened = self.local_model.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, model)) = &*opened
            && *known == choice
        {
            return Ok(Arc::clone(model));
        }
        let model = self.local_embedder(choice)?;
        *opened = Some((choice, Arc::clone(&model)));
        Ok(model)
    }

    fn local_embedder(&self, choice: EmbeddingChoice) -> Result<Arc<dyn Embedder>, CommandError> {
        match choice {
            EmbeddingChoice::Builtin | EmbeddingChoice::Endpoint => {
                Ok(Arc::new(Builtin::shipped()?))
            }
            EmbeddingChoice::Minilm => {
                let home = WriteScope::open(self.home()?, Access::Private)?;
                let model = minilm::installed(&home)?.ok_or_else(|| {
                    CommandError::failed("The model `minilm` is not installed")
                        .hint("nacre model install minilm")
                })?;
                Ok(Arc::new(model))
            }
        }
    }

    fn embedding_service(&self, settings: &Settings) -> Result<ServiceEmbedder, CommandError> {
        let SearchSettings { endpoint_url, endpoint_model, .. } = &settings.search;
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
            words: words(settings),
            patience: EMBEDDING_PATIENCE.min(settings.limits.model_time),
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
    ///
    /// A repository may say where to look, and not where to write: without a flag the person's own settings decide.
    pub(crate) fn store_to_write(
        &self,
        scope: Option<ScopeMode>,
    ) -> Result<ScopedStore, CommandError> {
        let settings = self.own_settings();
        match scope.unwrap_or(settings.memory.scope) {
            ScopeMode::ProjectFallbackGlobal | ScopeMode::ProjectOnly => {
                self.project_store()?.ok_or_else(|| self.no_project())
            }
            ScopeMode::GlobalOnly => {
                let store = self.store(self.home_scope()?, &settings)?;
                Ok(ScopedStore { whose: Whose::Global, store, settings })
            }
        }
    }

    /// The project's store, where it has one.
    pub(crate) fn project_store(&self) -> Result<Option<ScopedStore>, CommandError> {
        let Some(project) = &self.project else { return Ok(None) };
        match WriteScope::open_inside(&project.path, STORE_FOLDER, Access::Shared) {
            Ok(scope) => {
                let settings = self.settings_for(&project.path)?;
                let store = self.store(scope, &settings)?;
                Ok(Some(ScopedStore { whose: Whose::Project, store, settings }))
            }
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
    pub(crate) fn store_at(&self, root: &Path) -> Result<ScopedStore, CommandError> {
        finding::check(&self.person, root)?;
        match WriteScope::open_inside(root, STORE_FOLDER, Access::Shared) {
            Ok(scope) => {
                let settings = self.settings_for(root)?;
                let store = self.store(scope, &settings)?;
                Ok(ScopedStore { whose: Whose::Project, store, settings })
            }
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
        let settings = self.own_settings();
        let store = self.store(scope, &settings)?;
        Ok(Some(ScopedStore { whose: Whose::Global, store, settings }))
    }

    /// Takes a folder as a store under the settings of whose it is, after dealing with a change that was left halfway.
    pub(crate) fn store(
        &self,
        scope: WriteScope,
        settings: &Settings,
    ) -> Result<Store, CommandError> {
        let rules = Rules {
            max_file_bytes: settings.memory.max_file_bytes,
            redact_extra: settings.redact.extra.clone(),
        };
        let store = Store::new(scope, rules);
        store.settle(&self.owner("recovery"))?;
        Ok(store)
    }

    pub(crate) fn no_project(&self) -> CommandError {
        let folder =
            self.project.as_ref().map_or(&self.environment.folder, |project| &project.path);
        CommandError::failed(format!(
            "There is no `.nacre` folder in `{}` or above it",
            folder.display()
        ))
        .hint("Run `nacre init` to prepare this repository")
    }
}

/// Who uses the program. Settings that cannot be read trust nobody.
fn person(environment: &Environment, home: Option<&Path>) -> Person {
    let files = ConfigFiles { environment, home, repositories: Vec::new() };
    let safe = files.resolve(None, &[]).map(|own| own.settings.safe.folders).unwrap_or_default();
    let invoker = environment.var("SUDO_UID").and_then(|uid| uid.parse().ok());
    Person::new(invoker, &safe)
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

/// Reads a small text of ours; `None` when the file or its folder is not there.
pub(crate) fn read_text(folder: &Path, name: &str) -> Result<Option<String>, CommandError> {
    let scope = match WriteScope::open(folder, Access::Private) {
        Err(error) if error.is_missing() => return Ok(None),
        scope => scope?,
    };
    read_text_in(&scope, name)
}

/// Reads a small text inside a scope; `None` when it is not there.
pub(super) fn read_text_in(scope: &WriteScope, name: &str) -> Result<Option<String>, CommandError> {
    let folder = scope.path();
    let Some(bytes) = scope.read_optional(&RelPath::new(name)?, MAX_CONFIG_BYTES)? else {
        return Ok(None);
    };
    let not_text =
        |_| CommandError::failed(format!("`{}` is not valid UTF-8", folder.join(name).display()));
    String::from_utf8(bytes).map(Some).map_err(not_text)
}
