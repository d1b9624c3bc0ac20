//! Records this process's tasks, and lets other processes cancel them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use nacre_base::config::NACRE_NOW;
use nacre_base::redact::ExtraWords;
use nacre_engine::lifecycle::RunHandle;
use nacre_engine::model::Cancel;
use nacre_engine::record::state::{Recorder, State, StateError, TaskStore as _};
use nacre_engine::record::{
    BoundedText, CancelledBy, Clock, Event as Stored, Events as StoredEvents, Failure, Heartbeat,
    Listener, NewTask, Record, Runner, SessionId, Signal, TaskClass, TaskId, TaskState, Telemetry,
};
use nacre_team::postgres::state::SharedState;
use nacre_types::{Event, Outcome, Report, Warning};

use super::words;
use crate::prelude::*;

/// The directory for long tool outputs, which agents read in parts.
pub const SPILL_FOLDER: &str = "spill";

const OTLP_HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

/// Maximum number of files in the directory. When it is exceeded, the directory is emptied. An
/// agent can repeat a call to get its output again.
const MAX_SPILLED: usize = 256;

/// Returns a new task in the current project. The task has no session, so its session id is derived
/// from the task id.
pub fn new_task(
    host: &Host,
    id: &TaskId,
    agent: &str,
    class: TaskClass,
    title: &str,
    words: &ExtraWords,
) -> NewTask {
    NewTask {
        id: id.clone(),
        session: SessionId::from_random(u64::from(host.environment.pid) ^ hash(id)),
        parent: None,
        project: host.project_key(),
        agent: agent.to_owned(),
        class,
        // Redaction comes before truncation, because a truncated secret would not be detected.
        title: words.redact(title).chars().take(200).collect(),
    }
}

pub fn record(
    host: &Host,
    home: &WriteScope,
    new: &NewTask,
    words: ExtraWords,
) -> Result<(Arc<Recorder>, Heartbeat), StateError> {
    let (owner, wait) = (host.owner("run"), host.settings().lock.wait);
    let mut state = State::open(home, &owner, wait)?.without_words(words.clone());
    let runner = Runner::here(host.environment.pid);
    state.accept(new, &runner, host.now())?;
    state.start(&new.id, &runner, host.now())?;
    let recorder = Recorder::open(home, &owner, wait, words, telemetry(host))?;
    let (task, clock) = (new.id.clone(), clock(host));
    Ok((recorder, Heartbeat { state, runner, task, clock }))
}

fn hash(task: &TaskId) -> u64 {
    task.as_str().bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// Waits until another process requests cancellation of the task.
pub async fn wait_for_cancellation(heartbeat: Option<Heartbeat>) -> CancelledBy {
    match heartbeat {
        Some(heartbeat) => heartbeat.until_cancelled().await,
        // Other processes cannot cancel a task that is not recorded.
        None => std::future::pending().await,
    }
}

/// Waits until an agent ends. Cancels it if the user or another process requests that.
pub async fn until_end<T>(
    work: impl Future<Output = T>,
    handle: &RunHandle,
    heartbeat: Option<Heartbeat>,
    cancel: &Cancel,
) -> T {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        biased;
        () = cancel.cancelled() => handle.cancel(CancelledBy::Person),
        outcome = &mut work => return outcome,
        by = wait_for_cancellation(heartbeat) => handle.cancel(by),
    }
    work.await
}

pub fn clock(host: &Host) -> Clock {
    let now = host.now();
    let is_stopped = host.environment.var(NACRE_NOW).is_some();
    if is_stopped { Arc::new(move || now) } else { Arc::clone(&host.environment.clock) }
}

/// Returns a seed that is different for every run in the same home directory. The seed depends on
/// the time and the process id.
pub fn seed(host: &Host) -> u64 {
    host.now().as_nanosecond() as u64 ^ (u64::from(host.environment.pid) << 40)
}

