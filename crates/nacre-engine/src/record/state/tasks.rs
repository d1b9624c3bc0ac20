//! Stores tasks and their state changes, and cleans up after a crash.
//!
//! A transaction over all processes' tasks decides which task may start. Queued tasks have one
//! global order and wait only for earlier tasks, so they cannot deadlock.

use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Connection, Row, params};
use serde_json::Value;

use crate::record::state::db::{
    Result, State, StateError, bad, count, execute, json, parse_column, parse_optional_column, row,
    rows, sql_limit, time, time_if_set, whole,
};
use crate::record::{
    CancelledBy, Event, Failure, LEASE, Life, NewTask, QUEUE_CAP, Record, Runner, SessionId, Start,
    TaskClass, TaskId, TaskState,
};

const COLUMNS: &str = "id, session, parent, project, agent, class, title, state, reason, asked, created, started, ended, n_events";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRecord {
    pub id: TaskId,
    pub session: SessionId,
    pub parent: Option<TaskId>,
    pub project: Option<String>,
    pub agent: String,
    pub class: TaskClass,
    pub title: String,
    pub state: TaskState,
    /// Who requested that the task be cancelled, if anyone did.
    pub asked: Option<CancelledBy>,
    pub created: Timestamp,
    pub started: Option<Timestamp>,
    pub ended: Option<Timestamp>,
    pub n_events: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CancelReport {
    pub ended: Vec<TaskId>,
    /// Running tasks that were asked to stop. Their runners will end them.
    pub asked: Vec<TaskId>,
}

/// A stored event. The fields are kept as JSON because newer versions may have written unknown
/// event kinds.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecord {
    pub sequence: u64,
    pub at: Timestamp,
    pub name: String,
    pub fields: Value,
}

impl EventRecord {
    pub fn state(&self) -> Option<TaskState> {
        if self.name != "task.state" {
            return None;
        }
        serde_json::from_value(self.fields.clone()).ok()
    }

