//! `nacre events`: the latest tasks.

use nacre_core::base::Shown;
use nacre_engine::record::Runner;
use nacre_engine::record::state::TaskRecord;
use serde_json::{Value, json};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use super::open_state;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Tasks that are shown when no limit is given.
const USUAL: usize = 20;

pub(super) fn cmd_tasks(ui: &mut Ui, host: &Host, limit: Option<usize>) -> Result<Exit, OpError> {
    let tasks = match open_state(host)? {
        Some(mut state) => {
            // What a killed process left is over, and is shown so.
            state.clear_dead(&Runner::here(host.environment.pid), host.now())?;
            state.tasks(limit.map_or(USUAL, |limit| if limit == 0 { usize::MAX } else { limit }))?
        }
        None => Vec::new(),
    };
    if ui.is_json() {
        let tasks: Vec<Value> = tasks.iter().map(task_json).collect();
        ui.json(&json!({ "tasks": tasks }))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = tasks.iter().map(row).collect();
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.status("No tasks.")?;
    }
    Ok(Exit::Done)
}

fn row(task: &TaskRecord) -> Vec<(Role, String)> {
    let role = match task.state.as_str() {
        "failed" => Role::Bad,
        "completed" => Role::Good,
        _ => Role::Warning,
    };
    vec![
        (Role::Id, task.id.to_string()),
        (Role::Faint, task.created.strftime("%Y-%m-%d %H:%M").to_string()),
        (role, task.state.to_string()),
        (Role::Faint, Shown(&task.agent).one_line()),
        (Role::Faint, format!("{} events", task.n_events)),
        (Role::Title, Shown(&task.title).one_line()),
    ]
}

/// A task in JSON.
pub(super) fn task_json(task: &TaskRecord) -> Value {
    json!({
        "id": task.id, "session": task.session, "parent": task.parent, "project": task.project, "agent": task.agent,
        "class": task.class.as_str(), "title": task.title, "state": task.state.as_str(), "reason": task.state.reason(),
        "created": task.created.to_string(), "started": task.started.map(|time| time.to_string()),
        "ended": task.ended.map(|time| time.to_string()), "events": task.n_events,
    })
}
