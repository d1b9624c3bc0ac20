//! What the commands about traces share: the catalog, the connected agents and the clock's edges.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use jiff::Timestamp;
use nacre_core::catalog::{
    Catalog, CatalogError, Connection, ProjectWords, RefreshOptions, Shelf, WordLists,
};
use nacre_core::config::agents::{self, AgentsError, ConnectedAgent};
use nacre_core::safefs::{Access, RelPath, WriteScope};
use nacre_core::search::INDEX_FOLDER;
use nacre_core::transcript::{self, ADAPTERS, Agent, Homes, Trace};
use serde::Serialize;

use super::error::CommandError;
use super::layers::words;
use super::runtime::{Runtime, read_text};
use super::ui::Ui;

/// A trace that was written to within this time is still being written.
const QUIET: Duration = Duration::from_secs(120);

/// An agent on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentName {
    Claude,
    Codex,
    Cursor,
    Opencode,
    Generic,
}

impl From<AgentName> for Agent {
    fn from(name: AgentName) -> Self {
        match name {
            AgentName::Claude => Self::Claude,
            AgentName::Codex => Self::Codex,
            AgentName::Cursor => Self::Cursor,
            AgentName::Opencode => Self::OpenCode,
            AgentName::Generic => Self::Generic,
        }
    }
}

/// Opens the catalog, making the global folder where it is missing.
pub(crate) fn open_catalog(runtime: &Runtime) -> Result<Catalog, CommandError> {
    let scope = runtime.home_scope()?;
    let file = RelPath::new("catalog.sqlite3")?;
    if !scope.has(&file)? {
        // SQLite would make it readable to others; its side files take over the mode.
        let writer = scope.lock(&runtime.owner("catalog"), runtime.settings().lock.wait)?;
        if !scope.has(&file)? {
            writer.write_atomic(&file, b"")?;
        }
    }
    Ok(Catalog::open(&runtime.home()?.join(file.as_str()))?)
}

/// The session that a person named: a file of any agent, or a session that was seen.
pub(crate) fn named_trace(runtime: &Runtime, name: &str) -> Result<Trace, CommandError> {
    let path = runtime.environment.absolute(Path::new(name));
    if path.is_file() {
        return Ok(transcript::trace_at(&path)?);
    }
    if name.contains('/') || name.contains('.') {
        return Err(CommandError::failed(format!("There is no trace `{}`", path.display()))
            .hint("`nacre trace list` shows the sessions that were seen"));
    }
    Ok(open_catalog(runtime)?.session(name)?.trace)
}

/// Puts an artifact where the person wants it; `-` is standard output.
pub(crate) fn put_artifact(
    ui: &mut Ui,
    runtime: &Runtime,
    out: &str,
    artifact: &impl Serialize,
) -> Result<(), CommandError> {
    if out == "-" {
        return ui.json(artifact);
    }
    let path = runtime.environment.absolute(Path::new(out));
    let name = path.file_name().and_then(|name| name.to_str());
    let (Some(folder), Some(name)) = (path.parent(), name) else {
        return Err(CommandError::usage(format!("`{out}` is no name for a file")));
    };
    let mut json = serde_json::to_vec_pretty(artifact).map_err(std::io::Error::other)?;
    json.push(b'\n');
    let scope = WriteScope::open(folder, Access::Shared)?;
    scope.put_output(&RelPath::new(name)?, &json, &runtime.owner("extract"))?;
    Ok(())
}

/// The folder of the index of everything said; `None` where it cannot be made.
pub(crate) fn index_folder(runtime: &Runtime) -> Result<Option<WriteScope>, CommandError> {
    Ok(WriteScope::create_inside(runtime.home()?, INDEX_FOLDER, Access::Private).ok())
}

/// Brings that index up to date after a sync, so that the next search need not.
pub(crate) fn index_texts(runtime: &Runtime, catalog: &Catalog) -> Result<(), CommandError> {
    let embedder = runtime.own_embedder()?;
    let owner = runtime.owner("sync");
    let shelf = Shelf { embedder: &*embedder, owner: &owner, now: runtime.now() };
    catalog.index_texts(index_folder(runtime)?, shelf)?;
    Ok(())
}

/// Makes that index again, where words were taken out of what was said: nothing of them may stay in it.
pub(crate) fn rebuild_texts(runtime: &Runtime, catalog: &Catalog) -> Result<(), CommandError> {
    let (owner, wait) = (runtime.owner("sync"), runtime.own_settings().lock.wait);
    catalog.clear_index(index_folder(runtime)?, &owner, wait)?;
    index_texts(runtime, catalog)
}

/// The agents that a person connected; `None` when they left it to us.
pub(crate) fn connected(runtime: &Runtime) -> Result<Option<Vec<ConnectedAgent>>, CommandError> {
    let home = runtime.home()?;
    let Some(text) = read_text(home, "agents.toml")? else { return Ok(None) };
    Ok(Some(agents::parse(&text, &home.join("agents.toml"))?))
}

