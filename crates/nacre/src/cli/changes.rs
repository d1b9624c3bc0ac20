//! What a run is about to change, line by line, as `--dry-run` shows it.

use nacre_api::wire::PlannedChange;
use nacre_ops::OpError;
use nacre_ops::text::Shown;

use super::diff::{Side, diff};
use super::ui::{Role, Ui};

/// Prints each changed file with its lines.
pub(crate) fn print_changes(ui: &mut Ui, changes: &[PlannedChange]) -> Result<(), OpError> {
    if changes.is_empty() {
        ui.line("  Nothing would change.")?;
    }
    for PlannedChange { path, before, after } in changes {
        let name = |side: &Option<String>| if side.is_some() { path.as_str() } else { "/dev/null" };
        ui.line(ui.paint(Role::Bad, format!("--- {}", name(before))))?;
        ui.line(ui.paint(Role::Good, format!("+++ {}", name(after))))?;
        let (before, after) = (before.as_deref(), after.as_deref());
        for (side, line) in diff(before.unwrap_or_default(), after.unwrap_or_default()) {
            let (role, mark) = match side {
                Side::Both => (Role::Faint, ' '),
                Side::Old => (Role::Bad, '-'),
                Side::New => (Role::Good, '+'),
            };
            ui.line(ui.paint(role, format!("{mark}{}", Shown(line).one_line())))?;
        }
    }
    Ok(())
}
