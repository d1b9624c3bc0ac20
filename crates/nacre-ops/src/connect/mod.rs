//! Connects agents: reads their traces, and adds Nacre's server, hooks and skill to their settings.
//!
//! Changes to all files are planned together (`plan`), then applied or reverted (`apply`), and
//! recorded together with the previous contents. Only the user's own files are written, and
//! repositories cannot affect what is written.

mod apply;
mod listing;
mod plan;

use nacre_traces::agent_config::{ConnectedPart, EntryState};
use nacre_traces::agents::{AgentSpec, connectable_agent, connectable_agents};
use nacre_types::{
    AgentEntry, ConnectReport, ConnectRequest, RunMode, UndoReport, WiringOptions, WiringPart,
    WiringState,
};

use self::apply::Ledger;
pub use self::apply::codex_program;
use self::listing::AgentFiles;
pub use self::listing::doctor;
use self::plan::{Plan, Planner};
use crate::host::agent_names;
use crate::prelude::*;
use crate::recording::{CommandChange, own_store, put_back_text, text_record};
use crate::run::change::{AgentParts, Reversal, StoredChange, TextRecord, TextRoot, changes};

pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = connectable_agents().map(|agent| agent.name).collect();
    names.extend(agent_names().filter(|name| connectable_agent(name).is_none()));
    names
}

pub fn connect(host: &Host, request: &ConnectRequest) -> Result<ConnectReport> {
    if matches!(request, ConnectRequest::Add { paths, .. } if !paths.is_empty()) {
        host.check_user("set where sessions are stored")?;
    }
    let dry_run = match request {
        ConnectRequest::List | ConnectRequest::Trust { .. } => true,
        ConnectRequest::Auto { wiring }
        | ConnectRequest::Add { wiring, .. }
        | ConnectRequest::Remove { wiring, .. } => wiring.dry_run,
    };
    if dry_run {
        return connect_unrecorded(host, request);
    }
    let before = ConnectionState::of(host, &listing::list(host)?.agents)?;
    let report = connect_unrecorded(host, request)?;
    let change = record(host, request, &before, &report)?;
    Ok(ConnectReport { change, ..report })
}

fn connect_unrecorded(host: &Host, request: &ConnectRequest) -> Result<ConnectReport> {
    let before = apply::agents_read(host)?;
    let report = match request {
        ConnectRequest::List => listing::list(host)?,
        ConnectRequest::Auto { wiring } => connect_used(host, wiring)?,
        ConnectRequest::Add { agents, paths, wiring } => add(host, agents, paths, wiring)?,
        ConnectRequest::Remove { agents, wiring } => remove(host, agents, wiring)?,
        ConnectRequest::Trust { wiring } => apply::trust(host, wiring)?,
    };
    let after = apply::agents_read(host)?;
    let missing = |from: &[&str], among: &[&str]| -> Vec<String> {
        from.iter().filter(|name| !among.contains(name)).map(|name| (*name).to_owned()).collect()
    };
    let (now_read, no_longer_read) = (missing(&after, &before), missing(&before, &after));
    Ok(ConnectReport { now_read, no_longer_read, ..report })
}

/// Returns whether agents are used on this machine, but none of them has Nacre's hooks.
pub fn lacks_hooks(host: &Host) -> bool {
    let Ok(files) = AgentFiles::of(host) else { return false };
    let used = connectable_agents().filter(|spec| files.is_used(spec));
    let mut states = used.map(|spec| files.state(spec, ConnectedPart::Hooks)).peekable();
    let is_on = |state| matches!(state, Some(Ok(EntryState::Current | EntryState::Outdated)));
    states.peek().is_some() && !states.any(is_on)
}

/// Returns the agents with entries that Nacre wrote.
pub fn list_wired(host: &Host) -> Result<Vec<String>> {
    let ledger = Ledger::read(host)?;
    let entries = ledger.files.values().flat_map(|record| &record.entries);
    let names: BTreeSet<String> = entries.map(|entry| entry.agent.clone()).collect();
    Ok(names.into_iter().collect())
}

fn parts(wiring: &WiringOptions) -> Vec<ConnectedPart> {
    if wiring.parts.is_empty() {
        return ConnectedPart::USUAL.to_vec();
    }
    wiring.parts.iter().filter_map(|part| ConnectedPart::from_name(part.as_str())).collect()
}

fn find_agent(name: &str) -> Result<Option<&'static AgentSpec>> {
    match connectable_agent(name) {
        None if !apply::is_readable(name) => {
            Err(OpError::usage(format!("Agent `{name}` not found"))
                .hint(format!("The agents are {}", names().join(", "))))
        }
        spec => Ok(spec),
    }
}

