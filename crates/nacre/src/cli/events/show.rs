//! `nacre events TASK`: one task's events, in order, and as they come.

use std::time::Duration;

use nacre_core::base::Shown;
use nacre_engine::record::Runner;
use nacre_engine::record::state::{EventRecord, TaskRecord, logfmt};
use serde_json::{Value, json};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use super::open_state;
use super::tasks::task_json;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Events that are shown when no limit is given.
const USUAL: usize = 1000;

/// How often a task that is followed is looked at.
const POLL: Duration = Duration::from_millis(200);

pub(super) fn cmd_show(
    ui: &mut Ui,
    host: &Host,
    task: &str,
    limit: Option<usize>,
) -> Result<Exit, OpError> {
    let Some(state) = open_state(host)? else { return Err(no_tasks()) };
    let task = state.find_task(task)?;
    let limit = limit.map_or(USUAL, |limit| if limit == 0 { usize::MAX } else { limit });
    let events = state.events(&task.id, 0, limit)?;
    if ui.is_json() {
        let events: Vec<Value> = events.iter().map(event_json).collect();
        ui.json(&json!({ "task": task_json(&task), "events": events }))?;
        return Ok(Exit::Done);
    }
    print_task(ui, &task)?;
    print_events(ui, &events)?;
    let n_left = task.n_events.saturating_sub(events.len() as u64);
    if n_left > 0 {
        ui.hint(&format!("There are {n_left} more: --limit 0 shows all"));
    }
    Ok(Exit::Done)
}

/// Prints events as they come, until the last one.
pub(super) fn cmd_follow(ui: &mut Ui, host: &Host, task: &str) -> Result<Exit, OpError> {
    let Some(mut state) = open_state(host)? else { return Err(no_tasks()) };
    let task = state.find_task(task)?;
    let here = Runner::here(host.environment.pid);
    if !ui.is_json() {
        print_task(ui, &task)?;
    }
    let mut last = 0;
    loop {
        // Looked at first, so that nothing can come between the last events and the end.
        let is_over = state.task(&task.id)?.state.is_terminal();
        let events = state.events(&task.id, last, USUAL)?;
        if ui.is_json() {
            events.iter().try_for_each(|event| ui.json_line(&event_json(event)))?;
        } else {
            print_events(ui, &events)?;
        }
        ui.flush();
        last = events.last().map_or(last, |event| event.sequence);
        if events.is_empty() && is_over {
            return Ok(Exit::Done);
        }
        if events.is_empty() && state.clear_dead(&here, host.now())?.is_empty() {
            std::thread::sleep(POLL);
        }
    }
}

fn no_tasks() -> OpError {
    OpError::failed("There are no tasks yet")
}

fn print_task(ui: &mut Ui, task: &TaskRecord) -> Result<(), OpError> {
    ui.line(ui.paint(Role::Title, Shown(&task.title).one_line()))?;
    let mut facts = vec![task.id.to_string(), task.agent.clone(), task.state.to_string()];
    facts.extend(task.parent.as_ref().map(|parent| format!("of {parent}")));
    facts.push(format!("from {}", task.created));
    facts.extend(task.ended.map(|time| format!("to {time}")));
    ui.line(ui.paint(Role::Faint, Shown(&facts.join(" · ")).one_line()))
}

fn print_events(ui: &mut Ui, events: &[EventRecord]) -> Result<(), OpError> {
    for event in events {
        let mut fields = event.fields.clone();
        if let Value::Object(map) = &mut fields {
            map.remove("event");
        }
        let number = ui.paint(Role::Id, format!("{:>5}", event.sequence));
        let time = ui.paint(Role::Faint, event.at.strftime("%H:%M:%S%.3f"));
        let name = ui.paint(Role::Title, format!("{:<17}", Shown(&event.name).one_line()));
        let line = format!("{number}  {time}  {name}  {}", logfmt(&fields));
        ui.line(line.trim_end())?;
    }
    Ok(())
}

/// An event in JSON: its place, and its own fields beside it.
fn event_json(event: &EventRecord) -> Value {
    let mut value = event.fields.clone();
    if let Value::Object(map) = &mut value {
        map.insert("sequence".to_owned(), json!(event.sequence));
        map.insert("at".to_owned(), json!(event.at.to_string()));
    }
    value
}
