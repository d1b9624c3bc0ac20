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
    assert_eq!(summary.narrative, ["User: now document it please"]);
    assert_eq!(summary.outcome, "**Done.** The queue is in SQLite and documented.");
    assert_eq!(summary.files, ["src/queue.rs"]);
    assert_eq!(summary.commands, ["cargo test"]);
    assert_eq!(
        summary.description,
        "Move the queue to SQLite. Ended with: **Done.** The queue is in SQLite and documented"
    );
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
    assert_eq!(summary.outcome, "The trace has no closing words of the agent.");
}

#[test]
fn of_a_long_session_the_ends_are_told() {
    let lines: Vec<String> = (0..40)
        .map(|n| format!(r#"{{"type":"user","text":"please do step number {n}"}}"#))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let narrative = summary(&lines).narrative;
    assert_eq!(narrative.len(), FIRST_ASKED + 1 + LAST_ASKED);
    assert_eq!(narrative[FIRST_ASKED], "… 29 more messages");
    assert_eq!(narrative.last().map(String::as_str), Some("User: please do step number 39"));
}

fn message(kind: &str, text: &str) -> String {
    serde_json::json!({ "type": kind, "text": text }).to_string()
}

#[test]
fn sentences_are_left_out_whole_and_never_changed() {
    let rule = "The limit is 1024**2 bytes, never 2**20: `a_b **kwargs` must stay as it is here.";
    let text =
        format!("Set the limit. {rule} {} Never cut it off.", "And so on and on. ".repeat(60));
    let summary = summary(&[
        &message("user", &text),
        &message("user", &text),
        &message("assistant", &format!("## Done\n\n- {rule}\n- Tests pass")),
    ]);
    assert!(summary.intent.contains(rule) && summary.narrative[0].contains(rule), "{summary:?}");
    assert!(summary.narrative[0].ends_with("on. … Never cut it off."), "{}", summary.narrative[0]);
    assert_eq!(summary.outcome, format!("- {rule}\n- Tests pass"));
}

#[test]
fn the_user_has_the_last_word() {
    let mut lines = vec![
        message("user", "Store the queue in MySQL please"),
        message("assistant", "The queue is in MySQL. The retry policy is still open."),
        message("user", "No, use SQLite instead!"),
    ];
    let ending = |lines: &[String]| {
        let summary = summary(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        (summary.narrative, summary.outcome, summary.description)
    };
    let (narrative, outcome, description) = ending(&lines);
    assert_eq!(
        narrative,
        ["Agent: The queue is in MySQL. The retry policy is still open."],
        "the outcome has the rest"
    );
    assert_eq!(outcome, format!("{LAST_WORDS}No, use SQLite instead!"));
    assert!(description.ends_with("Ended with: the user's words: No, use SQLite instead!"));
    lines.push(message("assistant", "I will move it."));
    lines.push(r#"{"type":"tool_call","call":"c","tool":"shell","text":"ls"}"#.to_owned());
    let (_, outcome, description) = ending(&lines);
    assert_eq!(outcome, format!("{LAST_WORK}I will move it."));
    assert!(!description.contains("Ended with"), "{description}");
}

#[test]
fn only_what_is_known_to_have_succeeded_is_listed() {
    let call = |tool: &str, text: serde_json::Value, output: &str, error: bool| {
        let (text, id) = (text.to_string(), "c");
        [
            serde_json::json!({ "type": "tool_call", "call": id, "tool": tool, "text": text }),
            serde_json::json!({ "type": "tool_result", "call": id, "text": output, "error": error }),
        ]
        .map(|line| line.to_string())
    };
    let edit = |path: &str, output: &str, error: bool| {
        call("Edit", serde_json::json!({ "file_path": path }), output, error)
    };
    let run = |command: &str, output: &str| {
        call("shell", serde_json::json!({ "command": command }), output, false)
    };
    let lines = [
        [r#"{"type":"session","version":1,"id":"42","cwd":"C:\\shop"}"#.to_owned(), String::new()],
        edit("C:\\shop\\src\\a.rs", "ok", false),
        edit("C:\\shop2\\b.rs", "ok", false),
        edit("C:\\shop\\denied.rs", "The user doesn't want to proceed", true),
        run("make test", "ok\n<shellId: 1 completed with exit code 0>"),
        run("make lint", "bad\n<shellId: 2 completed with exit code 2>"),
        run("make slow", "Process running with session ID 7"),
        run("make piped | tail", "ok"),
        run("make chained; true", "ok"),
        run("make both && make all 2>&1", "ok"),
        run("ls -l", "a.rs"),
    ];
    let lines: Vec<&str> = lines.iter().flatten().map(String::as_str).collect();
    let summary = summary(&lines);
    assert_eq!(summary.files, ["C:\\shop2\\b.rs", "src\\a.rs"]);
    assert_eq!(summary.commands, ["make test", "make both && make all 2>&1"]);
}
