//! What operations work with: projects, settings, stores, indexes, models and a clock. Made once, shared by all of them.
//!
//! It reads no environment and prints nothing: the process hands over what it was given, and warnings are values.

mod database;
mod embedding;
mod environment;
mod files;
mod finding;
mod flow_task;
mod holding;
mod map_cache;
mod models;
mod offering;
mod people;
mod plain;
mod programs;
mod reading;
mod register;
mod results;
mod searching;
mod settings;
mod shared;
mod shared_task;
mod shell;
mod spending;
mod stores;
mod tasks;
mod traces;
mod trusting;
mod waiting_queue;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use nacre_api::wire::{ErrorCode, Warning};
use nacre_core::base::Person;
use nacre_core::base::git::GitProgram;
pub use nacre_core::base::{
    give_back_memory, search_path, share_memory, trees_around, yield_processor,
};
use nacre_core::config::projects::Projects;
use nacre_core::config::{self, Resolved, Settings};
pub use nacre_core::memory::Actor;
use nacre_core::people::{AccessScope, Caller};
use nacre_core::safefs::{Access, Owner, WriteScope};
use nacre_engine::model::{AsyncRuntime, InstalledProgram};

pub use self::environment::{Environment, SystemClock};
pub use self::files::TextEdit;
pub(crate) use self::files::read_text;
use self::finding::Search;
pub use self::finding::{check as check_owner, git_root, own_root};
pub use self::flow_task::as_task;
pub use self::holding::Holding;
pub use self::map_cache::{map_cache, settle as settle_map_cache};
pub use self::models::{
    auto_model, key_variable, model_settings, no_answer, provider_names, scripted,
};
pub use self::offering::note_offered;
pub use self::people::not_allowed;
pub use self::plain::read_plain;
pub use self::programs::{
    AUTO, allowed_agent, allowed_name, first_installed, installed, program_path,
};
pub use self::reading::{Reading, warn_of_limit};
pub use self::register::Registering;
pub use self::results::{ResultFile, is_result};
pub use self::searching::{SearchableStore, StoreHit, StoresFound, search_stores};
pub use self::settings::words;
use self::settings::{ConfigFiles, UnderstoodSettings};
pub use self::shared::Shared;
pub use self::shell::{has_own_key, has_own_settings, has_own_variables};
pub use self::spending::{
    ask_rules, asker_of_run, charged_models, limit_hint, open_models, patience, raise_limit_hint,
    spending_limits,
};
pub use self::stores::{ScopedStore, scope_mode};
pub use self::tasks::{
    Planned, SPILL_FOLDER, cancelled_elsewhere, clock, empty_spill, record, seed, spill,
};
pub use self::traces::{
    SESSIONS_FOLDER, agent_named, agent_names, check_session, connected, connections, homes,
    index_folder, index_texts, named_trace, open_catalog, parse_when, rebuild_texts,
    refresh_options, short,
};
pub use self::trusting::Waiting;
pub(crate) use self::waiting_queue::{SHARED_LEASE, WaitingQueue, open_queue};
use crate::error::OpError;

/// The folder of a store inside a repository.
pub const STORE_FOLDER: &str = ".nacre";

/// Everything an operation is given.
#[derive(Debug)]
pub struct Host {
    pub environment: Environment,
    pub resolved: Resolved,
    pub projects: Projects,
    /// The project to work on, where there is one.
    pub project: Option<ProjectRoot>,
    /// The folder of the project that was named with the command.
    pub(crate) named_folder: Option<PathBuf>,
    pub(crate) home: Option<PathBuf>,
    /// Who uses the program, and whose folders they trust.
    pub person: Person,
    git: OnceLock<GitProgram>,
    /// The person's own settings, as they were when the command began.
    pub(crate) own: Settings,
    /// What is wrong with the repository's settings, where an operation works without them.
    pub mistake: Option<String>,
    shared: Shared,
    runtime: OnceLock<AsyncRuntime>,
    /// The agents that are installed; looked for when first asked for.
    installed: OnceLock<Vec<InstalledProgram>>,
    /// What a person answered in this process about who may read sessions.
    allowed: OnceLock<String>,
    /// For whom it is opened. `projects` are only those that they may see.
    pub caller: Caller,
    /// Who causes what operations write.
    pub actor: Actor,
}

/// How a host is opened.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// The project to work on, by name or path; without it, the one around the current folder.
    pub project: Option<String>,
    /// Settings that were given with the command.
    pub flags: Vec<(String, String)>,
    pub tolerance: Tolerance,
    pub registering: Registering,
    pub needs: Needs,
    /// What this call shares with others.
    pub shared: Shared,
    /// For whom it is opened; by default for the person whose machine it is.
    pub caller: Caller,
    /// Who causes what operations write, where the caller is the owner.
    pub actor: Actor,
    /// What the caller must be allowed in a project; to them there are no others. By default `Read`.
    pub scope: Option<AccessScope>,
}

/// What a folder that is named as the project must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Needs {
    /// Any folder.
    #[default]
    Folder,
    /// A registered project, or one with a store.
    Project,
    /// A registered project by its name, or the only one there is. The current folder says nothing.
    Registered,
}

/// A host, and what a person should know about how it was opened.
#[derive(Debug)]
pub struct Opened {
    pub host: Result<Host, OpError>,
    pub warnings: Vec<Warning>,
}