    pub fn is_terminal(&self) -> bool {
        self.state().is_some_and(TaskState::is_terminal)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchReport {
    pub n_written: u64,
    /// Number of events rejected because their task had ended or had never been accepted.
    pub n_refused: u64,
}

impl State {
    pub(super) fn gone_without_last_message(
        &self,
        here: &Runner,
        now: Timestamp,
    ) -> Result<Vec<i64>> {
        let which = format!("id IN (SELECT runner FROM task WHERE {WITHOUT_LAST_MESSAGE})");
        Ok(dead(self.read(|connection| runners(connection, &which))?, here, now))
    }
}

impl TaskStore for State {
    fn accept(&mut self, task: &NewTask, runner: &Runner, now: Timestamp) -> Result<()> {
        let title = self.words().redact(&task.title).into_owned();
        self.write(|transaction| {
            let NewTask { id, session, parent, project, agent, class, title: _ } = task;
            if parent.is_none() && n_waiting(transaction, session, None)? >= QUEUE_CAP {
                return Err(StateError::QueueFull { session: session.clone(), cap: QUEUE_CAP });
            }
            super::sessions::touch(transaction, session, &title, project.as_deref(), now)?;
            let runner = enter(transaction, runner, now)?;
            let parent = parent.as_ref().map(TaskId::as_str);
            execute(transaction, "INSERT INTO task (id, session, parent, project, agent, class, title, state, runner, created)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'accepted', ?8, ?9)", params![
                id.as_str(), session.as_str(), parent, project, agent, class.as_str(), title, runner,
                now.as_microsecond()
            ])?;
            Ok(())
        })
    }

    fn find_turn(&mut self, id: &TaskId, now: Timestamp) -> Result<Start> {
        self.write(|transaction| {
            let task = get(transaction, id)?;
            let is_free = task.parent.is_some() || is_free(transaction, &task)?;
            if is_free {
                step(transaction, &task, TaskState::Running, now)?;
                return Ok(Start::Now);
            }
            step(transaction, &task, TaskState::Queued, now)?;
            let position = 1 + n_waiting(transaction, &task.session, Some(id))?;
            Ok(Start::Waits { position })
        })
    }

    fn go(&mut self, id: &TaskId, to: TaskState, now: Timestamp) -> Result<()> {
        self.write(|transaction| step(transaction, &get(transaction, id)?, to, now))
    }

    fn cancel(&mut self, id: &TaskId, by: CancelledBy, now: Timestamp) -> Result<CancelReport> {
        self.write(|transaction| {
            let mut report = CancelReport::default();
            for task in family(transaction, id)? {
                let by = if task.id == *id { by } else { CancelledBy::Parent };
                match task.state {
                    TaskState::Accepted | TaskState::Queued => {
                        let end = TaskState::Cancelled { by };
                        step(transaction, &task, end, now)?;
                        append_end(transaction, &task.id, end, now)?;
                        report.ended.push(task.id);
                    }
                    TaskState::Running => {
                        let sql = "UPDATE task SET asked = coalesce(asked, ?2) WHERE id = ?1";
                        transaction.execute(sql, [task.id.as_str(), by.as_str()])?;
                        report.asked.push(task.id);
                    }
                    TaskState::Completed { .. }
                    | TaskState::Failed { .. }
                    | TaskState::Cancelled { .. } => {}
                }
            }
            Ok(report)
        })
    }

    fn beat(&mut self, runner: &Runner, now: Timestamp) -> Result<Vec<(TaskId, CancelledBy)>> {
        self.write(|transaction| {
            let runner = enter(transaction, runner, now)?;
            let sql = "SELECT id, asked FROM task WHERE ended IS NULL AND runner = ?1 AND asked IS NOT NULL ORDER BY place";
            rows(transaction, sql, [runner], |row| {
                Ok((parse_column(row, 0, "not an id")?, parse_column(row, 1, "not a state")?))
            })
        })
    }

    fn clear_dead(&mut self, here: &Runner, now: Timestamp) -> Result<Vec<TaskId>> {
        let gone = dead(self.read(|connection| runners(connection, BUSY))?, here, now);
        if gone.is_empty() {
            return Ok(Vec::new());
        }
        self.write(|transaction| {
            let mut cleared = Vec::new();
            for key in gone {
                let sql = format!(
                    "SELECT {COLUMNS} FROM task WHERE ended IS NULL AND runner = ?1 ORDER BY place"
                );
                let tasks: Vec<TaskRecord> = rows(transaction, &sql, [key], record)?;
                for task in tasks {
                    let end = TaskState::Failed { why: Failure::Restarted };
                    step(transaction, &task, end, now)?;
                    append_end(transaction, &task.id, end, now)?;
                    cleared.push(task.id);
                }
            }
            Ok(cleared)
        })
    }

    fn task(&self, id: &TaskId) -> Result<TaskRecord> {
        self.read(|connection| get(connection, id))
    }

    fn tasks_with_prefix(&self, prefix: &str) -> Result<Vec<TaskRecord>> {
        self.read(|connection| {
            // In ASCII, `{` follows `z`, so it is the upper bound for IDs with this prefix.
            let sql = format!(
                "SELECT {COLUMNS} FROM task WHERE id >= ?1 AND id < ?1 || '{{' ORDER BY id"
            );
            rows(connection, &sql, [prefix], record)
        })
    }

    fn tasks(&self, limit: usize) -> Result<Vec<TaskRecord>> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM task ORDER BY place DESC LIMIT ?1");
            rows(connection, &sql, [sql_limit(limit)], record)
        })
    }

    fn find_unfinished(&self, session: &SessionId) -> Result<(Option<TaskId>, usize)> {
        self.read(|connection| {
            let running = row(connection, "SELECT id FROM task WHERE session = ?1 AND parent IS NULL AND ended IS NULL AND state = 'running'
                     ORDER BY place LIMIT 1", [session.as_str()], |row| parse_column(row, 0, "not an id"))?;
            Ok((running, n_waiting(connection, session, None)?))
        })
    }

    fn append(&mut self, records: &[Arc<Record>]) -> Result<BatchReport> {
        self.append_records(records)
    }

    fn events(&self, task: &TaskId, after: u64, limit: usize) -> Result<Vec<EventRecord>> {
        self.read(|connection| {
            let sql =
                "SELECT sequence, at, name, fields FROM event WHERE task = ?1 AND sequence > ?2
                 ORDER BY sequence LIMIT ?3";
            rows(connection, sql, params![task.as_str(), whole(after), sql_limit(limit)], |row| {
                Ok(EventRecord {
                    sequence: count(row, 0)?,
                    at: time(row, 1)?,
                    name: row.get(2)?,
                    fields: json(row, 3, "not an event")?,
                })
            })
        })
    }
}

