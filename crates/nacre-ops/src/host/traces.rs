//! What the commands about traces share: the catalog, the connected agents and the clock's edges.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use nacre_api::wire::ErrorCode;
use nacre_core::base::parse_time;
use nacre_core::catalog::{
    AllowedProjects, Catalog, CatalogError, Connection, ProjectWords, RefreshOptions,
    TextIndexAccess, WordLists,
};
use nacre_core::config::agents::{self, AgentsError, ConnectedAgent};
use nacre_core::safefs::{Access, RelPath, WriteScope};
use nacre_core::search::INDEX_FOLDER;
use nacre_core::transcript::{self, ADAPTERS, Agent, Counts, Homes, Sink, Trace};

use super::Host;
use super::files::read_text;
use super::settings::words;
use crate::error::OpError;

/// A trace that was written to within this time is still being written.
const QUIET: Duration = Duration::from_secs(120);

/// Opens the catalog, making the global folder where it is missing. Sessions belong to the person whose machine it is.
pub fn open_catalog(host: &Host) -> Result<Catalog, OpError> {
    host.check_owner()?;
    let scope = host.home_scope()?;
    let file = RelPath::new("catalog.sqlite3")?;
    if !scope.has(&file)? {
        // SQLite would make it readable to others; its side files take over the mode.
        let writer = scope.lock(&host.owner("catalog"), host.settings().lock.wait)?;
        if !scope.has(&file)? {
            writer.write_atomic(&file, b"")?;
        }
    }
    Ok(Catalog::open(&host.home()?.join(file.as_str()))?)
}

/// The session that a person named: a file of any agent, or a session that was seen.
pub fn named_trace(host: &Host, name: &str) -> Result<Trace, OpError> {
    let path = host.environment.absolute(Path::new(name));
    if path.is_file() {
        let trace = transcript::trace_at(&path)?;
        check_session(&trace)?;
        return Ok(trace);
    }
    if name.contains('/') || name.contains('.') {
        return Err(OpError::not_found(format!("There is no trace `{}`", path.display()))
            .hint("`nacre trace list` shows the sessions that were seen"));
    }
    Ok(open_catalog(host)?.session(name)?.trace)
}

/// Refuses a file that no agent wrote and that holds no message in Nacre's own format.
pub fn check_session(trace: &Trace) -> Result<(), OpError> {
    let agent = trace.source.agent;
    let adapter = ADAPTERS.iter().find(|adapter| adapter.agent() == agent);
    let (Agent::Generic, Some(adapter)) = (agent, adapter) else { return Ok(()) };
    let Counts { user, assistant, tool_calls, injected, .. } =
        adapter.read(trace, None, Sink::opening(&mut |_| {}))?.facts.counts;
    if user + assistant + tool_calls + injected > 0 {
        return Ok(());
    }
    let message =
        format!("`{}` is not a session: it holds no message", trace.source.path.display());
    Err(OpError { code: ErrorCode::Invalid, ..OpError::failed(message) }
        .hint("docs/transcript-format.md describes Nacre's own format; `nacre connect list` names the agents"))
}

/// The folder of the index of everything said; `None` where it cannot be made.
pub fn index_folder(host: &Host) -> Result<Option<WriteScope>, OpError> {
    Ok(WriteScope::create_inside(host.home()?, INDEX_FOLDER, Access::Private).ok())
}

/// Brings that index up to date after a sync, so that the next search need not.
pub fn index_texts(host: &Host, catalog: &Catalog) -> Result<(), OpError> {
    let embedder = host.own_embedder()?;
    let owner = host.owner("sync");
    let access = TextIndexAccess { embedder: &*embedder, owner: &owner, now: host.now() };
    catalog.index_texts(index_folder(host)?, access)?;
    Ok(())
}

/// Makes that index again, where words were taken out of what was said: nothing of them may stay in it.
pub fn rebuild_texts(host: &Host, catalog: &Catalog) -> Result<(), OpError> {
    let (owner, wait) = (host.owner("sync"), host.own_settings().lock.wait);
    catalog.clear_index(index_folder(host)?, &owner, wait)?;
    index_texts(host, catalog)
}

/// The agents that a person connected; `None` when they left it to us.
pub fn connected(host: &Host) -> Result<Option<Vec<ConnectedAgent>>, OpError> {
    let home = host.home()?;
    let Some(text) = read_text(home, "agents.toml")? else { return Ok(None) };
    Ok(Some(agents::parse(&text, &home.join("agents.toml"))?))
}

/// Where each connected agent is read from.
pub fn connections(host: &Host, only: &[Agent]) -> Result<Vec<Connection>, OpError> {
    let homes = homes(host)?;
    let chosen = connected(host)?;
    let mut found = Vec::new();
    for adapter in
        ADAPTERS.iter().filter(|adapter| only.is_empty() || only.contains(&adapter.agent()))
    {
        let agent = adapter.agent();
        let usual = || {
            adapter.roots(&homes).into_iter().map(|root| host.environment.absolute(&root)).collect()
        };
        let roots: Vec<PathBuf> = match &chosen {
            None => usual(),
            Some(chosen) => match chosen.iter().find(|entry| entry.name == agent.as_str()) {
                Some(entry) if entry.paths.is_empty() => usual(),
                Some(entry) => entry.paths.clone(),
                None => continue,
            },
        };
        found.push(Connection { agent, roots });
    }
    Ok(found)
}

/// The folder of global data with the conversations of Nacre's own agent, as transcripts.
pub const SESSIONS_FOLDER: &str = "sessions";

