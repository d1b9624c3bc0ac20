//! What a run is about to change, line by line, as `--dry-run` shows it.

use nacre_core::base::Shown;
use nacre_core::memory::PlannedChange;
use serde_json::{Value, json};

use super::diff::{Side, diff};
use super::ui::{Role, Ui};
use nacre_ops::OpError;

/// Whether git would show a change there.
pub(crate) fn is_shared(path: &str) -> bool {
    path.starts_with("memory/") || path.starts_with("meta/evidence/")
}

/// The changes as values.
pub(crate) fn changes_json(changes: &[PlannedChange]) -> Vec<Value> {
    changes
        .iter()
        .map(|change| json!({ "path": change.path, "before": text(&change.before), "after": text(&change.after) }))
        .collect()
}

/// Prints each changed file with its lines.
pub(crate) fn print_changes(ui: &mut Ui, changes: &[PlannedChange]) -> Result<(), OpError> {
    if changes.is_empty() {
        ui.line("  Nothing would change.")?;
    }
    for change in changes {
        let (before, after) = (text(&change.before), text(&change.after));
        let name = |side: &Option<String>| match side {
            Some(_) => change.path.as_str(),
            None => "/dev/null",
        };
        ui.line(ui.paint(Role::Bad, format!("--- {}", name(&before))))?;
        ui.line(ui.paint(Role::Good, format!("+++ {}", name(&after))))?;
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        for (side, line) in diff(&before, &after) {
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

fn text(bytes: &Option<Vec<u8>>) -> Option<String> {
    bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}