pub fn spill(home: &WriteScope) -> Result<WriteScope> {
    Ok(WriteScope::create_inside(home.path(), SPILL_FOLDER, Access::Private)?)
}

pub fn empty_spill(host: &Host, home: &WriteScope) {
    let Ok(folder) = RelPath::new(SPILL_FOLDER) else { return };
    let entries = home.list(&folder).unwrap_or_default();
    if entries.len() <= MAX_SPILLED {
        return;
    }
    // Errors are ignored, because a later run removes any remaining files.
    let Ok(writer) = home.lock(&host.owner("run"), host.settings().lock.wait) else { return };
    for entry in entries {
        if let Ok(path) = folder.join(&entry.name) {
            let _ = writer.remove_derived(&path);
        }
    }
}

/// Runs a flow as a task in the current project. `name` is the command's name, and `title` is
/// displayed in lists.
pub fn as_task<R: Report>(
    host: &Host,
    name: &'static str,
    title: &str,
    events: &Events,
    flow: impl FnOnce(&Events) -> Result<R>,
) -> Result<R> {
    // The seed is inverted, because the flow's agents derive their ids from the seed itself.
    let id = TaskId::from_random(!seed(host));
    let words = words(host.settings());
    // The store locks and the `sync` lock already prevent conflicting tasks.
    let task = new_task(host, &id, name, TaskClass::Interactive, title, &words);
    let home = host.home_scope().ok();
    let opened = home.and_then(|home| record(host, &home, &task, words.clone()).ok());
    let Some((recorder, heartbeat)) = opened else { return flow(events) };
    let shared = SharedTask::start(host, &task, words, events.cancel().clone());
    let started =
        Event::Started { task: id.to_string(), agent: name.to_owned(), title: title.to_owned() };
    events.emit(started);
    let mut listeners: Vec<Arc<dyn Listener>> = vec![recorder.clone()];
    listeners.extend(shared.as_ref().map(SharedTask::listener));
    let stored = StoredEvents::new(id, clock(host), listeners);
    let report = thread::scope(|scope| {
        // Dropping `_flow` ends the heartbeat thread.
        let (_flow, ended) = channel::<()>();
        let beat = move || beat(heartbeat, events.cancel(), &ended);
        // If the thread cannot be started, the task runs without heartbeats.
        let _ = thread::Builder::new().name("heartbeat".to_owned()).spawn_scoped(scope, beat);
        flow(&tee(events, stored.clone()))
    });
    stored.emit(Stored::TaskState(ending(&report)));
    if let Some(shared) = shared {
        shared.is_over.store(true, Ordering::Release);
        // If the thread panicked, the copy is incomplete, but this is harmless.
        let _ = shared.thread.join();
    }
    close_recorder(&recorder, events);
    report
}

/// Returns the configuration for exporting traces. The headers may contain a token, so they are
/// read from the standard environment variable rather than from a file.
pub fn telemetry(host: &Host) -> Telemetry<'_> {
    let headers = host.environment.var(OTLP_HEADERS).unwrap_or_default();
    Telemetry { endpoint: &host.settings().telemetry.otlp_endpoint, headers }
}

pub fn close_recorder(recorder: &Recorder, events: &Events) {
    let report = recorder.close();
    if let Some(error) = report.error {
        events.warning(format!("The record is incomplete: {error}"), None);
    }
    if let Some(error) = report.export_error {
        events.warning(format!("Could not export spans: {error}"), None);
    }
}

/// Returns an event sink that records and forwards all events, except progress, which is only
/// forwarded.
fn tee(events: &Events, stored: StoredEvents) -> Events {
    let caller = events.clone();
    let last_step = Mutex::new(String::new());
    let tee = Events::new(move |event| {
        if let Some(kept) = to_stored_event(&event, &last_step) {
            stored.emit(kept);
        }
        caller.emit(event);
    });
    tee.with_cancel(events.cancel().clone())
}

