//! What a machine remembers about a server: which versions it sent and which came, so that nothing goes twice.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::OpError;
use crate::host::{Host, read_text};

/// The file in the global folder.
const FILE: &str = "team.json";

/// By the server's URL and the project's name.
type States = BTreeMap<String, TeamState>;

/// What is known about one project of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TeamState {
    /// By id, the hash of the version that the server has.
    pub(super) sent: BTreeMap<String, String>,
    /// By id, the version that came.
    pub(super) came: BTreeMap<String, Version>,
}

/// A version on the server, and what it became here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Version {
    pub(super) there: String,
    pub(super) here: String,
}

fn key(url: &str, project: &str) -> String {
    format!("{url} {project}")
}

/// A file that makes no sense knows nothing; what is known is only there to send less.
pub(super) fn read(host: &Host, url: &str, project: &str) -> Result<TeamState, OpError> {
    let text = read_text(host.home()?, FILE)?.unwrap_or_default();
    let mut all: States = serde_json::from_str(&text).unwrap_or_default();
    Ok(all.remove(&key(url, project)).unwrap_or_default())
}

pub(super) fn write(
    host: &Host,
    (url, project): (&str, &str),
    state: &TeamState,
) -> Result<(), OpError> {
    host.edit_home_text(FILE, "push", |text, _| {
        let mut all: States = serde_json::from_str(text).unwrap_or_default();
        all.insert(key(url, project), state.clone());
        let text = serde_json::to_string(&all);
        text.map_err(|error| OpError::failed(format!("Cannot write `{FILE}`: {error}")))
    })?;
    Ok(())
}
