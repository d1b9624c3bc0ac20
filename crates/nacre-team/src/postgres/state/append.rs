//! Appends task events in batches and reads them in order.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use nacre_base::redact::ExtraWords;
use nacre_engine::record::state::{BatchReport, EventRecord, StateError, TaskRecord};
use nacre_engine::record::{Event, Record, TaskId};
use tokio_postgres::Transaction;

use super::rows::{damage_error, insert_event, lock_task, lock_tasks, moment, step};
use crate::postgres::database::{Database, DatabaseError, Result};

pub(super) fn events(
    database: &Database,
    task: &TaskId,
    after: u64,
    limit: usize,
) -> Result<Vec<EventRecord>> {
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let sql = "SELECT sequence, at, name, fields FROM event WHERE task = $1 AND sequence > $2 ORDER BY sequence LIMIT $3";
    let rows = database.query(sql, &[&task.as_str(), &after, &limit])?;
    let event = |row: &tokio_postgres::Row| {
        Ok(EventRecord {
            sequence: row.get::<_, i64>(0).unsigned_abs(),
            at: moment(row.get(1))?,
            name: row.get(2),
            fields: serde_json::from_str(row.get(3)).map_err(|_| damage_error("an event"))?,
        })
    };
    rows.iter().map(event).collect()
}

pub(super) fn append(
    database: &Database,
    records: &[Arc<Record>],
    words: &ExtraWords,
) -> Result<BatchReport, StateError> {
    let ids: BTreeSet<&TaskId> = records.iter().map(|record| &record.task).collect();
    Ok(database.run(async |client| {
        let transaction = client.transaction().await?;
        let mut batch = Batch {
            transaction: &transaction,
            tasks: HashMap::new(),
            report: BatchReport::default(),
        };
        batch.tasks.extend(ids.iter().map(|id| ((*id).clone(), None)));
        for task in lock_tasks(&transaction, &ids).await? {
            batch.tasks.insert(task.id.clone(), Some((task, 0)));
        }
        for record in records {
            batch.write(record, &json_of(record, words)).await?;
        }
        let Batch { tasks, report, .. } = batch;
        for (task, n_new) in tasks.into_values().flatten().filter(|(_, n_new)| *n_new > 0) {
            let n_new = i64::try_from(n_new).unwrap_or(i64::MAX);
            let sql = "UPDATE task SET n_events = n_events + $2 WHERE id = $1";
            transaction.execute(sql, &[&task.id.as_str(), &n_new]).await?;
        }
        transaction.commit().await?;
        Ok(report)
    })?)
}

/// Returns the record as JSON, without secrets and without the project's redacted words.
fn json_of(record: &Record, words: &ExtraWords) -> String {
    let json = serde_json::to_string(&record.event).unwrap_or_default();
    if (record.event.has_foreign_text() || !words.is_empty())
        && let Cow::Owned(clean) = words.redact(&json)
    {
        return clean;
    }
    json
}

struct Batch<'t> {
    transaction: &'t Transaction<'t>,
    tasks: HashMap<TaskId, Option<(TaskRecord, u64)>>,
    report: BatchReport,
}

impl Batch<'_> {
    async fn write(&mut self, record: &Record, json: &str) -> Result<()> {
        let Record { task: id, sequence, at, event } = record;
        let is_open = |entry: &&mut Option<(TaskRecord, u64)>| {
            entry.as_ref().is_some_and(|(task, _)| !task.state.is_terminal())
        };
        let Some(Some((task, n_events))) = self.tasks.get_mut(id).filter(is_open) else {
            self.report.n_refused += 1;
            return Ok(());
        };
        if let Event::TaskState(state) = event {
            match step(self.transaction, task, *state, *at).await {
                Ok(()) => task.state = *state,
                // A task that never ran cannot end, so this event is rejected. Other illegal state
                // changes are ignored, because their events are only informational.
                Err(DatabaseError::State(_)) if state.is_terminal() => {
                    self.report.n_refused += 1;
                    return Ok(());
                }
                Err(DatabaseError::State(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let n_new = insert_event(self.transaction, id, *sequence, *at, event.name(), json).await?;
        *n_events += n_new;
        self.report.n_written += n_new;
        if let Event::AgentSpawn { child, agent } = event {
            let child = child.clone();
            self.adopt(&id.clone(), &child, agent.as_str(), at.as_microsecond()).await?;
        }
        Ok(())
    }

    /// Adds an already running task that was started by another task.
    async fn adopt(
        &mut self,
        parent: &TaskId,
        child: &TaskId,
        agent: &str,
        now_us: i64,
    ) -> Result<()> {
        let sql = "
INSERT INTO task (id, session, parent, project, agent, class, title, state, runner, created, started)
SELECT $1, session, id, project, $3, class, title, 'running', runner, $4, $4 FROM task WHERE id = $2
ON CONFLICT (id) DO NOTHING";
        self.transaction
            .execute(sql, &[&child.as_str(), &parent.as_str(), &agent, &now_us])
            .await?;
        // The same batch may contain events of the child task.
        if let Some(entry) = self.tasks.get_mut(child)
            && entry.is_none()
        {
            *entry = lock_task(self.transaction, child).await?.map(|task| (task, 0));
        }
        Ok(())
    }
}
