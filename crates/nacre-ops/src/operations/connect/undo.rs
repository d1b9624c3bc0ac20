//! The change that a connect is, and taking it back: what was put in is taken out, and what was taken out is put in.

use std::collections::BTreeMap;

use nacre_api::wire::{
    AgentEntry, ConnectReport, ConnectRequest, ErrorCode, UndoReport, WiringOptions, WiringPart,
    WiringState,
};
use nacre_engine::flows::change::{
    AgentParts, Reversal, StoredChange, TextRecord, TextRoot, changes,
};
use nacre_engine::flows::run::RunMode;

use super::{connect_unrecorded, listing, register};
use crate::error::OpError;
use crate::host::Host;
use crate::operations::recording::{OutsideChange, own_store, record_outside, text_record};
use crate::operations::texts::put_back;

const TRACES: &str = "traces";

/// Which parts of each agent are on, and the register of agents.
pub(super) struct Wired {
    parts: BTreeMap<String, Vec<&'static str>>,
    register: Option<String>,
}

impl Wired {
    pub(super) fn now(host: &Host) -> Result<Self, OpError> {
        Self::of(host, &listing::list(host)?.agents)
    }

    fn of(host: &Host, agents: &[AgentEntry]) -> Result<Self, OpError> {
        let mut wired = BTreeMap::new();
        for entry in agents {
            let states = [("mcp", entry.mcp), ("hooks", entry.hooks), ("skill", entry.skill)];
            let is_on =
                |state: WiringState| matches!(state, WiringState::On | WiringState::Outdated);
            let on = states.into_iter().filter(|(_, state)| is_on(*state)).map(|(part, _)| part);
            let mut parts: Vec<&str> = on.collect();
            if register::is_readable(&entry.agent) && register::is_read(host, &entry.agent)? {
                parts.push(TRACES);
            }
            wired.insert(entry.agent.clone(), parts);
        }
        Ok(Self { parts: wired, register: register::text(host)? })
    }

    /// What changed since. Agents share files, so that of their parts only those of the agents that are named count; of all
    /// where none is named. Whose sessions are read counts for every agent: the register names those that are.
    fn changed(&self, now: &Self, named: &[String]) -> Vec<AgentParts> {
        let mut changed = Vec::new();
        for (agent, after) in &now.parts {
            let before = self.parts.get(agent).map(Vec::as_slice).unwrap_or_default();
            let is_named = named.is_empty() || named.contains(agent);
            let only = |some: &[&str], other: &[&str]| {
                let is_new =
                    |part: &&&str| (is_named || **part == TRACES) && !other.contains(*part);
                some.iter().filter(is_new).map(|part| (*part).to_owned()).collect::<Vec<_>>()
            };
            let (added, removed) = (only(after, before), only(before, after));
            if !(added.is_empty() && removed.is_empty()) {
                changed.push(AgentParts { agent: agent.clone(), added, removed });
            }
        }
        changed
    }
}

/// Writes down what a connect changed; returns the id that `undo` takes, where it changed something.
pub(super) fn record(
    host: &Host,
    request: &ConnectRequest,
    before: &Wired,
    report: &ConnectReport,
) -> Result<Option<String>, OpError> {
    let named = match request {
        ConnectRequest::Add { agents, .. } | ConnectRequest::Remove { agents, .. } => {
            agents.clone()
        }
        ConnectRequest::List | ConnectRequest::Auto { .. } | ConnectRequest::Trust { .. } => {
            Vec::new()
        }
    };
    let now = Wired::of(host, &report.agents)?;
    let agents = before.changed(&now, &named);
    if agents.is_empty() && before.register == now.register {
        return Ok(None);
    }
    let command = match request {
        ConnectRequest::Remove { .. } => format!("connect {} --remove", named.join(" ")),
        ConnectRequest::Auto { .. } => "connect auto".to_owned(),
        ConnectRequest::Add { .. } | ConnectRequest::List | ConnectRequest::Trust { .. } => {
            format!("connect {}", named.join(" ")).trim_end().to_owned()
        }
    };
    let texts = (before.register.as_deref(), now.register.as_deref());
    write_note(host, (RunMode::Connect, &command), None, agents, texts).map(Some)
}

/// Whether a connect that stands made Nacre read an agent's sessions, which were not read before it.
pub(super) fn turned_traces_on(host: &Host, agent: &str) -> Result<bool, OpError> {
    let all = changes(&own_store(host)?.store)?;
    let open = all.iter().filter(|change| change.undoes.is_none() && change.undone_by.is_none());
    let parts = open.filter_map(|change| {
        let Reversal::Agents { agents, .. } = &change.reversal else { return None };
        agents.iter().find(|parts| parts.agent == agent)
    });
    let has_traces = |parts: &[String]| parts.iter().any(|part| part == TRACES);
    let mut about = parts.filter(|parts| has_traces(&parts.added) || has_traces(&parts.removed));
    Ok(about.next().is_some_and(|parts| has_traces(&parts.added)))
}

