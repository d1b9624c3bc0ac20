//! `nacre connect`: whose traces are read.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use nacre_core::config::agents;
use nacre_core::transcript::{ADAPTERS, Agent};
use serde::Serialize;
use serde_json::json;

use super::exit::Exit;
use super::traces::{self, AgentName};
use super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;

/// The register of connected agents in the global folder.
const REGISTER: &str = "agents.toml";

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

pub(crate) fn cmd_connect(ui: &mut Ui, host: &Host, args: &ConnectArgs) -> Result<Exit, OpError> {
    let ConnectArgs { target, agent, paths } = args;
    match (target, agent) {
        (Target::List, None) => {}
        (Target::Auto, None) => connect_auto(host)?,
        (Target::Remove, Some(name)) => {
            host.edit_home_text(REGISTER, "connect", |text, origin| {
                Ok(agents::disconnect(text, origin, Agent::from(*name).as_str())?)
            })?;
        }
        (Target::Claude, None) => connect(host, Agent::Claude, paths)?,
        (Target::Codex, None) => connect(host, Agent::Codex, paths)?,
        (Target::Cursor, None) => connect(host, Agent::Cursor, paths)?,
        (Target::Opencode, None) => connect(host, Agent::OpenCode, paths)?,
        (Target::Generic, None) => connect(host, Agent::Generic, paths)?,
        (Target::Remove, None) => {
            return Err(OpError::usage("Which agent?").hint("nacre connect remove cursor"));
        }
        (_, Some(_)) => return Err(OpError::usage("Only `remove` takes a second agent")),
    }
    list(ui, host)
}

fn connect(host: &Host, agent: Agent, paths: &[PathBuf]) -> Result<(), OpError> {
    let paths: Vec<PathBuf> = paths.iter().map(|path| host.environment.absolute(path)).collect();
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        return Err(OpError::failed(format!("There is nothing at `{}`", missing.display())));
    }
    host.edit_home_text(REGISTER, "connect", |text, origin| {
        Ok(agents::connect(text, origin, agent.as_str(), &paths)?)
    })
}

/// Connects every agent that has traces, and only those.
fn connect_auto(host: &Host) -> Result<(), OpError> {
    let homes = traces::homes(host)?;
    let present: Vec<&str> = ADAPTERS
        .iter()
        .filter(|adapter| !adapter.discover(&adapter.roots(&homes)).sources.is_empty())
        .map(|adapter| adapter.agent().as_str())
        .collect();
    host.edit_home_text(REGISTER, "connect", |text, origin| {
        let mut text = text.to_owned();
        for name in &present {
            text = agents::connect(&text, origin, name, &[])?;
        }
        Ok(text)
    })
}

fn list(ui: &mut Ui, host: &Host) -> Result<Exit, OpError> {
    let connections = traces::connections(host, &[])?;
    let homes = traces::homes(host)?;
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
            roots: roots.iter().map(|root| traces::short(host, root)).collect(),
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