/// Where each connected agent is read from.
pub(crate) fn connections(
    runtime: &Runtime,
    only: &[AgentName],
) -> Result<Vec<Connection>, CommandError> {
    let homes = homes(runtime)?;
    let chosen = connected(runtime)?;
    let wanted: Vec<Agent> = only.iter().map(|name| Agent::from(*name)).collect();
    let mut found = Vec::new();
    for adapter in
        ADAPTERS.iter().filter(|adapter| wanted.is_empty() || wanted.contains(&adapter.agent()))
    {
        let agent = adapter.agent();
        let usual = || {
            adapter
                .roots(&homes)
                .into_iter()
                .map(|root| runtime.environment.absolute(&root))
                .collect()
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

/// The folders that agents' settings point to.
pub(crate) fn homes(runtime: &Runtime) -> Result<Homes, CommandError> {
    let environment = &runtime.environment;
    let Some(home) = &environment.home else {
        return Err(
            CommandError::failed("There is no home folder to look for traces in").hint("Set HOME")
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
        ..Homes::at(home)
    })
}

/// The options of a refresh over everything that is connected.
pub(crate) fn refresh_options(
    runtime: &Runtime,
    only: &[AgentName],
) -> Result<RefreshOptions, CommandError> {
    Ok(RefreshOptions {
        connections: connections(runtime, only)?,
        projects: runtime.projects.iter().map(|project| project.path.clone()).collect(),
        words: word_lists(runtime),
        since: None,
        until: None,
        max_sessions: None,
        force: false,
        quiet: QUIET,
        now: runtime.now(),
    })
}

/// The words that are kept out of the sessions of each project.
fn word_lists(runtime: &Runtime) -> WordLists {
    let lists = runtime.projects.iter().map(|project| {
        let words = match runtime.settings_for(&project.path) {
            Ok(settings) => ProjectWords::Known(words(&settings)),
            Err(error) => {
                let causes = [std::slice::from_ref(&error.message), &error.causes].concat();
                ProjectWords::Unreadable(causes.join(": "))
            }
        };
        (project.path.clone(), words)
    });
    WordLists { own: words(&runtime.own_settings()), projects: lists.collect() }
}

/// A point in time: a day, a moment, or how long ago (`36h`, `7d`, `2w`).
pub(crate) fn parse_when(text: &str, now: Timestamp) -> Result<Timestamp, CommandError> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    if let Ok(day) = format!("{text}T00:00:00Z").parse::<Timestamp>() {
        return Ok(day);
    }
    let (number, unit) = text.split_at(text.len().saturating_sub(1));
    let seconds = match unit {
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 604_800,
        _ => 0,
    };
    let span = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(seconds))
        .filter(|span| *span > 0);
    span.and_then(|span| now.checked_sub(Duration::from_secs(span)).ok()).ok_or_else(|| {
        CommandError::usage(format!("`{text}` is not a time")).hint(
            "Write a day (2026-11-15), a moment (2026-11-15T08:30:00Z) or an age (36h, 7d, 2w)",
        )
    })
}

impl From<CatalogError> for CommandError {
    fn from(error: CatalogError) -> Self {
        let hint = match &error {
            CatalogError::UnknownTrace { .. } => Some("`nacre trace list` shows every session"),
            CatalogError::Ambiguous { .. } => {
                Some("Give more of the name; `nacre trace list` shows them")
            }
            CatalogError::Busy(_) => Some("Wait for it to end, then try again"),
            CatalogError::Newer { .. } => {
                Some("Use the newer version, or move the file away: it can be made again")
            }
            CatalogError::Open { .. }
            | CatalogError::Sql(_)
            | CatalogError::LeaseLost { .. }
            | CatalogError::Index(_)
            | CatalogError::Trace(_) => None,
        };
        let exit = if matches!(error, CatalogError::Busy(_)) {
            super::Exit::Busy
        } else {
            super::Exit::Failed
        };
        Self::from_error(exit, &error, hint.map(str::to_owned))
    }
}

impl From<transcript::Error> for CommandError {
    fn from(error: transcript::Error) -> Self {
        let hint = "`nacre trace list` shows the sessions that were seen, with their ids";
        Self::from_error(super::Exit::Failed, &error, Some(hint.to_owned()))
    }
}

impl From<AgentsError> for CommandError {
    fn from(error: AgentsError) -> Self {
        let hint = matches!(error, AgentsError::NotConnected { .. })
            .then(|| "nacre connect list".to_owned());
        Self::from_error(super::Exit::Failed, &error, hint)
    }
}

/// A path below the home, written short.
pub(crate) fn short(runtime: &Runtime, path: &Path) -> String {
    match runtime.environment.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
