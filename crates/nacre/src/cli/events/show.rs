//! `nacre events TASK`: one task's events, in order, and as they come.

use jiff::Timestamp;
use nacre_api::wire::{TaskEntry, TaskEvent, TaskShowReport, TaskShowRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, tasks as ops};
use serde_json::{Map, Value};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use super::tasks::state_text;

pub(super) fn cmd_show(
    ui: &mut Ui,
    host: &Host,
    task: &str,
    limit: Option<usize>,
) -> Result<Exit, OpError> {
    let request = TaskShowRequest { task: task.to_owned(), limit, ..TaskShowRequest::default() };
    let report = ops::show(host, &request, &ui.events())?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &TaskShowReport) -> Result<(), OpError> {
    let TaskShowReport { task, events } = report;
    print_task(ui, task)?;
    events.iter().try_for_each(|event| print_event(ui, event))?;
    let n_left = task.events.saturating_sub(events.len() as u64);
    if n_left > 0 {
        ui.hint(&format!("There are {n_left} more: --limit 0 shows all"));
    }
    Ok(())
}

/// Prints events as they come, until the last one.
pub(super) fn cmd_follow(ui: &mut Ui, host: &Host, task: &str) -> Result<Exit, OpError> {
    let mut request =
        TaskShowRequest { task: task.to_owned(), wait: true, ..TaskShowRequest::default() };
    let mut is_first = true;
    loop {
        let TaskShowReport { task, events } = ops::show(host, &request, &ui.events())?;
        if is_first && !ui.is_json() {
            print_task(ui, &task)?;
        }
        let Some(last) = events.last() else { return Ok(Exit::Done) };
        (request.after, is_first) = (last.sequence, false);
        for event in &events {
            if ui.is_json() { ui.json_line(event)? } else { print_event(ui, event)? }
        }
        ui.flush();
    }
}

fn print_task(ui: &mut Ui, task: &TaskEntry) -> Result<(), OpError> {
    ui.line(ui.paint(Role::Title, Shown(&task.title).one_line()))?;
    let mut facts = vec![task.id.clone(), task.agent.clone(), state_text(task)];
    facts.extend(task.parent.as_ref().map(|parent| format!("of {parent}")));
    facts.push(format!("from {}", ui.when(&task.created)));
    facts.extend(task.ended.as_ref().map(|time| format!("to {}", ui.when(time))));
    ui.line(ui.paint(Role::Faint, Shown(&facts.join(" · ")).one_line()))
}

fn print_event(ui: &mut Ui, event: &TaskEvent) -> Result<(), OpError> {
    let TaskEvent { sequence, at, fields } = event;
    let mut fields = fields.clone();
    let name = fields.remove("event");
    let name = name.as_ref().and_then(|name| name.as_str()).unwrap_or_default();
    let number = ui.paint(Role::Id, format!("{sequence:>5}"));
    let time = ui.paint(Role::Faint, time_of_day(at));
    let name = ui.paint(Role::Title, format!("{:<17}", Shown(name).one_line()));
    let line = format!("{number}  {time}  {name}  {}", pairs(&fields));
    ui.line(line.trim_end())
}

/// Fields as `key=value`, those of an object behind its key; what is empty says nothing.
fn pairs(fields: &Map<String, Value>) -> String {
    let mut pairs = Vec::new();
    push_pairs(&mut pairs, "", fields);
    pairs.join(" ")
}

fn push_pairs(pairs: &mut Vec<String>, prefix: &str, fields: &Map<String, Value>) {
    for (key, value) in fields {
        let text = match value {
            Value::Null => continue,
            Value::Array(items) if items.is_empty() => continue,
            Value::Object(inner) => {
                push_pairs(pairs, &format!("{prefix}{key}."), inner);
                continue;
            }
            Value::String(text) if is_word(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                value.to_string()
            }
        };
        pairs.push(Shown(&format!("{prefix}{key}={text}")).one_line());
    }
}

fn is_word(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:".contains(c);
    !text.is_empty() && text.chars().all(is_plain)
}

/// The time of a moment, to the millisecond.
fn time_of_day(at: &str) -> String {
    let time = at.parse::<Timestamp>().map(|at| at.strftime("%H:%M:%S%.3f").to_string());
    time.unwrap_or_else(|_| at.to_owned())
}
