//! Tasks and events that several servers share.
//!
//! The rules are those of the file of one machine. Whose turn it is is decided under a lock of the session and, in the background, of the
//! project; what was told is announced on one channel, so that whoever follows a task on another server need not ask again and again.

mod append;
mod rows;
mod tasks;
mod turn;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_core::base::redact::ExtraWords;
use nacre_engine::record::state::{BatchReport, CancelReport, EventRecord, StateError};
use nacre_engine::record::state::{TaskRecord, TaskStore};
use nacre_engine::record::{
    CancelledBy, NewTask, Record, Runner, SessionId, Start, TaskId, TaskState,
};

use crate::database::{Database, DatabaseError};

/// Where changes of tasks are announced, by the id of the task.
const CHANNEL: &str = "nacre_task";

/// Tasks and events in PostgreSQL.
#[derive(Clone, Debug)]
pub struct SharedState {
    database: Database,
    words: ExtraWords,
}

impl SharedState {
    /// The state of a database whose schema is up to date.
    pub fn open(database: &Database) -> Result<Self, DatabaseError> {
        database.check_schema()?;
        Ok(Self { database: database.clone(), words: ExtraWords::default() })
    }

    /// The same state; what is written through it contains no word of the list.
    #[must_use]
    pub fn without_words(self, words: ExtraWords) -> Self {
        Self { words, ..self }
    }
}

impl TaskStore for SharedState {
    fn accept(
        &mut self,
        task: &NewTask,
        runner: &Runner,
        now: Timestamp,
    ) -> Result<(), StateError> {
        let title = self.words.redact(&task.title).into_owned();
        turn::accept(&self.database, task, &title, runner, now)
    }

    fn start(&mut self, id: &TaskId, runner: &Runner, now: Timestamp) -> Result<Start, StateError> {
        if turn::find_turn(&self.database, id, now)? == Start::Now {
            return Ok(Start::Now);
        }
        self.clear_dead(runner, now)?;
        turn::find_turn(&self.database, id, now)
    }

    fn go(&mut self, id: &TaskId, to: TaskState, now: Timestamp) -> Result<(), StateError> {
        turn::go(&self.database, id, to, now)
    }

    fn cancel(
        &mut self,
        id: &TaskId,
        by: CancelledBy,
        now: Timestamp,
    ) -> Result<CancelReport, StateError> {
        turn::cancel(&self.database, id, by, now)
    }

    fn beat(
        &mut self,
        runner: &Runner,
        now: Timestamp,
    ) -> Result<Vec<(TaskId, CancelledBy)>, StateError> {
        tasks::beat(&self.database, runner, now)
    }

    fn clear_dead(&mut self, here: &Runner, now: Timestamp) -> Result<Vec<TaskId>, StateError> {
        tasks::clear_dead(&self.database, here, now)
    }

    fn task(&self, id: &TaskId) -> Result<TaskRecord, StateError> {
        tasks::task(&self.database, id)
    }

    fn find_task(&self, start: &str) -> Result<TaskRecord, StateError> {
        tasks::find_task(&self.database, start)
    }

    fn tasks(&self, limit: usize) -> Result<Vec<TaskRecord>, StateError> {
        tasks::tasks(&self.database, limit)
    }

    fn unfinished(&self, session: &SessionId) -> Result<(Option<TaskId>, usize), StateError> {
        tasks::unfinished(&self.database, session)
    }

    fn append(&mut self, records: &[Arc<Record>]) -> Result<BatchReport, StateError> {
        append::append(&self.database, records, &self.words)
    }

    fn events(
        &self,
        task: &TaskId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<EventRecord>, StateError> {
        Ok(append::events(&self.database, task, after, limit)?)
    }

    /// Listens before it looks, so that nothing can come in between.
    fn wait_for_events(
        &self,
        task: &TaskId,
        after: u64,
        limit: usize,
        patience: Duration,
    ) -> Result<Vec<EventRecord>, StateError> {
        let found = append::events(&self.database, task, after, limit)?;
        if !found.is_empty() || patience.is_zero() {
            return Ok(found);
        }
        let mut notifications = self.database.listen(CHANNEL)?;
        let mut left = patience;
        loop {
            let found = append::events(&self.database, task, after, limit)?;
            if !found.is_empty() || left.is_zero() {
                return Ok(found);
            }
            left = notifications.wait_for(task.as_str(), left)?;
        }
    }
}
