//! Tests `nacre chat` in scripts: a turn with a scripted model, and what it stores.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::home::TestHome;

/// Creates a project with an `add` function that subtracts by mistake.
fn home() -> TestHome {
    let home = TestHome::new();
    fs::write(home.work().join("lib.rs"), "fn add(a: i32, b: i32) -> i32 { a - b }\n").unwrap();
    home
}

fn script(home: &TestHome, turns: &Value) {
    let script = json!({ "turns": turns }).to_string();
    fs::write(home.root().join("script.json"), script).unwrap();
}

fn code(home: &TestHome) -> String {
    fs::read_to_string(home.work().join("lib.rs")).unwrap()
}

fn mend() -> Value {
    json!({ "name": "file_edit",
            "arguments": { "path": "lib.rs", "edits": [{ "find": "a - b", "replace": "a + b" }] } })
}

fn read() -> Value {
    json!({ "name": "file_read", "arguments": { "path": "lib.rs" } })
}

fn chat(home: &TestHome, words: &str, more: &[&str]) -> (i32, Value) {
    let mut args = vec!["chat", "-p", words, "--scripted", "../script.json"];
    args.extend(more);
    home.json(&args)
}

#[test]
fn a_turn_changes_files_and_is_taken_back_to_the_byte() {
    let home = home();
    script(
        &home,
        &json!([
            { "say": "Let me look.", "calls": [read()] },
            { "calls": [mend()] },
            { "say": "It adds now (lib.rs:1)." },
        ]),
    );
    let before = code(&home);
    let (exit, report) = chat(&home, "Why does add subtract?", &["--policy", "auto-edit"]);
    assert_eq!(
        (exit, report["state"].as_str(), report["signal"].as_str()),
        (0, Some("completed"), Some("done"))
    );
    assert_eq!(
        (&report["text"], &report["changed"]),
        (&json!("It adds now (lib.rs:1)."), &json!(["lib.rs"]))
    );
    assert!(code(&home).contains("a + b"));
    let (exit, undone) = home.json(&["chat", "--undo"]);
    assert_eq!((exit, &undone["restored"], &undone["kept"]), (0, &json!(["lib.rs"]), &json!([])));
    assert_eq!(code(&home), before);
    let (exit, _) = home.json(&["chat", "--undo"]);
    assert_eq!(exit, 1, "there is nothing more to take back");
}

#[test]
fn what_an_answer_names_and_nobody_looked_up_is_listed() {
    let home = home();
    let id = home.add("The queue is a SQLite table", &[]);
    script(
        &home,
        &json!([
            { "calls": [read()] },
            { "say": format!("See lib.rs:1, lib.rs:9999, nowhere.py:3, [{id}] and [20260301-node-serves-it].") },
        ]),
    );
    let (_, report) = chat(&home, "Why does add subtract?", &[]);
    let text = report["text"].as_str().unwrap();
    let listed = "Not checked: `lib.rs:9999` (the file has 1 line), `nowhere.py:3` \
                  (file not found), [20260301-node-serves-it] (memory not found)";
    assert_eq!(text.lines().last(), Some(listed), "{text}");
}

#[test]
fn what_somebody_changed_since_is_not_taken_back() {
    let home = home();
    script(&home, &json!([{ "calls": [mend()] }, { "say": "Done." }]));
    chat(&home, "Mend it", &["--policy", "auto-edit"]);
    fs::write(home.work().join("lib.rs"), "mine\n").unwrap();
    let (_, undone) = home.json(&["chat", "--undo"]);
    assert_eq!(undone["restored"], json!([]));
    assert_eq!(undone["kept"][0]["path"], "lib.rs");
    assert_eq!(code(&home), "mine\n");
}

#[test]
fn without_a_yes_nothing_happens_and_the_agent_is_told() {
    let home = home();
    let run = json!({ "name": "shell_run", "arguments": { "argv": ["touch", "made"] } });
    let fetch = json!({ "name": "web_fetch", "arguments": { "url": "http://example.com/" } });
    let refused = "No user to ask";
    script(
        &home,
        &json!([
            { "calls": [mend()] },
            { "expect": { "last_contains": [refused] }, "calls": [run] },
            { "expect": { "last_contains": [refused] }, "calls": [fetch] },
            { "expect": { "last_contains": [refused] }, "say": "I was not allowed to." },
        ]),
    );
    let before = code(&home);
    let (exit, report) = chat(&home, "Mend it", &[]);
    assert_eq!((exit, report["denied"].as_array().map(Vec::len)), (3, Some(3)));
    assert_eq!(code(&home), before);
    assert!(!home.work().join("made").exists());
}

#[test]
fn a_session_goes_on_with_what_was_said_and_done() {
    let home = home();
    script(&home, &json!([{ "calls": [read()] }, { "say": "It subtracts." }]));
    let (_, first) = chat(&home, "What does add do?", &[]);
    let session = first["session"].as_str().unwrap();
    script(
        &home,
        &json!([{ "expect": { "n_messages": 5, "last_contains": ["And why?"] }, "say": "Nobody knows." }]),
    );
    let (exit, second) = chat(&home, "And why?", &["--resume"]);
    assert_eq!((exit, second["session"].as_str()), (0, Some(session)));
    let (_, listed) = home.json(&["chat", "--list"]);
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(listed["sessions"][0]["title"], "What does add do?");
    let (_, found) = home.json(&["chat", "--search", "nobody knows"]);
    assert_eq!(found["hits"][0]["session"], session);
    let exported = home.ok(&["chat", "--export", session]);
    let kinds: Vec<String> = exported
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned()
        })
        .collect();
    let expected =
        ["session", "user", "tool_call", "tool_result", "assistant", "user", "assistant"];
    assert_eq!(kinds, expected);
    home.ok(&["chat", "--remove", session]);
    let (exit, _) = chat(&home, "Still there?", &["--resume", session]);
    assert_eq!(exit, 1);
}

