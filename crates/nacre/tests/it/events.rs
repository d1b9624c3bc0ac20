//! Tests `nacre events`, and the recorded usage of models and tools.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use insta::assert_snapshot;
use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_engine::model::{Cost, ModelRef, StopReason, Usage};
use nacre_engine::record::state::{Recorder, State, TaskStore as _};
use nacre_engine::record::{
    CancelledBy, Category, Clock, Event, Events, Fault, Listener, ModelFacts, NewTask, Runner,
    SessionId, Signal, TaskClass, TaskId, TaskState, ToolFacts,
};

use crate::home::{NOW, TestHome};
use crate::operations::host;

const DONE: TaskState = TaskState::Completed { signal: Signal::Done };

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn open(home: &TestHome) -> State {
    let scope = WriteScope::open(&home.root().join(".nacre"), Access::Private).unwrap();
    let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
    State::open(&scope, &owner, Duration::from_secs(5)).unwrap()
}

/// A task in this process, and its event sink.
struct Spoken {
    recorder: Arc<Recorder>,
    events: Events,
}

fn running(home: &TestHome, number: u64, title: &str, runner: &Runner) -> Spoken {
    let mut state = open(home);
    let id = TaskId::from_random(number);
    let task = NewTask {
        id: id.clone(),
        session: SessionId::from_random(number),
        parent: None,
        project: Some("/work".to_owned()),
        agent: "explorer".to_owned(),
        class: TaskClass::Interactive,
        title: title.to_owned(),
    };
    state.accept(&task, runner, now()).unwrap();
    state.start(&id, runner, now()).unwrap();
    let recorder = Arc::new(Recorder::start(state, None));
    let clock: Clock = Arc::new(now);
    let events = Events::new(id, clock, vec![Arc::clone(&recorder) as Arc<dyn Listener>]);
    Spoken { recorder, events }
}

fn here() -> Runner {
    Runner::here(std::process::id())
}

fn result(tool: &str, duration_us: u64, fault: Option<Fault>) -> Event {
    Event::ToolResult(Box::new(ToolFacts {
        step: 1,
        call: "c1".into(),
        tool: tool.into(),
        category: Some(Category::Read),
        fault,
        duration_us,
        bytes_in: 20,
        bytes_out: 4000,
        shown_bytes: 1000,
        changed: Vec::new(),
        n_changed: 0,
    }))
}

fn answer(cost: Option<Cost>) -> Event {
    Event::ModelFinish(Box::new(ModelFacts {
        step: 1,
        model: "anthropic/claude-sonnet-4-6".parse::<ModelRef>().unwrap(),
        stop: StopReason::End,
        usage: Usage { input: 100, cache_read: 900, output: 20, ..Usage::default() },
        cost,
        first_token_us: None,
        duration_us: 1_500_000,
    }))
}

/// Creates a home with a completed task, a running task, and a task whose process no longer exists.
fn with_tasks() -> TestHome {
    let home = TestHome::new();
    let spoken = running(&home, 1, "Where is the \u{1b}[31mqueue?", &here());
    spoken.events.emit(Event::TaskState(TaskState::Running));
    spoken.events.emit(Event::StepStart { step: 1 });
    spoken.events.emit(answer(Some(Cost::from_nano_dollars(2_500_000))));
    spoken.events.emit(Event::ToolCall {
        step: 1,
        call: "c1".into(),
        tool: "file_read".into(),
        arguments: r#"{"path":"a b.rs"}"#.into(),
    });
    spoken.events.emit(result("file_read", 1500, None));
    spoken.events.emit(result("file_read", 300, Some(Fault::NotFound)));
    spoken.events.emit(result("git_log", 12_000, None));
    spoken.events.emit(Event::TaskState(DONE));
    spoken.recorder.close();
    drop(running(&home, 2, "Still at it", &here()));
    drop(running(&home, 3, "Its process was killed", &Runner { birth: "1".to_owned(), ..here() }));
    home
}

