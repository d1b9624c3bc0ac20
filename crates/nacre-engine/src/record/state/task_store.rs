//! Tasks and events as their users see them: what the file of one machine and a database that a team shares both do.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::db::State;
use super::error::StateError;
use super::events::{BatchReport, EventRecord};
use super::tasks::{CancelReport, TaskRecord};
use crate::record::{CancelledBy, NewTask, Record, Runner, SessionId, Start, TaskId, TaskState};

/// How often the file is looked at for events of another process.
const POLL: Duration = Duration::from_millis(100);

/// Tasks, whose turn it is, and what they told.
///
/// A task has exactly one end, whoever writes it. A session has one running task, a project one in the background, however many
/// processes there are.
pub trait TaskStore {
    /// Takes a task in; its session is made where it is missing.
    fn accept(&mut self, task: &NewTask, runner: &Runner, now: Timestamp)
    -> Result<(), StateError>;

    /// Lets the task run if it is its turn.
    fn start(&mut self, id: &TaskId, runner: &Runner, now: Timestamp) -> Result<Start, StateError>;

    /// Moves the task to another state; staying where it is changes nothing.
    fn go(&mut self, id: &TaskId, to: TaskState, now: Timestamp) -> Result<(), StateError>;

    /// Ends what waits, and asks what runs to end: the task and everything below it.
    fn cancel(
        &mut self,
        id: &TaskId,
        by: CancelledBy,
        now: Timestamp,
    ) -> Result<CancelReport, StateError>;

    /// Gives a sign of life, and returns which tasks of this runner somebody wants stopped.
    fn beat(
        &mut self,
        runner: &Runner,
        now: Timestamp,
    ) -> Result<Vec<(TaskId, CancelledBy)>, StateError>;

    /// Marks the unfinished tasks of runners that are gone as `failed(restarted)`, and returns them.
    fn clear_dead(&mut self, here: &Runner, now: Timestamp) -> Result<Vec<TaskId>, StateError>;

    fn task(&self, id: &TaskId) -> Result<TaskRecord, StateError>;

    /// The task whose id begins with `start`, with or without `task_`.
    fn find_task(&self, start: &str) -> Result<TaskRecord, StateError>;

    /// The latest tasks, the newest first.
    fn tasks(&self, limit: usize) -> Result<Vec<TaskRecord>, StateError>;

    /// The task of a session that runs, and how many wait for their turn.
    fn unfinished(&self, session: &SessionId) -> Result<(Option<TaskId>, usize), StateError>;

    /// Writes what tasks told, all of it or nothing: without secrets, each event once, nothing of a task that is over.
    fn append(&mut self, records: &[Arc<Record>]) -> Result<BatchReport, StateError>;

    /// The events of a task with numbers above `after`, in order.
    fn events(
        &self,
        task: &TaskId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<EventRecord>, StateError>;

    /// The same; where there are none yet, waits for them, but no longer than `patience`.
    fn wait_for_events(
        &self,
        task: &TaskId,
        after: u64,
        limit: usize,
        patience: Duration,
    ) -> Result<Vec<EventRecord>, StateError>;
}

impl TaskStore for State {
    fn accept(
        &mut self,
        task: &NewTask,
        runner: &Runner,
        now: Timestamp,
    ) -> Result<(), StateError> {
        Self::accept(self, task, runner, now)
    }

    fn start(&mut self, id: &TaskId, runner: &Runner, now: Timestamp) -> Result<Start, StateError> {
        Self::start(self, id, runner, now)
    }

    fn go(&mut self, id: &TaskId, to: TaskState, now: Timestamp) -> Result<(), StateError> {
        Self::go(self, id, to, now)
    }

    fn cancel(
        &mut self,
        id: &TaskId,
        by: CancelledBy,
        now: Timestamp,
    ) -> Result<CancelReport, StateError> {
        Self::cancel(self, id, by, now)
    }

    fn beat(
        &mut self,
        runner: &Runner,
        now: Timestamp,
    ) -> Result<Vec<(TaskId, CancelledBy)>, StateError> {
        Self::beat(self, runner, now)
    }

    fn clear_dead(&mut self, here: &Runner, now: Timestamp) -> Result<Vec<TaskId>, StateError> {
        Self::clear_dead(self, here, now)
    }

    fn task(&self, id: &TaskId) -> Result<TaskRecord, StateError> {
        Self::task(self, id)
    }

    fn find_task(&self, start: &str) -> Result<TaskRecord, StateError> {
        Self::find_task(self, start)
    }

    fn tasks(&self, limit: usize) -> Result<Vec<TaskRecord>, StateError> {
        Self::tasks(self, limit)
    }

    fn unfinished(&self, session: &SessionId) -> Result<(Option<TaskId>, usize), StateError> {
        Self::unfinished(self, session)
    }

    fn append(&mut self, records: &[Arc<Record>]) -> Result<BatchReport, StateError> {
        Self::append(self, records)
    }

    fn events(
        &self,
        task: &TaskId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<EventRecord>, StateError> {
        Self::events(self, task, after, limit)
    }

    fn wait_for_events(
        &self,
        task: &TaskId,
        after: u64,
        limit: usize,
        patience: Duration,
    ) -> Result<Vec<EventRecord>, StateError> {
        let mut left = patience;
        loop {
            let found = Self::events(self, task, after, limit)?;
            if !found.is_empty() || left.is_zero() {
                return Ok(found);
            }
            let pause = left.min(POLL);
            std::thread::sleep(pause);
            left -= pause;
        }
    }
}
