//! Every agent: whether its traces are read, and what its files have of Nacre.

use std::path::PathBuf;

use nacre_api::wire::{AgentEntry, ConnectReport, WiringState};
use nacre_core::agent_config::{
    AgentSpec, EntryState, FileEdit, Part, Places, Program, agent_spec,
};
use nacre_core::catalog::Connection;
use nacre_core::transcript::{ADAPTERS, Adapter, Homes};

use super::place::AgentFile;
use super::plan::{file_of, places};
use crate::error::OpError;
use crate::host::{Host, connections, homes, short};

pub(super) fn list(host: &Host) -> Result<ConnectReport, OpError> {
    let connections = connections(host, &[])?;
    let homes = homes(host)?;
    let files = Files::of(host)?;
    let agents = super::names().into_iter().map(|name| {
        let adapter = ADAPTERS.iter().find(|adapter| adapter.agent().as_str() == name);
        let connection = connections.iter().find(|connection| connection.agent.as_str() == name);
        let mut entry = unread(name);
        if let Some(adapter) = adapter {
            read_traces(host, &mut entry, *adapter, connection, &homes);
        }
        if let Some(spec) = agent_spec(name) {
            files.look_into(spec, &mut entry);
        }
        entry
    });
    let agents = agents.collect();
    Ok(ConnectReport {
        agents,
        changes: Vec::new(),
        plan: None,
        left_out: Vec::new(),
        notes: Vec::new(),
        now_read: Vec::new(),
        no_longer_read: Vec::new(),
        change: None,
    })
}

fn unread(name: &str) -> AgentEntry {
    AgentEntry {
        agent: name.to_owned(),
        connected: false,
        sources: 0,
        roots: Vec::new(),
        problems: Vec::new(),
        traces: WiringState::NotPossible,
        mcp: WiringState::NotPossible,
        hooks: WiringState::NotPossible,
        skill: WiringState::NotPossible,
    }
}

fn read_traces(
    host: &Host,
    entry: &mut AgentEntry,
    adapter: &dyn Adapter,
    connection: Option<&Connection>,
    homes: &Homes,
) {
    let roots =
        connection.map_or_else(|| adapter.roots(homes), |connection| connection.roots.clone());
    let discovery = adapter.discover(&roots);
    entry.connected = connection.is_some();
    entry.traces = if entry.connected { WiringState::On } else { WiringState::Off };
    entry.sources = discovery.sources.len() as u64;
    entry.roots = roots.iter().map(|root| short(host, root)).collect();
    entry.problems = discovery.problems.iter().map(|problem| problem.error.to_string()).collect();
}

/// The files of all agents, for looking into.
pub(super) struct Files {
    places: Places,
    roots: Vec<PathBuf>,
    program: PathBuf,
}

impl Files {
    pub(super) fn of(host: &Host) -> Result<Self, OpError> {
        let (places, roots) = places(host)?;
        let program = host.environment.program.clone().unwrap_or_else(|| PathBuf::from("nacre"));
        Ok(Self { places, roots, program })
    }

    fn look_into(&self, spec: &AgentSpec, entry: &mut AgentEntry) {
        for part in Part::USUAL {
            let state = match self.state(spec, part) {
                None => WiringState::NotPossible,
                Some(Ok(EntryState::Current)) => WiringState::On,
                Some(Ok(EntryState::Outdated)) => WiringState::Outdated,
                Some(Ok(EntryState::Missing)) => WiringState::Off,
                Some(Err(problem)) => {
                    entry.problems.push(problem);
                    WiringState::Off
                }
            };
            match part {
                Part::Mcp => entry.mcp = state,
                Part::Hooks => entry.hooks = state,
                Part::Skill => entry.skill = state,
                Part::Trust => {}
            }
        }
        entry.problems.dedup();
    }

    /// What an agent's file has of a part; with or without a guard is both as it should be.
    pub(super) fn state(&self, spec: &AgentSpec, part: Part) -> Option<Result<EntryState, String>> {
        let (guarded, text) = self.configured(spec, part, true)?;
        let text = match text {
            Ok(text) => text,
            Err(error) => return Some(Err(error)),
        };
        let (plain, _) = self.configured(spec, part, false)?;
        let state = |edit: &FileEdit| {
            edit.edit.state(&text).map_err(|error| self.problem(edit, &error.to_string()))
        };
        Some(match (state(&plain), state(&guarded)) {
            (Ok(EntryState::Current), _) | (_, Ok(EntryState::Current)) => Ok(EntryState::Current),
            (other, _) => other,
        })
    }

    fn problem(&self, edit: &FileEdit, why: &str) -> String {
        format!("Cannot read `{}`: {why}", file_of(edit).display())
    }

    /// What belongs into an agent's file for a part, and the file's text. `None` where the agent cannot take it.
    pub(super) fn configured(
        &self,
        spec: &AgentSpec,
        part: Part,
        has_guard: bool,
    ) -> Option<(FileEdit, Result<String, String>)> {
        let program = Program { path: self.program.clone(), has_guard };
        let edit = spec.edit(part, &self.places, &program)?;
        let read = AgentFile::find(file_of(&edit), &self.roots).and_then(|place| place.read());
        let text = read
            .map(Option::unwrap_or_default)
            .map_err(|error| self.problem(&edit, error.causes.first().unwrap_or(&error.message)));
        Some((edit, text))
    }

    pub(super) fn program(&self, has_guard: bool) -> Program {
        Program { path: self.program.clone(), has_guard }
    }
}
