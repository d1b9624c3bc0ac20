//! Reports how many memories and sessions there are, and how much was spent. Problems are taken
//! from the last `doctor` run; no checks are run here.

use nacre_engine::model::LimitScope;
use nacre_engine::record::state::{SpentOn, State, StateError};
use nacre_memory::{Located, MemoryType, StoreArea, TYPES};
use nacre_traces::agents::{ADAPTERS, connectable_agent};
use nacre_traces::catalog::{StateCounts, UnregisteredFolder, main_worktree, repository_identity};
use nacre_traces::transcript::Adapter;
use nacre_types::{
    AgentSessions, EmptyRequest, FolderSessions, Health, LookedIn, SessionStatus, SpendingScope,
    SpendingStatus, StatusReport, StoreStatus, TypeCount, WaitingSessions,
};

use super::doctor::last_check;
use super::service::service_status;
use crate::host::{
    WaitingQueue, connections, git_root, has_catalog, homes, open_catalog, open_queue,
    read_connected_agents, short, spending_limits, sum_spending_by_scope,
};
use crate::prelude::*;

pub fn status(host: &Host, request: &EmptyRequest) -> Result<StatusReport> {
    let EmptyRequest {} = request;
    let mut stores = Vec::new();
    for scoped in [host.project_store()?, host.global_store()?].into_iter().flatten() {
        stores.push(store_status(host, &scoped)?);
    }
    let project = host.project.as_ref();
    // Only the owner may access machine-wide data.
    let is_owner = host.caller.permissions.allow_everything();
    let report = StatusReport {
        project: project.and_then(|project| project.name.clone()),
        root: project.map(|project| project.path.display().to_string()),
        scope: host.settings().memory.scope,
        stores,
        projects: host.projects.iter().count(),
        sessions: Vec::new(),
        sessions_add_up: true,
        waiting: WaitingSessions::default(),
        switched_off: if is_owner { find_disconnected(host) } else { Vec::new() },
        last_sync: None,
        service: if is_owner { service_status(host)? } else { None },
        database: if is_owner { host.database_status() } else { None },
        spending: if is_owner { spending(host)? } else { Vec::new() },
        config: host.mistake.clone(),
        health: Health::Unchecked,
        checked: None,
    };
    add_sessions(host, report)
}

/// Adds the number of sessions. Does not create a missing catalog.
fn add_sessions(host: &Host, mut report: StatusReport) -> Result<StatusReport> {
    if !has_catalog(host) || !host.caller.permissions.allow_everything() {
        return Ok(report);
    }
    let mut queue = match open_queue(host) {
        // Local data would be misleading while the shared queue is unavailable.
        Err(_) if host.has_database() => {
            (report.health, report.checked) = last_check(host, &open_catalog(host)?)?;
            return Ok(report);
        }
        queue => queue?,
    };
    let counts = queue.jobs().counts()?;
    report.sessions_add_up = counts.values().all(StateCounts::adds_up);
    let sessions = counts.into_iter().map(|((project, agent), counts)| {
        let states = counts.by_state.iter().map(|(state, n)| (state.as_str().to_owned(), *n));
        let states = states.collect();
        SessionStatus { project, agent, seen: counts.seen, states, skipped: counts.skipped }
    });
    report.sessions = sessions.collect();
    let last_sync = queue.jobs().last_run("sync")?;
    report.last_sync = last_sync
        .map(|run| format!("{} ({})", run.id, run.outcome.as_deref().unwrap_or("not ended")));
    report.waiting = waiting(host, &queue)?;
    (report.health, report.checked) = last_check(host, &queue.catalog)?;
    Ok(report)
}

/// Returns the current project's costs for today and this month. Returns an empty list if no model
/// has been used.
fn spending(host: &Host) -> Result<Vec<SpendingStatus>> {
    let failed = |error: StateError| OpError::wrap(&error);
    let home = match host.home() {
        Ok(home) if home.is_dir() => WriteScope::open(home, Access::Private)?,
        Ok(_) | Err(_) => return Ok(Vec::new()),
    };
    let Some(state) = State::open_existing(&home).map_err(failed)? else { return Ok(Vec::new()) };
    let limits = spending_limits(&host.settings().limits);
    let project = host.project_key();
    let on = SpentOn { project, session: String::new() };
    let scopes = sum_spending_by_scope(&state, &limits, &on, host.now()).map_err(failed)?;
    let shown = scopes.into_iter().filter_map(|(scope, limit, sum)| {
        let (limit_cost, cost) = (limit.cost, sum.amount.cost);
        Some(SpendingStatus {
            scope: match scope {
                // Per-session limits are not shown here.
                LimitScope::Session => return None,
                LimitScope::Day => SpendingScope::Day,
                LimitScope::Project => SpendingScope::Project,
            },
            calls: sum.calls,
            tokens: sum.amount.tokens,
            limit_tokens: limit.tokens,
            cost_usd: cost.dollars(),
            limit_usd: limit_cost.dollars(),
            unpriced_calls: sum.unpriced_calls,
            is_reached: limit.tokens <= sum.amount.tokens
                || (cost.nano_dollars() > 0 && limit_cost <= cost),
        })
    });
    Ok(shown.collect())
}

