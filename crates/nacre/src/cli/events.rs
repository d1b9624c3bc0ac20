//! `nacre events`: the events that tasks emit.

use jiff::Timestamp;
use nacre_ops::tasks as ops;
use nacre_types::{
    LimitRequest, TaskCancelReport, TaskEntry, TaskEvent, TaskListReport, TaskRef, TaskShowReport,
    TaskShowRequest, TaskState,
};
use serde_json::{Map, Value};

use super::layout::minute;
use super::prelude::*;

/// Show the events of a task
///
/// Without a task, lists the latest tasks.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct EventsArgs {
    #[command(subcommand)]
    command: Option<EventsCommand>,
    /// The task's id or a prefix of it
    task: Option<String>,
    /// Follow the task until it ends; with `--json`, one object per line
    #[arg(long, short, requires = "task")]
    follow: bool,
    /// Show at most this many; 0 for all [default: 20 tasks, 1000 events]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

#[derive(Debug, Subcommand)]
enum EventsCommand {
    /// Cancel a task in any process
    ///
    /// A queued task ends at once. A running task is stopped within seconds by the process that
    /// runs it, along with its child processes.
    Cancel {
        /// The task's id or a prefix of it
        task: String,
    },
}

pub(crate) fn cmd_events(ui: &mut Ui, host: &Host, args: EventsArgs) -> CommandResult {
    let EventsArgs { command, task, follow, limit } = args;
    match (command, task) {
        (Some(EventsCommand::Cancel { task }), _) => {
            ui.report(&ops::cancel(host, &TaskRef { task })?, print_cancelled)
        }
        (None, Some(task)) if follow => follow_task(ui, host, task),
        (None, Some(task)) => {
            let request = TaskShowRequest { task, limit, ..TaskShowRequest::default() };
            let report = ops::show(host, &request, &ui.events())?;
            ui.report(&report, print_events)
        }
        (None, None) => ui.report(&ops::list(host, &LimitRequest { limit })?, print_tasks),
    }
}

fn print_cancelled(ui: &mut Ui, report: &TaskCancelReport) {
    let TaskCancelReport { task, ended, asked } = report;
    for (tasks, state) in [(ended, "cancelled"), (asked, "stopping")] {
        for task in tasks {
            ui.line(format!("{} {state}", ui.paint(Role::Id, task)));
        }
    }
    if !asked.is_empty() {
        ui.status(format!("Follow it: nacre events {task} --follow"));
    }
}

fn print_tasks(ui: &mut Ui, report: &TaskListReport) {
    let row = |task: &TaskEntry| {
        let role = match task.state {
            TaskState::Failed => Role::Bad,
            TaskState::Completed => Role::Good,
            TaskState::Accepted | TaskState::Queued | TaskState::Running | TaskState::Cancelled => {
                Role::Warning
            }
        };
        [
            id(&task.id),
            faint(minute(&task.created)),
            cell(role, state_text(task)),
            faint(&task.agent),
            faint(format!("{} events", task.events)),
            title(&task.title),
        ]
    };
    if ui.table(report.tasks.iter().map(row)) == 0 {
        ui.status("No tasks.");
    }
}

fn state_text(task: &TaskEntry) -> String {
    let state = task.state.as_str();
    task.reason.as_ref().map_or_else(|| state.to_owned(), |reason| format!("{state}({reason})"))
}

fn print_events(ui: &mut Ui, TaskShowReport { task, events }: &TaskShowReport) {
    print_task(ui, task);
    for event in events {
        print_event(ui, event);
    }
    let n_left = task.events.saturating_sub(events.len() as u64);
    if n_left > 0 {
        ui.hint(&format!("{n_left} more; `--limit 0` shows all"));
    }
}

fn follow_task(ui: &mut Ui, host: &Host, task: String) -> CommandResult {
    let mut request = TaskShowRequest { task, wait: true, ..TaskShowRequest::default() };
    let mut is_first = true;
    loop {
        let TaskShowReport { task, events } = ops::show(host, &request, &ui.events())?;
        if is_first && !ui.is_json() {
            print_task(ui, &task);
        }
        let Some(last) = events.last() else { return Ok(Exit::DONE) };
        (request.after, is_first) = (last.sequence, false);
        for event in &events {
            if ui.is_json() { ui.json_line(event) } else { print_event(ui, event) }
        }
        ui.flush()?;
    }
}

fn print_task(ui: &mut Ui, task: &TaskEntry) {
    ui.note(0, Role::Title, &task.title);
    let mut facts = vec![task.id.clone(), task.agent.clone(), state_text(task)];
    facts.extend(task.parent.as_ref().map(|parent| format!("of {parent}")));
    facts.push(format!("from {}", ui.when(&task.created)));
    facts.extend(task.ended.as_ref().map(|time| format!("to {}", ui.when(time))));
    ui.note(0, Role::Faint, facts.join(" · "));
}

fn print_event(ui: &mut Ui, TaskEvent { sequence, at, fields }: &TaskEvent) {
    let mut fields = fields.clone();
    let name = fields.remove("event");
    let name = name.as_ref().and_then(|name| name.as_str()).unwrap_or_default();
    let time = at.parse::<Timestamp>().map(|at| at.strftime("%H:%M:%S%.3f").to_string());
    let number = ui.paint(Role::Id, format!("{sequence:>5}"));
    let time = ui.paint(Role::Faint, time.unwrap_or_else(|_| at.clone()));
    let name = ui.paint(Role::Title, format!("{:<17}", Shown(name).one_line()));
    let mut pairs = Vec::new();
    push_pairs(&mut pairs, "", &fields);
    let line = format!("{number}  {time}  {name}  {}", pairs.join(" "));
    ui.line(line.trim_end());
}

/// Adds fields as `key=value`. The keys of nested objects become prefixes, and empty values are
/// left out.
fn push_pairs(pairs: &mut Vec<String>, prefix: &str, fields: &Map<String, Value>) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:".contains(c);
    for (key, value) in fields {
        let text = match value {
            Value::Null => continue,
            Value::Array(items) if items.is_empty() => continue,
            Value::Object(inner) => {
                push_pairs(pairs, &format!("{prefix}{key}."), inner);
                continue;
            }
            Value::String(text) if !text.is_empty() && text.chars().all(is_plain) => text.clone(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                value.to_string()
            }
        };
        pairs.push(Shown(&format!("{prefix}{key}={text}")).one_line());
    }
}
