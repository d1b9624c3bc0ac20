//! Whose traces are read: the register in the global folder.

use std::path::{Path, PathBuf};

use nacre_core::config::agents;
use nacre_core::transcript::{ADAPTERS, Adapter};

use crate::error::OpError;
use crate::host::{Host, agent_named, agent_names, connected, homes, read_text};

/// The register's file in the global folder.
pub(super) const FILE: &str = "agents.toml";

/// The register as it stands; `None` where there is none.
pub(super) fn text(host: &Host) -> Result<Option<String>, OpError> {
    read_text(host.home()?, FILE)
}

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

/// The agents whose traces are read.
pub(super) fn agents_read(host: &Host) -> Result<Vec<&'static str>, OpError> {
    let chosen = connected(host)?;
    let is_read = |name: &&str| {
        chosen.as_ref().is_none_or(|chosen| chosen.iter().any(|agent| agent.name == *name))
    };
    Ok(agent_names().filter(is_read).collect())
}

/// Whether an agent's traces are read: all are while there is no register.
pub(super) fn is_read(host: &Host, name: &str) -> Result<bool, OpError> {
    Ok(agents_read(host)?.contains(&name))
}

/// No longer reads an agent. Without a register one is made that names all others.
pub(super) fn remove(host: &Host, name: &str) -> Result<(), OpError> {
    let has_register = connected(host)?.is_some();
    edit(host, |text, origin| {
        if has_register {
            return Ok(agents::disconnect(text, origin, name)?);
        }
        let others = agent_names().filter(|other| *other != name);
        let mut text = text.to_owned();
        for other in others {
            text = agents::connect(&text, origin, other, &[])?;
        }
        Ok(text)
    })
}

/// Changes the register's text.
fn edit(
    host: &Host,
    change: impl FnOnce(&str, &Path) -> Result<String, OpError>,
) -> Result<(), OpError> {
    host.edit_text(&host.home_scope()?, FILE, "connect", change)?;
    Ok(())
}
