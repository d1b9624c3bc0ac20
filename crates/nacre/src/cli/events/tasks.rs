//! `nacre events`: the latest tasks.

use nacre_api::wire::{TaskEntry, TaskListReport, TaskListRequest, TaskState};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, tasks as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

pub(super) fn cmd_tasks(ui: &mut Ui, host: &Host, limit: Option<usize>) -> Result<Exit, OpError> {
    let report = ops::list(host, &TaskListRequest { limit })?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &TaskListReport) -> Result<(), OpError> {
    let rows: Vec<_> = report.tasks.iter().map(row).collect();
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.status("No tasks.")?;
    }
    Ok(())
}

fn row(task: &TaskEntry) -> Vec<(Role, String)> {
    let role = match task.state {
        TaskState::Failed => Role::Bad,
        TaskState::Completed => Role::Good,
        TaskState::Accepted | TaskState::Queued | TaskState::Running | TaskState::Cancelled => {
            Role::Warning
        }
    };
    vec![
        (Role::Id, task.id.clone()),
        (Role::Faint, minute(&task.created)),
        (role, state_text(task)),
        (Role::Faint, Shown(&task.agent).one_line()),
        (Role::Faint, format!("{} events", task.events)),
        (Role::Title, Shown(&task.title).one_line()),
    ]
}

/// The state with the reason of an end.
pub(super) fn state_text(task: &TaskEntry) -> String {
    let state = task.state.as_str();
    task.reason.as_ref().map_or_else(|| state.to_owned(), |reason| format!("{state}({reason})"))
}

/// The day and the minute of a moment.
fn minute(time: &str) -> String {
    time.get(..16).unwrap_or(time).replace('T', " ")
}
