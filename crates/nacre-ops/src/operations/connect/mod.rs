//! Connects agents: reads their traces, and writes Nacre's server, hooks and skill into their own files.
//!
//! What an agent's files get is a text change of `nacre_core::agent_config`. Here it is planned for all files at once
//! (`plan`), shown (`unified`), written and taken back (`apply`), and remembered with the bytes that were there before
//! (`ledger`). Only the person's own files are written, and nothing that a repository says has a part in it.

mod apply;
mod dialogue;
mod doctor;
mod ledger;
mod listing;
mod place;
mod plan;
mod register;
mod trust;
mod undo;
mod unified;

use nacre_api::wire::{ConnectReport, ConnectRequest, WiringOptions, WiringPart};
use nacre_core::agent_config::{AGENTS, AgentSpec, Part, agent_spec};

pub use self::doctor::doctor;
use self::plan::{Plan, Planner};
pub use self::trust::codex_program;
use self::undo::Wired;
pub(super) use self::undo::undo;
use crate::error::OpError;
use crate::host::{Host, agent_names};

/// The names of all agents: those that can be wired up, and those whose traces can be read.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
    names.extend(agent_names().filter(|name| agent_spec(name).is_none()));
    names
}

/// Carries out what is asked, and lists every agent then.
pub fn connect(host: &Host, request: &ConnectRequest) -> Result<ConnectReport, OpError> {
    if matches!(request, ConnectRequest::Add { paths, .. } if !paths.is_empty()) {
        host.check_user("say where sessions are")?;
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
    let before = Wired::now(host)?;
    let report = connect_unrecorded(host, request)?;
    let change = undo::record(host, request, &before, &report)?;
    Ok(ConnectReport { change, ..report })
}

fn connect_unrecorded(host: &Host, request: &ConnectRequest) -> Result<ConnectReport, OpError> {
    let before = register::agents_read(host)?;
    let report = match request {
        ConnectRequest::List => listing::list(host)?,
        ConnectRequest::Auto { wiring } => connect_used(host, wiring)?,
        ConnectRequest::Add { agents, paths, wiring } => add(host, agents, paths, wiring)?,
        ConnectRequest::Remove { agents, wiring } => remove(host, agents, wiring)?,
        ConnectRequest::Trust { wiring } => trust::trust(host, wiring)?,
    };
    let after = register::agents_read(host)?;
    let missing = |from: &[&str], among: &[&str]| -> Vec<String> {
        from.iter().filter(|name| !among.contains(name)).map(|name| (*name).to_owned()).collect()
    };
    let (now_read, no_longer_read) = (missing(&after, &before), missing(&before, &after));
    Ok(ConnectReport { now_read, no_longer_read, ..report })
}

/// The parts that are asked for; all where none is.
fn parts(wiring: &WiringOptions) -> Vec<Part> {
    if wiring.parts.is_empty() {
        return Part::USUAL.to_vec();
    }
    let part = |part: &WiringPart| match part {
        WiringPart::Mcp => Part::Mcp,
        WiringPart::Hooks => Part::Hooks,
        WiringPart::Skill => Part::Skill,
    };
    wiring.parts.iter().map(part).collect()
}

fn known(name: &str) -> Result<Option<&'static AgentSpec>, OpError> {
    match agent_spec(name) {
        None if !register::is_readable(name) => {
            Err(OpError::usage(format!("No agent is called `{name}`"))
                .hint(format!("The agents are {}", names().join(", "))))
        }
        spec => Ok(spec),
    }
}

fn connect_used(host: &Host, wiring: &WiringOptions) -> Result<ConnectReport, OpError> {
    let mut planner = apply::begin(host, wiring)?;
    let mut left_out = Vec::new();
    let used: Vec<_> = AGENTS.iter().filter(|spec| planner.is_used(spec)).collect();
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
            register::add_found(host)?;
        }
    }
    Ok(ConnectReport { left_out, ..report(host, &plan)? })
}

fn add(
    host: &Host,
    agents: &[String],
    paths: &[String],
    wiring: &WiringOptions,
) -> Result<ConnectReport, OpError> {
    if !paths.is_empty() && agents.len() != 1 {
        return Err(
            OpError::usage("A path belongs to one agent").hint("nacre connect codex --path DIR")
        );
    }
    let mut planner = apply::begin(host, wiring)?;
    // With a path only the traces are meant, and with parts only those.
    let reads_traces = wiring.parts.is_empty();
    let writes_files = paths.is_empty() || !wiring.parts.is_empty();
    for name in agents {
        let spec = known(name)?;
        match spec {
            Some(spec) if writes_files => {
                check_possible(spec, wiring, &planner)?;
                planner.add(spec, &parts(wiring), wiring.guard)?;
            }
            Some(_) => {}
            None if !reads_traces => return Err(only_traces(name)),
            None => {}
        }
    }
    let plan = planner.plan;
    if !wiring.dry_run {
        apply::apply(host, &plan, wiring)?;
        for name in agents.iter().filter(|name| reads_traces && register::is_readable(name)) {
            register::add(host, name, paths)?;
        }
    }
    report(host, &plan)
}

fn only_traces(name: &str) -> OpError {
    OpError::usage(format!("Only the traces of `{name}` can be connected"))
        .hint(format!("nacre connect {name} --path DIR"))
}

/// Refuses a part that was asked for by name and that the agent cannot take.
fn check_possible(
    spec: &AgentSpec,
    wiring: &WiringOptions,
    planner: &Planner<'_>,
) -> Result<(), OpError> {
    let asked = if wiring.parts.is_empty() { Vec::new() } else { parts(wiring) };
    match asked.into_iter().find(|part| !planner.can_take(spec, *part)) {
        Some(part) => {
            Err(OpError::usage(format!("{} cannot take `--{}`", spec.title, part.as_str()))
                .hint("`nacre connect list` shows what is possible"))
        }
        None => Ok(()),
    }
}

fn remove(
    host: &Host,
    agents: &[String],
    wiring: &WiringOptions,
) -> Result<ConnectReport, OpError> {
    let mut planner = apply::begin(host, wiring)?;
    let (mut registered, mut still_read) = (Vec::new(), Vec::new());
    for name in agents {
        let spec = known(name)?;
        let is_read = wiring.parts.is_empty() && register::is_read(host, name)?;
        let was_wired = match spec {
            Some(spec) => planner.remove(spec, &parts(wiring))?,
            None => false,
        };
        // What was read before the agent was connected is read afterwards, too.
        if is_read && (!was_wired || undo::turned_traces_on(host, name)?) {
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
        registered.into_iter().try_for_each(|name| register::remove(host, name))?;
    }
    let mut report = report(host, &plan)?;
    if !still_read.is_empty() {
        report.notes.push(format!(
            "The sessions of {} are still read, as before; to stop that: nacre connect {} --remove",
            still_read.join(", "),
            still_read.join(" ")
        ));
    }
    Ok(report)
}

/// Every agent as it is now, and what a plan changed or would change.
fn report(host: &Host, plan: &Plan) -> Result<ConnectReport, OpError> {
    let changes = unified::changes(host, plan);
    let digest = (!changes.is_empty()).then(|| plan.digest());
    let notes = trust::notes(plan);
    Ok(ConnectReport { changes, plan: digest, notes, ..listing::list(host)? })
}
