//! Stores tasks and events that several servers share, by the same rules as the local state file.
//! Tasks are ordered by locks: one per session and, for background tasks, one per project.

mod append;
mod rows;

use std::sync::Arc;

use jiff::Timestamp;
use nacre_base::redact::ExtraWords;
use nacre_engine::record::state::{
    BatchReport, CancelReport, EventRecord, Result, StateError, TaskRecord, TaskStore,
};
use nacre_engine::record::{
    CancelledBy, Failure, Life, NewTask, QUEUE_CAP, Record, Runner, SessionId, Start, TaskClass,
    TaskId, TaskState,
};
use tokio_postgres::{GenericClient, Transaction};

use self::rows::{
    COLUMNS, append_end, asker, enter, id_of, lock_task, lock_turn, moment, record, step, unknown,
};
use crate::postgres::database::{Database, DatabaseError, plain};

const MAX_TITLE_CHARS: usize = 80;

#[derive(Clone, Debug)]
pub struct SharedState {
    database: Database,
    words: ExtraWords,
}

impl SharedState {
    pub fn open(database: &Database) -> Result<Self, DatabaseError> {
        database.check_schema()?;
        Ok(Self { database: database.clone(), words: ExtraWords::default() })
    }

    /// Redacts these words in everything written through the returned value.
    #[must_use]
    pub fn without_words(self, words: ExtraWords) -> Self {
        Self { words, ..self }
    }

