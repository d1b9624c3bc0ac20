//! Tasks of agents: listed, followed, cancelled, and counted.

mod cancel;
mod list;
mod show;
mod stats;

use nacre_api::wire::{ErrorCode, TaskClass, TaskEntry, TaskState};
use nacre_core::safefs::{Access, WriteScope};
use nacre_engine::record as agent;
use nacre_engine::record::state::{State, StateError, TaskRecord, TaskStore};
use nacre_postgres::state::SharedState;

pub use self::cancel::cancel;
pub use self::list::list;
pub use self::show::show;
pub use self::stats::{models, stats, tools};
use crate::error::OpError;
use crate::host::Host;

/// Opens the state where there is one. Tasks belong to the person whose machine it is.
pub(super) fn open_state(host: &Host) -> Result<Option<State>, OpError> {
    host.check_owner()?;
    match WriteScope::open(host.home()?, Access::Private) {
        Err(error) if error.is_missing() => Ok(None),
        home => Ok(State::open_existing(&home?)?),
    }
}

/// The tasks that servers share, where they do.
fn shared_tasks(host: &Host) -> Result<Option<SharedState>, OpError> {
    Ok(host.database()?.map(|database| SharedState::open(&database)).transpose()?)
}

/// Where the task that was named is kept: among those of all servers, else among those of this machine.
fn find(host: &Host, task: &str) -> Result<(Box<dyn TaskStore>, TaskRecord), OpError> {
    if let Some(shared) = shared_tasks(host)? {
        match shared.find_task(task) {
            Err(StateError::UnknownTask { .. }) => {}
            found => return Ok((Box::new(shared.clone()), found?)),
        }
    }
    let local = open_state(host)?.ok_or_else(no_tasks)?;
    let found = local.find_task(task)?;
    Ok((Box::new(local), found))
}

fn no_tasks() -> OpError {
    OpError { code: ErrorCode::NotFound, ..OpError::failed("There are no tasks yet") }
}

/// How many rows a limit means: 0 is all of them.
fn row_limit(limit: Option<usize>, usual: usize) -> usize {
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
        class: match task.class {
            agent::TaskClass::Interactive => TaskClass::Interactive,
            agent::TaskClass::Background => TaskClass::Background,
        },
        title: task.title,
        state: state(task.state),
        reason: task.state.reason().map(str::to_owned),
        created: task.created.to_string(),
        started: task.started.map(|time| time.to_string()),
        ended: task.ended.map(|time| time.to_string()),
        events: task.n_events,
    }
}

fn state(of: agent::TaskState) -> TaskState {
    match of {
        agent::TaskState::Accepted => TaskState::Accepted,
        agent::TaskState::Queued => TaskState::Queued,
        agent::TaskState::Running => TaskState::Running,
        agent::TaskState::Completed { .. } => TaskState::Completed,
        agent::TaskState::Failed { .. } => TaskState::Failed,
        agent::TaskState::Cancelled { .. } => TaskState::Cancelled,
    }
}
