//! What `connect doctor` found, for people.

use nacre_api::wire::{CheckState, ConnectDoctorReport, WiringPart};
use nacre_ops::OpError;
use nacre_ops::text::ShownLine;

use super::super::ui::{Role, Ui};

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
