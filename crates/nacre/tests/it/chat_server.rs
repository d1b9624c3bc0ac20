//! Tests `nacre chat` with a server on the same home: output and exit codes are the same, and turns
//! survive a closed terminal.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::answering::{Answering, Calls, SAY};
use crate::home::TestHome;
use crate::serve::Served;

fn home() -> TestHome {
    let home = TestHome::new();
    fs::write(home.work().join("lib.rs"), "fn add(a: i32, b: i32) -> i32 { a - b }\n").unwrap();
    home
}

fn edit() -> Calls {
    vec![(
        "file_edit",
        json!({ "path": "lib.rs", "edits": [{ "find": "a - b", "replace": "a + b" }] }),
    )]
}

/// Starts a model that fixes `add` when asked, unless it is already fixed.
fn mending() -> Answering {
    Answering::start(|request| {
        let text = request["messages"].to_string();
        match text.contains("Mend") && !text.contains("call_0") {
            true => edit(),
            false => vec![(SAY, json!("That is all."))],
        }
    })
}

/// Starts a model that responds only when the test lets it.
fn gated(answer: Calls) -> (Answering, Sender<()>) {
    let (open, gate) = channel();
    let gate = Arc::new(Mutex::new(gate));
    let model = Answering::start(move |_| {
        let _ = gate.lock().unwrap().recv();
        answer.clone()
    });
    (model, open)
}

/// Masks the parts of a report that differ between runs.
fn masked(mut report: Value) -> Value {
    for name in ["session", "task"] {
        assert!(report[name].as_str().is_some_and(|id| !id.is_empty()), "{report}");
        report[name] = json!(name);
    }
    report
}

/// Starts a turn as a script would. Returns its process and session.
fn begin(home: &TestHome, args: &[&str]) -> (Child, String) {
    let args: Vec<&str> =
        ["chat", "-p", "Mend it", "--stream-json"].iter().chain(args).copied().collect();
    let mut command = home.command(&home.work(), &args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let messages = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let step = messages.into_iter().find(|message| message["type"] == "step");
    let session = step.expect("the turn begins")["session"].as_str().unwrap().to_owned();
    (child, session)
}

/// Waits until the session's only task has ended, and returns its state.
fn wait_for_end(home: &TestHome, session: &str) -> String {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(30) {
        let (_, tasks) = home.json(&["events"]);
        let tasks = tasks["tasks"].as_array().unwrap();
        let mut ours = tasks.iter().filter(|task| task["session"] == session);
        let state = ours.next().and_then(|task| task["state"].as_str()).unwrap_or_default();
        if ["completed", "failed", "cancelled"].contains(&state) {
            return state.to_owned();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the task did not end");
}

#[test]
fn a_turn_by_the_server_says_what_one_in_the_process_says() {
    let cases: [(&str, &[&str], i32); 3] = [
        ("Hello", &[], 0),
        ("Mend it", &["--policy", "auto-edit"], 0),
        ("Mend it", &["--policy", "ask"], 3),
    ];
    for (words, more, expected) in cases {
        let told = |by_server: bool| {
            let home = home();
            let model = mending();
            model.set_for(&home, "chat");
            let served = by_server.then(|| Served::start(&home));
            let args: Vec<&str> = ["chat", "-p", words].iter().chain(more).copied().collect();
            let (exit, report) = home.json(&args);
            let code = fs::read_to_string(home.work().join("lib.rs")).unwrap();
            drop(served);
            (exit, masked(report), code)
        };
        let (here, there) = (told(false), told(true));
        assert_eq!(here, there, "{words} {more:?}");
        assert_eq!(here.0, expected, "{words} {more:?}");
    }
}

#[test]
fn a_model_that_is_not_set_is_the_same_error_by_the_server() {
    let told = |by_server: bool| {
        let home = home();
        let served = by_server.then(|| Served::start(&home));
        let (exit, report) = home.json(&["chat", "-p", "Hello"]);
        drop(served);
        assert!(home.ok(&["chat", "--list", "--local"]).starts_with("No sessions"));
        (exit, report["error"]["code"].clone(), report["error"]["message"].clone())
    };
    let here = told(false);
    assert_eq!(here, told(true));
    assert_eq!((here.0, &here.1), (1, &json!("not_set")));
}

#[test]
fn a_turn_goes_on_in_the_server_when_its_terminal_is_gone() {
    let home = home();
    let (model, open) = gated(vec![(SAY, json!("I went on."))]);
    model.set_for(&home, "chat");
    let _served = Served::start(&home);
    let (mut child, session) = begin(&home, &[]);
    child.kill().unwrap();
    child.wait().unwrap();
    open.send(()).unwrap();
    assert_eq!(wait_for_end(&home, &session), "completed");
    let said = home.ok(&["chat", "--export", &session]);
    assert!(said.contains("I went on."), "{said}");
}

#[test]
fn a_local_turn_ends_with_its_process_and_the_server_is_not_asked() {
    let home = home();
    let (model, open) = gated(vec![(SAY, json!("I went on."))]);
    model.set_for(&home, "chat");
    let _served = Served::start(&home);
    let (mut child, session) = begin(&home, &["--local"]);
    child.kill().unwrap();
    child.wait().unwrap();
    // The client has disconnected.
    drop(open);
    home.json(&["chat", "--list"]);
    assert_eq!(wait_for_end(&home, &session), "failed");
}

#[test]
fn a_killed_server_is_said_and_its_session_goes_on_without_it() {
    let home = home();
    let (model, open) = gated(vec![(SAY, json!("Here I am again."))]);
    model.set_for(&home, "chat");
    let served = Served::start(&home);
    let (mut child, session) = begin(&home, &[]);
    drop(served);
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_ne!(child.wait().unwrap().code(), Some(0));
    assert!(told.contains("Lost the connection to the agent: the server stopped"), "{told}");
    assert!(told.contains(&format!("nacre chat --resume {session}")), "{told}");
    for _ in 0..2 {
        open.send(()).unwrap();
    }
    let (exit, report) = home.json(&["chat", "-p", "Go on", "--resume", &session]);
    assert_eq!((exit, &report["text"]), (0, &json!("Here I am again.")), "{report}");
    assert_eq!(report["session"], session);
    let (_, tasks) = home.json(&["events"]);
    let states: Vec<&str> = tasks["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|task| task["session"] == session)
        .filter_map(|task| task["state"].as_str())
        .collect();
    assert_eq!(states.len(), 2, "{states:?}");
    assert!(states.contains(&"failed") && states.contains(&"completed"), "{states:?}");
}

#[test]
fn sessions_are_those_of_the_folder_whoever_is_asked() {
    let home = home();
    let model = mending();
    model.set_for(&home, "chat");
    let (_, first) = home.json(&["chat", "-p", "Hello"]);
    let served = Served::start(&home);
    let (_, resumed) = home.json(&["chat", "-p", "Hello again", "--resume"]);
    assert_eq!(first["session"], resumed["session"]);
    let (_, listed) = home.json(&["chat", "--list"]);
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(1), "{listed}");
    let (_, found) = home.json(&["chat", "--search", "again"]);
    assert_eq!(found["hits"][0]["session"], first["session"]);
    drop(served);
    let (_, alone) = home.json(&["chat", "-p", "Mend it", "--policy", "auto-edit"]);
    assert_eq!(alone["changed"], json!(["lib.rs"]));
    let _served = Served::start(&home);
    let (exit, undone) = home.json(&["chat", "--undo"]);
    assert_eq!((exit, &undone["restored"]), (0, &json!(["lib.rs"])));
}