fn store_status(host: &Host, scoped: &ScopedStore) -> Result<StoreStatus> {
    let listing = scoped.store.outlines(|_| true)?;
    let count = |memory_type: MemoryType, area: StoreArea| {
        let is_counted = |at: &Located| at.memory_type == memory_type && at.area == area;
        listing.memories.iter().filter(|memory| is_counted(&memory.at)).count()
    };
    let counts = TYPES.iter().map(|spec| TypeCount {
        r#type: spec.memory_type,
        active: count(spec.memory_type, StoreArea::Active),
        archived: count(spec.memory_type, StoreArea::Archived),
    });
    let waiting = host.count_waiting(scoped);
    let newest = listing.memories.iter().filter_map(|memory| memory.updated).max();
    Ok(StoreStatus {
        scope: scoped.scope,
        path: scoped.store.path().display().to_string(),
        memories: counts.collect(),
        candidates: listing.memories.iter().filter(|memory| memory.is_candidate()).count(),
        foreign: waiting.foreign,
        quarantined: waiting.quarantined,
        broken: listing.broken.len(),
        updated: newest.map(|time| time.to_string()),
    })
}

pub(crate) fn agent_sessions(
    counts: impl IntoIterator<Item = (String, u64)>,
) -> Vec<AgentSessions> {
    let entry = |(agent, sessions): (String, u64)| {
        let title = connectable_agent(&agent).map_or(agent.as_str(), |spec| spec.title).to_owned();
        AgentSessions { title, agent, sessions }
    };
    let mut agents: Vec<AgentSessions> = counts.into_iter().map(entry).collect();
    agents.sort_by_key(|agent| std::cmp::Reverse(agent.sessions));
    agents
}

pub(crate) fn waiting(host: &Host, queue: &WaitingQueue) -> Result<WaitingSessions> {
    let mut folders = queue.catalog.list_unregistered()?;
    let is_gone = |path: &Path| !path.is_dir() && git_root(&host.person, path).is_none();
    for project in host.projects.iter().filter(|project| is_gone(&project.path)) {
        folders.push(queue.catalog.sessions_of_project(&project.path.display().to_string())?);
    }
    let mut not_set_up = not_set_up(host, folders);
    let is_registered = |path: &str| host.projects.find(path).is_some();
    not_set_up.retain(|folder| folder.clone_of.is_some() || !is_registered(&folder.path));
    let without_folder = agent_sessions(queue.catalog.count_without_folder()?);
    Ok(WaitingSessions { not_set_up, without_folder, ..queue.waiting(host.now())? })
}

/// Sums up sessions by repository, and finds the project that is a clone of the same repository.
pub(crate) fn not_set_up(
    host: &Host,
    folders: impl IntoIterator<Item = UnregisteredFolder>,
) -> Vec<FolderSessions> {
    let mut sums: BTreeMap<PathBuf, UnregisteredFolder> = BTreeMap::new();
    for folder in folders {
        let root = git_root(&host.person, Path::new(&folder.path));
        let root = root.map(|root| main_worktree(&root).unwrap_or(root));
        let root = root.unwrap_or_else(|| PathBuf::from(&folder.path));
        let path = root.display().to_string();
        let sum = sums.entry(root);
        let sum = sum.or_insert(UnregisteredFolder { path, sessions: 0, repository: None });
        sum.sessions += folder.sessions;
        sum.repository = sum.repository.take().or(folder.repository);
    }
    let identities: Vec<(Option<String>, &PathBuf)> = host
        .projects
        .iter()
        .map(|project| (repository_identity(&project.path, None), &project.path))
        .collect();
    let entry = |UnregisteredFolder { path, sessions, repository }| {
        let identity = repository_identity(Path::new(&path), repository.as_deref());
        let same = identities.iter().find(|(known, _)| identity.is_some() && *known == identity);
        let clone_of = same.map(|(_, project)| project.display().to_string());
        FolderSessions { path, sessions, clone_of }
    };
    let mut folders: Vec<FolderSessions> = sums.into_values().map(entry).collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.sessions));
    folders
}

/// Returns `None` if the directory is part of a project, or if it is not a repository and has no
/// sessions.
pub(crate) fn not_set_up_here(host: &Host, waiting: &WaitingSessions) -> Option<FolderSessions> {
    if host.project.is_some() {
        return None;
    }
    let folder = &host.environment.folder;
    let git = git_root(&host.person, folder);
    let root = git.as_ref().unwrap_or(folder);
    let is_here = |one: &&FolderSessions| Path::new(&one.path) == root;
    let found = waiting.not_set_up.iter().find(is_here).cloned();
    let path = git.as_ref().map(|git| git.display().to_string());
    found.or_else(|| Some(FolderSessions { path: path?, sessions: 0, clone_of: None }))
}

pub(crate) fn places_of_sessions(host: &Host) -> Result<Vec<LookedIn>> {
    let connections = connections(host, &[])?;
    let places = connections.iter().flat_map(|connection| {
        connection.roots.iter().map(|root| LookedIn {
            agent: connection.agent.as_str().to_owned(),
            path: short(host, root),
            exists: root.exists(),
        })
    });
    Ok(places.collect())
}

/// Returns the agents that are switched off. Returns an empty list if the agents file cannot be
/// read.
pub(crate) fn find_disconnected(host: &Host) -> Vec<String> {
    let (Ok(Some(chosen)), Ok(homes)) = (read_connected_agents(host), homes(host)) else {
        return Vec::new();
    };
    let is_off = |adapter: &&&dyn Adapter| {
        let is_chosen = chosen.iter().any(|agent| agent.name == adapter.agent().as_str());
        !is_chosen && !adapter.discover(&adapter.roots(&homes)).sources.is_empty()
    };
    ADAPTERS.iter().filter(is_off).map(|adapter| adapter.agent().as_str().to_owned()).collect()
}
