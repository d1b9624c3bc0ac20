//! The context in which operations run: projects, settings, stores, indexes, models and a clock.
//!
//! The environment is passed in as a value, and warnings are returned to the caller. This module
//! therefore reads no environment variables and prints nothing.

mod database;
mod files;
mod flow_models;
mod models;
mod projects;
mod search;
mod settings;
mod stores;
mod tasks;
mod traces;

use std::sync::OnceLock;

use nacre_base::Person;
use nacre_base::config::projects::Projects;
use nacre_base::config::{self, Resolved, Settings};
use nacre_base::git::GitProgram;
pub use nacre_base::{
    give_back_memory, platform, search_path, share_memory, trees_around, yield_processor,
};
use nacre_engine::model::{AsyncRuntime, InstalledProgram};
pub use nacre_memory::Actor;
use nacre_team::people::{AccessScope, Caller};
use nacre_types::Warning;

pub(crate) use self::database::{SHARED_LEASE, WaitingQueue, open_queue};
pub use self::files::{TextEdit, map_cache, read_plain, settle as settle_map_cache};
pub(crate) use self::files::{if_there, read_text};
pub(crate) use self::flow_models::start_of;
pub use self::flow_models::{
    AskError, AskRules, FlowModels, ModelClient, ModelQuestion, ProjectModels, SpendingLimits,
    ask_rules, asker_of_run, limit_hint, open_charged_models, open_models, patience,
    raise_limit_hint, spending_limits, sum_spending_by_scope,
};
pub use self::models::{
    AUTO, auto_model, find_allowed_agent, first_installed, key_variable, list_installed,
    load_script, model_settings, no_answer, program_path, provider_names, run_failed,
};
use self::projects::Search;
pub(crate) use self::projects::unknown_project;
pub use self::projects::{Registering, check as check_owner, git_root, not_allowed, own_root};
pub use self::search::{
    SearchableStore, StoresFound, UntrustedCounts, note_offered, search_stores,
};
use self::settings::ConfigFiles;
pub(crate) use self::settings::millis;
pub use self::settings::{
    Environment, Shared, SystemClock, has_own_key, has_own_settings, has_own_variables, words,
};
pub use self::stores::{LocatedStore, ScopedStore};
pub use self::tasks::{
    SPILL_FOLDER, as_task, clock, close_recorder, empty_spill, new_task, record, seed, spill,
    telemetry, until_end, wait_for_cancellation,
};
pub(crate) use self::traces::has_catalog;
pub use self::traces::{
    SESSIONS_FOLDER, agent_named, agent_names, check_session, connections, find_trace, homes,
    index_folder, index_texts, open_catalog, parse_when, read_connected_agents, rebuild_texts,
    refresh_options, short, trace_file,
};
use crate::prelude::*;

pub const STORE_FOLDER: &str = ".nacre";

#[derive(Debug)]
pub struct Host {
    pub environment: Environment,
    pub resolved: Resolved,
    pub projects: Projects,
    pub project: Option<ProjectRoot>,
    /// The directory of the project selected on the command line.
    pub(crate) named_folder: Option<PathBuf>,
    pub(crate) home: Option<PathBuf>,
    /// The user, and the other users whose directories are trusted.
    pub person: Person,
    git: OnceLock<GitProgram>,
    pub(crate) own: Settings,
    /// An error in the repository's settings. Set for operations that work without these settings.
    pub mistake: Option<String>,
    pub(crate) shared: Shared,
    runtime: OnceLock<AsyncRuntime>,
    installed: OnceLock<Vec<InstalledProgram>>,
    /// The agent that the user has allowed to read sessions during this process.
    allowed: OnceLock<String>,
    /// The caller. `Host::projects` contains only the projects that the caller can see.
    pub caller: Caller,
    pub actor: Actor,
}

#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// The name or path of a project. The default is the current directory's project.
    pub project: Option<String>,
    pub flags: Vec<(String, String)>,
    pub tolerance: Tolerance,
    pub registering: Registering,
    pub needs: Needs,
    pub shared: Shared,
    pub caller: Caller,
    /// The author of all changes if the caller is the owner.
    pub actor: Actor,
    /// The permission that the caller needs. Projects for which the caller lacks this permission
    /// are hidden. The default is `Read`.
    pub scope: Option<AccessScope>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Needs {
    #[default]
    Folder,
    /// A registered project, or any directory that contains a store.
    Project,
    /// The registered project with the given name, or the only registered project. The current
    /// directory is ignored.
    Registered,
}

