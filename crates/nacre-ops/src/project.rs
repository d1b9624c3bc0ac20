//! Registers, lists and unregisters projects, and creates their stores.

use nacre_base::config::projects::{self, Project};
use nacre_traces::catalog::{
    self, JobQueue as _, JobState, Placing, UnregisteredFolder, project_root,
};
use nacre_types::{
    EmptyRequest, FolderSessions, InitAllReport, InitReport, ProjectAddReport, ProjectAddRequest,
    ProjectEntry, ProjectListReport, ProjectRemoveReport, ProjectRemoveRequest, ProjectState,
    RunMode,
};

use crate::host::{STORE_FOLDER, check_owner, connections, git_root, has_catalog, open_catalog};
use crate::prelude::*;
use crate::recording::{CommandChange, own_store};
use crate::run::change::Reversal;
use crate::status::{agent_sessions, find_disconnected, not_set_up};

/// Initializes a project. If `name` is given, initializes the registered project with that name
/// instead of the one in the current directory.
pub fn init(host: &Host, name: Option<&str>, events: &Events) -> Result<InitReport> {
    let folder = host.named_folder.as_ref().unwrap_or(&host.environment.folder);
    let root = git_root(&host.person, folder).unwrap_or_else(|| folder.clone());
    check_place(host, &root)?;
    let name = match host.register(&root, name) {
        Ok(name) => Some(name),
        // Report the error only if the user specified a name.
        Err(error) if name.is_some() => return Err(error),
        Err(error) => {
            let message = format!("The project could not be registered: {}", error.message);
            events.warning(message, None);
            None
        }
    };
    let known = host.projects.iter().find(|known| known.path == root);
    let also = known.map(|known| known.also.as_slice()).unwrap_or_default();
    prepare(host, &root, also, name.clone()).inspect_err(|_| {
        if let Some(name) = name {
            host.take_back_registration(&root, &name);
        }
    })
}

pub fn add(host: &Host, request: &ProjectAddRequest) -> Result<ProjectAddReport> {
    let ProjectAddRequest { path, name, also } = request;
    let root = host.environment.absolute(path);
    if !root.is_dir() {
        return Err(OpError::new(
            ErrorCode::NotFound,
            format!("`{}` is not a directory", root.display()),
        )
        .hint("Specify the repository's directory: nacre project add PATH"));
    }
    check_place(host, &root)?;
    let before = host.projects.iter().cloned().collect::<Vec<_>>();
    let known = before.iter().find(|known| known.path == root);
    let mut folders: Vec<PathBuf> =
        also.iter().map(|folder| host.environment.absolute(folder)).collect();
    folders.iter().try_for_each(|folder| check_adopted(host, &root, folder))?;
    // A project that has moved keeps its name.
    let moved = before.iter().filter(|known| folders.contains(&known.path));
    let mut name = name.clone().or_else(|| known.map(|known| known.name.clone()));
    for Project { name: old, .. } in moved {
        host.unregister(old)?;
        name.get_or_insert_with(|| old.clone());
    }
    let mut after = before.clone();
    after.retain(|known| known.path != root && !folders.contains(&known.path));
    folders.extend(known.iter().flat_map(|known| known.also.clone()));
    folders.sort();
    folders.dedup();
    // Registering the project first ensures that a name conflict does not leave an unused store
    // behind.
    let project = name.unwrap_or_else(|| projects::name_for(&root, &host.projects));
    let entry = Project { name: project.clone(), path: root.clone(), also: folders };
    let prepared = host
        .write_project(&entry)
        .and_then(|()| prepare(host, &root, &entry.also, Some(project.clone())))
        .inspect_err(|_| {
            host.take_back_registration(&root, &project);
            let is_changed = |old: &&Project| old.path == root || entry.also.contains(&old.path);
            for old in before.iter().filter(is_changed) {
                // The first error is reported; this one is likely to have the same cause.
                let _ = host.write_project(old);
            }
        })?;
    after.push(entry);
    let command = format!("project add {}", root.display());
    let change = record(host, &command, &before, &after)?;
    Ok(ProjectAddReport { path: root.display().to_string(), prepared, change })
}

/// Checks that `root` may have the sessions of `folder`, which the user has confirmed by naming it.
fn check_adopted(host: &Host, root: &Path, folder: &Path) -> Result<()> {
    host.check_user("give a project the sessions of another directory")?;
    let path = folder.display();
    if folder.starts_with(root) || root.starts_with(folder) {
        let message = format!("`{path}` contains the project or is part of it");
        return Err(OpError::usage(message).hint("Its sessions need no `--also`"));
    }
    let here = host.projects.iter().find(|project| project.path == folder);
    let Some(Project { name, .. }) = here.filter(|_| folder.is_dir()) else { return Ok(()) };
    let message = format!("The sessions in `{path}` belong to the project `{name}`");
    Err(OpError::usage(message)
        .hint(format!("To give them to another project: nacre project remove {name}")))
}

