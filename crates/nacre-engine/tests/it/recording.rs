//! Tests for a recorded run: its state and log, and the effects of recording failures.

#![expect(clippy::disallowed_methods, reason = "the test plays the disk")]

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_base::redact::ExtraWords;
use nacre_engine::record::state::{Recorder, RecorderReport, State, StateError, TaskStore as _};
use nacre_engine::record::{
    Clock, Event, Events, NewTask, Runner, SessionId, Signal, Start, TaskClass, TaskId, TaskState,
    Telemetry,
};

const PATIENCE: Duration = Duration::from_secs(1);

fn owner() -> Owner {
    Owner { pid: 1, command: "test".to_owned(), since: String::new() }
}

fn now() -> Timestamp {
    "2026-11-15T08:30:00Z".parse().unwrap()
}

fn open(home: &WriteScope) -> Result<Arc<Recorder>, StateError> {
    Recorder::open(home, &owner(), PATIENCE, ExtraWords::default(), Telemetry::default())
}

/// Runs a task through its lifecycle and returns the recorder's report and the task state.
fn record(home: &WriteScope) -> (RecorderReport, TaskState) {
    let recorder = open(home).unwrap();
    let mut state = State::open(home, &owner(), PATIENCE).unwrap();
    let runner = Runner::here(std::process::id());
    let task = NewTask {
        id: TaskId::from_random(1),
        session: SessionId::from_random(1),
        parent: None,
        project: None,
        agent: "explorer".to_owned(),
        class: TaskClass::Interactive,
        title: "Where is the queue?".to_owned(),
    };
    let clock: Clock = Arc::new(now);
    let events = Events::new(task.id.clone(), clock, vec![recorder.clone()]);
    state.accept(&task, &runner, now()).unwrap();
    events.emit(Event::TaskState(TaskState::Accepted));
    assert_eq!(state.start(&task.id, &runner, now()).unwrap(), Start::Now);
    events.emit(Event::TaskState(TaskState::Running));
    events.emit(Event::TaskState(TaskState::Completed { signal: Signal::Done }));
    let report = recorder.close();
    (report, state.task(&task.id).unwrap().state)
}

const DONE: TaskState = TaskState::Completed { signal: Signal::Done };

#[test]
fn a_run_is_in_the_state_and_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let home = WriteScope::open(folder.path(), Access::Private).unwrap();
    let (report, state) = record(&home);
    assert_eq!((report.n_written, state), (3, DONE));
    let log = std::fs::read_to_string(folder.path().join("logs/server.log")).unwrap();
    assert_eq!(log.lines().count(), 3);
}

#[test]
fn a_log_that_cannot_be_written_fails_no_task() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("logs"), "no folder").unwrap();
    let home = WriteScope::open(folder.path(), Access::Private).unwrap();
    let (report, state) = record(&home);
    assert_eq!((report.n_written, state), (3, DONE));
}

#[test]
fn a_state_that_is_no_database_is_told_before_a_run() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("state.sqlite3"),
        "this is no database, it only looks as long as one",
    )
    .unwrap();
    let home = WriteScope::open(folder.path(), Access::Private).unwrap();
    assert!(matches!(open(&home), Err(StateError::Damaged { .. })));
}
