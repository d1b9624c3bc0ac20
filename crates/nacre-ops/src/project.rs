//! Registers, lists and unregisters projects, and creates their stores.

use nacre_base::config::projects::Project;
use nacre_traces::catalog::{self, JobQueue as _, JobState};
use nacre_types::{
    EmptyRequest, InitReport, ProjectAddReport, ProjectAddRequest, ProjectEntry, ProjectListReport,
    ProjectRemoveReport, ProjectRemoveRequest, ProjectState, RunMode,
};

use crate::host::{STORE_FOLDER, check_owner, connections, git_root, has_catalog, open_catalog};
use crate::prelude::*;
use crate::recording::{CommandChange, own_store};
use crate::run::change::Reversal;
use crate::status::{agent_sessions, find_disconnected};

/// Initializes a project. If `name` is given, initializes the registered project with that name
/// instead of the one in the current directory.
pub fn init(host: &Host, name: Option<&str>, events: &Events) -> Result<InitReport> {
    let folder = host.named_folder.as_ref().unwrap_or(&host.environment.folder);
    let root = git_root(&host.person, folder).unwrap_or_else(|| folder.clone());
    check_place(host, &root)?;
    let registered = match host.register(&root, name) {
        // Report the error only if the user specified a name.
        Err(error) if name.is_some() => return Err(error),
        registered => registered,
    };
    if let Err(error) = &registered {
        let message = format!("The project could not be registered: {}", error.message);
        events.warning(message, None);
    }
    let name = registered.ok();
    prepare(host, &root, name.clone()).inspect_err(|_| {
        if let Some(name) = name {
            host.take_back_registration(&root, &name);
        }
    })
}

pub fn add(host: &Host, request: &ProjectAddRequest) -> Result<ProjectAddReport> {
    let ProjectAddRequest { path, name } = request;
    let root = host.environment.absolute(path);
    if !root.is_dir() {
        return Err(OpError::new(
            ErrorCode::NotFound,
            format!("`{}` is not a directory", root.display()),
        )
        .hint("Specify the repository's directory: nacre project add PATH"));
    }
    check_place(host, &root)?;
    // Registering the project first ensures that a name conflict does not leave an unused store
    // behind.
    let project = host.register(&root, name.as_deref())?;
    let before = host.projects.iter().cloned().collect::<Vec<_>>();
    let mut after = before.clone();
    after.retain(|known| known.path != root);
    after.push(Project { name: project.clone(), path: root.clone() });
    let prepared = prepare(host, &root, Some(project.clone()))
        .inspect_err(|_| host.take_back_registration(&root, &project))?;
    let command = format!("project add {}", root.display());
    let change = record(host, &command, &before, &after)?;
    Ok(ProjectAddReport { path: root.display().to_string(), prepared, change })
}

pub fn list(host: &Host, _: &EmptyRequest) -> Result<ProjectListReport> {
    Ok(ProjectListReport { projects: entries(host) })
}

pub(crate) fn entries(host: &Host) -> Vec<ProjectEntry> {
    let projects = host.projects.iter().map(|project| ProjectEntry {
        name: project.name.clone(),
        path: project.path.display().to_string(),
        state: match (project.path.is_dir(), project.path.join(STORE_FOLDER).is_dir()) {
            (true, true) => ProjectState::Ready,
            (true, false) => ProjectState::NoStore,
            (false, _) => ProjectState::Missing,
        },
    });
    projects.collect()
}

pub fn remove(host: &Host, request: &ProjectRemoveRequest) -> Result<ProjectRemoveReport> {
    let ProjectRemoveRequest { name } = request;
    let before = host.projects.iter().cloned().collect::<Vec<_>>();
    host.unregister(name)?;
    let after: Vec<_> = before.iter().filter(|project| project.name != *name).cloned().collect();
    let change = record(host, &format!("project remove {name}"), &before, &after)?;
    Ok(ProjectRemoveReport { removed: name.clone(), change })
}

const REPO_CONFIG: &str = "\
# Settings for this repository, shared through git. `nacre config` lists every key.
# What runs commands or sends data is a person's own to set, and ignored here.
";

/// Time limit for counting existing sessions.
const LOOK_TIME: Duration = Duration::from_millis(1500);