#[test]
fn a_conversation_is_a_trace_that_sync_reads() {
    let home = home();
    script(&home, &json!([{ "say": "Good." }]));
    chat(&home, "Remember that we use tabs in Makefiles, always.", &[]);
    home.ok(&["sync", "--no-extract"]);
    let (_, traces) = home.json(&["trace"]);
    assert_eq!(traces["sessions"][0]["facts"]["agent"], "generic", "{traces}");
    assert!(traces.to_string().contains("we use tabs in Makefiles"), "{traces}");
}

#[test]
fn a_killed_turn_ends_once_and_its_session_goes_on() {
    let home = home();
    script(&home, &json!([{ "calls": [read()] }, { "hang": true }]));
    let args = ["chat", "-p", "Look", "--scripted", "../script.json", "--stream-json"];
    let mut child = home.command(&home.work(), &args).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut session = String::new();
    for line in lines {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        message["session"].as_str().unwrap_or_default().clone_into(&mut session);
        if message["type"] == "step" && message["step"] == 2 {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    script(&home, &json!([{ "expect": { "last_contains": ["Go on"] }, "say": "I go on." }]));
    let (exit, report) = chat(&home, "Go on", &["--resume", &session]);
    assert_eq!((exit, &report["text"]), (0, &json!("I go on.")));
    let (_, tasks) = home.json(&["events"]);
    let states: Vec<&str> = tasks["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|task| task["state"].as_str())
        .collect();
    assert_eq!(states.iter().filter(|state| **state == "failed").count(), 1, "{states:?}");
}

#[test]
fn a_model_that_fails_ends_the_turn_with_its_reason() {
    let home = home();
    script(
        &home,
        &json!([{ "say": "I beg", "error": { "kind": "auth", "message": "no such key" } }]),
    );
    let (exit, report) = chat(&home, "Hello", &[]);
    assert_eq!((exit, report["state"].as_str()), (1, Some("failed")));
    assert!(report["failure"]["hints"].to_string().contains("nacre events"), "{report}");
}

#[test]
fn events_show_a_chat_task_as_all_others_in_order() {
    let home = home();
    let run = json!({ "name": "shell_run", "arguments": { "argv": ["touch", "made"] } });
    let missing = json!({ "name": "file_read", "arguments": { "path": "missing.rs" } });
    script(
        &home,
        &json!([
            { "calls": [read(), missing] },
            { "calls": [mend()] },
            { "calls": [run] },
            { "say": "It adds now." },
        ]),
    );
    let (_, report) = chat(&home, "Mend it", &["--policy", "auto-edit"]);
    let task = report["task"].as_str().unwrap();
    let (_, listed) = home.json(&["events"]);
    assert!(listed.to_string().contains(task), "{listed}");
    let (_, shown) = home.json(&["events", task]);
    let events = shown["events"].as_array().unwrap_or_else(|| panic!("{shown}"));
    let numbers: Vec<u64> =
        events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "without gaps");
    let told: Vec<String> = events
        .iter()
        .map(|event| {
            let name = event["event"].as_str().unwrap_or_default();
            let detail = ["tool", "decision", "state"].iter().find_map(|key| event[*key].as_str());
            format!("{name} {}", detail.unwrap_or_default()).trim().to_owned()
        })
        .collect();
    let mut left = told.iter();
    for expected in [
        "task.state running",
        "run.prepare",
        "step.start",
        "model.call",
        "model.finish",
        "tool.call file_read",
        "tool.call file_read",
        "tool.result file_read",
        "tool.result file_read",
        "step.end",
        "tool.call file_edit",
        "tool.result file_edit",
        "tool.call shell_run",
        "approval.request shell_run",
        "approval.decision shell_run",
        "tool.denied shell_run",
        "tool.result shell_run",
        "model.call",
        "model.finish",
        "run.summary",
        "task.state completed",
    ] {
        assert!(left.any(|event| event == expected), "no {expected} where it belongs: {told:#?}");
    }
    assert!(left.next().is_none(), "nothing after the end: {told:#?}");
    let faults: Vec<&str> = events.iter().filter_map(|event| event["fault"].as_str()).collect();
    assert_eq!(faults, ["not_found", "denied"], "{shown}");
    assert!(home.ok(&["events", task]).contains("shell_run"));
}

#[test]
fn what_the_person_stated_is_remembered_once_although_sync_reads_it_again() {
    let home = home();
    script(&home, &json!([{ "say": "Good." }]));
    chat(&home, "Remember: we always use tabs in Makefiles, because make refuses spaces.", &[]);
    let remembered = home.tree("memory");
    assert_eq!(remembered.matches("makefiles").count(), 1, "{remembered}");
    home.ok(&["sync"]);
    assert_eq!(home.tree("memory").matches("makefiles").count(), 1, "{}", home.tree("memory"));
}