/// Leaves a run in the person's own store.
fn write_note(
    host: &Host,
    (mode, command): (RunMode, &str),
    undoes: Option<&str>,
    agents: Vec<AgentParts>,
    (before, after): (Option<&str>, Option<&str>),
) -> Result<String, OpError> {
    let (before, after) = (before.map(str::as_bytes), after.map(str::as_bytes));
    let register = match before == after {
        true => None,
        false => Some(text_record(TextRoot::Store, register::FILE, before, after)?),
    };
    let before = before.filter(|_| register.is_some());
    let reversal = Reversal::Agents { agents, register };
    let change = OutsideChange { mode, command, undoes, reversal, before };
    record_outside(host, &own_store(host)?, change)
}

/// Takes a connect back.
pub(in crate::operations) fn undo(
    host: &Host,
    change: &StoredChange,
    (agents, register): (&[AgentParts], Option<&TextRecord>),
    dry_run: bool,
) -> Result<UndoReport, OpError> {
    if let Some(by) = &change.undone_by {
        let (id, by) = (change.id.clone(), by.clone());
        return Err(nacre_engine::flows::run::UndoError::AlreadyUndone { id, by }.into());
    }
    let before = register::text(host)?;
    let mut paths = Vec::new();
    for agent in agents {
        paths.extend(undo_agent(host, agent, dry_run)?);
    }
    if !dry_run {
        undo_traces(host, change, (agents, register))?;
    }
    paths.sort();
    paths.dedup();
    let turned = |of: &AgentParts| AgentParts {
        agent: of.agent.clone(),
        added: of.removed.clone(),
        removed: of.added.clone(),
    };
    let run = match dry_run {
        true => String::new(),
        false => {
            let turned = agents.iter().map(turned).collect();
            let now = register::text(host)?;
            let texts = (before.as_deref(), now.as_deref());
            write_note(host, (RunMode::Undo, "undo"), Some(&change.id), turned, texts)?
        }
    };
    let notes = agents.iter().map(note).collect();
    Ok(UndoReport {
        run,
        of: change.id.clone(),
        command: change.command.clone(),
        dry_run,
        paths,
        memories: Vec::new(),
        kept: Vec::new(),
        changes: None,
        notes,
    })
}

/// What becomes of an agent, in a sentence.
fn note(of: &AgentParts) -> String {
    let mut said = Vec::new();
    if !of.added.is_empty() {
        said.push(format!("off: {}", of.added.join(", ")));
    }
    if !of.removed.is_empty() {
        said.push(format!("on: {}", of.removed.join(", ")));
    }
    format!("{}: {}", of.agent, said.join("; "))
}

/// The files that change.
fn undo_agent(host: &Host, of: &AgentParts, dry_run: bool) -> Result<Vec<String>, OpError> {
    let agents = || vec![of.agent.clone()];
    let mut paths = Vec::new();
    if let Some(wiring) = wiring(&of.added, dry_run) {
        let request = ConnectRequest::Remove { agents: agents(), wiring };
        match connect_unrecorded(host, &request) {
            Ok(report) => paths.extend(report.changes.into_iter().map(|change| change.path)),
            // A file that several agents read may be taken out already.
            Err(error) if error.code == ErrorCode::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    if let Some(wiring) = wiring(&of.removed, dry_run) {
        let request = ConnectRequest::Add { agents: agents(), paths: Vec::new(), wiring };
        let report = connect_unrecorded(host, &request)?;
        paths.extend(report.changes.into_iter().map(|change| change.path));
    }
    Ok(paths)
}

/// Brings back whose sessions are read: the very register of before, or where it was changed since, the agents that the change
/// was about.
fn undo_traces(
    host: &Host,
    change: &StoredChange,
    (agents, register): (&[AgentParts], Option<&TextRecord>),
) -> Result<(), OpError> {
    if let Some(record) = register
        && put_back(&own_store(host)?, change, record)?
    {
        return Ok(());
    }
    let is_traces = |part: &String| part == TRACES;
    for of in agents {
        if of.added.iter().any(is_traces) && register::is_registered(host, &of.agent)? {
            register::remove(host, &of.agent)?;
        }
        if of.removed.iter().any(is_traces) {
            register::add(host, &of.agent, &[])?;
        }
    }
    Ok(())
}

fn wiring(parts: &[String], dry_run: bool) -> Option<WiringOptions> {
    let part = |part: &String| match part.as_str() {
        "mcp" => Some(WiringPart::Mcp),
        "hooks" => Some(WiringPart::Hooks),
        "skill" => Some(WiringPart::Skill),
        _ => None,
    };
    let parts: Vec<WiringPart> = parts.iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| WiringOptions { parts, dry_run, ..WiringOptions::default() })
}
