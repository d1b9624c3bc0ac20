//! What agents have of Nacre, and what changed, for people.

use nacre_api::wire::{AgentEntry, ChangeKind, ConnectReport, WiringState};
use nacre_ops::OpError;
use nacre_ops::text::ShownLine;

use super::super::memory::print_undo;
use super::super::ui::{Role, Ui};

/// What follows when something was taken out.
pub(super) const REMOVED: &str = "New sessions of the agents do without it.\n";

/// What follows when something was written.
pub(super) const ADDED: &str =
    "New sessions of the agents use it; `nacre connect doctor` tries it.\n";

/// What was done, and the agents then.
pub(super) fn changed(
    ui: &mut Ui,
    report: &ConnectReport,
    next: &str,
    all: bool,
) -> Result<(), OpError> {
    for change in &report.changes {
        let verb = match change.change {
            ChangeKind::Create => "Made",
            ChangeKind::Change => "Changed",
            ChangeKind::Remove => "Removed",
        };
        ui.status(format!("{verb} {}", ShownLine(&change.path)))?;
    }
    for (agents, what) in [
        (&report.now_read, "Reads the sessions of"),
        (&report.no_longer_read, "No longer reads the sessions of"),
    ] {
        if !agents.is_empty() {
            ui.status(format!("{what} {}", agents.join(", ")))?;
        }
    }
    if !report.changes.is_empty() {
        ui.status(next)?;
    }
    agents(ui, report, all)?;
    closing(ui, report);
    print_undo(ui, report.change.as_deref())
}

pub(super) fn dry_run(ui: &mut Ui, report: &ConnectReport) -> Result<(), OpError> {
    diffs(ui, report)?;
    closing(ui, report);
    match report.changes.len() {
        0 => ui.status("Nothing would change."),
        1 => ui.status("One file would change; nothing was written."),
        n_files => ui.status(format!("{n_files} files would change; nothing was written.")),
    }
}

/// What is about to change.
pub(super) fn diffs(ui: &mut Ui, report: &ConnectReport) -> Result<(), OpError> {
    report.changes.iter().try_for_each(|change| ui.text(&change.diff))
}

fn closing(ui: &mut Ui, report: &ConnectReport) {
    for left_out in &report.left_out {
        ui.warning(ShownLine(left_out), None);
    }
    for note in &report.notes {
        ui.hint(note);
    }
}

/// The agents that a person uses, or all of them.
fn agents(ui: &mut Ui, report: &ConnectReport, all: bool) -> Result<(), OpError> {
    let shown = report.agents.iter().filter(|agent| all || is_used(agent));
    let rows: Vec<_> = shown.map(row).collect();
    ui.table(&rows)?;
    match report.agents.len() - rows.len() {
        0 => {}
        n_more if rows.is_empty() => {
            ui.status(format!("None of {n_more} agents was found; `--all` lists them"))?;
        }
        1 => ui.status("1 more agent was not found here; `--all` lists it")?,
        n_more => {
            ui.status(format!("{n_more} more agents were not found here; `--all` lists them"))?;
        }
    }
    for problem in report.agents.iter().flat_map(|agent| &agent.problems) {
        ui.warning(ShownLine(problem), None);
    }
    Ok(())
}

/// Whether an agent left sessions here, or has anything of Nacre. The skill alone is no sign: agents share its folder.
fn is_used(agent: &AgentEntry) -> bool {
    let is_wired = |state| matches!(state, WiringState::On | WiringState::Outdated);
    agent.sources > 0 || is_wired(agent.mcp) || is_wired(agent.hooks) || !agent.problems.is_empty()
}

fn row(agent: &AgentEntry) -> Vec<(Role, String)> {
    let part = |name: &str, state: WiringState| {
        let role = match state {
            WiringState::On => Role::Good,
            WiringState::Outdated => Role::Warning,
            WiringState::Off | WiringState::NotPossible => Role::Faint,
        };
        let shown = if state == WiringState::NotPossible { "-" } else { state.as_str() };
        (role, format!("{name} {shown}"))
    };
    let traces = match agent.traces {
        WiringState::NotPossible => String::new(),
        WiringState::On | WiringState::Off | WiringState::Outdated => {
            format!("{} sources in {}", agent.sources, agent.roots.join(", "))
        }
    };
    vec![
        (Role::Id, agent.agent.clone()),
        part("traces", agent.traces),
        part("mcp", agent.mcp),
        part("hooks", agent.hooks),
        part("skill", agent.skill),
        (Role::Faint, traces),
    ]
}
