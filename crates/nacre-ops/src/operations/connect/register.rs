//! Whose traces are read: the register in the global folder.

use std::path::{Path, PathBuf};

use nacre_core::config::agents;
use nacre_core::transcript::{ADAPTERS, Adapter};

use crate::error::OpError;
use crate::host::{Host, agent_named, connected, homes};

/// Whether an agent has traces that can be read.
pub(super) fn is_readable(name: &str) -> bool {
    ADAPTERS.iter().any(|adapter| adapter.agent().as_str() == name)
}

/// Whether a person put the agent into the register.
pub(super) fn is_registered(host: &Host, name: &str) -> Result<bool, OpError> {
    let chosen = connected(host)?;
    Ok(chosen.is_some_and(|chosen| chosen.iter().any(|agent| agent.name == name)))
}

/// Reads an agent from these paths, or from its usual places. Without a register every agent is read already, and one that
/// is read from elsewhere stays as it is.
pub(super) fn add(host: &Host, name: &str, paths: &[String]) -> Result<(), OpError> {
    let agent = agent_named(name)?;
    if paths.is_empty() && (connected(host)?.is_none() || is_registered(host, name)?) {
        return Ok(());
    }
    let paths = absolute(host, paths)?;
    edit(host, |text, origin| Ok(agents::connect(text, origin, agent.as_str(), &paths)?))
}

fn absolute(host: &Host, paths: &[String]) -> Result<Vec<PathBuf>, OpError> {
    let paths = paths.iter().map(|path| host.environment.absolute(Path::new(path)));
    let paths: Vec<PathBuf> = paths.collect();
    match paths.iter().find(|path| !path.exists()) {
        Some(missing) => {
            Err(OpError::not_found(format!("There is nothing at `{}`", missing.display())))
        }
        None => Ok(paths),
    }
}

/// Reads every agent that has traces. Nothing is turned off: without a register every agent is read already.
pub(super) fn add_found(host: &Host) -> Result<(), OpError> {
    let Some(chosen) = connected(host)? else { return Ok(()) };
    let homes = homes(host)?;
    let has_traces =
        |adapter: &&&dyn Adapter| !adapter.discover(&adapter.roots(&homes)).sources.is_empty();
    let is_new = |name: &&str| !chosen.iter().any(|agent| agent.name == *name);
    let found = ADAPTERS.iter().filter(has_traces).map(|adapter| adapter.agent().as_str());
    let found: Vec<&str> = found.filter(is_new).collect();
    edit(host, |text, origin| {
        let mut text = text.to_owned();
        for name in &found {
            text = agents::connect(&text, origin, name, &[])?;
        }
        Ok(text)
    })
}

/// No longer reads an agent.
pub(super) fn remove(host: &Host, name: &str) -> Result<(), OpError> {
    edit(host, |text, origin| Ok(agents::disconnect(text, origin, name)?))
}

/// Changes the register's text.
fn edit(
    host: &Host,
    change: impl FnOnce(&str, &Path) -> Result<String, OpError>,
) -> Result<(), OpError> {
    host.edit_text(&host.home_scope()?, "agents.toml", "connect", change)
}