    /// Returns runners that have exited or whose lease has expired, if they have unfinished tasks.
    /// Each runner is returned with the lease time that was read.
    fn gone_runners(
        &self,
        here: &Runner,
        now: Timestamp,
    ) -> Result<Vec<(i64, i64)>, DatabaseError> {
        let sql = "SELECT id, host, pid, birth, lease_until FROM runner WHERE id IN (SELECT runner FROM task WHERE ended IS NULL)";
        let mut gone = Vec::new();
        for row in self.database.query(sql, &[])? {
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
}

impl TaskStore for SharedState {
    fn accept(&mut self, task: &NewTask, runner: &Runner, now: Timestamp) -> Result<()> {
        let NewTask { id, session, parent, project, agent, class, title: _ } = task;
        let title = plain(&self.words.redact(&task.title));
        let session_title: String = title.chars().take(MAX_TITLE_CHARS).collect();
        let (now_us, project) = (now.as_microsecond(), project.as_deref().map(plain));
        Ok(self.database.run(async |client| {
            let transaction = client.transaction().await?;
            lock_turn(&transaction, session, *class, project.as_deref()).await?;
            if parent.is_none() && n_waiting(&transaction, session, None).await? >= QUEUE_CAP {
                let (session, cap) = (session.clone(), QUEUE_CAP);
                return Err(StateError::QueueFull { session, cap }.into());
            }
            let touch = "
    INSERT INTO task_session (id, title, workspace, created, updated) VALUES ($1, $2, $3, $4, $4)
    ON CONFLICT (id) DO UPDATE SET updated = greatest(task_session.updated, excluded.updated),
      title = CASE task_session.title WHEN '' THEN excluded.title ELSE task_session.title END";
            transaction
                .execute(touch, &[&session.as_str(), &session_title, &project, &now_us])
                .await?;
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
            Ok(())
        })?)
    }

    fn find_turn(&mut self, id: &TaskId, now: Timestamp) -> Result<Start> {
        Ok(self.database.run(async |client| {
            let transaction = client.transaction().await?;
            let sql = format!("SELECT {COLUMNS} FROM task WHERE id = $1");
            let row = transaction.query_opt(&sql, &[&id.as_str()]).await?;
            // A task's session, class and project never change. The task's state is read again
            // while the lock is held.
            let TaskRecord { session, class, project, .. } =
                record(&row.ok_or_else(|| unknown(id))?)?;
            lock_turn(&transaction, &session, class, project.as_deref()).await?;
            let task = lock_task(&transaction, id).await?.ok_or_else(|| unknown(id))?;
            let is_free = task.parent.is_some() || is_free(&transaction, &task).await?;
            let to = if is_free { TaskState::Running } else { TaskState::Queued };
            step(&transaction, &task, to, now).await?;
            let start = if is_free {
                Start::Now
            } else {
                Start::Waits { position: 1 + n_waiting(&transaction, &session, Some(id)).await? }
            };
            transaction.commit().await?;
            Ok(start)
        })?)
    }

    fn go(&mut self, id: &TaskId, to: TaskState, now: Timestamp) -> Result<()> {
        Ok(self.database.run(async |client| {
            let transaction = client.transaction().await?;
            let task = lock_task(&transaction, id).await?.ok_or_else(|| unknown(id))?;
            step(&transaction, &task, to, now).await?;
            transaction.commit().await?;
            Ok(())
        })?)
    }

    fn cancel(&mut self, id: &TaskId, by: CancelledBy, now: Timestamp) -> Result<CancelReport> {
        Ok(self.database.run(async |client| {
            let transaction = client.transaction().await?;
            let members = family(&transaction, id).await?;
            if members.is_empty() {
                return Err(unknown(id).into());
            }
            let mut report = CancelReport::default();
            for task in members {
                let by = if task.id == *id { by } else { CancelledBy::Parent };
                match task.state {
                    TaskState::Accepted | TaskState::Queued => {
                        let end = TaskState::Cancelled { by };
                        step(&transaction, &task, end, now).await?;
                        append_end(&transaction, &task.id, end, now).await?;
                        report.ended.push(task.id);
                    }
                    TaskState::Running => {
                        let sql = "UPDATE task SET asked = coalesce(asked, $2) WHERE id = $1";
                        transaction.execute(sql, &[&task.id.as_str(), &by.as_str()]).await?;
                        report.asked.push(task.id);
                    }
                    TaskState::Completed { .. }
                    | TaskState::Failed { .. }
                    | TaskState::Cancelled { .. } => {}
                }
            }
            transaction.commit().await?;
            Ok(report)
        })?)
    }

    fn beat(&mut self, runner: &Runner, now: Timestamp) -> Result<Vec<(TaskId, CancelledBy)>> {
        Ok(self.database.run(async |client| {
            let runner = enter(client, runner, now).await?;
            let sql = "SELECT id, asked FROM task WHERE ended IS NULL AND runner = $1 AND asked IS NOT NULL ORDER BY place";
            let rows = client.query(sql, &[&runner]).await?;
            rows.iter().map(|row| Ok((id_of(row.get(0))?, asker(row.get(1))?))).collect()
        })?)
    }

    fn clear_dead(&mut self, here: &Runner, now: Timestamp) -> Result<Vec<TaskId>> {
        let gone = self.gone_runners(here, now)?;
        if gone.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.database.run(async |client| {
            let transaction = client.transaction().await?;
            // Comparing the lease excludes runners that have renewed theirs in the meantime.
            let sql = format!(
                "SELECT {COLUMNS} FROM task WHERE ended IS NULL AND (runner, (SELECT lease_until FROM runner WHERE runner.id = task.runner))
                   IN (SELECT * FROM unnest($1::bigint[], $2::bigint[])) ORDER BY place FOR UPDATE OF task"
            );
            let (keys, leases): (Vec<i64>, Vec<i64>) = gone.iter().copied().unzip();
            let mut cleared = Vec::new();
            for row in transaction.query(&sql, &[&keys, &leases]).await? {
                let task = record(&row)?;
                let end = TaskState::Failed { why: Failure::Restarted };
                step(&transaction, &task, end, now).await?;
                append_end(&transaction, &task.id, end, now).await?;
                cleared.push(task.id);
            }
            transaction.commit().await?;
            Ok(cleared)
        })?)
    }

    fn task(&self, id: &TaskId) -> Result<TaskRecord> {
        let sql = format!("SELECT {COLUMNS} FROM task WHERE id = $1");
        let row = self.database.query_opt(&sql, &[&id.as_str()])?;
        Ok(record(&row.ok_or_else(|| unknown(id))?)?)
    }

    fn tasks_with_prefix(&self, prefix: &str) -> Result<Vec<TaskRecord>> {
        let sql = format!("SELECT {COLUMNS} FROM task WHERE starts_with(id, $1) ORDER BY id");
        let rows = self.database.query(&sql, &[&prefix])?;
        Ok(rows.iter().map(record).collect::<Result<_, _>>()?)
    }

    fn tasks(&self, limit: usize) -> Result<Vec<TaskRecord>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = format!("SELECT {COLUMNS} FROM task ORDER BY place DESC LIMIT $1");
        let rows = self.database.query(&sql, &[&limit])?;
        Ok(rows.iter().map(record).collect::<Result<_, _>>()?)
    }

    fn find_unfinished(&self, session: &SessionId) -> Result<(Option<TaskId>, usize)> {
        Ok(self.database.run(async |client| {
            let sql = "
    SELECT id FROM task WHERE session = $1 AND parent IS NULL AND ended IS NULL AND state = 'running' ORDER BY place LIMIT 1";
            let row = client.query_opt(sql, &[&session.as_str()]).await?;
            let running = row.map(|row| id_of(row.get(0))).transpose()?;
            Ok((running, n_waiting(client, session, None).await?))
        })?)
    }

    fn append(&mut self, records: &[Arc<Record>]) -> Result<BatchReport> {
        append::append(&self.database, records, &self.words)
    }

    fn events(&self, task: &TaskId, after: u64, limit: usize) -> Result<Vec<EventRecord>> {
        Ok(append::events(&self.database, task, after, limit)?)
    }
}

/// Locks and returns a task and its descendants, parents before children.
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

async fn n_waiting(
    client: &impl GenericClient,
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