/// Whether an operation can work although a configuration file is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tolerance {
    #[default]
    None,
    /// A mistake of the repository is named, and the person's own settings hold.
    OfRepository,
    Mistakes,
}

/// A repository that has, or may get, a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectRoot {
    pub path: PathBuf,
    /// Its registered name.
    pub name: Option<String>,
}

/// The settings that hold although a file is wrong; `None` where the operation cannot work without it.
fn without_mistake(files: &ConfigFiles<'_>, options: &OpenOptions) -> Option<Arc<Resolved>> {
    match options.tolerance {
        Tolerance::None => None,
        // The person's own files are still to be right.
        Tolerance::OfRepository => files.resolve(None, &options.flags).ok(),
        // The command that mends a mistake must not be stopped by it.
        Tolerance::Mistakes => config::resolve(&[], &[], &[]).ok().map(Arc::new),
    }
}

impl Host {
    /// Reads the settings and finds the project.
    pub fn open(environment: Environment, options: &OpenOptions) -> Opened {
        let mut warnings = Vec::new();
        let host = Self::open_with(environment, options, &mut warnings);
        Opened { host, warnings }
    }

    fn open_with(
        environment: Environment,
        options: &OpenOptions,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self, OpError> {
        environment.check()?;
        let home = environment.nacre_home();
        let all_projects = read_projects(home.as_deref())?;
        let (caller, scope) = (options.caller.clone(), options.scope.unwrap_or(AccessScope::Read));
        let projects = all_projects.filtered(|name| caller.permissions.allow(name, scope));
        let person = person(&environment, home.as_deref(), &options.shared.settings);
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
            understood: &options.shared.settings,
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
            (Some(_), own) => own?.settings.clone(),
        };
        warnings.extend(
            resolved
                .warnings
                .iter()
                .map(|warning| Warning { message: warning.to_string(), hint: warning.hint() }),
        );
        let mut host = Self {
            environment,
            resolved: Arc::unwrap_or_clone(resolved),
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

    /// The settings around the current folder: for what a command shows, and for what no repository may set. What works
    /// on a store goes by the settings of that store.
    pub fn settings(&self) -> &Settings {
        &self.resolved.settings
    }

    pub fn now(&self) -> Timestamp {
        self.environment.now()
    }

    /// What this call shares with others of its process.
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Tells how much time has passed since this call.
    pub fn stopwatch(&self) -> impl Fn() -> Duration + use<> {
        let uptime = Arc::clone(&self.environment.uptime);
        let begun = uptime();
        move || uptime().saturating_sub(begun)
    }

    /// The git of this machine, over the repositories that the person may use. It sees no settings of theirs, and all that
    /// a command asks of it shares one time.
    pub fn git(&self) -> GitProgram {
        self.git.get_or_init(|| self.fresh_git()).clone()
    }

    /// The same with a time of its own, for a command that goes on.
    pub fn fresh_git(&self) -> GitProgram {
        GitProgram::new(self.environment.var("PATH").unwrap_or_default())
            .with_person(self.person.clone())
    }

    /// This process, as others see it in a lock.
    pub fn owner(&self, command: &str) -> Owner {
        Owner {
            pid: self.environment.pid,
            command: format!("nacre {command}"),
            since: self.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }
    }

    /// The folder of global data.
    pub fn home(&self) -> Result<&Path, OpError> {
        self.home.as_deref().ok_or_else(|| {
            OpError::failed("There is no home folder to keep global data in")
                .hint("Set NACRE_HOME to a folder of yours")
        })
    }

    /// Opens the global folder for writing, making it where it is missing.
    pub fn home_scope(&self) -> Result<WriteScope, OpError> {
        Ok(self.sealed(WriteScope::create(self.home()?, Access::Private)?))
    }
}

impl Host {
    /// Refuses what only the user decides to an agent in its shell: `what` completes "Only the user can".
    pub fn check_user(&self, what: &str) -> Result<(), OpError> {
        if self.actor != Actor::Agent {
            return Ok(());
        }
        let message = format!("Only the user can {what}");
        Err(OpError { code: ErrorCode::Refused, ..OpError::failed(message) }
            .hint("Ask the user to run it in their own terminal"))
    }

    /// Refuses what belongs to the person whose machine it is, unless the caller may do everything.
    pub fn check_owner(&self) -> Result<(), OpError> {
        match self.caller.permissions.allow_everything() {
            true => Ok(()),
            false => Err(not_allowed(AccessScope::Admin, None)),
        }
    }
}

/// Whether a process of the user `uid` is of the user of this one.
pub fn is_own_user(uid: u32) -> bool {
    Person::new(None, &[]).is_user(uid)
}

/// Who uses the program. Settings that cannot be read trust nobody.
fn person(
    environment: &Environment,
    home: Option<&Path>,
    understood: &UnderstoodSettings,
) -> Person {
    let files = ConfigFiles { environment, home, repositories: Vec::new(), understood };
    let own = files.resolve(None, &[]);
    let safe = own.map(|own| own.settings.safe.folders.clone()).unwrap_or_default();
    let invoker = environment.var("SUDO_UID").and_then(|uid| uid.parse().ok());
    Person::new(invoker, &safe)
}

fn read_projects(home: Option<&Path>) -> Result<Projects, OpError> {
    let Some(home) = home else { return Ok(Projects::default()) };
    let text = read_text(home, "projects.toml")?.unwrap_or_default();
    Ok(Projects::parse(&text, &home.join("projects.toml"))?)
}
