//! Chooses the agents whose sessions are read, and lists them.

use std::path::{Path, PathBuf};

use nacre_api::wire::{AgentEntry, ConnectReport, ConnectRequest};
use nacre_core::catalog::Connection;
use nacre_core::config::agents;
use nacre_core::transcript::{ADAPTERS, Adapter, Homes};

use crate::error::OpError;
use crate::host::{Host, agent_named, connections, homes, short};

/// Carries out what is asked, and lists every agent then.
pub fn connect(host: &Host, request: &ConnectRequest) -> Result<ConnectReport, OpError> {
    match request {
        ConnectRequest::List => {}
        ConnectRequest::Auto => connect_found(host)?,
        ConnectRequest::Add { agent, paths } => connect_one(host, agent, paths)?,
        ConnectRequest::Remove { agent } => {
            let agent = agent_named(agent)?;
            edit(host, |text, origin| Ok(agents::disconnect(text, origin, agent.as_str())?))?;
        }
    }
    list(host)
}

fn connect_one(host: &Host, agent: &str, paths: &[String]) -> Result<(), OpError> {
    let agent = agent_named(agent)?;
    let paths = paths.iter().map(|path| host.environment.absolute(Path::new(path)));
    let paths: Vec<PathBuf> = paths.collect();
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        return Err(OpError::not_found(format!("There is nothing at `{}`", missing.display())));
    }
    edit(host, |text, origin| Ok(agents::connect(text, origin, agent.as_str(), &paths)?))
}

/// Connects every agent that has traces, and only those.
fn connect_found(host: &Host) -> Result<(), OpError> {
    let homes = homes(host)?;
    let has_traces =
        |adapter: &&&dyn Adapter| !adapter.discover(&adapter.roots(&homes)).sources.is_empty();
    let found: Vec<&str> =
        ADAPTERS.iter().filter(has_traces).map(|adapter| adapter.agent().as_str()).collect();
    edit(host, |text, origin| {
        let mut text = text.to_owned();
        for name in &found {
            text = agents::connect(&text, origin, name, &[])?;
        }
        Ok(text)
    })
}

/// Changes the register's text.
fn edit(
    host: &Host,
    change: impl FnOnce(&str, &Path) -> Result<String, OpError>,
) -> Result<(), OpError> {
    host.edit_text(&host.home_scope()?, "agents.toml", "connect", change)
}

fn list(host: &Host) -> Result<ConnectReport, OpError> {
    let connections = connections(host, &[])?;
    let homes = homes(host)?;
    let agents = ADAPTERS.iter().map(|adapter| {
        let connection = connections.iter().find(|connection| connection.agent == adapter.agent());
        entry(host, *adapter, connection, &homes)
    });
    Ok(ConnectReport { agents: agents.collect() })
}

fn entry(
    host: &Host,
    adapter: &dyn Adapter,
    connection: Option<&Connection>,
    homes: &Homes,
) -> AgentEntry {
    let roots =
        connection.map_or_else(|| adapter.roots(homes), |connection| connection.roots.clone());
    let discovery = adapter.discover(&roots);
    AgentEntry {
        agent: adapter.agent().as_str().to_owned(),
        connected: connection.is_some(),
        sources: discovery.sources.len() as u64,
        roots: roots.iter().map(|root| short(host, root)).collect(),
        problems: discovery.problems.iter().map(|problem| problem.error.to_string()).collect(),
    }
}
