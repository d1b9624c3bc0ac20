//! A flow as a task: written down while it runs, shown by `nacre events`, and cancelled from another process.
//!
//! What a flow tells its caller and what is written down is one stream: the caller's events are stored on their way, and a
//! cancel from elsewhere is the caller's own. A state that cannot be used stands in the way of no flow.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use nacre_api::wire::{ErrorCode, Event, Outcome, Report, Warning};
use nacre_engine::record::{
    BoundedText, CancelledBy, Event as Stored, Events as StoredEvents, Failure, Heartbeat,
    Recording, Signal, TaskClass, TaskId, TaskState,
};

use super::shared_task::SharedTask;
use super::tasks::{Planned, clock, record, seed};
use super::{Host, words};
use crate::cancel::Cancel;
use crate::error::OpError;
use crate::events::Events;

/// Runs a flow as a task of the project around. `name` is the command that asked for it, `title` what a person sees in a list.
pub fn as_task<R: Report>(
    host: &Host,
    (name, title): (&'static str, &str),
    events: &Events,
    flow: impl FnOnce(&Events) -> Result<R, OpError>,
) -> Result<R, OpError> {
    // The agents that a flow starts draw their names from the seed itself.
    let id = TaskId::from_random(!seed(host));
    let Some(OpenedTask { recording, heartbeat, shared }) = open(host, &id, (name, title), events)
    else {
        return flow(events);
    };
    let started =
        Event::Started { task: id.to_string(), agent: name.to_owned(), title: title.to_owned() };
    events.emit(started);
    let mut listeners = recording.listeners();
    listeners.extend(shared.as_ref().map(SharedTask::listener));
    let stored = StoredEvents::new(id, clock(host), listeners);
    let watch = Watch::start(heartbeat, events.cancel().clone());
    let report = flow(&tee(events, stored.clone()));
    drop(watch);
    stored.emit(Stored::TaskState(ending(&report)));
    if let Some(shared) = shared {
        shared.close();
    }
    close(host, recording, events)?;
    report
}

/// What a task is written down with.
struct OpenedTask {
    recording: Recording,
    heartbeat: Heartbeat,
    /// Where servers share a database.
    shared: Option<SharedTask>,
}

fn open(
    host: &Host,
    id: &TaskId,
    (agent, title): (&'static str, &str),
    events: &Events,
) -> Option<OpenedTask> {
    let planned = Planned {
        id,
        agent,
        // Somebody waits for a command. Locks of stores and of sync say what may run beside it.
        class: TaskClass::Interactive,
        project: host.project.as_ref().map(|project| project.path.display().to_string()),
        title: title.to_owned(),
        words: words(host.settings()),
    };
    let home = host.home_scope().ok()?;
    let (task, words) = (planned.new_task(host), planned.words.clone());
    let (recording, heartbeat) = record(host, &home, planned).ok()?;
    let shared = match host.has_database() {
        true => SharedTask::start(host, &task, words, events.cancel().clone()),
        false => None,
    };
    Some(OpenedTask { recording, heartbeat, shared })
}

fn close(host: &Host, recording: Recording, events: &Events) -> Result<(), OpError> {
    let report = host.block_on(recording.close())?;
    if let Some(error) = report.recorder.error {
        events.warning(format!("Not everything was written down: {error}"), None);
    }
    Ok(())
}

/// Events that are written down and then handed on. Progress is for the eye alone.
fn tee(events: &Events, stored: StoredEvents) -> Events {
    let caller = events.clone();
    let last_step = Mutex::new(String::new());
    let tee = Events::new(move |event| {
        if let Some(kept) = kept(&event, &last_step) {
            stored.emit(kept);
        }
        caller.emit(event);
    });
    tee.with_cancel(events.cancel().clone())
}

/// What is stored of an event.
fn kept(event: &Event, last_step: &Mutex<String>) -> Option<Stored> {
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

/// How a flow's task ended.
fn ending<R: Report>(report: &Result<R, OpError>) -> TaskState {
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

/// Beats for the task on a thread of its own until it is dropped.
struct Watch {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    fn start(heartbeat: Heartbeat, cancel: Cancel) -> Self {
        let (end, ended) = channel();
        let mut heartbeat = heartbeat;
        let thread = thread::Builder::new().name("heartbeat".to_owned()).spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(Heartbeat::INTERVAL) {
                if heartbeat.beat().is_some() {
                    cancel.cancel();
                }
            }
        });
        Self { end: Some(end), thread: thread.ok() }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A heartbeat that panicked has nothing to say.
            let _ = thread.join();
        }
    }
}