#[test]
fn where_nothing_ran_there_is_nothing_to_show() {
    let home = TestHome::new();
    assert_snapshot!(home.run(&["events"]), @"No tasks.");
    assert_snapshot!(home.run(&["model", "--used"]), @"No model calls yet.");
    assert_snapshot!(home.run(&["events", "abcd"]), @"
    Error: No tasks yet
    [exit 1]
    ");
    assert!(!home.root().join(".nacre/state.sqlite3").exists(), "looking makes nothing");
}

#[test]
fn tasks_are_listed_the_latest_first_and_what_was_killed_failed() {
    let home = with_tasks();
    assert_snapshot!(home.run(&["events"]), @r"
    task_0000000000003  2026-11-15 08:30  failed(restarted)  explorer  1 events  Its process was killed
    task_0000000000002  2026-11-15 08:30  running            explorer  0 events  Still at it
    task_0000000000001  2026-11-15 08:30  completed(done)    explorer  8 events  Where is the \u{1b}[31mqueue?
    ");
    let (code, value) = home.json(&["events", "-n", "1"]);
    assert_eq!((code, value["tasks"].as_array().unwrap().len()), (0, 1));
    assert_eq!(
        (&value["tasks"][0]["state"], &value["tasks"][0]["reason"]),
        (&"failed".into(), &"restarted".into())
    );
}

#[test]
fn the_events_of_a_task_are_shown_in_order() {
    let home = with_tasks();
    assert_snapshot!(home.run(&["events", "task_0000000000001"]), @r#"
    Where is the \u{1b}[31mqueue?
    task_0000000000001 · explorer · completed(done) · from 2026-11-15T08:30:00Z · to 2026-11-15T08:30:00Z
        1  08:30:00.000  task.state         state=running
        2  08:30:00.000  step.start         step=1
        3  08:30:00.000  model.finish       cost=2500000 duration_us=1500000 model=anthropic/claude-sonnet-4-6 step=1 stop=end usage.cache_read=900 usage.cache_write=0 usage.input=100 usage.output=20 usage.reasoning=0
        4  08:30:00.000  tool.call          arguments="{\"path\":\"a b.rs\"}" call=c1 step=1 tool=file_read
        5  08:30:00.000  tool.result        bytes_in=20 bytes_out=4000 call=c1 category=read duration_us=1500 n_changed=0 shown_bytes=1000 step=1 tool=file_read
        6  08:30:00.000  tool.result        bytes_in=20 bytes_out=4000 call=c1 category=read duration_us=300 fault=not_found n_changed=0 shown_bytes=1000 step=1 tool=file_read
        7  08:30:00.000  tool.result        bytes_in=20 bytes_out=4000 call=c1 category=read duration_us=12000 n_changed=0 shown_bytes=1000 step=1 tool=git_log
        8  08:30:00.000  task.state         signal=done state=completed
    "#);
    assert_snapshot!(home.run(&["events", "0000000000001", "-n", "1"]), @r"
    Where is the \u{1b}[31mqueue?
    task_0000000000001 · explorer · completed(done) · from 2026-11-15T08:30:00Z · to 2026-11-15T08:30:00Z
        1  08:30:00.000  task.state         state=running
    Hint: 7 more; `--limit 0` shows all
    ");
    let (_, value) = home.json(&["events", "0000000000001"]);
    let events = value["events"].as_array().unwrap();
    assert_eq!((value["task"]["state"].as_str(), events.len()), (Some("completed"), 8));
    assert_eq!(
        (&events[4]["sequence"], &events[4]["event"], &events[4]["tool"]),
        (&5.into(), &"tool.result".into(), &"file_read".into())
    );
    assert_snapshot!(home.run(&["events", "0000"]), @"
    Error: `0000` fits 3 tasks
    Hint: Type more of the id; `nacre events` lists the tasks
    [exit 1]
    ");
    assert_snapshot!(home.run(&["events", "zzzz"]), @"
    Error: Task `zzzz` not found
    Hint: `nacre events` lists the latest tasks
    [exit 1]
    ");
}

#[test]
fn a_task_is_followed_to_its_end() {
    let home = TestHome::new();
    let spoken = running(&home, 7, "Follow me", &here());
    spoken.events.emit(Event::StepStart { step: 1 });
    let mut command =
        home.command(&home.work(), &["events", "task_0000000000007", "--follow", "--json"]);
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    spoken.events.emit(Event::StepEnd { step: 1, n_calls: 0, duration_us: 5 });
    spoken.events.emit(Event::TaskState(TaskState::Cancelled { by: CancelledBy::Person }));
    spoken.recorder.close();
    let output = child.wait_with_output().unwrap();
    let names: Vec<String> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["event"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(names, ["step.start", "step.end", "task.state"]);
    assert!(output.status.success());
}

#[test]
fn a_task_whose_process_is_gone_is_not_followed_for_ever() {
    let home = with_tasks();
    assert!(
        home.run(&["events", "0000000000003", "--follow"])
            .ends_with("task.state         state=failed why=restarted\n")
    );
}

#[test]
fn a_task_is_cancelled_by_name() {
    let home = with_tasks();
    assert_snapshot!(home.run(&["events", "cancel", "0000000000002"]), @r"
    task_0000000000002 stopping
    Follow it: nacre events task_0000000000002 --follow
    ");
    let task = open(&home).task(&TaskId::from_random(2)).unwrap();
    assert_eq!((task.state, task.asked), (TaskState::Running, Some(CancelledBy::Person)));
    for (task, how) in [("1", "completed(done)"), ("3", "failed(restarted)")] {
        let id = format!("task_000000000000{task}");
        let shown = home.run(&["events", "cancel", &id]);
        assert_eq!(shown.lines().next(), Some(&*format!("Error: Task `{id}` is over: {how}")));
    }
    let (code, report) = home.json(&["events", "cancel", "zzzz"]);
    assert_eq!((code, &report["error"]["message"]), (1, &"Task `zzzz` not found".into()));
}

#[test]
fn tools_and_models_are_counted() {
    let home = with_tasks();
    let report = nacre_ops::tasks::tools(&host(&home)).unwrap();
    let [read, log] = &report.tools[..] else { panic!("{report:?}") };
    assert_eq!((&*read.tool, read.calls, read.p50_us, read.p95_us), ("file_read", 2, 300, 1500));
    assert_eq!(read.errors, [("not_found".to_owned(), 1)].into());
    assert_eq!((&*log.tool, log.calls), ("git_log", 1));
    assert_eq!((log.bytes_out, log.shown_bytes), (4000, 1000));
    assert_snapshot!(home.run(&["model", "--used"]), @"anthropic/claude-sonnet-4-6  1 calls  100 tokens in, 900 from cache  20 out  $0.002500");
    assert_eq!(home.json(&["model", "--used"]).1["models"][0]["cost_nano_dollars"], 2_500_000);
}

/// Runs an agent whose model gives one response, with a collector at `address`.
fn ask_with_collector(address: &str) -> (TestHome, String) {
    let home = TestHome::new().with_var("NACRE_TELEMETRY_OTLP_ENDPOINT", address);
    let answer = "[[turns]]\ncalls = [{ name = 'answer', arguments = { answer = 'Nowhere.', citations = [] } }]\n";
    fs::write(home.root().join("script.toml"), answer.repeat(3)).unwrap();
    let shown = home.run(&["run", "--scripted", "../script.toml", "Where?"]);
    (home, shown)
}

#[test]
fn a_run_is_listed_logged_and_told_to_the_collector() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let collector = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut received = String::new();
        let mut buffer = [0; 4096];
        // The request body ends with the object that contains all spans.
        while !received.ends_with("}]}]}") {
            let n_read = stream.read(&mut buffer).unwrap();
            received.push_str(&String::from_utf8_lossy(&buffer[..n_read]));
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
        received
    });
    let (home, shown) = ask_with_collector(&address);
    let received = collector.join().unwrap();
    assert!(
        received.starts_with("POST /v1/traces") && received.contains("invoke_agent explorer"),
        "{received}"
    );
    assert!(!shown.contains("Warning"), "{shown}");
    let (_, value) = home.json(&["events"]);
    let task = value["tasks"][0]["id"].as_str().unwrap();
    let log = fs::read_to_string(home.root().join(".nacre/logs/server.log")).unwrap();
    let last = log.lines().last().unwrap();
    assert!(last.contains(r#""event":"task.state""#) && last.contains(task), "{last}");
    assert!(home.run(&["events", task, "--follow"]).contains("run.summary"));
}

#[test]
fn a_collector_that_is_gone_costs_a_warning() {
    let (home, shown) = ask_with_collector("http://127.0.0.1:1");
    assert!(
        shown.contains("Warning: Could not export spans: the collector cannot be reached"),
        "{shown}"
    );
    assert!(shown.contains("Nowhere."), "{shown}");
    assert_eq!(home.json(&["events"]).1["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn a_damaged_state_is_named_with_what_to_type() {
    let home = TestHome::new();
    fs::write(
        home.root().join(".nacre/state.sqlite3"),
        "this is no database, it only looks as long as one",
    )
    .unwrap();
    assert_snapshot!(home.run(&["events"]), @"
    Error: `$HOME/.nacre/state.sqlite3` is damaged or not a Nacre file
    Caused by: file is not a database
    Caused by: Error code 26: file is not a database
    Hint: Rename it, and Nacre creates a new one: mv $HOME/.nacre/state.sqlite3 $HOME/.nacre/state.sqlite3.damaged
    [exit 1]
    ");
}