/// Inserts an event and returns the number of new rows. Duplicates are ignored.
pub(super) fn insert(
    connection: &Connection,
    task: &TaskId,
    sequence: u64,
    at: Timestamp,
    name: &str,
    json: &str,
) -> Result<u64> {
    let n_new = execute(
        connection,
        "INSERT OR IGNORE INTO event (task, sequence, at, name, fields) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![task.as_str(), whole(sequence), at.as_microsecond(), name, json],
    )?;
    Ok(n_new as u64)
}

pub(super) fn append_end(
    connection: &Connection,
    task: &TaskId,
    state: TaskState,
    at: Timestamp,
) -> Result<()> {
    let last: i64 = connection
        .prepare_cached("SELECT coalesce(max(sequence), 0) FROM event WHERE task = ?1")?
        .query_row([task.as_str()], |row| row.get(0))?;
    let event = Event::TaskState(state);
    let json = serde_json::to_string(&event).unwrap_or_default();
    insert(connection, task, last.unsigned_abs() + 1, at, event.name(), &json)?;
    execute(connection, "UPDATE task SET n_events = n_events + 1 WHERE id = ?1", [task.as_str()])?;
    Ok(())
}

fn n_waiting(
    connection: &Connection,
    session: &SessionId,
    before: Option<&TaskId>,
) -> Result<usize> {
    let n_waiting: i64 = connection
        .prepare_cached(
            "SELECT count(*) FROM task WHERE session = ?1 AND parent IS NULL AND ended IS NULL AND state <> 'running'
             AND (?2 IS NULL OR place < (SELECT place FROM task WHERE id = ?2))",
        )?
        .query_row(params![session.as_str(), before.map(TaskId::as_str)], |row| row.get(0))?;
    Ok(usize::try_from(n_waiting).unwrap_or(0))
}

fn is_free(connection: &Connection, task: &TaskRecord) -> Result<bool> {
    let blocked: bool = connection
        .prepare_cached(
            "SELECT EXISTS (
               SELECT 1 FROM task AS other, task AS mine
               WHERE mine.id = ?1 AND other.id <> ?1 AND other.parent IS NULL AND other.ended IS NULL
                 AND (other.state = 'running' OR other.place < mine.place)
                 AND (other.session = mine.session
                   OR (other.class = 'background' AND mine.class = 'background' AND other.project IS mine.project)))",
        )?
        .query_row([task.id.as_str()], |row| row.get(0))?;
    Ok(!blocked)
}

pub(super) fn step(
    connection: &Connection,
    task: &TaskRecord,
    to: TaskState,
    now: Timestamp,
) -> Result<()> {
    if task.state.go(to)? == task.state {
        return Ok(());
    }
    let now = now.as_microsecond();
    let started = (to == TaskState::Running).then_some(now);
    let ended = to.is_terminal().then_some(now);
    execute(
        connection,
        "UPDATE task SET state = ?2, reason = ?3, started = coalesce(started, ?4), ended = ?5 WHERE id = ?1",
        params![task.id.as_str(), to.as_str(), to.reason(), started, ended],
    )?;
    Ok(())
}

