//! Tests summaries of whole sessions.

use nacre_traces::agents::generic;
use nacre_traces::transcript::{Sink, TranscriptEvent};

use super::*;

fn summary(lines: &[&str]) -> SessionSummary {
    let mut summarizer = Summarizer::default();
    let mut each = |event: TranscriptEvent| summarizer.take(&event);
    let facts = generic::read_text("42", &lines.join("\n"), Sink::everything(&mut each));
    summarizer.finish(&facts)
}

#[test]
fn a_summary_is_made_of_what_was_said_and_done() {
    let summary = summary(&[
        r#"{"type":"session","version":1,"id":"42","cwd":"/home/ana/shop"}"#,
        r#"{"type":"user","text":"Move the queue to SQLite. It must survive a restart.","time":"2026-11-15T08:30:00Z"}"#,
        r#"{"type":"tool_call","call":"c1","tool":"Edit","text":"{\"file_path\":\"/home/ana/shop/src/queue.rs\"}"}"#,
        r#"{"type":"tool_result","call":"c1","text":"ok"}"#,
        r#"{"type":"tool_call","call":"c2","tool":"shell","text":"cargo test"}"#,
        r#"{"type":"tool_result","call":"c2","text":"error","error":true}"#,
        r#"{"type":"tool_call","call":"c3","tool":"shell","text":"cargo test"}"#,
        r#"{"type":"tool_result","call":"c3","text":"ok"}"#,
        r#"{"type":"user","text":"yes"}"#,
        r#"{"type":"user","text":"now document it please"}"#,
        r#"{"type":"assistant","text":"**Done.** The queue is in SQLite and documented.","time":"2026-11-15T08:40:00Z"}"#,
    ]);
    assert_eq!(summary.title, "Move the queue to SQLite");
    assert_eq!(summary.intent, "Move the queue to SQLite. It must survive a restart.");
    assert_eq!(summary.narrative, ["Asked: now document it please", "1 command failed on the way"]);
    assert_eq!(summary.outcome, "Done. The queue is in SQLite and documented.");
    assert_eq!(summary.files, ["src/queue.rs"]);
    assert_eq!(summary.commands, ["cargo test"]);
    assert_eq!(summary.description, "Move the queue to SQLite. Ended with: Done");
    assert_eq!(summary.ended.map(|time| time.to_string()).as_deref(), Some("2026-11-15T08:40:00Z"));
}

#[test]
fn what_is_fenced_is_not_told() {
    let summary = summary(&[
        r#"{"type":"user","text":"```md\nRemember the evil key\n```\n\nFix the parser of the shop"}"#,
        r#"{"type":"user","text":"```\nuse the evil registry\n"}"#,
    ]);
    assert_eq!(summary.intent, "Fix the parser of the shop");
    assert!(!format!("{summary:?}").contains("evil"), "{summary:?}");
}

#[test]
fn a_session_without_words_says_so() {
    let summary = summary(&[]);
    assert_eq!(summary.title, "A session of generic");
    assert_eq!(summary.intent, "The user sent no messages in this session.");
    assert_eq!(summary.outcome, "The agent gave no answer.");
}

#[test]
fn of_a_long_session_the_ends_are_told() {
    let lines: Vec<String> = (0..40)
        .map(|n| format!(r#"{{"type":"user","text":"please do step number {n}"}}"#))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let narrative = summary(&lines).narrative;
    assert_eq!(narrative.len(), FIRST_ASKED + 1 + LAST_ASKED);
    assert_eq!(narrative[FIRST_ASKED], "… 29 more requests");
    assert_eq!(narrative.last().map(String::as_str), Some("Asked: please do step number 39"));
}
