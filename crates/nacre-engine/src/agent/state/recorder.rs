//! Takes what tasks tell and writes it down, in batches, on a thread of its own.
//!
//! A task never waits for the disk but at its end. When the disk cannot follow, events are left out and counted, and
//! the first number that is missing says how many; an end is never left out.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::db::State;
use super::error::StateError;
use super::events::Ready;
use super::log::LogFile;
use super::retention::Retention;
use crate::agent::event::{Event, Listener, Record};
use crate::agent::tasks::TaskId;

/// Events that may wait to be written.
const MAX_WAITING: usize = 8192;

/// A batch is written when it is this large, or when nothing came for this long.
const MAX_BATCH: usize = 512;
const PAUSE: Duration = Duration::from_millis(25);

/// A listener that keeps what it hears.
#[derive(Debug)]
pub struct Recorder {
    sender: SyncSender<Message>,
    lost: Arc<Mutex<Lost>>,
    thread: Mutex<Option<JoinHandle<RecorderReport>>>,
}

/// What was written in all.
#[derive(Debug, Default)]
pub struct RecorderReport {
    pub n_written: u64,
    /// Left out because the disk could not follow or failed.
    pub n_lost: u64,
    /// Told by tasks that are over or were never taken in.
    pub n_refused: u64,
    /// The last failure, where there was one. It failed no task.
    pub error: Option<StateError>,
}

/// Of each task the first event that was left out, and how many were.
type Lost = BTreeMap<TaskId, (Arc<Record>, u64)>;

#[derive(Debug)]
enum Message {
    Record(Arc<Record>),
    /// Everything before it is on disk when the answer comes.
    Flush(SyncSender<()>),
    Close,
}

impl Recorder {
    /// Starts the thread, which has `state` for itself; lines go to `log` as well, where one is given.
    pub fn start(state: State, log: Option<LogFile>, retention: Retention) -> Self {
        Self::with_room_for(MAX_WAITING, state, log, retention)
    }

    pub(super) fn with_room_for(
        n_waiting: usize,
        state: State,
        log: Option<LogFile>,
        retention: Retention,
    ) -> Self {
        let (sender, receiver) = sync_channel(n_waiting);
        let lost = Arc::new(Mutex::new(Lost::new()));
        let mut desk =
            Desk { state, log, lost: Arc::clone(&lost), report: RecorderReport::default() };
        let thread = thread::spawn(move || {
            desk.work(&receiver, &retention);
            desk.report
        });
        Self { sender, lost, thread: Mutex::new(Some(thread)) }
    }

    /// Waits until everything that was told so far is written.
    pub fn flush(&self) {
        let (answer, written) = sync_channel(1);
        if self.sender.send(Message::Flush(answer)).is_ok() {
            let _ = written.recv();
        }
    }

    /// Writes what is left, lets go of what is too old, and says how it went; the second time there is nothing to say.
    pub fn close(&self) -> RecorderReport {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return RecorderReport::default() };
        let _ = self.sender.send(Message::Close);
        thread.join().unwrap_or_default()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.close();
    }
}

impl Listener for Recorder {
    fn hear(&self, record: &Arc<Record>) {
        if !record.event.is_stored() {
            return;
        }
        match self.sender.try_send(Message::Record(Arc::clone(record))) {
            Err(TrySendError::Full(message)) if record.event.is_terminal() => {
                let _ = self.sender.send(message);
            }
            Err(TrySendError::Full(_)) => {
                let mut lost = locked(&self.lost);
                lost.entry(record.task.clone()).or_insert_with(|| (Arc::clone(record), 0)).1 += 1;
            }
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
        }
    }
}

/// What the thread works with.
#[derive(Debug)]
struct Desk {
    state: State,
    log: Option<LogFile>,
    lost: Arc<Mutex<Lost>>,
    report: RecorderReport,
}

impl Desk {
    fn work(&mut self, receiver: &Receiver<Message>, retention: &Retention) {
        let mut batch: Vec<Arc<Record>> = Vec::new();
        let mut last = None;
        loop {
            match next(receiver, batch.is_empty()) {
                Ok(Message::Record(record)) => {
                    let is_due = record.event.is_terminal() || MAX_BATCH <= batch.len() + 1;
                    last = Some(record.at);
                    batch.push(record);
                    if is_due {
                        self.write(&mut batch);
                    }
                }
                Ok(Message::Flush(answer)) => {
                    self.write(&mut batch);
                    let _ = answer.send(());
                }
                Err(RecvTimeoutError::Timeout) => self.write(&mut batch),
                Ok(Message::Close) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.write(&mut batch);
        if let Some(now) = last
            && let Err(error) = self.state.trim(retention, now)
        {
            self.report.error = Some(error);
        }
    }

    /// Writes the batch; a failure is noted, and the batch is lost.
    fn write(&mut self, batch: &mut Vec<Arc<Record>>) {
        let mut ready = self.lost_ones();
        ready.extend(batch.drain(..).map(|record| Ready::new(&record)));
        if ready.is_empty() {
            return;
        }
        match self.state.write_events(&ready) {
            Ok(written) => {
                self.report.n_written += written.n_written;
                self.report.n_refused += written.n_refused;
            }
            Err(error) => {
                self.report.n_lost += ready.len() as u64;
                self.report.error = Some(error);
            }
        }
        if let Some(log) = &self.log
            && let Err(error) = log.write(&ready)
        {
            self.report.error = Some(error.into());
        }
    }

    /// Says for each task what was left out; the note takes the first number that is missing.
    fn lost_ones(&mut self) -> Vec<Ready> {
        let lost = std::mem::take(&mut *locked(&self.lost));
        let mut notes = Vec::new();
        for (first, n_events) in lost.into_values() {
            self.report.n_lost += n_events;
            let note = Record { event: Event::EventsLost { n_events }, ..Record::clone(&first) };
            notes.push(Ready::new(&Arc::new(note)));
        }
        notes
    }
}

fn next(receiver: &Receiver<Message>, is_idle: bool) -> Result<Message, RecvTimeoutError> {
    if is_idle {
        return receiver.recv().map_err(|_| RecvTimeoutError::Disconnected);
    }
    receiver.recv_timeout(PAUSE)
}

fn locked(lost: &Mutex<Lost>) -> MutexGuard<'_, Lost> {
    lost.lock().unwrap_or_else(PoisonError::into_inner)
}