pub(super) fn get(connection: &Connection, id: &TaskId) -> Result<TaskRecord> {
    find(connection, id)?.ok_or_else(|| StateError::UnknownTask { id: id.to_string() })
}

pub(super) fn find(connection: &Connection, id: &TaskId) -> Result<Option<TaskRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM task WHERE id = ?1");
    row(connection, &sql, [id.as_str()], record)
}

pub(super) fn adopt(
    connection: &Connection,
    parent: &TaskRecord,
    child: &TaskId,
    agent: &str,
    now: Timestamp,
) -> Result<()> {
    execute(connection, "INSERT INTO task (id, session, parent, project, agent, class, title, state, runner, created, started)
             SELECT ?1, session, id, project, ?3, class, title, 'running', runner, ?4, ?4 FROM task WHERE id = ?2
             ON CONFLICT (id) DO NOTHING", params![child.as_str(), parent.id.as_str(), agent, now.as_microsecond()])?;
    Ok(())
}

fn family(connection: &Connection, id: &TaskId) -> Result<Vec<TaskRecord>> {
    let sql = format!(
        "WITH RECURSIVE family (member) AS (
           SELECT id FROM task WHERE id = ?1
           UNION SELECT task.id FROM task JOIN family ON task.parent = family.member)
         SELECT {COLUMNS} FROM task WHERE id IN family ORDER BY place"
    );
    let members: Vec<TaskRecord> = rows(connection, &sql, [id.as_str()], record)?;
    match members.is_empty() {
        true => Err(StateError::UnknownTask { id: id.to_string() }),
        false => Ok(members),
    }
}

fn enter(connection: &Connection, runner: &Runner, now: Timestamp) -> Result<i64> {
    let lease =
        now.as_microsecond().saturating_add(i64::try_from(LEASE.as_micros()).unwrap_or(i64::MAX));
    Ok(connection
        .prepare_cached(
            "INSERT INTO runner (host, pid, birth, lease_until) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (host, pid, birth) DO UPDATE SET lease_until = max(lease_until, excluded.lease_until)
             RETURNING id",
        )?
        .query_row(params![runner.host, runner.pid, runner.birth, lease], |row| row.get(0))?)
}

const BUSY: &str = "id IN (SELECT runner FROM task WHERE ended IS NULL)";

fn runners(connection: &Connection, which: &str) -> Result<Vec<(i64, Runner, Timestamp)>> {
    let sql = format!("SELECT id, host, pid, birth, lease_until FROM runner WHERE {which}");
    rows(connection, &sql, [], |row| {
        let runner = Runner { host: row.get(1)?, pid: row.get(2)?, birth: row.get(3)? };
        Ok((row.get(0)?, runner, time(row, 4)?))
    })
}

fn dead(runners: Vec<(i64, Runner, Timestamp)>, here: &Runner, now: Timestamp) -> Vec<i64> {
    let is_gone = |(_, runner, lease): &(i64, Runner, Timestamp)| match runner.look_from(here) {
        Life::Alive => false,
        Life::Gone => true,
        Life::Unknown => *lease < now,
    };
    runners.into_iter().filter(is_gone).map(|(key, ..)| key).collect()
}

const WITHOUT_LAST_MESSAGE: &str = "ended IS NOT NULL AND parent IS NULL
  AND session IN (SELECT id FROM session WHERE is_conversation = 1)
  AND NOT coalesce(
    (SELECT is_last FROM message WHERE message.task = task.id ORDER BY sequence DESC LIMIT 1), 0)";

pub(super) fn without_last_message(
    connection: &Connection,
    runner: i64,
) -> Result<Vec<TaskRecord>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM task WHERE runner = ?1 AND {WITHOUT_LAST_MESSAGE} ORDER BY place"
    );
    rows(connection, &sql, [runner], record)
}