/// Lists the existing directories that have sessions and are not set up. A directory without Git
/// that contains others is omitted, because a project has the sessions of all its subdirectories.
pub fn list_not_set_up(host: &Host) -> Result<InitAllReport> {
    host.check_user("set up all directories")?;
    let look = catalog::look(&connections(host, &[])?, || true);
    let registered: Vec<PathBuf> = host.projects.iter().map(|known| known.path.clone()).collect();
    let found = look.folders.iter().filter_map(|(cwd, agents)| {
        let Placing::Unregistered(path) = project_root(Some(cwd), &registered) else { return None };
        let (path, sessions) = (path.display().to_string(), agents.values().sum());
        Some(UnregisteredFolder { path, sessions, repository: None })
    });
    let mut folders = not_set_up(host, found);
    let here = |folder: &FolderSessions| PathBuf::from(&folder.path);
    folders.retain(|folder| here(folder).is_dir() && check_place(host, &here(folder)).is_ok());
    let others: Vec<PathBuf> = folders.iter().map(here).chain(registered).collect();
    let is_around = |path: &Path| others.iter().any(|one| one != path && one.starts_with(path));
    folders.retain(|folder| here(folder).join(".git").exists() || !is_around(&here(folder)));
    Ok(InitAllReport { folders, ..InitAllReport::default() })
}

/// Sets up the listed directories, as one change.
pub fn init_all(host: &Host, listed: InitAllReport, events: &Events) -> Result<InitAllReport> {
    let before: Vec<Project> = host.projects.iter().cloned().collect();
    let mut projects = host.projects.clone();
    for folder in &listed.folders {
        let path = PathBuf::from(&folder.path);
        let name = projects::name_for(&path, &projects);
        let done = host.register(&path, Some(&name)).and_then(|name| {
            create_store(host, &path).inspect_err(|_| host.take_back_registration(&path, &name))
        });
        match done {
            Ok(_) => projects = projects.with(Project { name, path, also: Vec::new() }),
            Err(error) => events.warn(&error),
        }
    }
    let after: Vec<Project> = projects.iter().cloned().collect();
    let change = record(host, "init --all", &before, &after)?;
    let projects = after[before.len()..].iter().map(entry).collect();
    Ok(InitAllReport { projects, change, ..listed })
}

pub fn list(host: &Host, _: &EmptyRequest) -> Result<ProjectListReport> {
    Ok(ProjectListReport { projects: entries(host) })
}

pub(crate) fn entries(host: &Host) -> Vec<ProjectEntry> {
    host.projects.iter().map(entry).collect()
}

fn entry(Project { name, path, also }: &Project) -> ProjectEntry {
    ProjectEntry {
        name: name.clone(),
        path: path.display().to_string(),
        also: also.iter().map(|folder| folder.display().to_string()).collect(),
        state: match (path.is_dir(), path.join(STORE_FOLDER).is_dir()) {
            (true, true) => ProjectState::Ready,
            (true, false) => ProjectState::NoStore,
            (false, _) => ProjectState::Missing,
        },
    }
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

/// Creates the store's missing files. Returns them, and the number of memories in the store.
fn create_store(host: &Host, root: &Path) -> Result<(Vec<RelPath>, usize)> {
    let scope =
        host.seal_scope(WriteScope::create_inside(root, STORE_FOLDER, nacre_memory::STORE_ACCESS)?);
    check_owner(&host.person, root)?;
    let writer = scope.lock(&host.owner("init"), host.settings().lock.wait)?;
    let created = nacre_memory::init(&writer, REPO_CONFIG, shares_summaries(host, root))?;
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
    Ok((created, memories))
}

fn shares_summaries(host: &Host, root: &Path) -> bool {
    host.settings_now(Some(root)).is_some_and(|settings| settings.share.summaries)
}

fn prepare(
    host: &Host,
    root: &Path,
    also: &[PathBuf],
    project: Option<String>,
) -> Result<InitReport> {
    let (created, memories) = create_store(host, root)?;
    let foreign = host.store_at(root).map_or(0, |scoped| host.count_waiting(&scoped).foreign);
    let took = host.stopwatch();
    let others: Vec<PathBuf> = host.projects.iter().map(|project| project.path.clone()).collect();
    // Without a home directory, there are no sessions.
    let connections = connections(host, &[]).unwrap_or_default();
    let look = catalog::look(&connections, || took() < LOOK_TIME);
    let mut sessions = look.sessions_of(root, &others);
    for (agent, n_sessions) in also.iter().flat_map(|folder| look.sessions_of(folder, &others)) {
        *sessions.entry(agent).or_default() += n_sessions;
    }
    let report = InitReport {
        root: root.display().to_string(),
        project,
        is_git: git_root(&host.person, root).is_some_and(|git| git == root),
        created: created.iter().map(|path| format!("{STORE_FOLDER}/{path}")).collect(),
        memories,
        foreign,
        new_sessions: sessions.values().sum::<u64>().saturating_sub(count_finished(host, root)),
        is_partial: look.is_partial,
        has_agents: look.sources > 0,
        switched_off: find_disconnected(host),
        sessions: agent_sessions(sessions.iter().map(|(agent, n)| (agent.as_str().to_owned(), *n))),
        shares_summaries: shares_summaries(host, root),
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
