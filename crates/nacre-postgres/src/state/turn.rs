//! Changes of a task's state: taken in, given its turn, moved, cancelled.

use jiff::Timestamp;
use nacre_engine::record::state::{CancelReport, StateError, TaskRecord};
use nacre_engine::record::{
    CancelledBy, NewTask, QUEUE_CAP, Runner, SessionId, Start, TaskClass, TaskId, TaskState,
};
use tokio_postgres::Transaction;

use super::rows::{
    COLUMNS, Change, announce, append_end, enter, lock_task, lock_turn, record, settle, step,
    unknown,
};
use crate::database::{Database, DatabaseError, plain};

/// The longest title of a session, in characters.
const MAX_TITLE_CHARS: usize = 80;

/// Takes a task in; its session is made where it is missing.
pub(super) fn accept(
    database: &Database,
    task: &NewTask,
    title: &str,
    runner: &Runner,
    now: Timestamp,
) -> Result<(), StateError> {
    let NewTask { id, session, parent, project, agent, class, title: _ } = task;
    let title = plain(title);
    let session_title: String = title.chars().take(MAX_TITLE_CHARS).collect();
    let (now_us, project) = (now.as_microsecond(), project.as_deref().map(plain));
    settle(database.run(async |client| {
        let transaction = client.transaction().await?;
        lock_turn(&transaction, session, *class, project.as_deref()).await?;
        if parent.is_none() && n_waiting(&transaction, session, None).await? >= QUEUE_CAP {
            return Ok(Err(StateError::QueueFull { session: session.clone(), cap: QUEUE_CAP }));
        }
        let touch = "
INSERT INTO task_session (id, title, workspace, created, updated) VALUES ($1, $2, $3, $4, $4)
ON CONFLICT (id) DO UPDATE SET updated = greatest(task_session.updated, excluded.updated),
  title = CASE task_session.title WHEN '' THEN excluded.title ELSE task_session.title END";
        transaction.execute(touch, &[&session.as_str(), &session_title, &project, &now_us]).await?;
        let runner = enter(&transaction, runner, now).await?;
        let parent = parent.as_ref().map(TaskId::as_str);
        let sql = "
INSERT INTO task (id, session, parent, project, agent, class, title, state, runner, created)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'accepted', $8, $9)";
        let (id, session, class) = (id.as_str(), session.as_str(), class.as_str());
        transaction
            .execute(
                sql,
                &[&id, &session, &parent, &project, &agent, &class, &title, &runner, &now_us],
            )
            .await?;
        transaction.commit().await?;
        Ok(Ok(()))
    }))
}

/// Lets the task run if it is its turn, and puts it in the queue if not.
pub(super) fn find_turn(
    database: &Database,
    id: &TaskId,
    now: Timestamp,
) -> Result<Start, StateError> {
    settle(database.run(async |client| {
        let transaction = client.transaction().await?;
        let sql = format!("SELECT {COLUMNS} FROM task WHERE id = $1");
        let Some(row) = transaction.query_opt(&sql, &[&id.as_str()]).await? else {
            return Ok(Err(unknown(id)));
        };
        // Session, class and project of a task never change; its state is read again below the lock.
        let TaskRecord { session, class, project, .. } = record(&row)?;
        lock_turn(&transaction, &session, class, project.as_deref()).await?;
        let Some(task) = lock_task(&transaction, id).await? else { return Ok(Err(unknown(id))) };
        let is_free = task.parent.is_some() || is_free(&transaction, &task).await?;
        let to = if is_free { TaskState::Running } else { TaskState::Queued };
        if let Err(refused) = step(&transaction, &task, to, now).await? {
            return Ok(Err(refused));
        }
        let start = if is_free {
            Start::Now
        } else {
            Start::Waits { position: 1 + n_waiting(&transaction, &session, Some(id)).await? }
        };
        announce(&transaction, id).await?;
        transaction.commit().await?;
        Ok(Ok(start))
    }))
}