fn to_stored_event(event: &Event, last_step: &Mutex<String>) -> Option<Stored> {
    match event {
        Event::Warning(Warning { message, hint }) => Some(Stored::Error {
            what: BoundedText::new(message),
            hint: hint.as_deref().map(BoundedText::new),
        }),
        Event::Step { text } | Event::Note { text } => {
            let mut last = last_step.lock().unwrap_or_else(PoisonError::into_inner);
            if *last == *text {
                return None;
            }
            last.clone_from(text);
            Some(Stored::Notice { text: BoundedText::new(text) })
        }
        Event::Started { .. }
        | Event::Progress { .. }
        | Event::Words { .. }
        | Event::Sentence { .. } => None,
    }
}

fn ending<R: Report>(report: &Result<R>) -> TaskState {
    match report {
        Ok(report) if report.outcome() == Outcome::Failed => {
            TaskState::Failed { why: Failure::Internal }
        }
        Ok(_) => TaskState::Completed { signal: Signal::Done },
        Err(error) if error.code == ErrorCode::Cancelled => {
            TaskState::Cancelled { by: CancelledBy::Person }
        }
        Err(error) if error.code == ErrorCode::LimitReached => {
            TaskState::Failed { why: Failure::Budget }
        }
        Err(_) => TaskState::Failed { why: Failure::Internal },
    }
}

/// Sends heartbeats until the sender of `ended` is dropped.
fn beat(mut heartbeat: Heartbeat, cancel: &Cancel, ended: &Receiver<()>) {
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(Heartbeat::INTERVAL) {
        if heartbeat.beat().is_some() {
            cancel.cancel();
        }
    }
}

const MAX_WAITING: usize = 4096;
const MAX_BATCH: usize = 256;

const BEAT: Duration = Duration::from_secs(1);

/// Copies the events of a running task to the shared database.
struct SharedTask {
    told: SyncSender<Arc<Record>>,
    /// Set when the task ends. Events that have not been copied when the task ends are dropped.
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl SharedTask {
    /// Registers the task. Returns `None` if no database is configured or reachable.
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
        let (told, heard) = sync_channel::<Arc<Record>>(MAX_WAITING);
        let is_over = Arc::<AtomicBool>::default();
        let (over, clock, id) = (Arc::clone(&is_over), clock(host), task.id.clone());
        let copy = move || {
            let mut beaten = clock();
            loop {
                let mut batch = match heard.recv_timeout(BEAT) {
                    Ok(record) => vec![record],
                    Err(RecvTimeoutError::Timeout) => Vec::new(),
                    Err(RecvTimeoutError::Disconnected) => return,
                };
                batch.extend(heard.try_iter().take(MAX_BATCH));
                let is_last =
                    |record: &Arc<Record>| record.task == id && record.event.is_terminal();
                let is_copied = batch.is_empty() || state.append(&batch).is_ok();
                let is_idle = batch.is_empty() || !is_copied;
                if batch.iter().any(is_last) || (is_idle && over.load(Ordering::Acquire)) {
                    return;
                }
                // The absolute difference handles a clock that was set back.
                let now = clock();
                let since = now.as_millisecond().abs_diff(beaten.as_millisecond());
                if u128::from(since) < BEAT.as_millis() {
                    continue;
                }
                beaten = now;
                let asked = state.beat(&runner, now).unwrap_or_default();
                if asked.iter().any(|(task, _)| *task == id) {
                    cancel.cancel();
                }
            }
        };
        let thread = thread::Builder::new().name("shared-task".to_owned()).spawn(copy).ok()?;
        Some(Self { told, is_over, thread })
    }

    fn listener(&self) -> Arc<dyn Listener> {
        Arc::new(CopyListener(self.told.clone()))
    }
}

struct CopyListener(SyncSender<Arc<Record>>);

impl Listener for CopyListener {
    fn hear(&self, record: &Arc<Record>) {
        if record.event.is_stored() {
            // If the queue is full, the event is dropped, because a task must not be delayed by the
            // database.
            let _ = self.0.try_send(Arc::clone(record));
        }
    }
}