#[derive(Debug)]
pub struct Opened {
    pub host: Result<Host>,
    pub warnings: Vec<Warning>,
}

/// How an operation handles an invalid configuration file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tolerance {
    #[default]
    None,
    /// If the repository's settings are invalid, reports the error and uses only the user's own
    /// settings.
    OfRepository,
    Mistakes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectRoot {
    pub path: PathBuf,
    pub name: Option<String>,
}

/// Returns the settings without the invalid file, or `None` if the operation requires the file.
fn without_mistake(files: &ConfigFiles<'_>, options: &OpenOptions) -> Option<Resolved> {
    match options.tolerance {
        Tolerance::None => None,
        // The user's own files must still be valid.
        Tolerance::OfRepository => files.resolve(None, &options.flags).ok(),
        // The command that repairs a configuration file must work no matter what is wrong with the
        // file.
        Tolerance::Mistakes => config::resolve(&[], &[], &[]).ok(),
    }
}

impl Host {
    pub fn open(environment: Environment, options: &OpenOptions) -> Opened {
        let mut warnings = Vec::new();
        let host = Self::open_with(environment, options, &mut warnings);
        Opened { host, warnings }
    }

    fn open_with(
        environment: Environment,
        options: &OpenOptions,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self> {
        environment.check()?;
        let home = environment.nacre_home();
        let all_projects = read_projects(home.as_deref())?;
        let (caller, scope) = (options.caller.clone(), options.scope.unwrap_or(AccessScope::Read));
        let projects = all_projects.select(|name| caller.permissions.allow(name, scope));
        let person = person(&environment, home.as_deref());
        let search = Search {
            environment: &environment,
            projects: &projects,
            home: home.as_deref(),
            person: &person,
            needs: options.needs,
        };
        let project = search.project(warnings, options.project.as_deref())?;
        let is_named = options.project.is_some() || options.needs == Needs::Registered;
        let named = project.as_ref().filter(|_| is_named);
        let named_folder = named.map(|project| project.path.clone());
        let around = project.as_ref().map(|project| project.path.as_path());
        let registered = all_projects.iter().map(|project| project.path.as_path());
        let files = ConfigFiles {
            environment: &environment,
            home: home.as_deref(),
            repositories: registered.chain(around).collect(),
        };
        let (resolved, mistake) = match files.resolve(around, &options.flags) {
            Ok(resolved) => (resolved, None),
            Err(mistake) => {
                let without = without_mistake(&files, options);
                let Some(resolved) = without else { return Err(mistake) };
                let hint = mistake.hints.first().cloned();
                warnings.push(Warning { message: mistake.message.clone(), hint });
                (resolved, Some(mistake.message))
            }
        };
        let own = match (around, files.resolve(None, &[])) {
            (None, _) => resolved.settings.clone(),
            (Some(_), Err(_)) if options.tolerance == Tolerance::Mistakes => {
                resolved.settings.clone()
            }
            (Some(_), own) => own?.settings,
        };
        warnings.extend(
            resolved
                .warnings
                .iter()
                .map(|warning| Warning { message: warning.to_string(), hint: warning.hint() }),
        );
        let mut host = Self {
            environment,
            resolved,
            projects,
            project,
            named_folder,
            home,
            person,
            git: OnceLock::new(),
            own,
            mistake,
            shared: options.shared.clone(),
            runtime: OnceLock::new(),
            installed: OnceLock::new(),
            allowed: OnceLock::new(),
            actor: if caller.is_owner() { options.actor } else { Actor::Person },
            caller,
        };
        host.register_by_use(options.registering);
        host.warn_of_foreign_change(warnings);
        Ok(host)
    }

    /// Opens another registered project, for the same caller.
    pub fn in_project(&self, name: &str) -> Result<Self> {
        let options = OpenOptions {
            project: Some(name.to_owned()),
            shared: self.shared.clone(),
            caller: self.caller.clone(),
            actor: self.actor,
            ..OpenOptions::default()
        };
        Self::open(self.environment.clone(), &options).host
    }

    /// Returns the settings for the current directory. Use them only for display, and for settings
    /// that a repository cannot change. Each store has its own settings.
    pub fn settings(&self) -> &Settings {
        &self.resolved.settings
    }

    /// Returns the maximum number of results: `limit` if given, otherwise the value from the
    /// settings. 0 means no limit.
    pub fn max_results(&self, limit: Option<usize>) -> usize {
        match limit.unwrap_or(self.settings().memory.max_results) {
            0 => usize::MAX,
            limit => limit,
        }
    }

    pub fn now(&self) -> Timestamp {
        self.environment.now()
    }

    /// Returns the root of the current project. The path is the project's key in catalogs and in
    /// the spending record.
    pub(crate) fn project_key(&self) -> Option<String> {
        self.project.as_ref().map(|project| project.path.display().to_string())
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        let folder = &self.environment.folder;
        let project = self.project.as_ref().map(|project| project.path.clone());
        project.or_else(|| git_root(&self.person, folder)).unwrap_or_else(|| folder.clone())
    }

    pub(crate) fn below_project(&self, file: &str) -> String {
        let absolute = self.environment.absolute(Path::new(file));
        let root = self.project.as_ref().map(|project| project.path.as_path());
        let inside = root.and_then(|root| absolute.strip_prefix(root).ok());
        inside.map_or_else(
            || file.to_owned(),
            |inside| nacre_base::platform::with_slashes(&inside.display().to_string()),
        )
    }

    pub fn stopwatch(&self) -> impl Fn() -> Duration + use<> {
        let uptime = Arc::clone(&self.environment.uptime);
        let begun = uptime();
        move || uptime().saturating_sub(begun)
    }

    /// Returns a `git` that accepts repositories owned by trusted users and ignores the user's own
    /// git settings. All calls in a command share one timeout.
    pub fn git(&self) -> GitProgram {
        self.git.get_or_init(|| self.fresh_git()).clone()
    }

    /// Like `git`, but with a new timeout, for long-running commands.
    pub fn fresh_git(&self) -> GitProgram {
        GitProgram::new(self.environment.var("PATH").unwrap_or_default())
            .with_person(self.person.clone())
    }

    pub fn owner(&self, command: &str) -> Owner {
        Owner {
            pid: self.environment.pid,
            command: format!("nacre {command}"),
            since: self.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }
    }

    pub fn home(&self) -> Result<&Path> {
        self.home.as_deref().ok_or_else(|| {
            OpError::failed("No home directory was found for global data")
                .hint("Set NACRE_HOME to one of your directories")
        })
    }

    /// Opens the global directory for writing, and creates it if it is missing.
    pub fn home_scope(&self) -> Result<WriteScope> {
        Ok(self.seal_scope(WriteScope::create(self.home()?, Access::Private)?))
    }

    /// Returns an error if the caller is an agent. `what` completes the sentence "Only the user
    /// can".
    pub fn check_user(&self, what: &str) -> Result<()> {
        if self.actor == Actor::Agent { Err(self.refuse(what)) } else { Ok(()) }
    }

    pub fn refuse(&self, what: &str) -> OpError {
        let message = format!("Only the user can {what}");
        OpError::new(ErrorCode::Refused, message)
            .hint("Ask the user to run it in their own terminal")
    }

    /// Returns an error unless the caller has all permissions. Used for actions on the owner's
    /// data.
    pub fn check_owner(&self) -> Result<()> {
        match self.caller.permissions.allow_everything() {
            true => Ok(()),
            false => Err(not_allowed(AccessScope::Admin, None)),
        }
    }
}

pub fn is_own_user(uid: u32) -> bool {
    Person::new(None, &[]).is_user(uid)
}

/// Returns the user. If the settings are invalid, no other users are trusted.
fn person(environment: &Environment, home: Option<&Path>) -> Person {
    let files = ConfigFiles { environment, home, repositories: Vec::new() };
    let own = files.resolve(None, &[]);
    let safe = own.map(|own| own.settings.safe.folders).unwrap_or_default();
    let invoker = environment.var("SUDO_UID").and_then(|uid| uid.parse().ok());
    Person::new(invoker, &safe)
}

fn read_projects(home: Option<&Path>) -> Result<Projects> {
    let Some(home) = home else { return Ok(Projects::default()) };
    let text = read_text(home, "projects.toml")?.unwrap_or_default();
    Ok(Projects::parse(&text, &home.join("projects.toml"))?)
}
