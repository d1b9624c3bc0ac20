//! `nacre extract`: one session in, candidates with their quotes out, and no memory written.

use std::fs;

use insta::assert_snapshot;

use crate::home::TestHome;

const SESSION: &[&str] = &[
    r#"{"type":"session","version":1,"id":"42","cwd":"/home/ana/shop"}"#,
    r#"{"type":"user","text":"add validation to the signup form","time":"2026-11-15T08:00:00Z"}"#,
    r#"{"type":"tool_call","call":"1","tool":"shell","text":"npm install zod"}"#,
    r#"{"type":"tool_result","call":"1","text":"added 1 package"}"#,
    r#"{"type":"user","text":"no, we use pnpm here, npm breaks the workspace links","time":"2026-11-15T08:01:00Z"}"#,
    r#"{"type":"assistant","text":"Understood, using pnpm."}"#,
    r#"{"type":"user","text":"don't add comments to the lockfile for now"}"#,
];

fn home() -> TestHome {
    let home = TestHome::new();
    fs::write(home.work().join("s.jsonl"), SESSION.join("\n") + "\n").unwrap();
    home
}

#[test]
fn a_session_gives_its_candidates_and_says_what_was_dropped() {
    let home = home();
    assert_snapshot!(home.run(&["extract", "--trace", "s.jsonl", "--out", "e.json", "--explain"]), @"
    1 candidate, 1 dropped; written to e.json
    c1  0.75         correction  We use pnpm here, npm breaks the workspace links
    -   not_durable  correction  Don't add comments to the lockfile for now
    ");
    let written: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(home.work().join("e.json")).unwrap()).unwrap();
    assert_eq!(written["gate"], "open");
    let candidate = &written["candidates"][0];
    assert_eq!(candidate["type"], "learning");
    assert_eq!(
        candidate["quotes"][0]["text"],
        "no, we use pnpm here, npm breaks the workspace links"
    );
    assert_eq!(candidate["quotes"][0]["place"], "42:3");
    assert_eq!(written["dropped_counts"]["not_durable"], 1);
}

#[test]
fn nothing_is_written_but_the_file_that_was_named() {
    let home = home();
    let before = home.snapshot();
    home.ok(&["extract", "--trace", "s.jsonl", "--out", "e.json"]);
    assert_eq!(home.snapshot(), before);
    let mut names: Vec<String> = fs::read_dir(home.work())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, [".git", ".nacre", "e.json", "s.jsonl"]);
}

#[test]
fn a_dash_prints_the_artifact_and_json_prints_the_counts() {
    let home = home();
    let printed = home.ok(&["extract", "--trace", "s.jsonl", "--out", "-"]);
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["candidates"][0]["id"], "c1");
    let (code, report) = home.json(&["extract", "--trace", "s.jsonl", "--out", "e.json"]);
    assert_eq!((code, &report["candidates"], &report["gate"]), (0, &1.into(), &"open".into()));
    assert!(report.get("explained").is_none());
    let (_, report) = home.json(&["extract", "--trace", "s.jsonl", "--out", "e.json", "--explain"]);
    assert_eq!(report["explained"]["dropped"][0]["reason"], "not_durable");
}

#[test]
fn what_a_person_forgot_is_not_proposed_again() {
    let home = home();
    let (_, first) = home.json(&["extract", "--trace", "s.jsonl", "--out", "-"]);
    let candidate = &first["candidates"][0];
    let (title, body) = (candidate["title"].as_str().unwrap(), candidate["body"].as_str().unwrap());
    let id = home.add(title, &["--body", body]);
    home.ok(&["memory", "forget", &id, "--yes"]);
    let (_, again) = home.json(&["extract", "--trace", "s.jsonl", "--out", "-"]);
    assert_eq!(again["candidates"].as_array().map(Vec::len), Some(0));
    assert_eq!(again["dropped_counts"]["forgotten"], 1);
}

#[test]
fn a_trace_may_be_of_any_agent_or_a_session_that_was_seen() {
    let home = home();
    let claude = r#"{"type":"user","sessionId":"c","uuid":"u","message":{"role":"user","content":"hello there my friend"}}"#;
    fs::write(home.work().join("c.jsonl"), format!("{claude}\n")).unwrap();
    let (_, of_claude) = home.json(&["extract", "--trace", "c.jsonl", "--out", "-"]);
    assert_eq!(of_claude["agent"], "claude");
    let (_, imported) = home.json(&["trace", "import", "s.jsonl"]);
    let id = imported["id"].as_str().unwrap();
    let (_, seen) = home.json(&["extract", "--trace", id, "--out", "-"]);
    assert_eq!(seen["candidates"].as_array().map(Vec::len), Some(1));
    assert_snapshot!(home.run(&["extract", "--trace", "gone.jsonl", "--out", "-"]), @"
    Error: There is no trace `$HOME/work/gone.jsonl`
    Hint: `nacre trace list` shows the sessions that were seen
    [exit 1]
    ");
}

#[test]
fn a_file_that_names_another_project_is_not_queued_for_it() {
    let home = home();
    let other = home.root().join("other");
    fs::create_dir(&other).unwrap();
    home.run_in(&other, &["init"]);
    let there = serde_json::json!({ "type": "session", "version": 1, "id": "42", "cwd": other });
    let said = r#"{"type":"user","text":"Remember: we always send the build logs to Oslo."}"#;
    fs::write(home.work().join("x.jsonl"), format!("{there}\n{said}\n")).unwrap();
    assert_snapshot!(home.run(&["trace", "import", "x.jsonl"]), @"
    Error: The session says that it is of `$HOME/other`; nothing was queued
    Hint: Where that is true, import it there: cd $HOME/other
    [exit 1]
    ");
    let (_, queue) = home.json(&["queue"]);
    assert!(!queue.to_string().contains("pending"), "{queue}");
}

#[test]
fn no_file_of_somebody_else_is_written_over() {
    let home = home();
    let file = home.work().join("notes.json");
    for (command, other) in [("extract", "{\"mine\": 1}"), ("summarize", "my notes")] {
        fs::write(&file, other).unwrap();
        let args = [command, "--trace", "s.jsonl", "--out", "notes.json"];
        let shown = home.run(&args);
        assert!(shown.contains("was not written by") && shown.ends_with("[exit 1]\n"), "{shown}");
        assert_eq!(fs::read_to_string(&file).unwrap(), other);
        home.ok(&[&args[..], &["--force"]].concat());
        // The result of an earlier call is brought up to date.
        home.ok(&args);
    }
}
