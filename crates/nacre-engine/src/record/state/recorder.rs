//! Writes events in batches on a separate thread, deletes old tasks, and sends heartbeats.
//!
//! Recording blocks a task only if the queue is full.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_base::redact::ExtraWords;
use rusqlite::params;
use tokio::runtime::Builder;
use tokio::time::Instant;

use crate::record::state::TaskStore as _;
use crate::record::state::db::{Result, State, StateError, execute, rows};
use crate::record::state::events::{LOG_FOLDER, LogFile, Ready};
use crate::record::telemetry::{Collector, CollectorError, Spans, Telemetry};
use crate::record::{CancelledBy, Clock, Listener, Record, Runner, TaskId};

const MAX_QUEUED: usize = 16_384;
/// Maximum number of events per batch. A batch is written when it is full, when its first event
/// reaches a maximum age, or when a task ends.
const MAX_BATCH: usize = 4096;
const MAX_BATCH_AGE: Duration = Duration::from_millis(250);
pub const MAX_TASK_AGE: Duration = Duration::from_secs(30 * 24 * 3600);
const MAX_TRIMMED: i64 = 500;
const EXPORT_LIMIT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Recorder {
    queue: Mutex<Option<SyncSender<Arc<Record>>>>,
    thread: Mutex<Option<JoinHandle<RecorderReport>>>,
}

#[derive(Debug, Default)]
pub struct RecorderReport {
    pub n_written: u64,
    pub n_lost: u64,
    pub n_refused: u64,
    /// The last error, if any. Recording errors never fail a task.
    pub error: Option<StateError>,
    pub export_error: Option<CollectorError>,
}

impl Recorder {
    /// Opens the state and the log in the global directory. The project's words are redacted from
    /// both.
    pub fn open(
        home: &WriteScope,
        owner: &Owner,
        patience: Duration,
        words: ExtraWords,
        telemetry: Telemetry<'_>,
    ) -> Result<Arc<Self>> {
        let state = State::open(home, owner, patience)?.without_words(words);
        // Recording also works without a log file.
        let log = WriteScope::create_inside(home.path(), LOG_FOLDER, Access::Private)
            .and_then(|folder| LogFile::new(folder, owner.clone()))
            .ok();
        Ok(Arc::new(Self::spawn(state, log, telemetry)))
    }

    pub fn start(state: State, log: Option<LogFile>) -> Self {
        Self::spawn(state, log, Telemetry::default())
    }

    fn spawn(state: State, log: Option<LogFile>, telemetry: Telemetry<'_>) -> Self {
        let (queue, records) = sync_channel(MAX_QUEUED);
        let mut report = RecorderReport::default();
        let collector = Collector::new(telemetry).unwrap_or_else(|error| {
            report.export_error = Some(error);
            None
        });
        let export = collector.map(|collector| (collector, Spans::default()));
        let writer = EventWriter { state, log, export, report };
        let thread = thread::spawn(move || writer.work(&records));
        Self { queue: Mutex::new(Some(queue)), thread: Mutex::new(Some(thread)) }
    }

    /// Writes the queued events, deletes old tasks, and returns the report. Later calls return an
    /// empty report.
    pub fn close(&self) -> RecorderReport {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.close();
    }
}

impl Listener for Recorder {
    fn hear(&self, record: &Arc<Record>) {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queue.as_ref().filter(|_| record.event.is_stored()) {
            // Sending fails only if the recorder thread has panicked, which must not fail a task.
            let _ = queue.send(Arc::clone(record));
        }
    }
}

struct EventWriter {
    state: State,
    log: Option<LogFile>,
    export: Option<(Collector, Spans)>,
    report: RecorderReport,
}

