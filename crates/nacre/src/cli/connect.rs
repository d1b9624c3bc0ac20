//! `nacre connect`: whose traces are read.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use nacre_core::config::agents;
use nacre_core::transcript::{ADAPTERS, Agent};
use serde::Serialize;
use serde_json::json;

use super::error::{CommandError, Exit};
use super::runtime::Runtime;
use super::traces::{self, AgentName};
use super::ui::{Role, Ui};

/// Choose the agents whose sessions are read
///
/// Without any choice, every agent is read from where it usually keeps its traces.
///
///   nacre connect auto                 every agent that has traces on this machine
///   nacre connect codex --path DIR     one agent, from a folder of your choice
///   nacre connect list                 what is connected, and how much there is
///   nacre connect remove cursor        no longer read this one
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ConnectArgs {
    /// An agent, or what to do
    #[arg(value_enum, default_value_t = Target::List)]
    target: Target,
    /// The agent to remove
    agent: Option<AgentName>,
    /// Where the agent keeps its traces (can be repeated)
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    Auto,
    List,
    Remove,
    Claude,
    Codex,
    Cursor,
    Opencode,
    Generic,
}

#[derive(Serialize)]
struct AgentOutput {
    agent: &'static str,
    connected: bool,
    sources: u64,
    roots: Vec<String>,
    problems: Vec<String>,
}

pub(crate) fn cmd_connect(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &ConnectArgs,
) -> Result<Exit, CommandError> {
    let ConnectArgs { target, agent, paths } = args;
    match (target, agent) {
        (Target::List, None) => {}
        (Target::Auto, None) => connect_auto(runtime)?,
        (Target::Remove, Some(name)) => edit(runtime, |text, origin| {
            Ok(agents::disconnect(text, origin, Agent::from(*name).as_str())?)
        })?,
        (Target::Claude, None) => connect(runtime, Agent::Claude, paths)?,
        (Target::Codex, None) => connect(runtime, Agent::Codex, paths)?,
        (Target::Cursor, None) => connect(runtime, Agent::Cursor, paths)?,
        (Target::Opencode, None) => connect(runtime, Agent::OpenCode, paths)?,
        (Target::Generic, None) => connect(runtime, Agent::Generic, paths)?,
        (Target::Remove, None) => {
            return Err(CommandError::usage("Which agent?").hint("nacre connect remove cursor"));
        }
        (_, Some(_)) => return Err(CommandError::usage("Only `remove` takes a second agent")),
    }
    list(ui, runtime)
}

fn connect(runtime: &Runtime, agent: Agent, paths: &[PathBuf]) -> Result<(), CommandError> {
    let paths: Vec<PathBuf> = paths.iter().map(|path| runtime.environment.absolute(path)).collect();
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        return Err(CommandError::failed(format!("There is nothing at `{}`", missing.display())));
    }
    edit(runtime, |text, origin| Ok(agents::connect(text, origin, agent.as_str(), &paths)?))
}

/// Connects every agent that has traces, and only those.
fn connect_auto(runtime: &Runtime) -> Result<(), CommandError> {
    let homes = traces::homes(runtime)?;
    let present: Vec<&str> = ADAPTERS
        .iter()
        .filter(|adapter| !adapter.discover(&adapter.roots(&homes)).sources.is_empty())
        .map(|adapter| adapter.agent().as_str())
        .collect();
    edit(runtime, |text, origin| {
        let mut text = text.to_owned();
        for name in &present {
            text = agents::connect(&text, origin, name, &[])?;
        }
        Ok(text)
    })
}

/// Changes the register's text.
fn edit(
    runtime: &Runtime,
    change: impl FnOnce(&str, &Path) -> Result<String, CommandError>,
) -> Result<(), CommandError> {
    runtime.edit_text(&runtime.home_scope()?, "agents.toml", "connect", change)
}

fn list(ui: &mut Ui, runtime: &Runtime) -> Result<Exit, CommandError> {
    let connections = traces::connections(runtime, &[])?;
    let homes = traces::homes(runtime)?;
    let mut agents = Vec::new();
    for adapter in ADAPTERS {
        let connection = connections.iter().find(|connection| connection.agent == adapter.agent());
        let roots =
            connection.map_or_else(|| adapter.roots(&homes), |connection| connection.roots.clone());
        let discovery = adapter.discover(&roots);
        agents.push(AgentOutput {
            agent: adapter.agent().as_str(),
            connected: connection.is_some(),
            sources: discovery.sources.len() as u64,
            roots: roots.iter().map(|root| traces::short(runtime, root)).collect(),
            problems: discovery.problems.iter().map(|problem| problem.error.to_string()).collect(),
        });
    }
    if ui.is_json() {
        ui.json(&json!({ "agents": agents }))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = agents
        .iter()
        .map(|agent| {
            let state = if agent.connected { "connected" } else { "not connected" };
            vec![
                (Role::Id, agent.agent.to_owned()),
                (Role::Faint, state.to_owned()),
                (Role::Title, format!("{} sources", agent.sources)),
                (Role::Faint, agent.roots.join(", ")),
            ]
        })
        .collect();
    ui.table(&rows)?;
    for problem in agents.iter().flat_map(|agent| &agent.problems) {
        ui.warning(problem, None);
    }
    Ok(Exit::Done)
}
