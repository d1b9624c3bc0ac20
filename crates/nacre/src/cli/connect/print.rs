//! What agents have of Nacre, and what changed, for people.

use nacre_api::wire::{
    AgentEntry, ChangeKind, CheckState, ConnectDoctorReport, ConnectReport, WiringPart, WiringState,
};
use nacre_ops::OpError;
use nacre_ops::text::ShownLine;

use super::super::ui::{Role, Ui};

/// What was taken out, and every agent then.
pub(super) fn removed(ui: &mut Ui, report: &ConnectReport) -> Result<(), OpError> {
    changed(ui, report, "New sessions of the agents do without it.\n")
}

/// What was done, and every agent then.
pub(super) fn report(ui: &mut Ui, report: &ConnectReport) -> Result<(), OpError> {
    changed(ui, report, "New sessions of the agents use it; `nacre connect doctor` tries it.\n")
}

fn changed(ui: &mut Ui, report: &ConnectReport, next: &str) -> Result<(), OpError> {
    for change in &report.changes {
        let verb = match change.change {
            ChangeKind::Create => "Made",
            ChangeKind::Change => "Changed",
            ChangeKind::Remove => "Removed",
        };
        ui.status(format!("{verb} {}", ShownLine(&change.path)))?;
    }
    if !report.changes.is_empty() {
        ui.status(next)?;
    }
    agents(ui, report)?;
    closing(ui, report);
    Ok(())
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

fn agents(ui: &mut Ui, report: &ConnectReport) -> Result<(), OpError> {
    let rows: Vec<_> = report.agents.iter().map(row).collect();
    ui.table(&rows)?;
    for problem in report.agents.iter().flat_map(|agent| &agent.problems) {
        ui.warning(ShownLine(problem), None);
    }
    Ok(())
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

/// One line an agent, and a hint for each part that failed.
pub(super) fn doctor(ui: &mut Ui, report: &ConnectDoctorReport) -> Result<(), OpError> {
    if report.agents.is_empty() {
        ui.status("No agent has anything of Nacre configured.")?;
        ui.hint("nacre connect auto");
    }
    for agent in &report.agents {
        let checks = agent.checks.iter().map(|check| {
            let name = match check.part {
                WiringPart::Mcp => "mcp",
                WiringPart::Hooks => "hooks",
                WiringPart::Skill => "skill",
            };
            let (role, state) = match check.state {
                CheckState::Ok => (Role::Good, "ok"),
                CheckState::Off => (Role::Faint, "off"),
                CheckState::Failed => (Role::Bad, "failed"),
            };
            let detail = ShownLine(&check.detail);
            format!("{name} {} ({detail})", ui.paint(role, state))
        });
        let checks: Vec<String> = checks.collect();
        ui.line(format!("{}  {}", ui.paint(Role::Id, &agent.agent), checks.join(" · ")))?;
        let failed = agent.checks.iter().filter(|check| check.state == CheckState::Failed);
        for hint in failed.filter_map(|check| check.hint.as_ref()) {
            ui.hint(hint);
        }
    }
    Ok(())
}
