//! Lists, shows, measures and cancels tasks.

use nacre_engine::record as agent;
use nacre_engine::record::state::{
    CancelReport, EventRecord, State, StateError, TaskRecord, TaskStore,
};
use nacre_engine::record::{CancelledBy, Runner, TaskId};
use nacre_team::postgres::state::SharedState;
use nacre_types::{
    LimitRequest, ModelStatsReport, RunStatsReport, TaskCancelReport, TaskEntry, TaskEvent,
    TaskListReport, TaskRef, TaskShowReport, TaskShowRequest, TaskState, ToolStatsReport,
};
use serde_json::{Map, Value};

use crate::prelude::*;

/// Opens the task database, or returns `None` if it does not exist. Only the machine's owner may
/// access tasks.
pub(super) fn open_state(host: &Host) -> Result<Option<State>> {
    host.check_owner()?;
    match WriteScope::open(host.home()?, Access::Private) {
        Err(error) if error.is_missing() => Ok(None),
        home => Ok(State::open_existing(&home?)?),
    }
}

fn open_shared_tasks(host: &Host) -> Result<Option<SharedState>> {
    Ok(host.database()?.map(|database| SharedState::open(&database)).transpose()?)
}

/// Finds a task, searching the shared database first.
fn find(host: &Host, task: &str) -> Result<(Box<dyn TaskStore>, TaskRecord)> {
    if let Some(shared) = open_shared_tasks(host)? {
        match shared.find_task(task) {
            Err(StateError::UnknownTask { .. }) => {}
            found => return Ok((Box::new(shared.clone()), found?)),
        }
    }
    let no_tasks = || OpError::not_found("No tasks yet");
    let local = open_state(host)?.ok_or_else(no_tasks)?;
    let found = local.find_task(task)?;
    Ok((Box::new(local), found))
}

/// A `limit` of 0 means no limit.
pub(crate) fn row_limit(limit: Option<usize>, usual: usize) -> usize {
    match limit {
        None => usual,
        Some(0) => usize::MAX,
        Some(limit) => limit,
    }
}

fn entry(task: TaskRecord) -> TaskEntry {
    TaskEntry {
        id: task.id.to_string(),
        session: task.session.to_string(),
        parent: task.parent.map(|parent| parent.to_string()),
        project: task.project,
        agent: task.agent,
        class: task.class,
        title: task.title,
        state: task_state(task.state),
        reason: task.state.reason().map(str::to_owned),
        created: task.created.to_string(),
        started: task.started.map(|time| time.to_string()),
        ended: task.ended.map(|time| time.to_string()),
        events: task.n_events,
    }
}

pub(crate) fn task_state(of: agent::TaskState) -> TaskState {
    TaskState::from_name(of.as_str()).unwrap_or(TaskState::Running)
}

const DEFAULT_TASKS: usize = 20;

pub fn list(host: &Host, request: &LimitRequest) -> Result<TaskListReport> {
    let LimitRequest { limit } = request;
    let limit = row_limit(*limit, DEFAULT_TASKS);
    let mut tasks = match open_shared_tasks(host)? {
        Some(mut shared) => latest(host, &mut shared, limit)?,
        None => Vec::new(),
    };
    if let Some(mut state) = open_state(host)? {
        let local = latest(host, &mut state, limit)?;
        let is_new = |task: &TaskRecord| !tasks.iter().any(|known| known.id == task.id);
        let local: Vec<TaskRecord> = local.into_iter().filter(is_new).collect();
        // Tasks that come from a single store are already sorted.
        let is_mixed = !tasks.is_empty() && !local.is_empty();
        tasks.extend(local);
        if is_mixed {
            tasks.sort_by_key(|task| std::cmp::Reverse(task.created));
            tasks.truncate(limit);
        }
    }
    Ok(TaskListReport { tasks: tasks.into_iter().map(entry).collect() })
}

fn latest(host: &Host, state: &mut dyn TaskStore, limit: usize) -> Result<Vec<TaskRecord>> {
    // Mark tasks of killed processes as ended before listing them.
    state.clear_dead(&Runner::here(host.environment.pid), host.now())?;
    Ok(state.tasks(limit)?)
}

const DEFAULT_EVENTS: usize = 1000;

const POLL: Duration = Duration::from_millis(200);

/// Shows a task. With `wait`, an empty list of events means that the task has ended or that the
/// caller has cancelled the request.
pub fn show(host: &Host, request: &TaskShowRequest, events: &Events) -> Result<TaskShowReport> {
    let TaskShowRequest { task, limit, after, wait } = request;
    let (mut state, found) = find(host, task)?;
    let id = found.id;
    let limit = row_limit(*limit, DEFAULT_EVENTS);
    loop {
        // Read the state before the events, so that no event is missed if the task ends in between.
        let task = state.task(&id)?;
        let found = state.events(&id, *after, limit)?;
        let is_over = task.state.is_terminal() || events.cancel().is_cancelled();
        if !wait || is_over || !found.is_empty() {
            let events = found.into_iter().map(task_event).collect();
            return Ok(TaskShowReport { task: entry(task), events });
        }
        let here = Runner::here(host.environment.pid);
        if state.clear_dead(&here, host.now())?.is_empty() {
            std::thread::sleep(POLL);
        }
    }
}

fn task_event(event: EventRecord) -> TaskEvent {
    let mut fields = match event.fields {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    };
    // The record already contains these fields.
    fields.retain(|key, _| key != "sequence" && key != "at");
    TaskEvent { sequence: event.sequence, at: event.at.to_string(), fields }
}

pub fn stats(host: &Host) -> Result<RunStatsReport> {
    Ok(RunStatsReport { models: models(host)?.models, tools: tools(host)?.tools })
}

pub fn tools(host: &Host) -> Result<ToolStatsReport> {
    let state = open_state(host)?;
    let tools = state.map(|state| state.tool_stats()).transpose()?.unwrap_or_default();
    Ok(ToolStatsReport { tools })
}

pub fn models(host: &Host) -> Result<ModelStatsReport> {
    let state = open_state(host)?;
    let models = state.map(|state| state.model_stats()).transpose()?.unwrap_or_default();
    Ok(ModelStatsReport { models })
}

/// Cancels a task. A queued task ends immediately. A running task is cancelled by the process that
/// runs it.
pub fn cancel(host: &Host, request: &TaskRef) -> Result<TaskCancelReport> {
    let TaskRef { task } = request;
    let (mut state, found) = find(host, task)?;
    // A task whose process was killed has already ended.
    state.clear_dead(&Runner::here(host.environment.pid), host.now())?;
    let found = state.task(&found.id)?;
    if found.state.is_terminal() {
        let message = format!("Task `{}` is over: {}", found.id, found.state);
        return Err(OpError::new(ErrorCode::Conflict, message)
            .hint("`nacre events` lists the running tasks"));
    }
    let CancelReport { ended, asked } = state.cancel(&found.id, CancelledBy::Person, host.now())?;
    let names = |ids: Vec<TaskId>| ids.iter().map(ToString::to_string).collect();
    Ok(TaskCancelReport { task: found.id.to_string(), ended: names(ended), asked: names(asked) })
}
