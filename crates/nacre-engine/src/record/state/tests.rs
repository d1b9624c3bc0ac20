//! Tests for tasks and events shared by several processes.

use std::sync::Arc;
use std::time::Duration;

use nacre_base::redact::ExtraWords;
use proptest::prelude::*;

use super::*;
use crate::record::event::tests::{model_facts, samples, tool_facts};
use crate::record::state::support_tests::{Home, at, id, me, names, task, voice};
use crate::record::{
    CancelledBy, Event, Failure, Fault, Listener, NewTask, QUEUE_CAP, Runner, SessionId, Signal,
    Start, TaskClass, TaskState, ToolFacts,
};

const DONE: TaskState = TaskState::Completed { signal: Signal::Done };

fn recorder(home: &Home) -> Arc<Recorder> {
    Arc::new(Recorder::start(home.open(), Some(home.log())))
}

fn listener(recorder: &Arc<Recorder>) -> Arc<dyn Listener> {
    Arc::clone(recorder) as Arc<dyn Listener>
}

fn told(state: &State, number: u64) -> Vec<String> {
    let events = state.events(&id(number), 0, 1000).unwrap();
    events.iter().map(|event| format!("{} {}", event.sequence, event.name)).collect()
}

fn running() -> (Home, State) {
    let home = Home::new();
    let mut state = home.open();
    home.accept(&mut state, 1, at(0));
    assert_eq!(state.start(&id(1), &me(), at(1)).unwrap(), Start::Now);
    (home, state)
}

#[test]
fn every_stored_kind_of_event_is_kept_in_order_and_deltas_are_not() {
    let (home, state) = running();
    let recorder = recorder(&home);
    let events = voice(1, listener(&recorder));
    samples().into_iter().for_each(|event| events.emit(event));
    let report = recorder.close();
    let stored: Vec<Event> = samples().into_iter().filter(Event::is_stored).collect();
    assert_eq!((report.n_written, report.n_lost, report.n_refused), (stored.len() as u64, 0, 0));
    let kept = state.events(&id(1), 0, 1000).unwrap();
    let read: Vec<Event> =
        kept.iter().map(|event| serde_json::from_value(event.fields.clone()).unwrap()).collect();
    assert_eq!(read, stored);
    assert!(kept.last().is_some_and(EventRecord::is_terminal));
    assert_eq!(state.events(&id(1), 3, 2).unwrap(), kept[3..5]);
    let record = state.task(&id(1)).unwrap();
    assert_eq!(
        (record.state, record.ended, record.n_events),
        (DONE, Some(at(5)), stored.len() as u64)
    );
}

#[test]
fn a_helper_is_kept_under_the_task_that_started_it() {
    let (home, state) = running();
    let recorder = recorder(&home);
    let events = voice(1, listener(&recorder));
    events.emit(Event::AgentSpawn { child: id(2), agent: "explorer".into() });
    let child = events.of_task(id(2));
    child.emit(Event::StepStart { step: 1 });
    child.emit(Event::TaskState(DONE));
    events.emit(Event::TaskState(DONE));
    assert_eq!(recorder.close().n_refused, 0);
    let record = state.task(&id(2)).unwrap();
    assert_eq!(
        (record.parent, record.state, record.session),
        (Some(id(1)), DONE, SessionId::from_random(1))
    );
    assert_eq!(told(&state, 2), ["1 step.start", "2 task.state"]);
}