/// Moves the task to another state.
pub(super) fn go(
    database: &Database,
    id: &TaskId,
    to: TaskState,
    now: Timestamp,
) -> Result<(), StateError> {
    settle(database.run(async |client| {
        let transaction = client.transaction().await?;
        let Some(task) = lock_task(&transaction, id).await? else { return Ok(Err(unknown(id))) };
        if let Err(refused) = step(&transaction, &task, to, now).await? {
            return Ok(Err(refused));
        }
        announce(&transaction, id).await?;
        transaction.commit().await?;
        Ok(Ok(()))
    }))
}

/// Ends what waits, and asks what runs to end.
pub(super) fn cancel(
    database: &Database,
    id: &TaskId,
    by: CancelledBy,
    now: Timestamp,
) -> Result<CancelReport, StateError> {
    settle(database.run(async |client| {
        let transaction = client.transaction().await?;
        let members = family(&transaction, id).await?;
        if members.is_empty() {
            return Ok(Err(unknown(id)));
        }
        let mut report = CancelReport::default();
        for task in members {
            let by = if task.id == *id { by } else { CancelledBy::Parent };
            if let Err(refused) = cancel_one(&transaction, task, by, now, &mut report).await? {
                return Ok(Err(refused));
            }
        }
        transaction.commit().await?;
        Ok(Ok(report))
    }))
}

async fn cancel_one(
    transaction: &Transaction<'_>,
    task: TaskRecord,
    by: CancelledBy,
    now: Timestamp,
    report: &mut CancelReport,
) -> Change<()> {
    match task.state {
        TaskState::Accepted | TaskState::Queued => {
            let end = TaskState::Cancelled { by };
            if let Err(refused) = step(transaction, &task, end, now).await? {
                return Ok(Err(refused));
            }
            append_end(transaction, &task.id, end, now).await?;
            report.ended.push(task.id);
        }
        TaskState::Running => {
            let sql = "UPDATE task SET asked = coalesce(asked, $2) WHERE id = $1";
            transaction.execute(sql, &[&task.id.as_str(), &by.as_str()]).await?;
            announce(transaction, &task.id).await?;
            report.asked.push(task.id);
        }
        TaskState::Completed { .. } | TaskState::Failed { .. } | TaskState::Cancelled { .. } => {}
    }
    Ok(Ok(()))
}

/// The task and everything below it, parents before children, locked.
async fn family(
    transaction: &Transaction<'_>,
    id: &TaskId,
) -> Result<Vec<TaskRecord>, DatabaseError> {
    let sql = format!(
        "WITH RECURSIVE family (member) AS (
           SELECT id FROM task WHERE id = $1
           UNION SELECT task.id FROM task JOIN family ON task.parent = family.member)
         SELECT {COLUMNS} FROM task WHERE id IN (SELECT member FROM family) ORDER BY place FOR UPDATE"
    );
    transaction.query(&sql, &[&id.as_str()]).await?.iter().map(record).collect()
}

/// Counts the tasks of a session that wait for their own turn; those before `before`, where one is named.
pub(super) async fn n_waiting(
    client: &impl tokio_postgres::GenericClient,
    session: &SessionId,
    before: Option<&TaskId>,
) -> Result<usize, DatabaseError> {
    let sql = "
SELECT count(*) FROM task WHERE session = $1 AND parent IS NULL AND ended IS NULL AND state <> 'running'
  AND ($2::text IS NULL OR place < (SELECT place FROM task WHERE id = $2))";
    let before = before.map(TaskId::as_str);
    let n_waiting: i64 = client.query_one(sql, &[&session.as_str(), &before]).await?.get(0);
    Ok(usize::try_from(n_waiting).unwrap_or(0))
}

/// Whether nothing that runs or waits longer is in the task's way.
async fn is_free(transaction: &Transaction<'_>, task: &TaskRecord) -> Result<bool, DatabaseError> {
    let is_background = task.class == TaskClass::Background;
    let sql = "
SELECT NOT EXISTS (
  SELECT 1 FROM task AS other, task AS mine
  WHERE mine.id = $1 AND other.id <> $1 AND other.parent IS NULL AND other.ended IS NULL
    AND (other.state = 'running' OR other.place < mine.place)
    AND (other.session = mine.session
      OR ($2 AND other.class = 'background' AND other.project IS NOT DISTINCT FROM mine.project)))";
    Ok(transaction.query_one(sql, &[&task.id.as_str(), &is_background]).await?.get(0))
}
