//! Tests for `extract` and `summarize`, which print one session's candidates with quotes, or its
//! summary, without writing memories.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::lab::Lab;

const SESSION: &[&str] = &[
    r#"{"type":"session","version":1,"id":"42","cwd":"/home/ana/shop"}"#,
    r#"{"type":"user","text":"add validation to the signup form","time":"2026-11-15T08:00:00Z"}"#,
    r#"{"type":"tool_call","call":"1","tool":"shell","text":"npm install zod"}"#,
    r#"{"type":"tool_result","call":"1","text":"added 1 package"}"#,
    r#"{"type":"user","text":"no, always use pnpm here, npm breaks the workspace links","time":"2026-11-15T08:01:00Z"}"#,
    r#"{"type":"assistant","text":"Understood, using pnpm."}"#,
    r#"{"type":"user","text":"never add comments to the lockfile for now"}"#,
];

#[test]
fn a_session_gives_its_candidates_and_says_what_was_dropped() {
    let lab = Lab::new();
    lab.put("s.jsonl", &(SESSION.join("\n") + "\n"));
    let found = lab.json(&["extract", "s.jsonl"]);
    assert_eq!(found["gate"], "open");
    let candidate = &found["candidates"][0];
    assert_eq!((&candidate["id"], &candidate["type"]), (&json!("c1"), &json!("learning")));
    let quote = json!({
        "text": "no, always use pnpm here, npm breaks the workspace links", "place": "42:3",
    });
    let said = &candidate["quotes"][0];
    assert_eq!((&said["text"], &said["place"]), (&quote["text"], &quote["place"]));
    assert_eq!(found["dropped_counts"]["not_durable"], 1);
    assert_eq!(found["dropped"][0]["reason"], "not_durable");
    let mut names: Vec<String> = fs::read_dir(lab.work())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, [".git", "s.jsonl"]);
}

#[test]
fn a_trace_may_be_of_any_agent() {
    let lab = Lab::new();
    let claude = r#"{"type":"user","sessionId":"c","uuid":"u","message":{"role":"user","content":"hello there my friend"}}"#;
    lab.put("c.jsonl", &format!("{claude}\n"));
    assert_eq!(lab.json(&["extract", "c.jsonl"])["agent"], "claude");
    assert_snapshot!(lab.run(&["extract", "gone.jsonl"]), @"
    Error: Trace `$HOME/work/gone.jsonl` not found
    Hint: `nacre trace` lists the known sessions
    [exit 2]
    ");
}

#[test]
fn a_session_is_told_by_what_was_said_and_done() {
    let lab = Lab::new();
    let lines = [
        r#"{"type":"session","version":1,"id":"42","cwd":"/home/ana/shop"}"#,
        r#"{"type":"user","text":"Move the queue to SQLite. It must survive a restart.","time":"2026-11-15T08:00:00Z"}"#,
        r#"{"type":"tool_call","call":"1","tool":"Edit","text":"{\"file_path\":\"/home/ana/shop/src/queue.rs\"}"}"#,
        r#"{"type":"tool_result","call":"1","text":"ok"}"#,
        r#"{"type":"assistant","text":"Done: the queue is a table now.","time":"2026-11-15T08:10:00Z"}"#,
    ];
    lab.put("s.jsonl", &(lines.join("\n") + "\n"));
    let summary = lab.json(&["summarize", "s.jsonl"]);
    assert_eq!(summary["title"], "Move the queue to SQLite");
    assert_eq!(summary["intent"], "Move the queue to SQLite. It must survive a restart.");
    assert_eq!(summary["outcome"], "Done: the queue is a table now.");
    assert_eq!(summary["files"], json!(["src/queue.rs"]));
}