impl EventWriter {
    fn work(mut self, records: &Receiver<Arc<Record>>) -> RecorderReport {
        let mut last = None;
        while let Ok(first) = records.recv() {
            let due = Instant::now() + MAX_BATCH_AGE;
            let mut batch = vec![Ready::new(&first, self.state.words())];
            let mut is_end = first.event.is_terminal();
            while !is_end && batch.len() < MAX_BATCH {
                let left = due.saturating_duration_since(Instant::now());
                let Ok(next) = records.recv_timeout(left) else { break };
                is_end = next.event.is_terminal();
                batch.push(Ready::new(&next, self.state.words()));
            }
            last = batch.last().map(|ready| ready.record.at);
            if let Some((_, spans)) = &mut self.export {
                batch.iter().for_each(|ready| spans.add(&ready.record));
            }
            self.write(&batch);
        }
        if let Some((collector, spans)) = self.export.take() {
            let runtime = Builder::new_current_thread().enable_all().build();
            let sent = runtime.map(|runtime| runtime.block_on(collector.send(spans, EXPORT_LIMIT)));
            self.report.export_error = sent.ok().and_then(Result::err);
        }
        if let Some(now) = last
            && let Err(error) = self.state.trim(MAX_TASK_AGE, now)
        {
            self.report.error = Some(error);
        }
        self.report
    }

    fn write(&mut self, batch: &[Ready]) {
        match self.state.write_events(batch) {
            Ok(written) => {
                self.report.n_written += written.n_written;
                self.report.n_refused += written.n_refused;
            }
            Err(error) => {
                self.report.n_lost += batch.len() as u64;
                self.report.error = Some(error);
            }
        }
        if let Some(log) = &self.log
            && let Err(error) = log.write(batch)
        {
            self.report.error = Some(error.into());
        }
    }
}

impl State {
    pub fn trim(&mut self, max_age: Duration, now: Timestamp) -> Result<u64> {
        let age = i64::try_from(max_age.as_micros()).unwrap_or(i64::MAX);
        let cutoff = now.as_microsecond().saturating_sub(age);
        let old = "SELECT id FROM task WHERE ended < ?1 ORDER BY ended, place LIMIT ?2";
        let old: Vec<String> = self.read(|connection| {
            rows(connection, old, params![cutoff, MAX_TRIMMED], |row| row.get(0))
        })?;
        if old.is_empty() {
            return Ok(0);
        }
        self.write(|transaction| {
            for task in &old {
                for table in ["event", "model_call", "message"] {
                    execute(transaction, &format!("DELETE FROM {table} WHERE task = ?1"), [task])?;
                }
                execute(transaction, "DELETE FROM task WHERE id = ?1", [task])?;
            }
            transaction.execute(
                // Conversations are kept until the user removes them.
                "DELETE FROM session WHERE updated < ?1 AND is_conversation = 0
                 AND id NOT IN (SELECT session FROM task)",
                [cutoff],
            )?;
            let sql =
                "DELETE FROM runner WHERE lease_until < ?1 AND id NOT IN (SELECT runner FROM task)";
            transaction.execute(sql, [cutoff])?;
            Ok(old.len() as u64)
        })
    }
}

pub struct Heartbeat {
    /// A separate connection, because threads cannot share connections.
    pub state: State,
    pub runner: Runner,
    pub task: TaskId,
    pub clock: Clock,
}

impl Heartbeat {
    /// Interval between heartbeats, and thus the maximum delay before a cancellation takes effect.
    pub const INTERVAL: Duration = Duration::from_millis(500);

    /// Renews the lease until the task is cancelled, and returns who cancelled it.
    ///
    /// A database error does not fail the task, because the next heartbeat tries again.
    pub async fn until_cancelled(self) -> CancelledBy {
        let mut heart = self;
        loop {
            // The database may be locked by another process, which must not block the model's
            // stream.
            let beaten = tokio::task::spawn_blocking(move || {
                let asked = heart.beat();
                (heart, asked)
            });
            let Ok((same, asked)) = beaten.await else { return std::future::pending().await };
            if let Some(by) = asked {
                return by;
            }
            heart = same;
            tokio::time::sleep(Self::INTERVAL).await;
        }
    }

    /// Renews the lease once. If cancellation was requested, returns who requested it.
    pub fn beat(&mut self) -> Option<CancelledBy> {
        let asked = self.state.beat(&self.runner, (self.clock)()).ok()?;
        asked.into_iter().find(|(task, _)| *task == self.task).map(|(_, by)| by)
    }
}
