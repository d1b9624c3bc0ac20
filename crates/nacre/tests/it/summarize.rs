//! `nacre summarize`: what one session was about, in the words that were said.

use std::fs;

use insta::assert_snapshot;

use crate::home::TestHome;

#[test]
fn a_session_is_told_by_what_was_said_and_done() {
    let home = TestHome::new();
    let lines = [
        r#"{"type":"session","version":1,"id":"42","cwd":"/home/ana/shop"}"#,
        r#"{"type":"user","text":"Move the queue to SQLite. It must survive a restart.","time":"2026-11-15T08:00:00Z"}"#,
        r#"{"type":"tool_call","call":"1","tool":"Edit","text":"{\"file_path\":\"/home/ana/shop/src/queue.rs\"}"}"#,
        r#"{"type":"tool_result","call":"1","text":"ok"}"#,
        r#"{"type":"assistant","text":"Done: the queue is a table now.","time":"2026-11-15T08:10:00Z"}"#,
    ];
    fs::write(home.work().join("s.jsonl"), lines.join("\n") + "\n").unwrap();
    let before = home.snapshot();
    assert_snapshot!(home.run(&["summarize", "--trace", "s.jsonl", "--out", "o.json"]), @"
    Move the queue to SQLite; written to o.json
    ");
    let written = fs::read_to_string(home.work().join("o.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(summary["intent"], "Move the queue to SQLite. It must survive a restart.");
    assert_eq!(summary["outcome"], "Done: the queue is a table now.");
    assert_eq!(summary["files"], serde_json::json!(["src/queue.rs"]));
    assert_eq!(home.snapshot(), before);
    let (_, report) = home.json(&["summarize", "--trace", "s.jsonl", "--out", "o.json"]);
    assert_eq!(report["title"], "Move the queue to SQLite");
    let printed = home.ok(&["summarize", "--trace", "s.jsonl", "--out", "-"]);
    assert_eq!(printed, written);
}
