//! Opens the trace catalog and finds the connected agents.

use nacre_base::config::agents::{self, AgentsError, ConnectedAgent};
use nacre_base::config::projects::Project;
use nacre_base::fs::make_database;
use nacre_base::parse_time;
use nacre_memory::messages::{TextIndexAccess, clear_message_index, index_messages};
use nacre_memory::search::INDEX_FOLDER;
use nacre_traces::agents::{ADAPTERS, adapter_of, variables};
use nacre_traces::catalog::{
    AllowedProjects, Catalog, CatalogError, Connection, ProjectWords, RefreshOptions, WordLists,
};
use nacre_traces::transcript::{self, Agent, Homes, Sink, Trace};

use super::Actor;
use super::files::read_text;
use super::settings::words;
use crate::error::hinted;
use crate::prelude::*;

/// A trace must be unchanged for this long before it is read, because its session may still be
/// running.
const QUIET: Duration = Duration::from_secs(120);

const CATALOG: &str = "catalog.sqlite3";

/// Does not create a missing catalog.
pub(crate) fn has_catalog(host: &Host) -> bool {
    host.home().is_ok_and(|home| home.join(CATALOG).is_file())
}

/// Opens the catalog that belongs to this machine's owner, creating it if it is missing.
pub fn open_catalog(host: &Host) -> Result<Catalog> {
    host.check_owner()?;
    let wait = host.settings().lock.wait;
    make_database(&host.home_scope()?, CATALOG, &host.owner("catalog"), wait)?;
    Ok(Catalog::open(&host.home()?.join(CATALOG))?)
}

/// Returns the file that a session's name refers to, and the id of a session in it, which may be
/// empty.
pub fn trace_file<'n>(host: &Host, name: &'n str) -> Option<(PathBuf, &'n str)> {
    let named = [Some((name, "")), name.rsplit_once(':')].into_iter().flatten();
    let mut files = named.map(|(file, id)| (host.environment.absolute(Path::new(file)), id));
    files.find(|(path, _)| path.is_file())
}

/// Returns the session in the file at this path, or the session with this name.
pub fn find_trace(host: &Host, name: &str) -> Result<Trace> {
    if let Some((path, id)) = trace_file(host, name) {
        let trace = nacre_traces::agents::trace_in(&path, id)?;
        check_session(&trace)?;
        return Ok(trace);
    }
    let path = host.environment.absolute(Path::new(name));
    if name.contains('/') || name.contains('.') {
        return Err(OpError::not_found(format!("Trace `{}` not found", path.display()))
            .hint("`nacre trace` lists the known sessions"));
    }
    Ok(open_catalog(host)?.session(name)?.trace)
}

/// Rejects a file that is neither an agent's trace nor in Nacre's own format.
pub fn check_session(trace: &Trace) -> Result<()> {
    if trace.source.agent != Agent::Generic {
        return Ok(());
    }
    let adapter = adapter_of(Agent::Generic);
    let nacre_types::EventCounts { user, assistant, tool_calls, injected, .. } =
        adapter.read(trace, None, Sink::opening(&mut |_| {}))?.facts.counts;
    if user + assistant + tool_calls + injected > 0 {
        return Ok(());
    }
    let message =
        format!("`{}` is not a session: it contains no messages", trace.source.path.display());
    Err(OpError::new(ErrorCode::Invalid, message).hint(
        "docs/transcript-format.md describes Nacre's own format; `nacre connect list` lists \
         the agents",
    ))
}

/// Returns the directory of the message index, or `None` if the directory cannot be created.
pub fn index_folder(host: &Host) -> Result<Option<WriteScope>> {
    Ok(WriteScope::create_inside(host.home()?, INDEX_FOLDER, Access::Private).ok())
}

/// Updates the message index after a sync, so that the next search is fast.
pub fn index_texts(host: &Host, catalog: &Catalog) -> Result<()> {
    let owner = host.owner("sync");
    let access = TextIndexAccess { owner: &owner, now: host.now() };
    index_messages(catalog, index_folder(host)?, access)?;
    Ok(())
}

/// Rebuilds the message index after words were redacted, so that it no longer contains them.
pub fn rebuild_texts(host: &Host, catalog: &Catalog) -> Result<()> {
    let (owner, wait) = (host.owner("sync"), host.own_settings().lock.wait);
    clear_message_index(index_folder(host)?, &owner, wait)?;
    index_texts(host, catalog)
}

/// Returns the registered agents, or `None` without a register file, in which case all agents are
/// read.
pub fn read_connected_agents(host: &Host) -> Result<Option<Vec<ConnectedAgent>>> {
    let home = host.home()?;
    let Some(text) = read_text(home, "agents.toml")? else { return Ok(None) };
    Ok(Some(agents::parse(&text, &home.join("agents.toml"))?))
}

pub fn connections(host: &Host, only: &[Agent]) -> Result<Vec<Connection>> {
    let homes = homes(host)?;
    let chosen = read_connected_agents(host)?;
    let mut found = Vec::new();
    for adapter in
        ADAPTERS.iter().filter(|adapter| only.is_empty() || only.contains(&adapter.agent()))
    {
        let agent = adapter.agent();
        let mut roots = Vec::new();
        if let Some(chosen) = &chosen {
            let entry = chosen.iter().find(|entry| entry.name == agent.as_str());
            let Some(entry) = entry else { continue };
            roots.clone_from(&entry.paths);
        }
        if roots.is_empty() {
            let usual = adapter.roots(&homes).into_iter();
            roots = usual.map(|root| host.environment.absolute(&root)).collect();
        }
        found.push(Connection { agent, roots });
    }
    Ok(found)
}