/// The folders that agents' settings point to.
pub fn homes(host: &Host) -> Result<Homes, OpError> {
    let environment = &host.environment;
    let Some(home) = &environment.home else {
        return Err(
            OpError::failed("There is no home folder to look for traces in").hint("Set HOME")
        );
    };
    let path = |name: &str| environment.var(name).map(PathBuf::from);
    let claude = environment.var("CLAUDE_CONFIG_DIR").unwrap_or_default();
    Ok(Homes {
        claude_config: claude
            .split(',')
            .filter(|part| !part.is_empty())
            .map(PathBuf::from)
            .collect(),
        codex_home: path("CODEX_HOME"),
        xdg_config: path("XDG_CONFIG_HOME"),
        xdg_data: path("XDG_DATA_HOME"),
        opencode_db: path("OPENCODE_DB"),
        gemini_home: path("GEMINI_CLI_HOME"),
        qwen_home: path("QWEN_HOME"),
        qwen_runtime: path("QWEN_RUNTIME_DIR"),
        copilot_home: path("COPILOT_HOME"),
        pi_agent: path("PI_CODING_AGENT_DIR"),
        cline: path("CLINE_DIR"),
        cline_data: path("CLINE_DATA_DIR"),
        cline_sessions: path("CLINE_SESSION_DATA_DIR"),
        continue_global: path("CONTINUE_GLOBAL_DIR"),
        aider_history: path("AIDER_CHAT_HISTORY_FILE"),
        nacre_sessions: host.home().ok().map(|home| home.join(SESSIONS_FOLDER)),
        ..Homes::at(home)
    })
}

/// The options of a refresh over everything that is connected.
pub fn refresh_options(host: &Host, only: &[Agent]) -> Result<RefreshOptions, OpError> {
    Ok(RefreshOptions {
        connections: connections(host, only)?,
        projects: host.projects.iter().map(|project| project.path.clone()).collect(),
        words: word_lists(host),
        allowed: AllowedProjects::ByPlace,
        since: None,
        until: None,
        max_sessions: None,
        force: false,
        quiet: QUIET,
        now: host.now(),
    })
}

/// The words that are kept out of the sessions of each project.
fn word_lists(host: &Host) -> WordLists {
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
    WordLists { own: words(&host.own_settings()), projects: lists.collect() }
}

/// A point in time, as `parse_time` of the core reads it.
pub fn parse_when(text: &str, now: Timestamp) -> Result<Timestamp, OpError> {
    parse_time(text, now).ok_or_else(|| {
        OpError::usage(format!("`{text}` is not a time")).hint(
            "Write a day (2026-11-15), a moment (2026-11-15T08:30:00Z) or an age (36h, 7d, 2w)",
        )
    })
}

/// The names of the agents whose traces can be read, in the order in which they are listed.
pub fn agent_names() -> impl Iterator<Item = &'static str> {
    ADAPTERS.iter().map(|adapter| adapter.agent().as_str())
}

/// The agent of that name.
pub fn agent_named(name: &str) -> Result<Agent, OpError> {
    let agents = ADAPTERS.iter().map(|adapter| adapter.agent());
    agents.into_iter().find(|agent| agent.as_str() == name).ok_or_else(|| {
        let names: Vec<&str> = agent_names().collect();
        OpError::usage(format!("No agent is called `{name}`"))
            .hint(format!("The agents are {}", names.join(", ")))
    })
}

impl From<CatalogError> for OpError {
    fn from(error: CatalogError) -> Self {
        let hint = match &error {
            CatalogError::UnknownTrace { .. } => Some("`nacre trace list` shows every session"),
            CatalogError::Ambiguous { .. } => {
                Some("Give more of the name; `nacre trace list` shows them")
            }
            CatalogError::Busy(_) => Some("Wait for it to end, then try again"),
            CatalogError::Shared { is_passing: true, .. } => {
                Some("The database may come back; nothing that waits is lost")
            }
            CatalogError::Newer { .. } => {
                Some("Use the newer version, or move the file away: it can be made again")
            }
            CatalogError::Open { .. }
            | CatalogError::Shared { is_passing: false, .. }
            | CatalogError::Sql(_)
            | CatalogError::LeaseLost { .. }
            | CatalogError::Index(_)
            | CatalogError::Trace(_) => None,
        };
        Self::from_error(catalog_code(&error), &error, hint.map(str::to_owned))
    }
}

fn catalog_code(error: &CatalogError) -> ErrorCode {
    match error {
        CatalogError::UnknownTrace { .. } => ErrorCode::NotFound,
        CatalogError::Ambiguous { .. } => ErrorCode::Ambiguous,
        CatalogError::Busy(_) => ErrorCode::Busy,
        CatalogError::Shared { is_passing: true, .. } => ErrorCode::DatabaseAway,
        CatalogError::Open { .. }
        | CatalogError::Shared { is_passing: false, .. }
        | CatalogError::Sql(_)
        | CatalogError::Newer { .. }
        | CatalogError::LeaseLost { .. }
        | CatalogError::Index(_)
        | CatalogError::Trace(_) => ErrorCode::Failed,
    }
}

impl From<transcript::Error> for OpError {
    fn from(error: transcript::Error) -> Self {
        let hint = "`nacre trace list` shows the sessions that were seen, with their ids";
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

/// A path below the home, written short.
pub fn short(host: &Host, path: &Path) -> String {
    match host.environment.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
