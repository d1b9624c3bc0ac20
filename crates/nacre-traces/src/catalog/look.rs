//! Counts sessions by directory without a catalog. Only the beginning of each file is read, and
//! nothing is stored. Only sessions that a refresh would admit are counted. If a session is stored
//! in several places, this count and the refresh may pick different copies.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::*;

use crate::agents::adapter_of;
use crate::transcript::{Agent, ReadOutcome, SessionRole, Sink, TraceSource};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The number of sessions by directory and agent.
    pub folders: BTreeMap<String, BTreeMap<Agent, u64>>,
    /// Number of files and databases found, including those of other projects.
    pub sources: u64,
    pub is_partial: bool,
}

impl Look {
    /// Counts the sessions of the repository at `root`, excluding those in nested projects.
    pub fn sessions_of(&self, root: &Path, projects: &[PathBuf]) -> BTreeMap<Agent, u64> {
        let projects = [projects, &[root.to_owned()]].concat();
        let mut sums = BTreeMap::new();
        for (folder, agents) in &self.folders {
            if matches!(project_root(Some(folder), &projects), Placing::Project(at) if at == root) {
                for (agent, sessions) in agents {
                    *sums.entry(*agent).or_default() += sessions;
                }
            }
        }
        sums
    }
}

/// Counts the sessions of all directories, starting with the newest files. `goes_on` is called
/// before each file, and counting stops when it returns `false`.
pub fn look(connections: &[Connection], mut goes_on: impl FnMut() -> bool) -> Look {
    let mut sources: Vec<TraceSource> = discover(connections).collect();
    sources.sort_by_key(|source| Reverse(source.stamp.modified));
    let mut found = Look { sources: sources.len() as u64, ..Look::default() };
    let mut known = HashSet::new();
    for source in &sources {
        if !goes_on() {
            found.is_partial = true;
            break;
        }
        let adapter = adapter_of(source.agent);
        // Unreadable sessions are ignored here, because the sync reports them.
        for trace in adapter.sessions(source).unwrap_or_default() {
            let read = adapter.read(&trace, None, Sink::opening(&mut |_| {}));
            let Ok(ReadOutcome { facts, .. }) = read else { continue };
            let is_talk = facts.role == SessionRole::Main && facts.counts.user > 0;
            if let Some(folder) = facts.cwd
                && is_talk
                && known.insert((source.agent, facts.id))
            {
                let agents = found.folders.entry(folder).or_default();
                *agents.entry(source.agent).or_default() += 1;
            }
        }
    }
    found
}

/// A fingerprint of all transcripts' sizes and modification times. It changes when a transcript is
/// written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceGlance {
    pub n_sources: u64,
    pub bytes: u64,
    pub newest: Option<Timestamp>,
}

/// Reads file metadata only.
pub fn glance(connections: &[Connection]) -> TraceGlance {
    let mut glance = TraceGlance::default();
    for TraceSource { stamp, .. } in discover(connections) {
        glance.n_sources += 1;
        glance.bytes = glance.bytes.wrapping_add(stamp.size);
        glance.newest = glance.newest.max(stamp.modified);
    }
    glance
}

fn discover(connections: &[Connection]) -> impl Iterator<Item = TraceSource> {
    connections
        .iter()
        .flat_map(|Connection { agent, roots }| adapter_of(*agent).discover(roots).sources)
}