fn record(row: &Row<'_>) -> rusqlite::Result<TaskRecord> {
    let (state, reason): (String, Option<String>) = (row.get(7)?, row.get(8)?);
    Ok(TaskRecord {
        id: parse_column(row, 0, "not an id")?,
        session: parse_column(row, 1, "not an id")?,
        parent: parse_optional_column(row, 2, "not an id")?,
        project: row.get(3)?,
        agent: row.get(4)?,
        class: parse_column(row, 5, "not a state")?,
        title: row.get(6)?,
        state: TaskState::parse(&state, reason.as_deref()).ok_or_else(|| bad(7, "not a state"))?,
        asked: parse_optional_column(row, 9, "not a state")?,
        created: time(row, 10)?,
        started: time_if_set(row, 11)?,
        ended: time_if_set(row, 12)?,
        n_events: count(row, 13)?,
    })
}

/// A task store that allows one running task per session and one background task per project,
/// across all processes.
pub trait TaskStore {
    /// Adds a task, and creates its session if it is missing.
    fn accept(&mut self, task: &NewTask, runner: &Runner, now: Timestamp) -> Result<()>;

    fn start(&mut self, id: &TaskId, runner: &Runner, now: Timestamp) -> Result<Start> {
        if self.find_turn(id, now)? == Start::Now {
            return Ok(Start::Now);
        }
        self.clear_dead(runner, now)?;
        self.find_turn(id, now)
    }

    /// Starts the task if no earlier task is running or queued, and queues it otherwise.
    fn find_turn(&mut self, id: &TaskId, now: Timestamp) -> Result<Start>;

    /// Changes the state of the task. Setting the current state again has no effect.
    fn go(&mut self, id: &TaskId, to: TaskState, now: Timestamp) -> Result<()>;

    /// Cancels the task and its descendants: ends those that are queued, and asks running ones to
    /// stop.
    fn cancel(&mut self, id: &TaskId, by: CancelledBy, now: Timestamp) -> Result<CancelReport>;

    /// Renews the runner's lease, and returns which of its tasks should be cancelled.
    fn beat(&mut self, runner: &Runner, now: Timestamp) -> Result<Vec<(TaskId, CancelledBy)>>;

    /// Marks the unfinished tasks of dead runners as `failed(restarted)` and returns them.
    fn clear_dead(&mut self, here: &Runner, now: Timestamp) -> Result<Vec<TaskId>>;

    fn task(&self, id: &TaskId) -> Result<TaskRecord>;

    /// Finds the task whose ID begins with `start`, with or without the `task_` prefix.
    fn find_task(&self, start: &str) -> Result<TaskRecord> {
        let rest = start.strip_prefix(TaskId::PREFIX).unwrap_or(start);
        let whole = format!("{}{rest}", TaskId::PREFIX);
        let is_plain = rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if rest.is_empty() || !is_plain {
            return Err(StateError::UnknownTask { id: start.chars().take(60).collect() });
        }
        let found = self.tasks_with_prefix(&whole)?;
        let n_found = found.len();
        let is_exact = found.first().is_some_and(|task| task.id.as_str() == whole);
        match found.into_iter().next() {
            Some(task) if n_found == 1 || is_exact => Ok(task),
            Some(_) => Err(StateError::Ambiguous { id: start.to_owned(), n_found }),
            None => Err(StateError::UnknownTask { id: start.to_owned() }),
        }
    }

    /// Returns the tasks whose IDs begin with `prefix`, sorted by ID.
    fn tasks_with_prefix(&self, prefix: &str) -> Result<Vec<TaskRecord>>;

    fn tasks(&self, limit: usize) -> Result<Vec<TaskRecord>>;

    /// Returns the session's running task and the number of its queued tasks.
    fn find_unfinished(&self, session: &SessionId) -> Result<(Option<TaskId>, usize)>;

    fn append(&mut self, records: &[Arc<Record>]) -> Result<BatchReport>;

    fn events(&self, task: &TaskId, after: u64, limit: usize) -> Result<Vec<EventRecord>>;
}
