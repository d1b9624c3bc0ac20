//! Takes what tasks tell and writes it down, in batches, on a thread of its own.
//!
//! A task never waits for the disk, and it wakes the thread once a batch and not with every event. When the disk cannot
//! follow, events are left out and counted, and the first number that is missing says how many; an end is never left
//! out, nor is the beginning of a helper, which the state could not take in otherwise.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::db::State;
use super::error::StateError;
use super::events::Ready;
use super::log::LogFile;
use super::retention::Retention;
use crate::record::TaskId;
use crate::record::{Event, Listener, Record};

/// Events that may wait to be written.
const MAX_WAITING: usize = 16_384;

/// A batch is written when it is this large, when its first event is this old, or when a task ends.
const MAX_BATCH: usize = 4096;
const MAX_AGE: Duration = Duration::from_millis(250);

/// A listener that keeps what it hears.
#[derive(Debug)]
pub struct Recorder {
    tray: Arc<Tray>,
    n_waiting: usize,
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

/// Where tasks put what they tell, and the thread takes it.
#[derive(Debug, Default)]
struct Tray {
    inbox: Mutex<Inbox>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Inbox {
    records: Vec<Arc<Record>>,
    lost: Lost,
    /// Somebody waits for what is here.
    is_urgent: bool,
    is_closed: bool,
    /// The thread has left.
    is_gone: bool,
    /// Batches that were taken, and those that are on disk.
    n_taken: u64,
    n_done: u64,
}

impl Inbox {
    fn is_empty(&self) -> bool {
        self.records.is_empty() && self.lost.is_empty()
    }

    fn is_due(&self) -> bool {
        self.is_urgent || self.is_closed || MAX_BATCH <= self.records.len()
    }
}

impl Tray {
    fn lock(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for something to write; returns it, and whether it is the last.
    fn take(&self) -> (Vec<Arc<Record>>, Lost, bool) {
        let inbox = self.bell.wait_while(self.lock(), |inbox| inbox.is_empty() && !inbox.is_due());
        let inbox = inbox.unwrap_or_else(PoisonError::into_inner);
        let waited = self.bell.wait_timeout_while(inbox, MAX_AGE, |inbox| !inbox.is_due());
        let (mut inbox, _) = waited.unwrap_or_else(PoisonError::into_inner);
        inbox.is_urgent = false;
        inbox.n_taken += 1;
        let taken = (std::mem::take(&mut inbox.records), std::mem::take(&mut inbox.lost));
        (taken.0, taken.1, inbox.is_closed)
    }

    fn done(&self) {
        self.lock().n_done += 1;
        self.bell.notify_all();
    }
}

/// Says at its end that the thread is gone, also when it panicked: nobody may wait for it for ever.
struct Leaving<'a>(&'a Tray);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.lock().is_gone = true;
        self.0.bell.notify_all();
    }
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
        let tray = Arc::new(Tray::default());
        let mut ctx = EventWriter { state, log, report: RecorderReport::default() };
        let taken = Arc::clone(&tray);
        let thread = thread::spawn(move || {
            ctx.work(&taken, &retention);
            ctx.report
        });
        Self { tray, n_waiting, thread: Mutex::new(Some(thread)) }
    }

    /// Waits until everything that was told so far is written.
    pub fn flush(&self) {
        let mut inbox = self.tray.lock();
        if inbox.is_closed {
            return;
        }
        inbox.is_urgent = true;
        // What is here now is in the next batch that is taken.
        let wanted = inbox.n_taken + 1;
        self.tray.bell.notify_all();
        drop(self.tray.bell.wait_while(inbox, |inbox| inbox.n_done < wanted && !inbox.is_gone));
    }

    /// Writes what is left, lets go of what is too old, and says how it went; the second time there is nothing to say.
    pub fn close(&self) -> RecorderReport {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return RecorderReport::default() };
        self.tray.lock().is_closed = true;
        self.tray.bell.notify_all();
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
        let mut inbox = self.tray.lock();
        if inbox.is_closed {
            return;
        }
        let was_empty = inbox.is_empty();
        let is_spawn = matches!(record.event, Event::AgentSpawn { .. });
        if record.event.is_terminal() {
            inbox.is_urgent = true;
            inbox.records.push(Arc::clone(record));
        } else if is_spawn || inbox.records.len() < self.n_waiting {
            inbox.records.push(Arc::clone(record));
        } else {
            let lost = inbox.lost.entry(record.task.clone());
            lost.or_insert_with(|| (Arc::clone(record), 0)).1 += 1;
        }
        let is_awaited = was_empty || inbox.is_due();
        drop(inbox);
        if is_awaited {
            self.tray.bell.notify_all();
        }
    }
}

/// What the thread works with.
#[derive(Debug)]
struct EventWriter {
    state: State,
    log: Option<LogFile>,
    report: RecorderReport,
}

impl EventWriter {
    fn work(&mut self, tray: &Tray, retention: &Retention) {
        let _leaving = Leaving(tray);
        let mut last = None;
        loop {
            let (records, lost, is_last) = tray.take();
            last = records.last().map(|record| record.at).or(last);
            self.write(&records, lost);
            tray.done();
            if is_last {
                break;
            }
        }
        if let Some(now) = last
            && let Err(error) = self.state.trim(retention, now)
        {
            self.report.error = Some(error);
        }
    }

    /// Writes the batch; a failure is noted, and the batch is lost.
    fn write(&mut self, batch: &[Arc<Record>], lost: Lost) {
        let mut ready = self.lost_ones(lost);
        ready.extend(batch.iter().map(|record| Ready::new(record, self.state.words())));
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
    fn lost_ones(&mut self, lost: Lost) -> Vec<Ready> {
        let mut notes = Vec::new();
        for (first, n_events) in lost.into_values() {
            self.report.n_lost += n_events;
            let note = Record { event: Event::EventsLost { n_events }, ..Record::clone(&first) };
            notes.push(Ready::new(&Arc::new(note), self.state.words()));
        }
        notes
    }
}
