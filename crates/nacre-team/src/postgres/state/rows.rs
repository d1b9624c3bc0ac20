//! Converts between rows and tasks, and holds statements that several operations share.

use std::collections::BTreeSet;

use jiff::Timestamp;
use nacre_engine::record::state::{StateError, TaskRecord};
use nacre_engine::record::{
    CancelledBy, Event, LEASE, Runner, SessionId, TaskClass, TaskId, TaskState,
};
use tokio_postgres::{GenericClient, Row, Transaction};

use crate::postgres::database::{DatabaseError, Result, plain};

pub(super) const COLUMNS: &str = "id, session, parent, project, agent, class, title, state, reason, asked, created, started, ended, n_events";

pub(super) fn record(row: &Row) -> Result<TaskRecord> {
    let (state, reason): (String, Option<String>) = (row.get(7), row.get(8));
    let asked: Option<String> = row.get(9);
    let parent: Option<String> = row.get(2);
    let session: String = row.get(1);
    let class: String = row.get(5);
    Ok(TaskRecord {
        id: id_of(row.get(0))?,
        session: session.parse().map_err(|_| damage_error("task session"))?,
        parent: parent.as_deref().map(id_of).transpose()?,
        project: row.get(3),
        agent: row.get(4),
        class: TaskClass::from_name(&class).ok_or(damage_error("task class"))?,
        title: row.get(6),
        state: TaskState::parse(&state, reason.as_deref()).ok_or(damage_error("task state"))?,
        asked: asked.as_deref().map(asker).transpose()?,
        created: moment(row.get(10))?,
        started: row.get::<_, Option<i64>>(11).map(moment).transpose()?,
        ended: row.get::<_, Option<i64>>(12).map(moment).transpose()?,
        n_events: row.get::<_, i64>(13).unsigned_abs(),
    })
}

pub(super) fn id_of(text: &str) -> Result<TaskId> {
    text.parse().map_err(|_| damage_error("task ID"))
}

pub(super) fn asker(word: &str) -> Result<CancelledBy> {
    CancelledBy::parse(word).ok_or(damage_error("cancellation source"))
}

pub(super) fn moment(micros: i64) -> Result<Timestamp> {
    Timestamp::from_microsecond(micros).map_err(|_| damage_error("a time"))
}

pub(super) fn damage_error(what: &'static str) -> DatabaseError {
    DatabaseError::Damaged { what }
}

pub(super) fn unknown(id: &TaskId) -> StateError {
    StateError::UnknownTask { id: id.to_string() }
}

/// The row stays locked until the transaction ends.
pub(super) async fn lock_task(
    transaction: &Transaction<'_>,
    id: &TaskId,
) -> Result<Option<TaskRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM task WHERE id = $1 FOR UPDATE");
    let row = transaction.query_opt(&sql, &[&id.as_str()]).await?;
    row.as_ref().map(record).transpose()
}

/// The rows stay locked until the transaction ends. They are always locked in the same order, which
/// prevents deadlocks.
pub(super) async fn lock_tasks(
    transaction: &Transaction<'_>,
    ids: &BTreeSet<&TaskId>,
) -> Result<Vec<TaskRecord>> {
    let ids: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
    let sql = format!("SELECT {COLUMNS} FROM task WHERE id = ANY ($1) ORDER BY place FOR UPDATE");
    transaction.query(&sql, &[&ids]).await?.iter().map(record).collect()
}

/// Serializes decisions about the same session or, for background tasks, the same project.
pub(super) async fn lock_turn(
    transaction: &Transaction<'_>,
    session: &SessionId,
    class: TaskClass,
    project: Option<&str>,
) -> Result<()> {
    let lock = "SELECT pg_advisory_xact_lock($1, hashtext($2))";
    transaction.execute(lock, &[&SESSIONS, &session.as_str()]).await?;
    if class == TaskClass::Background {
        transaction.execute(lock, &[&PROJECTS, &project.unwrap_or_default()]).await?;
    }
    Ok(())
}

const SESSIONS: i32 = 0x6e61_6301;
const PROJECTS: i32 = 0x6e61_6302;

pub(super) async fn step(
    transaction: &Transaction<'_>,
    task: &TaskRecord,
    to: TaskState,
    now: Timestamp,
) -> Result<()> {
    if task.state.go(to).map_err(StateError::from)? == task.state {
        return Ok(());
    }
    let now = now.as_microsecond();
    let started = (to == TaskState::Running).then_some(now);
    let ended = to.is_terminal().then_some(now);
    let sql = "UPDATE task SET state = $2, reason = $3, started = coalesce(started, $4), ended = $5 WHERE id = $1";
    let values: (&str, &str, Option<&str>) = (task.id.as_str(), to.as_str(), to.reason());
    transaction.execute(sql, &[&values.0, &values.1, &values.2, &started, &ended]).await?;
    Ok(())
}

/// Inserts an event and returns the number of rows inserted: 0 for a duplicate.
pub(super) async fn insert_event(
    transaction: &Transaction<'_>,
    task: &TaskId,
    sequence: u64,
    at: Timestamp,
    name: &str,
    json: &str,
) -> Result<u64> {
    let sequence = i64::try_from(sequence).unwrap_or(i64::MAX);
    let sql = "INSERT INTO event (task, sequence, at, name, fields) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
    let json = plain(json);
    let at = at.as_microsecond();
    Ok(transaction.execute(sql, &[&task.as_str(), &sequence, &at, &name, &json]).await?)
}

pub(super) async fn append_end(
    transaction: &Transaction<'_>,
    task: &TaskId,
    state: TaskState,
    at: Timestamp,
) -> Result<()> {
    let last = "SELECT coalesce(max(sequence), 0) FROM event WHERE task = $1";
    let last: i64 = transaction.query_one(last, &[&task.as_str()]).await?.get(0);
    let event = Event::TaskState(state);
    let json = serde_json::to_string(&event).unwrap_or_default();
    insert_event(transaction, task, last.unsigned_abs() + 1, at, event.name(), &json).await?;
    let count = "UPDATE task SET n_events = n_events + 1 WHERE id = $1";
    transaction.execute(count, &[&task.as_str()]).await?;
    Ok(())
}

pub(super) async fn enter(
    client: &impl GenericClient,
    runner: &Runner,
    now: Timestamp,
) -> Result<i64> {
    let lease =
        now.as_microsecond().saturating_add(i64::try_from(LEASE.as_micros()).unwrap_or(i64::MAX));
    let sql = "
INSERT INTO runner (host, pid, birth, lease_until) VALUES ($1, $2, $3, $4)
ON CONFLICT (host, pid, birth) DO UPDATE SET lease_until = greatest(runner.lease_until, excluded.lease_until) RETURNING id";
    let values = (&runner.host, i64::from(runner.pid), &runner.birth);
    let row = client.query_one(sql, &[values.0, &values.1, values.2, &lease]).await?;
    Ok(row.get(0))
}