fn connect_used(host: &Host, wiring: &WiringOptions) -> Result<ConnectReport> {
    let mut planner = apply::begin(host, wiring)?;
    let mut left_out = Vec::new();
    let used: Vec<_> = connectable_agents().filter(|spec| planner.files.is_used(spec)).collect();
    for spec in used {
        let before = planner.plan.clone();
        if let Err(error) = planner.add(spec, &parts(wiring), wiring.guard) {
            planner.plan = before;
            let why = error.causes.first().map_or(String::new(), |cause| format!(": {cause}"));
            left_out.push(format!("{}: {}{why}", spec.name, error.message));
        }
    }
    let plan = planner.plan;
    if !wiring.dry_run {
        apply::apply(host, &plan, wiring)?;
        if wiring.parts.is_empty() {
            apply::register_found(host)?;
        }
    }
    Ok(ConnectReport { left_out, ..report(host, &plan)? })
}

fn add(
    host: &Host,
    agents: &[String],
    paths: &[String],
    wiring: &WiringOptions,
) -> Result<ConnectReport> {
    if !paths.is_empty() && agents.len() != 1 {
        return Err(OpError::usage("Only one agent can be connected with a path")
            .hint("nacre connect codex --path DIR"));
    }
    let mut planner = apply::begin(host, wiring)?;
    // If only paths are given, connect only traces. If parts are given, connect only those parts.
    let reads_traces = wiring.parts.is_empty();
    let writes_files = paths.is_empty() || !wiring.parts.is_empty();
    for name in agents {
        let spec = find_agent(name)?;
        match spec {
            Some(spec) if writes_files => {
                check_possible(spec, wiring, &planner)?;
                planner.add(spec, &parts(wiring), wiring.guard)?;
            }
            Some(_) => {}
            None if !reads_traces => {
                return Err(OpError::usage(format!("Only traces can be connected for `{name}`"))
                    .hint(format!("nacre connect {name} --path DIR")));
            }
            None => {}
        }
    }
    let plan = planner.plan;
    if !wiring.dry_run {
        apply::apply(host, &plan, wiring)?;
        for name in agents.iter().filter(|name| reads_traces && apply::is_readable(name)) {
            apply::register_agent(host, name, paths)?;
        }
    }
    report(host, &plan)
}

/// Returns an error if the user explicitly requested a part that the agent does not support.
fn check_possible(spec: &AgentSpec, wiring: &WiringOptions, planner: &Planner<'_>) -> Result<()> {
    let asked = if wiring.parts.is_empty() { Vec::new() } else { parts(wiring) };
    match asked.into_iter().find(|part| planner.plain_edit(spec, *part).is_none()) {
        Some(part) => {
            Err(OpError::usage(format!("{} cannot take `--{}`", spec.title, part.as_str()))
                .hint("`nacre connect list` shows the supported parts"))
        }
        None => Ok(()),
    }
}

fn remove(host: &Host, agents: &[String], wiring: &WiringOptions) -> Result<ConnectReport> {
    let mut planner = apply::begin(host, wiring)?;
    let (mut registered, mut still_read) = (Vec::new(), Vec::new());
    for name in agents {
        let spec = find_agent(name)?;
        let is_read = wiring.parts.is_empty() && apply::agents_read(host)?.contains(&name.as_str());
        let was_wired = match spec {
            Some(spec) => planner.remove(spec, &parts(wiring))?,
            None => false,
        };
        // Traces that were already being read before the agent was connected continue to be read.
        if is_read && (!was_wired || has_turned_traces_on(host, name)?) {
            registered.push(name);
        } else if is_read {
            still_read.push(name.as_str());
        } else if !was_wired {
            return Err(OpError::not_found(format!("The agent `{name}` is not connected"))
                .hint("nacre connect list"));
        }
    }
    let plan = planner.plan;
    if !wiring.dry_run {
        apply::apply(host, &plan, wiring)?;
        registered.into_iter().try_for_each(|name| apply::unregister_agent(host, name))?;
    }
    let mut report = report(host, &plan)?;
    if !still_read.is_empty() {
        report.notes.push(format!(
            "Sessions from {} are still read, as before. To stop reading them: nacre connect {} \
             --remove",
            still_read.join(", "),
            still_read.join(" ")
        ));
    }
    Ok(report)
}

fn report(host: &Host, plan: &Plan) -> Result<ConnectReport> {
    let changes = plan::changes(host, plan);
    let digest = (!changes.is_empty()).then(|| plan.digest());
    let notes = apply::notes(plan);
    Ok(ConnectReport { changes, plan: digest, notes, ..listing::list(host)? })
}

const TRACES: &str = "traces";

struct ConnectionState {
    parts: BTreeMap<String, Vec<&'static str>>,
    register: Option<String>,
}

impl ConnectionState {
    fn of(host: &Host, agents: &[AgentEntry]) -> Result<Self> {
        let mut wired = BTreeMap::new();
        let read = apply::agents_read(host)?;
        for entry in agents {
            let states = [("mcp", entry.mcp), ("hooks", entry.hooks), ("skill", entry.skill)];
            let is_on =
                |state: WiringState| matches!(state, WiringState::On | WiringState::Outdated);
            let on = states.into_iter().filter(|(_, state)| is_on(*state)).map(|(part, _)| part);
            let mut parts: Vec<&str> = on.collect();
            if read.contains(&entry.agent.as_str()) {
                parts.push(TRACES);
            }
            wired.insert(entry.agent.clone(), parts);
        }
        Ok(Self { parts: wired, register: apply::register_text(host)? })
    }

