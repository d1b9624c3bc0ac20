//! Tasks as they are shown, signs of life, and what dead runners left behind.

use jiff::Timestamp;
use nacre_engine::record::state::{StateError, TaskRecord};
use nacre_engine::record::{CancelledBy, Failure, Life, Runner, SessionId, TaskId, TaskState};

use super::rows::{
    COLUMNS, append_end, asker, enter, id_of, moment, record, settle, step, unknown,
};
use super::turn::n_waiting;
use crate::database::{Database, DatabaseError};

/// Gives a sign of life, and returns which tasks of this runner somebody wants stopped.
pub(super) fn beat(
    database: &Database,
    runner: &Runner,
    now: Timestamp,
) -> Result<Vec<(TaskId, CancelledBy)>, StateError> {
    let asked = database.run(async |client| {
        let runner = enter(client, runner, now).await?;
        let sql = "SELECT id, asked FROM task WHERE ended IS NULL AND runner = $1 AND asked IS NOT NULL ORDER BY place";
        let rows = client.query(sql, &[&runner]).await?;
        rows.iter().map(|row| Ok((id_of(row.get(0))?, asker(row.get(1))?))).collect()
    })?;
    Ok(asked)
}

/// Marks the unfinished tasks of runners that are gone as `failed(restarted)`.
pub(super) fn clear_dead(
    database: &Database,
    here: &Runner,
    now: Timestamp,
) -> Result<Vec<TaskId>, StateError> {
    let gone = gone_runners(database, here, now)?;
    if gone.is_empty() {
        return Ok(Vec::new());
    }
    settle(database.run(async |client| {
        let transaction = client.transaction().await?;
        // A runner that gave a sign of life meanwhile is not gone.
        let sql = format!(
            "SELECT {COLUMNS} FROM task WHERE ended IS NULL AND (runner, (SELECT lease_until FROM runner WHERE runner.id = task.runner))
               IN (SELECT * FROM unnest($1::bigint[], $2::bigint[])) ORDER BY place FOR UPDATE OF task"
        );
        let (keys, leases): (Vec<i64>, Vec<i64>) = gone.iter().copied().unzip();
        let mut cleared = Vec::new();
        for row in transaction.query(&sql, &[&keys, &leases]).await? {
            let task = record(&row)?;
            let end = TaskState::Failed { why: Failure::Restarted };
            if let Err(refused) = step(&transaction, &task, end, now).await? {
                return Ok(Err(refused));
            }
            append_end(&transaction, &task.id, end, now).await?;
            cleared.push(task.id);
        }
        transaction.commit().await?;
        Ok(Ok(cleared))
    }))
}

/// The runners with unfinished tasks that are gone: seen to be, or silent for longer than their lease. With the lease that was seen.
fn gone_runners(
    database: &Database,
    here: &Runner,
    now: Timestamp,
) -> Result<Vec<(i64, i64)>, DatabaseError> {
    let rows = database.run(async |client| {
        let sql = "SELECT id, host, pid, birth, lease_until FROM runner WHERE id IN (SELECT runner FROM task WHERE ended IS NULL)";
        Ok(client.query(sql, &[]).await?)
    })?;
    let mut gone = Vec::new();
    for row in rows {
        let pid = u32::try_from(row.get::<_, i64>(2)).unwrap_or(0);
        let runner = Runner { host: row.get(1), pid, birth: row.get(3) };
        let lease: i64 = row.get(4);
        let is_gone = match runner.look_from(here) {
            Life::Alive => false,
            Life::Gone => true,
            Life::Unknown => moment(lease)? < now,
        };
        if is_gone {
            gone.push((row.get(0), lease));
        }
    }
    Ok(gone)
}

pub(super) fn task(database: &Database, id: &TaskId) -> Result<TaskRecord, StateError> {
    let found = database.run(async |client| {
        let sql = format!("SELECT {COLUMNS} FROM task WHERE id = $1");
        let row = client.query_opt(&sql, &[&id.as_str()]).await?;
        row.as_ref().map(record).transpose()
    })?;
    found.ok_or_else(|| unknown(id))
}

/// The task whose id begins with `start`, with or without `task_`.
pub(super) fn find_task(database: &Database, start: &str) -> Result<TaskRecord, StateError> {
    let whole = if start.starts_with(TaskId::PREFIX) {
        start.to_owned()
    } else {
        format!("{}{start}", TaskId::PREFIX)
    };
    let is_plain = whole.len() > TaskId::PREFIX.len()
        && whole.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_plain {
        return Err(StateError::UnknownTask { id: start.chars().take(60).collect() });
    }
    let found: Vec<TaskRecord> = database.run(async |client| {
        let sql = format!("SELECT {COLUMNS} FROM task WHERE starts_with(id, $1) ORDER BY id");
        client.query(&sql, &[&whole]).await?.iter().map(record).collect()
    })?;
    let n_found = found.len();
    let is_exact = found.first().is_some_and(|task| task.id.as_str() == whole);
    match found.into_iter().next() {
        Some(task) if n_found == 1 || is_exact => Ok(task),
        Some(_) => Err(StateError::Ambiguous { id: start.to_owned(), n_found }),
        None => Err(StateError::UnknownTask { id: start.to_owned() }),
    }
}

/// The latest tasks, the newest first.
pub(super) fn tasks(database: &Database, limit: usize) -> Result<Vec<TaskRecord>, StateError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let found = database.run(async |client| {
        let sql = format!("SELECT {COLUMNS} FROM task ORDER BY place DESC LIMIT $1");
        client.query(&sql, &[&limit]).await?.iter().map(record).collect()
    })?;
    Ok(found)
}

/// The task of a session that runs, and how many wait for their turn.
pub(super) fn unfinished(
    database: &Database,
    session: &SessionId,
) -> Result<(Option<TaskId>, usize), StateError> {
    let found = database.run(async |client| {
        let sql = "
SELECT id FROM task WHERE session = $1 AND parent IS NULL AND ended IS NULL AND state = 'running' ORDER BY place LIMIT 1";
        let row = client.query_opt(sql, &[&session.as_str()]).await?;
        let running = row.map(|row| id_of(row.get(0))).transpose()?;
        Ok((running, n_waiting(client, session, None).await?))
    })?;
    Ok(found)
}
