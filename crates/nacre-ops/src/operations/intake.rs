//! What operations say about sessions: how many each agent has, what waits, and where they were looked for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use nacre_api::wire::{AgentSessions, FolderSessions, LaterSessions, LookedIn, WaitingSessions};
use nacre_core::agent_config::agent_spec;
use nacre_core::catalog;
use nacre_core::transcript::{ADAPTERS, Adapter};

use crate::error::OpError;
use crate::host::{Host, WaitingQueue, connected, connections, git_root, homes, short};

/// How many sessions each agent has, most first.
pub(crate) fn agent_sessions(
    counts: impl IntoIterator<Item = (String, u64)>,
) -> Vec<AgentSessions> {
    let entry = |(agent, sessions): (String, u64)| AgentSessions {
        title: agent_title(&agent),
        agent,
        sessions,
    };
    let mut agents: Vec<AgentSessions> = counts.into_iter().map(entry).collect();
    agents.sort_by_key(|agent| std::cmp::Reverse(agent.sessions));
    agents
}

/// An agent as people call it; one without a title goes by its name.
fn agent_title(name: &str) -> String {
    agent_spec(name).map_or(name, |spec| spec.title).to_owned()
}

/// What waits in the queue now.
pub(crate) fn waiting(host: &Host, queue: &WaitingQueue) -> Result<WaitingSessions, OpError> {
    let now = host.now();
    let catalog::WaitingSessions { ready, active, retried, unregistered } = queue.waiting(now)?;
    Ok(WaitingSessions {
        ready,
        active: active.map(|of| later(of, now)),
        retried: retried.map(|of| later(of, now)),
        not_set_up: not_set_up(host, unregistered),
    })
}

fn later(of: catalog::LaterSessions, now: Timestamp) -> LaterSessions {
    let catalog::LaterSessions { sessions, ready_at, example } = of;
    let ready_in = u64::try_from(ready_at.duration_since(now).as_secs()).unwrap_or(0);
    LaterSessions { sessions, ready_at: ready_at.to_string(), ready_in, example }
}

/// Sums folders up by the repository around them, most sessions first.
fn not_set_up(host: &Host, folders: Vec<(String, u64)>) -> Vec<FolderSessions> {
    let mut sums: BTreeMap<PathBuf, u64> = BTreeMap::new();
    for (folder, sessions) in folders {
        *sums.entry(repository_around(host, Path::new(&folder))).or_default() += sessions;
    }
    let entry = |(path, sessions): (PathBuf, u64)| FolderSessions {
        path: path.display().to_string(),
        sessions,
    };
    let mut folders: Vec<FolderSessions> = sums.into_iter().map(entry).collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.sessions));
    folders
}

/// The repository around a folder, or the folder itself.
fn repository_around(host: &Host, folder: &Path) -> PathBuf {
    git_root(&host.person, folder).unwrap_or_else(|| folder.to_owned())
}

/// The folder of the command, where it belongs to no project: a repository, or a folder that has sessions.
pub(crate) fn not_set_up_here(host: &Host, waiting: &WaitingSessions) -> Option<FolderSessions> {
    if host.project.is_some() {
        return None;
    }
    let folder = &host.environment.folder;
    let git = git_root(&host.person, folder);
    let root = git.as_ref().unwrap_or(folder);
    let is_here = |one: &&FolderSessions| Path::new(&one.path) == root;
    match waiting.not_set_up.iter().find(is_here) {
        Some(found) => Some(found.clone()),
        None => git.map(|git| FolderSessions { path: git.display().to_string(), sessions: 0 }),
    }
}

/// Where the sessions of the connected agents are looked for.
pub(crate) fn places_of_sessions(host: &Host) -> Result<Vec<LookedIn>, OpError> {
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

/// The agents that left sessions here and are not in the register. Best effort: a register that cannot be read is reported by
/// whoever needs it.
pub(crate) fn switched_off(host: &Host) -> Vec<String> {
    let (Ok(Some(chosen)), Ok(homes)) = (connected(host), homes(host)) else { return Vec::new() };
    let is_off = |adapter: &&&dyn Adapter| {
        !chosen.iter().any(|agent| agent.name == adapter.agent().as_str())
    };
    let has_sessions =
        |adapter: &&&dyn Adapter| !adapter.discover(&adapter.roots(&homes)).sources.is_empty();
    let found = ADAPTERS.iter().filter(is_off).filter(has_sessions);
    found.map(|adapter| adapter.agent().as_str().to_owned()).collect()
}