    /// Returns the differences. Because agents share files, parts are compared only for the agents
    /// in `named`, or for all agents if `named` is empty. The setting for reading traces is
    /// compared for all agents.
    fn find_changes(&self, now: &Self, named: &[String]) -> Vec<AgentParts> {
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

fn record(
    host: &Host,
    request: &ConnectRequest,
    before: &ConnectionState,
    report: &ConnectReport,
) -> Result<Option<String>> {
    let named = match request {
        ConnectRequest::Add { agents, .. } | ConnectRequest::Remove { agents, .. } => {
            agents.clone()
        }
        ConnectRequest::List | ConnectRequest::Auto { .. } | ConnectRequest::Trust { .. } => {
            Vec::new()
        }
    };
    let now = ConnectionState::of(host, &report.agents)?;
    let agents = before.find_changes(&now, &named);
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
    let register = diff_register(&before.register, &now.register)?;
    let text = before.register.as_deref().map(str::as_bytes).filter(|_| register.is_some());
    let command = CommandChange::new(RunMode::Connect, &command);
    let reversal = Reversal::Agents { agents, register };
    command.record(host, &own_store(host)?, reversal, text).map(Some)
}

/// Returns whether an earlier `connect` enabled reading of an agent's traces.
fn has_turned_traces_on(host: &Host, agent: &str) -> Result<bool> {
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

fn diff_register(before: &Option<String>, after: &Option<String>) -> Result<Option<TextRecord>> {
    if before == after {
        return Ok(None);
    }
    let bytes = |text: &Option<String>| text.clone().map(String::into_bytes);
    let (before, after) = (bytes(before), bytes(after));
    let file = apply::REGISTER_FILE;
    text_record(TextRoot::Store, file, before.as_deref(), after.as_deref()).map(Some)
}

pub(crate) fn undo(
    host: &Host,
    change: &StoredChange,
    agents: &[AgentParts],
    register: Option<&TextRecord>,
    dry_run: bool,
) -> Result<UndoReport> {
    change.check_open()?;
    let before = apply::register_text(host)?;
    let mut paths = Vec::new();
    for agent in agents {
        paths.extend(undo_agent(host, agent, dry_run)?);
    }
    if !dry_run {
        undo_traces(host, change, agents, register)?;
    }
    paths.sort();
    paths.dedup();
    let turned = |of: &AgentParts| AgentParts {
        agent: of.agent.clone(),
        added: of.removed.clone(),
        removed: of.added.clone(),
    };
    let notes = agents.iter().map(note).collect();
    let mut report = UndoReport { paths, notes, ..change.undo_report(dry_run) };
    if !dry_run {
        let agents = agents.iter().map(turned).collect();
        let register = diff_register(&before, &apply::register_text(host)?)?;
        let text = before.as_deref().map(str::as_bytes).filter(|_| register.is_some());
        let reversal = Reversal::Agents { agents, register };
        let command = CommandChange::undo(&change.id);
        report.run = command.record(host, &own_store(host)?, reversal, text)?;
    }
    Ok(report)
}

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

fn undo_agent(host: &Host, of: &AgentParts, dry_run: bool) -> Result<Vec<String>> {
    let agents = || vec![of.agent.clone()];
    let mut paths = Vec::new();
    if let Some(wiring) = wiring(&of.added, dry_run) {
        let request = ConnectRequest::Remove { agents: agents(), wiring };
        match connect_unrecorded(host, &request) {
            Ok(report) => paths.extend(report.changes.into_iter().map(|change| change.path)),
            // The file may be shared with an agent that was processed earlier.
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

/// Restores the previous register. If it has been modified since then, restores only the entries
/// for this change's agents.
fn undo_traces(
    host: &Host,
    change: &StoredChange,
    agents: &[AgentParts],
    register: Option<&TextRecord>,
) -> Result<()> {
    if let Some(record) = register
        && put_back_text(&own_store(host)?, change, record)?
    {
        return Ok(());
    }
    let is_traces = |part: &String| part == TRACES;
    for of in agents {
        if of.added.iter().any(is_traces) && apply::is_registered(host, &of.agent)? {
            apply::unregister_agent(host, &of.agent)?;
        }
        if of.removed.iter().any(is_traces) {
            apply::register_agent(host, &of.agent, &[])?;
        }
    }
    Ok(())
}

fn wiring(parts: &[String], dry_run: bool) -> Option<WiringOptions> {
    let parts: Vec<_> = parts.iter().filter_map(|part| WiringPart::from_name(part)).collect();
    (!parts.is_empty()).then(|| WiringOptions { parts, dry_run, ..WiringOptions::default() })
}