fn check_place(host: &Host, root: &Path) -> Result<()> {
    if Some(root.join(STORE_FOLDER).as_path()) == host.home().ok() {
        let message = format!(
            "`{}` cannot be a project, because its `.nacre` directory contains your own data for \
             all projects",
            root.display()
        );
        return Err(OpError::new(ErrorCode::Refused, message)
            .hint("Change to a repository and run `nacre init` there"));
    }
    check_owner(&host.person, root)
}

fn prepare(host: &Host, root: &Path, project: Option<String>) -> Result<InitReport> {
    let scope =
        host.seal_scope(WriteScope::create_inside(root, STORE_FOLDER, nacre_memory::STORE_ACCESS)?);
    check_owner(&host.person, root)?;
    let writer = scope.lock(&host.owner("init"), host.settings().lock.wait)?;
    let shares = host.settings_now(Some(root)).is_some_and(|settings| settings.share.summaries);
    let created = nacre_memory::init(&writer, REPO_CONFIG, shares)?;
    drop(writer);
    let ledger = host.ledger_of(scope.path());
    let rules = nacre_memory::Rules { ledger, ..nacre_memory::Rules::default() };
    let store = nacre_memory::Store::new(scope, rules);
    let memories = store.outlines(|_| true)?.memories.len();
    // A store that already contains memories was copied from another location or predates the
    // ledger.
    if memories == 0 {
        store.begin_ledger(&host.owner("init"));
    }
    let foreign = host.store_at(root).map_or(0, |scoped| host.count_waiting(&scoped).foreign);
    let took = host.stopwatch();
    let others: Vec<PathBuf> = host.projects.iter().map(|project| project.path.clone()).collect();
    // Without a home directory, there are no sessions.
    let connections = connections(host, &[]).unwrap_or_default();
    let look = catalog::look(&connections, root, &others, || took() < LOOK_TIME);
    let report = InitReport {
        root: root.display().to_string(),
        project,
        is_git: git_root(&host.person, root).is_some_and(|git| git == root),
        created: created.iter().map(|path| format!("{STORE_FOLDER}/{path}")).collect(),
        memories,
        foreign,
        new_sessions: look.sessions().saturating_sub(count_finished(host, root)),
        is_partial: look.is_partial,
        has_agents: look.sources > 0,
        switched_off: find_disconnected(host),
        sessions: agent_sessions(
            look.agents.iter().map(|(agent, n)| (agent.as_str().to_owned(), *n)),
        ),
        shares_summaries: shares,
        next: String::new(),
    };
    Ok(InitReport { next: next(&report).to_owned(), ..report })
}

/// Returns the number of sessions that are done or dead. Does not create a missing catalog.
fn count_finished(host: &Host, root: &Path) -> u64 {
    let counts = has_catalog(host).then(|| open_catalog(host).ok()?.counts().ok()).flatten();
    let project = root.to_string_lossy();
    let of_project =
        counts.into_iter().flatten().filter(|((at, _), _)| at.as_deref() == Some(&project));
    // Empty sessions are also excluded from the count of existing sessions.
    let is_finished = |state: &JobState| matches!(state, JobState::Done | JobState::Dead);
    let states = of_project.flat_map(|(_, counts)| counts.by_state);
    states.filter(|(state, _)| is_finished(state)).map(|(_, sessions)| sessions).sum()
}

fn next(report: &InitReport) -> &'static str {
    match report {
        InitReport { foreign: 1.., .. } => "nacre trust",
        InitReport { new_sessions: 1.., .. } => "nacre sync",
        InitReport { memories: 1.., .. } => "nacre brief",
        InitReport { switched_off, .. } if !switched_off.is_empty() => "nacre connect auto",
        InitReport { has_agents: true, .. } => "nacre connect auto",
        _ => "nacre memory add \"Use SQLite for the queue\" --body \"One file, no server.\"",
    }
}

/// Records a change to the project registry. Returns `None` if the registry is unchanged.
fn record(
    host: &Host,
    command: &str,
    before: &[Project],
    after: &[Project],
) -> Result<Option<String>> {
    let only = |some: &[Project], other: &[Project]| {
        some.iter().filter(|project| !other.contains(project)).cloned().collect::<Vec<_>>()
    };
    let (added, removed) = (only(after, before), only(before, after));
    if added.is_empty() && removed.is_empty() {
        return Ok(None);
    }
    let reversal = Reversal::Projects { added, removed };
    let command = CommandChange::new(RunMode::Project, command);
    command.record(host, &own_store(host)?, reversal, None).map(Some)
}
