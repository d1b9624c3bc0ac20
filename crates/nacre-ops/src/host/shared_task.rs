//! A task of this process as the other servers of a database see it.
//!
//! A task is written to the file of this machine. What it tells is copied to the state that servers share by a thread of its own, which also
//! hears when somebody wants it stopped from elsewhere. A database that is away stands in the way of no task: what could not be copied
//! is left out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nacre_core::base::redact::ExtraWords;
use nacre_engine::record::state::TaskStore as _;
use nacre_engine::record::{Clock, Listener, NewTask, Record, Runner};
use nacre_postgres::state::SharedState;

use super::{Host, clock};
use crate::cancel::Cancel;

/// Events that may wait to be copied, and those that are copied at once.
const MAX_WAITING: usize = 4096;
const MAX_BATCH: usize = 256;

/// How often it is heard whether somebody wants the task stopped.
const BEAT: Duration = Duration::from_secs(1);

/// The copy of a task, which ends with the task.
pub(super) struct SharedTask {
    told: SyncSender<Arc<Record>>,
    /// The task is over: what could not be copied by now is left out.
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl SharedTask {
    /// Takes the task in; `None` where no database is set or it does not answer now.
    pub(super) fn start(
        host: &Host,
        task: &NewTask,
        words: ExtraWords,
        cancel: Cancel,
    ) -> Option<Self> {
        if host.is_database_away() {
            return None;
        }
        let database = host.database().ok()??;
        let mut state = SharedState::open(&database).ok()?.without_words(words);
        let runner = Runner::here(host.environment.pid);
        state.accept(task, &runner, host.now()).ok()?;
        state.start(&task.id, &runner, host.now()).ok()?;
        let (told, heard) = sync_channel(MAX_WAITING);
        let is_over = Arc::<AtomicBool>::default();
        let over = Arc::clone(&is_over);
        let mut copy = Copy { over, state, runner, clock: clock(host), cancel, task: task.clone() };
        let thread = thread::Builder::new().name("shared-task".to_owned());
        let thread = thread.spawn(move || copy.run(&heard)).ok()?;
        Some(Self { told, is_over, thread })
    }

    /// What hears the task.
    pub(super) fn listener(&self) -> Arc<dyn Listener> {
        Arc::new(CopyListener(self.told.clone()))
    }

    /// Waits until the end of the task is copied.
    pub(super) fn close(self) {
        self.is_over.store(true, Ordering::Release);
        // A thread that panicked copied what it could.
        let _ = self.thread.join();
    }
}

struct CopyListener(SyncSender<Arc<Record>>);

impl Listener for CopyListener {
    fn hear(&self, record: &Arc<Record>) {
        if record.event.is_stored() {
            // A task does not wait for a database.
            let _ = self.0.try_send(Arc::clone(record));
        }
    }
}

/// What the thread works with.
struct Copy {
    over: Arc<AtomicBool>,
    state: SharedState,
    runner: Runner,
    clock: Clock,
    cancel: Cancel,
    task: NewTask,
}

impl Copy {
    /// Copies until the task ends.
    fn run(&mut self, heard: &Receiver<Arc<Record>>) {
        let mut beaten = (self.clock)();
        loop {
            let mut batch: Vec<Arc<Record>> = match heard.recv_timeout(BEAT) {
                Ok(record) => vec![record],
                Err(RecvTimeoutError::Timeout) => Vec::new(),
                Err(RecvTimeoutError::Disconnected) => return,
            };
            batch.extend(heard.try_iter().take(MAX_BATCH));
            let is_over = batch
                .iter()
                .any(|record| record.task == self.task.id && record.event.is_terminal());
            let is_copied = batch.is_empty() || self.state.append(&batch).is_ok();
            let is_idle = batch.is_empty() || !is_copied;
            if is_over || (is_idle && self.over.load(Ordering::Acquire)) {
                return;
            }
            // A clock that was set back is late, too.
            let now = (self.clock)();
            let since = now.as_millisecond().abs_diff(beaten.as_millisecond());
            if BEAT.as_millis() <= u128::from(since) {
                beaten = now;
                self.beat();
            }
        }
    }

    fn beat(&mut self) {
        let asked = self.state.beat(&self.runner, (self.clock)()).unwrap_or_default();
        if asked.iter().any(|(task, _)| *task == self.task.id) {
            self.cancel.cancel();
        }
    }
}
