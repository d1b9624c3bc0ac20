//! Stores events as database rows, and in a log file with one JSON object per line.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use nacre_base::fs::{FsError, Owner, RelPath, WriteScope};
use nacre_base::is_hidden_char;
use nacre_base::redact::ExtraWords;
use rusqlite::{Connection, params};

use crate::record::state::db::{Result, State, StateError, execute, whole};
use crate::record::state::tasks::{self, BatchReport, TaskRecord};
use crate::record::{Event, ModelFacts, Record, TaskId, TaskState};

/// A record with its event as redacted JSON, ready to be written.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    pub(super) record: Arc<Record>,
    pub(super) json: String,
}

impl Ready {
    pub(super) fn new(record: &Arc<Record>, words: &ExtraWords) -> Self {
        // Serialization of plain data cannot fail.
        let mut json = serde_json::to_string(&record.event).unwrap_or_default();
        // Bounded text is already redacted, except for project-specific words.
        if (record.event.has_foreign_text() || !words.is_empty())
            && let Cow::Owned(clean) = words.redact(&json)
        {
            json = clean;
        }
        Self { record: Arc::clone(record), json }
    }
}

impl State {
    pub(super) fn append_records(&mut self, records: &[Arc<Record>]) -> Result<BatchReport> {
        let ready: Vec<Ready> =
            records.iter().map(|record| Ready::new(record, self.words())).collect();
        self.write_events(&ready)
    }

    pub(super) fn write_events(&mut self, batch: &[Ready]) -> Result<BatchReport> {
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

struct Scribe<'c> {
    connection: &'c Connection,
    tasks: HashMap<TaskId, Option<(TaskRecord, u64)>>,
    report: BatchReport,
}

impl Scribe<'_> {
    fn write(&mut self, ready: &Ready) -> Result<()> {
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
                // A queued task cannot end. For other illegal transitions, only the event is
                // stored.
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
        let n_new = tasks::insert(self.connection, id, *sequence, *at, event.name(), &ready.json)?;
        if let Event::ModelFinish(facts) = event
            && n_new > 0
        {
            note_model(self.connection, &ready.record, facts)?;
        }
        *n_events += n_new;
        self.report.n_written += n_new;
        Ok(())
    }

    fn count(&self) -> Result<()> {
        for (task, n_new) in self.tasks.values().flatten().filter(|(_, n_new)| *n_new > 0) {
            let sql = "UPDATE task SET n_events = n_events + ?2 WHERE id = ?1";
            execute(self.connection, sql, params![task.id.as_str(), whole(*n_new)])?;
        }
        Ok(())
    }
}

fn is_open(entry: &Option<(TaskRecord, u64)>) -> bool {
    entry.as_ref().is_some_and(|(task, _)| !task.state.is_terminal())
}

fn note_model(connection: &Connection, record: &Record, facts: &ModelFacts) -> Result<()> {
    let ModelFacts { step, model, stop, usage, cost, first_token_us, duration_us } = facts;
    let stop = serde_json::to_value(stop).unwrap_or_default();
    execute(connection, "INSERT INTO model_call (task, step, model, stop, at, first_token, duration, input, cache_read,
               cache_write, output, reasoning, cost)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)", params![
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

pub const LOG_FOLDER: &str = "logs";
pub const LOG_FILE: &str = "server.log";

const MAX_BYTES: u64 = 10 << 20;
const N_KEPT: u32 = 5;

/// Lock timeout, which is short because the log is not essential.
const PATIENCE: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub struct LogFile {
    folder: WriteScope,
    owner: Owner,
    path: RelPath,
    max_bytes: u64,
}

impl LogFile {
    pub fn new(folder: WriteScope, owner: Owner) -> Result<Self, FsError> {
        Ok(Self { folder, owner, path: RelPath::new(LOG_FILE)?, max_bytes: MAX_BYTES })
    }

    #[cfg(test)]
    pub(super) fn with_max_bytes(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    pub(super) fn write(&self, batch: &[Ready]) -> Result<(), FsError> {
        let mut lines = String::new();
        for ready in batch {
            push_line(&mut lines, ready);
        }
        let writer = self.folder.lock(&self.owner, PATIENCE)?;
        if self.max_bytes <= writer.append(&self.path, lines.as_bytes())? {
            writer.rotate(&self.path, N_KEPT)?;
        }
        Ok(())
    }
}

fn push_line(lines: &mut String, ready: &Ready) {
    let Record { task, sequence, at, event } = &*ready.record;
    let Some(fields) = ready.json.strip_prefix('{') else { return };
    // Writing to a `String` cannot fail.
    let _ = write!(
        lines,
        r#"{{"at":"{at}","level":"{}","task":"{task}","sequence":{sequence},"#,
        level(event)
    );
    for c in fields.chars() {
        match is_hidden_char(c) {
            // Escape control characters, which could otherwise manipulate a terminal.
            true => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(lines, "\\u{unit:04x}");
            }),
            false => lines.push(c),
        }
    }
    lines.push('\n');
}

fn level(event: &Event) -> &'static str {
    let is_error = matches!(
        event,
        Event::Error { .. } | Event::ModelError { .. } | Event::TaskState(TaskState::Failed { .. })
    );
    let is_warning = matches!(
        event,
        Event::ModelRetry { .. }
            | Event::ModelFallback { .. }
            | Event::ToolDenied { .. }
            | Event::BudgetBlock { .. }
    ) || matches!(event, Event::ToolResult(facts) if facts.fault.is_some());
    match (is_error, is_warning) {
        (true, _) => "error",
        (false, true) => "warn",
        (false, false) => "info",
    }
}