#[test]
fn secrets_reach_neither_the_file_nor_the_log() {
    let (home, mut state) = running();
    let key =
        "sk-ant-api03-AAAAbbbbCCCCddddEEEEffffGGGGhhhhIIIIjjjjKKKKllllMMMMnnnnOOOOpppp-QQQQrrrrAA";
    let recorder = recorder(&home);
    let events = voice(1, listener(&recorder));
    let arguments = format!(r#"{{"text": "ANTHROPIC_API_KEY={key}"}}"#);
    events.emit(Event::ToolCall {
        step: 1,
        call: "c".into(),
        tool: "shell_run".into(),
        arguments: arguments.into(),
    });
    recorder.close();
    state.accept(&NewTask { title: format!("use {key}"), ..task(2) }, &me(), at(6)).unwrap();
    let kept = format!(
        "{:?} {:?} {:?}",
        state.events(&id(1), 0, 9),
        state.tasks(9),
        state.session_titles()
    );
    let log = std::fs::read_to_string(home.path().join("logs/server.log")).unwrap();
    assert!(kept.contains("[redacted:") && log.contains("[redacted:"), "{kept} {log}");
    assert!(!kept.contains("bbbbCCCC") && !log.contains("bbbbCCCC"));
}

#[test]
fn words_of_a_project_are_in_no_event_no_title_and_no_line_of_the_log() {
    let (home, _state) = running();
    let words = ExtraWords::new(&["Acme Corp".to_owned()]);
    let open = || home.open().without_words(words.clone());
    let recorder = Arc::new(Recorder::start(open(), Some(home.log())));
    let events = voice(1, listener(&recorder));
    let arguments = serde_json::json!({ "pattern": "Acme Corp" }).to_string();
    events.emit(Event::ToolCall {
        step: 1,
        call: "c".into(),
        tool: "file_search".into(),
        arguments: arguments.into(),
    });
    recorder.close();
    let mut state = open();
    let title = "Who is Acme Corp?".to_owned();
    state.accept(&NewTask { title, ..task(2) }, &me(), at(6)).unwrap();
    let kept = format!(
        "{:?} {:?} {:?}",
        state.events(&id(1), 0, 9),
        state.tasks(9),
        state.session_titles()
    );
    let log = std::fs::read_to_string(home.path().join("logs/server.log")).unwrap();
    assert!(!kept.contains("Acme") && !log.contains("Acme"), "{kept} {log}");
    assert!(kept.contains("[redacted:extra]") && log.contains("[redacted:extra]"), "{log}");
}

// Regression test: logs must be rotated.
#[test]
fn a_full_log_makes_room_and_five_old_ones_stay() {
    let (home, _state) = running();
    for step in 0..30 {
        let log = home.log().with_max_bytes(200);
        let recorder = Arc::new(Recorder::start(home.open(), Some(log)));
        let events = voice(1, listener(&recorder));
        events.emit(Event::StepEnd { step, n_calls: 1, duration_us: 5 });
        recorder.close();
    }
    let kept = names(&home.path().join("logs"));
    let olds: Vec<&String> = kept.iter().filter(|name| name.starts_with("server.log.")).collect();
    assert_eq!(
        olds,
        ["server.log.1", "server.log.2", "server.log.3", "server.log.4", "server.log.5"]
    );
}

#[test]
fn a_line_of_the_log_is_an_event() {
    let (home, _state) = running();
    let recorder = recorder(&home);
    let events = voice(1, listener(&recorder));
    events.emit(Event::ToolResult(Box::new(ToolFacts {
        fault: Some(Fault::Denied),
        ..tool_facts("c1", "file edit", 9)
    })));
    recorder.close();
    insta::assert_snapshot!(std::fs::read_to_string(home.path().join("logs/server.log")).unwrap(), @r#"{"at":"2027-01-15T08:00:05Z","level":"warn","task":"task_0000000000001","sequence":1,"event":"tool.result","step":1,"call":"c1","tool":"file edit","category":"read","fault":"denied","duration_us":9,"bytes_in":20,"bytes_out":4000,"shown_bytes":1000,"changed":[],"n_changed":0}"#);
}

// Regression test: every kind of cancellation leads to exactly one end.
#[test]
fn a_task_that_another_process_ended_tells_nothing_more() {
    let home = Home::new();
    let mut state = home.open();
    home.accept(&mut state, 1, at(0));
    let recorder = recorder(&home);
    let events = voice(1, listener(&recorder));
    events.emit(Event::TaskState(TaskState::Accepted));
    while told(&state, 1).is_empty() {
        std::thread::yield_now();
    }
    let by = CancelledBy::Person;
    assert_eq!(state.cancel(&id(1), by, at(2)).unwrap().ended, [id(1)]);
    events.emit(Event::StepStart { step: 1 });
    events.emit(Event::TaskState(TaskState::Cancelled { by }));
    assert_eq!(recorder.close().n_refused, 2);
    assert_eq!(told(&state, 1), ["1 task.state", "2 task.state"]);
    assert!(matches!(state.start(&id(1), &me(), at(3)), Err(StateError::Move(_))));
}

#[test]
fn a_task_that_never_ran_cannot_be_completed() {
    let home = Home::new();
    let mut state = home.open();
    home.accept(&mut state, 1, at(0));
    let recorder = recorder(&home);
    voice(1, listener(&recorder)).emit(Event::TaskState(DONE));
    voice(9, listener(&recorder)).emit(Event::StepStart { step: 1 });
    assert_eq!(recorder.close().n_refused, 2);
    assert_eq!(state.task(&id(1)).unwrap().state, TaskState::Accepted);
    assert!(matches!(state.go(&id(1), DONE, at(1)), Err(StateError::Move(_))));
}

// Regression test: a session runs one task at a time, whichever connections or processes start its
// tasks.
#[test]
fn a_session_runs_one_task_at_a_time_in_the_order_in_which_they_came() {
    let (home, mut state) = running();
    let mut other = home.open();
    for number in [2, 3] {
        home.accept(&mut other, number, at(2));
    }
    assert_eq!(other.start(&id(3), &me(), at(3)).unwrap(), Start::Waits { position: 2 });
    assert_eq!(other.start(&id(2), &me(), at(3)).unwrap(), Start::Waits { position: 1 });
    state.go(&id(1), DONE, at(4)).unwrap();
    assert_eq!(other.start(&id(3), &me(), at(5)).unwrap(), Start::Waits { position: 2 });
    assert_eq!(other.start(&id(2), &me(), at(5)).unwrap(), Start::Now);
    assert_eq!(
        other.start(&id(2), &me(), at(5)).unwrap(),
        Start::Now,
        "asking again changes nothing"
    );
}

#[test]
fn a_session_takes_twenty_five_that_wait_and_no_more() {
    let (home, mut state) = running();
    for number in 0..QUEUE_CAP as u64 {
        home.accept(&mut state, 100 + number, at(2));
    }
    assert!(matches!(
        state.accept(&task(200), &me(), at(3)),
        Err(StateError::QueueFull { cap: 25, .. })
    ));
    let elsewhere = NewTask { session: SessionId::from_random(2), ..task(201) };
    state.accept(&elsewhere, &me(), at(3)).unwrap();
    let helper = NewTask { parent: Some(id(1)), ..task(202) };
    state.accept(&helper, &me(), at(3)).unwrap();
    assert_eq!(state.start(&id(202), &me(), at(3)).unwrap(), Start::Now, "a helper takes no turn");
}

#[test]
fn a_project_has_one_background_task_and_any_number_of_others() {
    let home = Home::new();
    let mut state = home.open();
    let accept = |state: &mut State, number: u64, class: TaskClass, project: &str| {
        let session = SessionId::from_random(number);
        let project = Some(project.to_owned());
        state.accept(&NewTask { session, class, project, ..task(number) }, &me(), at(0)).unwrap();
        state.start(&id(number), &me(), at(1)).unwrap()
    };
    assert_eq!(accept(&mut state, 1, TaskClass::Background, "/a"), Start::Now);
    assert_eq!(accept(&mut state, 2, TaskClass::Background, "/a"), Start::Waits { position: 1 });
    assert_eq!(accept(&mut state, 3, TaskClass::Background, "/b"), Start::Now);
    assert_eq!(accept(&mut state, 4, TaskClass::Interactive, "/a"), Start::Now);
    state.go(&id(1), DONE, at(2)).unwrap();
    assert_eq!(state.start(&id(2), &me(), at(3)).unwrap(), Start::Now);
}

#[test]
fn cancelling_ends_what_waits_and_asks_what_runs_down_the_tree() {
    let (home, mut state) = running();
    for (number, parent) in [(2, 1), (3, 2), (4, 1)] {
        state.accept(&NewTask { parent: Some(id(parent)), ..task(number) }, &me(), at(2)).unwrap();
    }
    home.accept(&mut state, 5, at(2));
    state.start(&id(2), &me(), at(3)).unwrap();
    state.go(&id(4), TaskState::Running, at(3)).unwrap();
    state.go(&id(4), DONE, at(3)).unwrap();
    let report = state.cancel(&id(1), CancelledBy::Person, at(4)).unwrap();
    assert_eq!(report, CancelReport { ended: vec![id(3)], asked: vec![id(1), id(2)] });
    assert_eq!(state.task(&id(3)).unwrap().state, TaskState::Cancelled { by: CancelledBy::Parent });
    assert_eq!(state.task(&id(4)).unwrap().state, DONE);
    assert_eq!(state.task(&id(5)).unwrap().state, TaskState::Accepted);
    let asked = state.beat(&me(), at(5)).unwrap();
    assert_eq!(asked, [(id(1), CancelledBy::Person), (id(2), CancelledBy::Parent)]);
    let other = Runner { pid: 2, ..me() };
    assert_eq!(state.beat(&other, at(5)).unwrap(), []);
}

// Regression test: tasks must not be lost on restart.
#[test]
fn the_tasks_of_a_process_that_is_gone_failed_and_those_of_a_living_one_go_on() {
    let home = Home::new();
    let mut state = home.open();
    let here = Runner::here(std::process::id());
    let gone = Runner { birth: "1".to_owned(), ..here.clone() };
    let elsewhere = Runner { host: "elsewhere".to_owned(), ..here.clone() };
    for (number, runner) in [(1, &gone), (2, &here), (3, &elsewhere)] {
        let session = SessionId::from_random(number);
        state.accept(&NewTask { session, ..task(number) }, runner, at(0)).unwrap();
        state.start(&id(number), runner, at(0)).unwrap();
    }
    let restarted = TaskState::Failed { why: Failure::Restarted };
    assert_eq!(state.clear_dead(&here, at(10)).unwrap(), [id(1)]);
    assert_eq!(state.task(&id(1)).unwrap().state, restarted);
    assert_eq!(told(&state, 1), ["1 task.state"], "who follows it sees its end");
    assert_eq!(state.clear_dead(&here, at(119)).unwrap(), []);
    state.beat(&elsewhere, at(119)).unwrap();
    assert_eq!(state.clear_dead(&here, at(200)).unwrap(), [], "its lease was renewed");
    assert_eq!(state.clear_dead(&here, at(240)).unwrap(), [id(3)]);
    assert_eq!(state.task(&id(2)).unwrap().state, TaskState::Running);
}

#[test]
fn what_a_dead_process_left_in_the_queue_is_in_nobodys_way() {
    let home = Home::new();
    let mut state = home.open();
    let here = Runner::here(std::process::id());
    let gone = Runner { birth: "1".to_owned(), ..here.clone() };
    state.accept(&task(1), &gone, at(0)).unwrap();
    state.start(&id(1), &gone, at(0)).unwrap();
    state.accept(&task(2), &here, at(1)).unwrap();
    assert_eq!(state.start(&id(2), &here, at(1)).unwrap(), Start::Now);
}

#[test]
fn tools_and_models_are_counted() {
    let (home, state) = running();
    let recorder = recorder(&home);
    let events = voice(1, listener(&recorder));
    for n in 1..=20 {
        events.emit(Event::ToolResult(Box::new(tool_facts(&format!("c{n}"), "file_read", n * 10))));
    }
    let hit = ToolFacts { fault: Some(Fault::NotFound), ..tool_facts("d", "file_find", 3) };
    events.emit(Event::ToolResult(Box::new(hit)));
    events.emit(Event::ModelFinish(Box::new(model_facts(1))));
    recorder.close();
    let stats = state.tool_stats().unwrap();
    let shown: Vec<String> = stats
        .iter()
        .map(|tool| {
            format!(
                "{} {} {} {} {:?}",
                tool.tool, tool.calls, tool.p50_us, tool.p95_us, tool.errors
            )
        })
        .collect();
    assert_eq!(shown, ["file_find 1 3 3 {\"not_found\": 1}", "file_read 20 100 190 {}"]);
    let models = state.model_stats().unwrap();
    let [model] = models.as_slice() else { panic!("one model") };
    assert_eq!((model.input, model.cached, model.output), (100, 0, 20));
    assert_eq!(model.cost_nano_dollars, Some(1500));
}

// Regression test: old tasks and events must be deleted.
#[test]
fn old_tasks_and_too_many_events_are_let_go_and_unfinished_ones_stay() {
    let home = Home::new();
    let mut state = home.open();
    for number in 1..=4 {
        let session = SessionId::from_random(number);
        state.accept(&NewTask { session, ..task(number) }, &me(), at(0)).unwrap();
        state.start(&id(number), &me(), at(0)).unwrap();
        let recorder = recorder(&home);
        let events = voice(number, listener(&recorder));
        (0..9).for_each(|step| events.emit(Event::StepStart { step }));
        recorder.close();
        if number < 4 {
            state.go(&id(number), DONE, at(i64::try_from(number).unwrap() * 100)).unwrap();
        }
    }
    let mut trim = |seconds, now| state.trim(Duration::from_secs(seconds), at(now)).unwrap();
    assert_eq!((trim(1000, 400), trim(250, 400), trim(150, 400), trim(0, 9999)), (0, 1, 1, 1));
    assert_eq!(
        state.tasks(10).unwrap().iter().map(|task| task.id.clone()).collect::<Vec<_>>(),
        [id(4)]
    );
    assert_eq!(
        (told(&state, 1).len(), told(&state, 4).len(), state.session_titles().len()),
        (0, 9, 1)
    );
}

// Regression test: a short prefix must not match everything.
#[test]
fn a_task_is_found_by_the_start_of_its_id() {
    let home = Home::new();
    let mut state = home.open();
    let ids = ["task_abcd1", "task_abcd12", "task_abxx"];
    for text in ids {
        state.accept(&NewTask { id: text.parse().unwrap(), ..task(0) }, &me(), at(0)).unwrap();
    }
    for (asked, found) in
        [("task_abx", Ok("task_abxx")), ("abx", Ok("task_abxx")), ("abcd1", Ok("task_abcd1"))]
    {
        assert_eq!(
            state.find_task(asked).map(|task| task.id.to_string()).map_err(|_| ()),
            found.map(str::to_owned)
        );
    }
    assert!(matches!(state.find_task("ab"), Err(StateError::Ambiguous { n_found: 3, .. })));
    for asked in ["", "task_", "zz", "ab%", "ab'; --", "\u{1b}"] {
        assert!(matches!(state.find_task(asked), Err(StateError::UnknownTask { .. })), "{asked:?}");
    }
}

/// Actions of two processes on five tasks in two sessions.
#[derive(Clone, Debug)]
enum TaskEvent {
    Start(u64),
    Finish(u64),
    Cancel(u64),
}

fn task_event() -> impl Strategy<Value = TaskEvent> {
    let number = 1..=5u64;
    prop_oneof![
        number.clone().prop_map(TaskEvent::Start),
        number.clone().prop_map(TaskEvent::Finish),
        number.prop_map(TaskEvent::Cancel),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn turns_are_kept_under_any_order_of_events(events in proptest::collection::vec(task_event(), 0..30)) {
        let home = Home::new();
        let mut states = [home.open(), home.open()];
        for number in 1..=5u64 {
            let class = if number % 2 == 0 { TaskClass::Background } else { TaskClass::Interactive };
            let new = NewTask { session: SessionId::from_random(number % 2 + number / 4), class, ..task(number) };
            states[0].accept(&new, &me(), at(0)).unwrap();
        }
        for (n, task_event) in events.into_iter().enumerate() {
            let state = &mut states[n % 2];
            // An illegal transition only needs to be refused, so ignore the result.
            let _ = match task_event {
                TaskEvent::Start(number) => state.start(&id(number), &me(), at(1)).map(|_| ()),
                TaskEvent::Finish(number) => state.go(&id(number), DONE, at(2)),
                TaskEvent::Cancel(number) => state.cancel(&id(number), CancelledBy::Person, at(2)).map(|_| ()),
            };
            let tasks = states[0].tasks(10).unwrap();
            let runs = |task: &&TaskRecord| task.state == TaskState::Running;
            for session in tasks.iter().map(|task| &task.session) {
                prop_assert!(tasks.iter().filter(runs).filter(|task| task.session == *session).count() <= 1);
            }
            prop_assert!(tasks.iter().filter(runs).filter(|task| task.class == TaskClass::Background).count() <= 1);
        }
        let waiting: Vec<TaskRecord> =
            states[0].tasks(10).unwrap().into_iter().rev().filter(|task| !task.state.is_terminal()).collect();
        let is_idle = waiting.iter().all(|task| task.state != TaskState::Running);
        if let Some(task) = waiting.first().filter(|_| is_idle) {
            prop_assert_eq!(states[1].start(&task.id, &me(), at(3)).unwrap(), Start::Now);
        }
    }
}
