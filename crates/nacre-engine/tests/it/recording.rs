//! A run that is recorded: state, log and spans, and what their failures do to it.

#![expect(clippy::disallowed_methods, reason = "the test plays the disk")]

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_core::base::redact::ExtraWords;
use nacre_core::safefs::{Access, Owner, WriteScope};
use nacre_engine::record::state::{State, StateError};
use nacre_engine::record::{
    Clock, Event, Events, NewTask, Recording, RecordingReport, RecordingRules, Runner, SessionId,
    Signal, Start, TaskClass, TaskId, TaskState,
};

use crate::loopback::{Loopback, Reply};

const PATIENCE: Duration = Duration::from_secs(1);

fn owner() -> Owner {
    Owner { pid: 1, command: "test".to_owned(), since: String::new() }
}

fn now() -> Timestamp {
    "2026-11-15T08:30:00Z".parse().unwrap()
}

fn rules(otlp: &str) -> RecordingRules<'_> {
    RecordingRules { otlp, words: ExtraWords::default() }
}

/// Takes a task through its life and returns what was made of it.
async fn recorded(home: &WriteScope, otlp: &str) -> (RecordingReport, TaskState) {
    let recording = Recording::start(home, &owner(), PATIENCE, rules(otlp)).unwrap();
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
    let events = Events::new(task.id.clone(), clock, recording.listeners());
    state.accept(&task, &runner, now()).unwrap();
    events.emit(Event::TaskState(TaskState::Accepted));
    assert_eq!(state.start(&task.id, &runner, now()).unwrap(), Start::Now);
    events.emit(Event::TaskState(TaskState::Running));
    events.emit(Event::TaskState(TaskState::Completed { signal: Signal::Done }));
    let report = recording.close().await;
    (report, state.task(&task.id).unwrap().state)
}

const DONE: TaskState = TaskState::Completed { signal: Signal::Done };

#[tokio::test]
async fn a_run_is_in_the_state_in_the_log_and_at_the_collector() {
    let server = Loopback::start(vec![Reply::status(200, &[], "{}")]).await;
    let folder = tempfile::tempdir().unwrap();
    let home = WriteScope::open(folder.path(), Access::Private).unwrap();
    let (report, state) = recorded(&home, &server.address).await;
    assert_eq!((report.recorder.n_written, state), (3, DONE));
    assert!(matches!(report.telemetry, Some(Ok(1))), "{report:?}");
    let log = std::fs::read_to_string(folder.path().join("logs/server.log")).unwrap();
    assert_eq!(log.lines().count(), 3);
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn without_an_address_nothing_is_sent_and_a_bad_one_fails_no_task() {
    for (otlp, expected) in [
        ("", "None"),
        ("file:///etc/passwd", "Some(Err(NotHttp))"),
        ("http://127.0.0.1:1", "Some(Err(Unreach"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let home = WriteScope::open(folder.path(), Access::Private).unwrap();
        let (report, state) = recorded(&home, otlp).await;
        assert_eq!(state, DONE);
        assert!(format!("{:?}", report.telemetry).starts_with(expected), "{report:?}");
    }
}

#[tokio::test]
async fn a_log_that_cannot_be_written_fails_no_task() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("logs"), "no folder").unwrap();
    let home = WriteScope::open(folder.path(), Access::Private).unwrap();
    let (report, state) = recorded(&home, "").await;
    assert_eq!((report.recorder.n_written, state), (3, DONE));
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
    assert!(matches!(
        Recording::start(&home, &owner(), PATIENCE, rules("")),
        Err(StateError::Damaged { .. })
    ));
}
