//! What a machine remembers about a server: which versions it sent and which came, so that nothing goes twice.

use std::collections::{BTreeMap, BTreeSet};

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
    /// Ids of memories that the server has and that were forgotten here: the next push asks it to forget them, too.
    pub(super) forgotten: BTreeSet<String>,
    /// By session, the transcript that the server has.
    pub(super) transcripts: BTreeMap<String, SentTranscript>,
    /// Sessions whose transcripts a person took back: they are not sent again.
    pub(super) withdrawn: BTreeSet<String>,
}

/// A transcript that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SentTranscript {
    /// Empty where it could not be sent as it is.
    pub(super) hash: String,
    /// Which state of the session it was.
    pub(super) seen: String,
    /// Whether others may read it.
    pub(super) shared: bool,
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
    edit(host, "push", |all| {
        all.insert(key(url, project), state.clone());
    })
}

/// Notes that a memory of a project was forgotten here; returns the servers that it was sent to.
pub(super) fn note_forgotten(host: &Host, project: &str, id: &str) -> Result<Vec<String>, OpError> {
    let text = read_text(host.home()?, FILE)?.unwrap_or_default();
    if !text.contains(id) {
        return Ok(Vec::new());
    }
    let mut servers = Vec::new();
    edit(host, "memory forget", |all| {
        for (key, state) in all.iter_mut() {
            let Some((url, _)) = key.split_once(' ').filter(|(_, of)| *of == project) else {
                continue;
            };
            // It does not come back: its tombstone keeps it away.
            state.came.remove(id);
            if state.sent.remove(id).is_some() {
                state.forgotten.insert(id.to_owned());
            }
            if state.forgotten.contains(id) {
                servers.push(url.to_owned());
            }
        }
    })?;
    Ok(servers)
}

fn edit(host: &Host, command: &str, change: impl FnOnce(&mut States)) -> Result<(), OpError> {
    host.edit_home_text(FILE, command, |text, _| {
        let mut all: States = serde_json::from_str(text).unwrap_or_default();
        change(&mut all);
        let text = serde_json::to_string(&all);
        text.map_err(|error| OpError::failed(format!("Cannot write `{FILE}`: {error}")))
    })?;
    Ok(())
}
