//! A first look at the traces of one repository, without a catalog.
//!
//! It reads the beginnings of files and keeps nothing. The sessions that it counts are those that a refresh would admit,
//! except that a session which is kept twice may be counted by either copy.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::place::{Placing, project_root};
use super::refresh_options::Connection;
use crate::transcript::{ADAPTERS, Adapter, Agent, SessionFacts, SessionRole, Sink, Source};

/// What a look found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// How many sessions of the repository each agent has.
    pub agents: BTreeMap<Agent, u64>,
    /// Files and databases that were found, of any folder.
    pub sources: u64,
    /// The caller stopped it; there may be more.
    pub is_partial: bool,
}

impl Look {
    /// How many sessions of the repository there are.
    pub fn sessions(&self) -> u64 {
        self.agents.values().sum()
    }
}

/// Looks for sessions of the repository at `root`, the latest first. Those of another project inside it are not its own.
/// `goes_on` is asked before each file.
pub fn look(
    connections: &[Connection],
    root: &Path,
    projects: &[PathBuf],
    mut goes_on: impl FnMut() -> bool,
) -> Look {
    let mut sources = discover(connections);
    sources.sort_by_key(|(_, source)| Reverse(source.stamp.modified));
    let mut found = Look { sources: sources.len() as u64, ..Look::default() };
    let mut projects = projects.to_vec();
    projects.push(root.to_owned());
    let mut known = HashSet::new();
    for (adapter, source) in &sources {
        if !goes_on() {
            found.is_partial = true;
            break;
        }
        for facts in openings(*adapter, source) {
            let is_here = matches!(project_root(facts.cwd.as_deref(), &projects), Placing::Project(at) if at == root);
            if is_here && is_talk(&facts) && known.insert((source.agent, facts.id)) {
                *found.agents.entry(source.agent).or_default() += 1;
            }
        }
    }
    found
}

/// What the sizes and times of all traces say together: two of these differ where a trace was written to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceGlance {
    pub n_sources: u64,
    pub bytes: u64,
    /// When one was last written to.
    pub newest: Option<Timestamp>,
}

/// Looks at the traces from outside: none is opened.
pub fn glance(connections: &[Connection]) -> TraceGlance {
    let mut glance = TraceGlance::default();
    for (_, Source { stamp, .. }) in discover(connections) {
        glance.n_sources += 1;
        glance.bytes = glance.bytes.wrapping_add(stamp.size);
        glance.newest = glance.newest.max(stamp.modified);
    }
    glance
}

fn discover(connections: &[Connection]) -> Vec<(&'static dyn Adapter, Source)> {
    let mut found = Vec::new();
    for adapter in ADAPTERS.iter().copied() {
        for connection in connections.iter().filter(|one| one.agent == adapter.agent()) {
            let sources = adapter.discover(&connection.roots).sources;
            found.extend(sources.into_iter().map(|source| (adapter, source)));
        }
    }
    found
}

/// What the beginnings of the sessions in a source say. What cannot be read is left to the sync, which reports it.
fn openings(adapter: &dyn Adapter, source: &Source) -> Vec<SessionFacts> {
    let traces = adapter.sessions(source).unwrap_or_default();
    let opening =
        |trace| adapter.read(trace, None, Sink::opening(&mut |_| {})).ok().map(|read| read.facts);
    traces.iter().filter_map(opening).collect()
}

/// Whether a person spoke in it.
fn is_talk(facts: &SessionFacts) -> bool {
    facts.role == SessionRole::Main && facts.counts.user > 0
}