/// The directory that contains the transcripts of Nacre's own agent, relative to the global
/// directory.
pub const SESSIONS_FOLDER: &str = "sessions";

pub fn homes(host: &Host) -> Result<Homes> {
    let environment = &host.environment;
    let Some(home) = &environment.home else {
        return Err(
            OpError::failed("No home directory was found to search for traces").hint("Set HOME")
        );
    };
    // Variables set by an agent could refer to forged sessions.
    let is_agents = environment.actor() == Actor::Agent;
    let var = |name: &str| environment.var(name).filter(|_| !is_agents);
    // In an agent's shell, `HOME` could be wrong, so the home directory is derived from the global
    // directory if possible.
    let global = host.home().ok().filter(|_| is_agents);
    let global = global.filter(|folder| folder.file_name().is_some_and(|name| name == ".nacre"));
    let home = global.and_then(Path::parent).unwrap_or(home);
    Ok(Homes {
        variables: variables().filter_map(|name| Some((name, var(name)?.to_owned()))).collect(),
        nacre_sessions: host.home().ok().map(|home| home.join(SESSIONS_FOLDER)),
        ..Homes::at(home)
    })
}

pub fn refresh_options(host: &Host, only: &[Agent]) -> Result<RefreshOptions> {
    let lists = host.projects.iter().map(|project| {
        let words = match host.settings_for(&project.path) {
            Ok(settings) => ProjectWords::Known(words(&settings)),
            Err(error) => {
                let causes = [std::slice::from_ref(&error.message), &error.causes].concat();
                ProjectWords::Unreadable(causes.join(": "))
            }
        };
        (project.path.clone(), words)
    });
    let adopted = host.projects.iter().flat_map(|Project { path, also, .. }| {
        also.iter().map(|folder| (folder.clone(), path.clone()))
    });
    Ok(RefreshOptions {
        connections: connections(host, only)?,
        projects: host.projects.iter().map(|project| project.path.clone()).collect(),
        adopted: adopted.collect(),
        words: WordLists { own: words(&host.own_settings()), projects: lists.collect() },
        allowed: AllowedProjects::ByPlace,
        since: None,
        until: None,
        max_sessions: None,
        force: false,
        quiet: QUIET,
        now: host.now(),
    })
}

pub fn parse_when(text: &str, now: Timestamp) -> Result<Timestamp> {
    parse_time(text, now).ok_or_else(|| {
        OpError::usage(format!("`{text}` is not a valid time"))
            .hint("Use a date (2026-11-15), a time (2026-11-15T08:30:00Z) or an age (36h, 7d, 2w)")
    })
}

pub fn agent_names() -> impl Iterator<Item = &'static str> {
    ADAPTERS.iter().map(|adapter| adapter.agent().as_str())
}

pub fn agent_named(name: &str) -> Result<Agent> {
    let mut agents = ADAPTERS.iter().map(|adapter| adapter.agent());
    agents.find(|agent| agent.as_str() == name).ok_or_else(|| {
        let names: Vec<&str> = agent_names().collect();
        OpError::usage(format!("Agent `{name}` not found"))
            .hint(format!("The agents are {}", names.join(", ")))
    })
}

impl From<CatalogError> for OpError {
    fn from(error: CatalogError) -> Self {
        use ErrorCode::{Ambiguous, Busy, DatabaseAway, Failed, NotFound};
        hinted! { error:
            CatalogError::UnknownTrace { .. } => NotFound, "`nacre trace` lists all sessions";
            CatalogError::Ambiguous { .. } => Ambiguous,
                "Type more of the name; `nacre trace` lists the sessions";
            CatalogError::Busy(_) => Busy, "Wait for it to finish, then try again";
            CatalogError::Shared { is_passing: true, .. } => DatabaseAway,
                "The database may be temporarily unavailable; no queued work is lost";
            CatalogError::Newer { .. } => Failed,
                "Use a newer version of Nacre, or move the file out of the way; Nacre can rebuild \
                 it";
            CatalogError::Open { .. } | CatalogError::Shared { is_passing: false, .. }
                | CatalogError::Sql(_) | CatalogError::LeaseLost { .. } | CatalogError::Trace(_) =>
                Failed;
        }
    }
}

impl From<transcript::Error> for OpError {
    fn from(error: transcript::Error) -> Self {
        let hint = "`nacre trace` lists the known sessions and their ids";
        Self::from_error(ErrorCode::Failed, &error, Some(hint.to_owned()))
    }
}

impl From<AgentsError> for OpError {
    fn from(error: AgentsError) -> Self {
        let is_missing = matches!(error, AgentsError::NotConnected { .. });
        let hint = is_missing.then(|| "nacre connect list".to_owned());
        let code = if is_missing { ErrorCode::NotFound } else { ErrorCode::Failed };
        Self::from_error(code, &error, hint)
    }
}

/// Abbreviates the home directory in a path to `~`.
pub fn short(host: &Host, path: &Path) -> String {
    match host.environment.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
