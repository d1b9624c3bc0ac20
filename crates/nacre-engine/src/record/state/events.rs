//! Events on disk, in the order of their numbers, and the facts that are counted from them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use nacre_core::base::redact::ExtraWords;
use rusqlite::{Connection, params};
use serde_json::Value;

use super::db::State;
use super::error::StateError;
use super::event_rows::insert;
use super::row::{Bad, bad, count, time, whole};
use super::tasks::{self, TaskRecord};
use crate::record::{Event, ModelFacts, Record};
use crate::record::{TaskId, TaskState};

/// An event as it is kept. A newer version may have written kinds that this one does not know.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecord {
    pub sequence: u64,
    pub at: Timestamp,
    pub name: String,
    /// The event as one JSON object.
    pub fields: Value,
}

impl EventRecord {
    /// The state that it tells, if it tells one.
    pub fn state(&self) -> Option<TaskState> {
        if self.name != "task.state" {
            return None;
        }
        serde_json::from_value(self.fields.clone()).ok()
    }

    /// Whether it is the last one of its task.
    pub fn is_terminal(&self) -> bool {
        self.state().is_some_and(TaskState::is_terminal)
    }
}

/// A record that is ready to be written: its event as JSON, without secrets and without the words of its project.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    pub(super) record: Arc<Record>,
    pub(super) json: String,
}

impl Ready {
    pub(super) fn new(record: &Arc<Record>, words: &ExtraWords) -> Self {
        // An event is plain data, which always has a JSON form.
        let mut json = serde_json::to_string(&record.event).unwrap_or_default();
        // Short texts are without secrets already, but a word of the project's may stand in any of them.
        if (record.event.has_foreign_text() || !words.is_empty())
            && let Cow::Owned(clean) = words.redact(&json)
        {
            json = clean;
        }
        Self { record: Arc::clone(record), json }
    }
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchReport {
    pub n_written: u64,
    /// Events of tasks that are over or were never taken in.
    pub n_refused: u64,
}

impl State {
    /// Writes what tasks told in one transaction: without secrets, each event once, nothing of a task that is over.
    pub fn append(&mut self, records: &[Arc<Record>]) -> Result<BatchReport, StateError> {
        let ready: Vec<Ready> =
            records.iter().map(|record| Ready::new(record, self.words())).collect();
        self.write_events(&ready)
    }

    /// The events of a task with numbers above `after`, in order.
    pub fn events(
        &self,
        task: &TaskId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<EventRecord>, StateError> {
        self.read(|connection| {
            let mut rows = connection.prepare_cached(
                "SELECT sequence, at, name, fields FROM event WHERE task = ?1 AND sequence > ?2
                 ORDER BY sequence LIMIT ?3",
            )?;
            let after = whole(after);
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let events = rows.query_map(params![task.as_str(), after, limit], |row| {
                let fields: String = row.get(3)?;
                Ok(EventRecord {
                    sequence: count(row, 0)?,
                    at: time(row, 1)?,
                    name: row.get(2)?,
                    fields: serde_json::from_str(&fields).map_err(|_| bad(3, Bad::Event))?,
                })
            })?;
            Ok(events.collect::<Result<_, _>>()?)
        })
    }

    /// Writes a batch in one transaction.
    pub(super) fn write_events(&mut self, batch: &[Ready]) -> Result<BatchReport, StateError> {
        self.write(|transaction| {
            let mut scribe = Scribe {
                connection: transaction,
                tasks: HashMap::new(),
                report: BatchReport::default(),
            };
            for ready in batch {
                scribe.write(ready)?;
            }
            scribe.count()?;
            Ok(scribe.report)
        })
    }
}

/// Writes one batch; knows the tasks of it.
struct Scribe<'c> {
    connection: &'c Connection,
    tasks: HashMap<TaskId, Option<(TaskRecord, u64)>>,
    report: BatchReport,
}

impl Scribe<'_> {
    fn write(&mut self, ready: &Ready) -> Result<(), StateError> {
        let Record { task: id, sequence, at, event } = &*ready.record;
        if !self.tasks.contains_key(id) {
            let found = tasks::find(self.connection, id)?;
            self.tasks.insert(id.clone(), found.map(|task| (task, 0)));
        }
        let Some(Some((task, n_events))) = self.tasks.get_mut(id).filter(|entry| is_open(entry))
        else {
            self.report.n_refused += 1;
            return Ok(());
        };
        if let Event::TaskState(state) = event {
            match tasks::step(self.connection, task, *state, *at) {
                Ok(()) => task.state = *state,
                // The end of a task that never ran is no end; other states are told for the reader only.
                Err(StateError::Move(_)) if state.is_terminal() => {
                    self.report.n_refused += 1;
                    return Ok(());
                }
                Err(StateError::Move(_)) => {}
                Err(error) => return Err(error),
            }
        }
        if let Event::AgentSpawn { child, agent } = event {
            tasks::adopt(self.connection, task, child, agent.as_str(), *at)?;
        }
        let n_new = insert(self.connection, id, *sequence, *at, event.name(), &ready.json)?;
        if let Event::ModelFinish(facts) = event
            && n_new > 0
        {
            note_model(self.connection, &ready.record, facts)?;
        }
        *n_events += n_new;
        self.report.n_written += n_new;
        Ok(())
    }

    fn count(&self) -> Result<(), StateError> {
        for (task, n_new) in self.tasks.values().flatten().filter(|(_, n_new)| *n_new > 0) {
            self.connection
                .prepare_cached("UPDATE task SET n_events = n_events + ?2 WHERE id = ?1")?
                .execute(params![task.id.as_str(), whole(*n_new)])?;
        }
        Ok(())
    }
}

fn is_open(entry: &Option<(TaskRecord, u64)>) -> bool {
    entry.as_ref().is_some_and(|(task, _)| !task.state.is_terminal())
}

fn note_model(
    connection: &Connection,
    record: &Record,
    facts: &ModelFacts,
) -> Result<(), StateError> {
    let ModelFacts { step, model, stop, usage, cost, first_token_us, duration_us } = facts;
    let stop = serde_json::to_value(stop).unwrap_or_default();
    connection
        .prepare_cached(
            "INSERT INTO model_call (task, step, model, stop, at, first_token, duration, input, cache_read,
               cache_write, output, reasoning, cost)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
            record.task.as_str(),
            step,
            model.to_string(),
            stop.as_str().map_or_else(|| stop.to_string(), str::to_owned),
            record.at.as_microsecond(),
            first_token_us.map(whole),
            whole(*duration_us),
            whole(usage.input),
            whole(usage.cache_read),
            whole(usage.cache_write),
            whole(usage.output),
            whole(usage.reasoning),
            cost.map(|cost| whole(cost.nano_dollars())),
        ])?;
    Ok(())
}
