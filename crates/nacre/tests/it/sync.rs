//! Tests `nacre sync --no-extract`, `connect`, `trace`, `queue`, `retry` and `skip`.

use std::fs;

use insta::assert_snapshot;

use crate::home::TestHome;

/// Creates a home with traces of two sessions in Nacre's own format, one of them in the repository.
fn with_traces() -> TestHome {
    let home = TestHome::new();
    let traces = home.root().join("traces");
    fs::create_dir(&traces).unwrap();
    write_trace(
        &home,
        "inside",
        &home.work().join("src").display().to_string(),
        "Use SQLite for the queue",
    );
    write_trace(&home, "outside", "/elsewhere", "Use Redis for the cache");
    home.ok(&["connect", "generic", "--path", &traces.display().to_string()]);
    // The sessions were written just now, but this clock makes them inactive.
    home.with_var("NACRE_NOW", "2099-01-01T00:00:00Z")
}

fn write_trace(home: &TestHome, id: &str, cwd: &str, said: &str) {
    let session =
        serde_json::json!({ "type": "session", "version": 1, "id": id, "cwd": cwd, "title": said });
    let user = serde_json::json!({ "type": "user", "text": said, "time": "2026-11-01T10:00:00Z" });
    let answer =
        serde_json::json!({ "type": "assistant", "text": "Done.", "time": "2026-11-01T10:01:00Z" });
    fs::write(
        home.root().join(format!("traces/{id}.jsonl")),
        format!("{session}\n{user}\n{answer}\n"),
    )
    .unwrap();
}

fn states(home: &TestHome) -> Vec<String> {
    let (_, value) = home.json(&["queue"]);
    let mut states: Vec<String> = value["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| format!("{} {} {}", job["title"], job["state"], job["reason"]))
        .collect();
    states.sort();
    states
}

#[test]
fn a_sync_reads_what_is_new_and_queues_what_is_ours() {
    let home = with_traces();
    let preview = home.run(&["sync", "--no-extract", "--dry-run", "--quiet"]);
    let mut preview: Vec<&str> = preview.lines().collect();
    preview.sort_unstable();
    assert_eq!(preview, ["generic  ~/traces/inside.jsonl", "generic  ~/traces/outside.jsonl"]);
    assert_snapshot!(home.run(&["sync", "--no-extract", "--run-id", "first"]), @"
    Read 2 sessions.
    Queued for `nacre sync`: 1 session.
    1 session outside of all projects: /elsewhere 1; run `nacre init` there.
    Next: nacre sync
    ");
    assert_snapshot!(home.run(&["sync", "--no-extract", "--run-id", "second"]), @"
    No new content in 2 session files.
    Queued for `nacre sync`: 1 session.
    1 session outside of all projects: /elsewhere 1; run `nacre init` there.
    Next: nacre sync
    ");
    assert_snapshot!(home.run(&["sync", "--no-extract", "--run-id", "third", "--force"]), @"
    Read 2 sessions.
    Queued for `nacre sync`: 1 session.
    1 session outside of all projects: /elsewhere 1; run `nacre init` there.
    Next: nacre sync
    ");
    assert_snapshot!(states(&home).join("\n"), @r#"
    "Use Redis for the cache" "skipped" "no registered project"
    "Use SQLite for the queue" "pending" null
    "#);
    assert_snapshot!(home.run(&["status"]), @"
    Project work in $HOME/work
    project  0 decisions, 0 learnings, 0 summaries  $HOME/work/.nacre
    global   0 decisions, 0 learnings, 0 summaries  $HOME/.nacre
    generic  1 session: 1 pending  $HOME/work
    Queued for `nacre sync`: 1 session.
    1 session outside of all projects: /elsewhere 1; run `nacre init` there.
    Last sync third (done)
    Scope project_fallback_global, 1 registered project
    Health unchecked: run `nacre doctor`
    ");
}

#[test]
fn limits_and_windows_choose_what_is_read() {
    let home = with_traces();
    let read = |args: &[&str]| {
        let args: Vec<&str> = ["sync", "--no-extract"].iter().chain(args).copied().collect();
        let (_, value) = home.json(&args);
        value["read"].as_u64().unwrap()
    };
    assert_eq!(read(&["--agent", "codex"]), 0);
    assert_eq!(read(&["--since", "2098-01-01"]), 0);
    assert_eq!(read(&["--window", "7d"]), 0);
    assert_eq!(read(&["--until", "2020-01-01"]), 0);
    assert_eq!(read(&["--max-sessions", "1"]), 1);
    assert_eq!(read(&[]), 1);
    assert_snapshot!(home.run(&["sync", "--no-extract", "--since", "yesterday"]), @"
    Error: `yesterday` is not a valid time
    Hint: Use a date (2026-11-15), a time (2026-11-15T08:30:00Z) or an age (36h, 7d, 2w)
    [exit 2]
    ");
}

#[test]
fn a_second_sync_waits_its_turn() {
    let home = with_traces();
    home.ok(&["sync", "--no-extract"]);
    let lock = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(home.root().join(".nacre/run/journal/lock"))
        .unwrap();
    lock.lock().unwrap();
    assert!(home.run(&["sync", "--no-extract"]).ends_with("[exit 4]\n"));
    home.ok(&["sync", "--no-extract", "--ignore-lock"]);
}

#[test]
fn a_project_registered_later_gets_its_sessions() {
    let home = with_traces();
    home.ok(&["sync", "--no-extract"]);
    let other = home.root().join("other");
    fs::create_dir(&other).unwrap();
    write_trace(&home, "late", &other.display().to_string(), "Late words");
    home.ok(&["sync", "--no-extract"]);
    assert!(states(&home)[0].contains("no registered project"));
    home.ok(&["project", "add", "../other"]);
    let (_, value) = home.json(&["sync", "--no-extract"]);
    assert_eq!((value["readmitted"].as_u64(), value["read"].as_u64()), (Some(1), Some(0)));
}

#[test]
fn sessions_are_listed_shown_and_searched() {
    let home = with_traces();
    home.ok(&["sync", "--no-extract"]);
    let (_, value) = home.json(&["trace"]);
    let key = value["sessions"][0]["id"].as_str().unwrap().to_owned();
    let masked = |text: String| text.replace(&key, "[KEY]");
    assert_snapshot!(masked(home.run(&["trace"])), @"[KEY]  2026-11-01 10:01  generic  1 said  pending  Use SQLite for the queue");
    assert_snapshot!(masked(home.run(&["trace", "show", &key])), @"
    Use SQLite for the queue
    [KEY] · generic · $HOME/work/src · from 2026-11-01T10:00:00Z · to 2026-11-01T10:01:00Z
    1 user messages, 1 answers, 0 tool calls

    [0] you
    Use SQLite for the queue

    [1] assistant
    Done.
    ");
    assert_snapshot!(masked(home.run(&["trace", "show", &format!("{key}:1")])), @"
    Use SQLite for the queue
    [KEY] · generic · $HOME/work/src · from 2026-11-01T10:00:00Z · to 2026-11-01T10:01:00Z
    1 user messages, 1 answers, 0 tool calls

    [1] assistant
    Done.
    ");
    assert_snapshot!(masked(home.run(&["trace", "search", "sqlite"])), @"
    [KEY]  2026-11-01 10:00  generic  Use SQLite for the queue
        [0] user  Use SQLite for the queue
    Hint: Read on: nacre trace show [KEY]:0
    ");
    let refused = home.run(&["trace", "search", "agent:claud sqlite"]);
    assert!(refused.contains("Agent `claud` not found\nHint: The agents are "), "{refused}");
    assert_snapshot!(home.run(&["trace", "search", "redis"]), @"Nothing found.");
    assert_eq!(
        home.json(&["trace", "search", "redis", "--all"]).1["hits"].as_array().unwrap().len(),
        1
    );
    assert_snapshot!(home.run(&["trace", "show", "nothing"]), @"
    Error: Trace `nothing` not found
    Hint: `nacre trace` lists all sessions
    [exit 1]
    ");
}

#[test]
fn sessions_are_skipped_and_retried() {
    let home = with_traces();
    home.ok(&["sync", "--no-extract"]);
    let (_, value) = home.json(&["queue", "--status", "pending"]);
    let key = value["jobs"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(home.run(&["queue", "--skip", &key[..6]]), format!("{key} skipped\n"));
    assert_eq!(home.json(&["queue", "--status", "pending"]).1["jobs"].as_array().unwrap().len(), 0);
    assert_eq!(home.run(&["queue", "--retry", &key]), format!("{key} queued\n"));
    assert_eq!(home.run(&["queue", "--skip", "all"]), format!("{key} skipped\n"));
    assert_snapshot!(home.run(&["queue", "--retry", "zzz"]), @"
    Error: Trace `zzz` not found
    Hint: `nacre trace` lists all sessions
    [exit 1]
    ");
}

#[test]
fn a_file_can_be_imported() {
    let home = with_traces();
    let file = home.root().join("traces/inside.jsonl");
    assert!(home.run(&["trace", "import", &file.display().to_string()]).contains(", pending\n"));
    assert_snapshot!(home.run(&["trace", "import", "nothing.jsonl"]), @"
    Error: File `$HOME/work/nothing.jsonl` not found
    Hint: Name a session file; `nacre connect list` shows where agents store theirs
    [exit 1]
    ");
}

#[test]
fn a_session_that_opencode_exported_can_be_imported() {
    let home = with_traces();
    let part =
        serde_json::json!({ "id": "prt_1", "type": "text", "text": "Use SQLite, not Redis" });
    let info = serde_json::json!({ "id": "msg_1", "role": "user", "time": { "created": 1_793_527_200_000_i64 } });
    let session = serde_json::json!({
        "info": { "id": "ses_1", "projectID": "p", "directory": home.root().join("work"), "title": "The queue" },
        "messages": [{ "info": info, "parts": [part] }],
    });
    crate::agents::write(&home.root().join("export.json"), &session.to_string());
    let file = home.root().join("export.json").display().to_string();
    let (_, imported) = home.json(&["trace", "import", &file]);
    let shown = home.run(&["trace", "show", imported["id"].as_str().unwrap()]);
    assert!(shown.contains("Use SQLite, not Redis"), "{shown}");
    assert!(home.run(&["trace", "--all", "--agent", "opencode"]).contains("The queue"));
}

#[test]
fn agents_are_connected_by_name() {
    let home = TestHome::new();
    home.ok(&["connect", "codex", "--path", "."]);
    let (_, value) = home.json(&["connect", "list"]);
    let connected: Vec<&str> = value["agents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|agent| agent["connected"] == true)
        .map(|agent| agent["agent"].as_str().unwrap())
        .collect();
    assert_eq!(connected, ["codex"]);
    home.ok(&["connect", "remove", "codex"]);
    assert_snapshot!(home.run(&["connect", "remove", "codex"]), @"
    Error: The agent `codex` is not connected
    Hint: nacre connect list
    [exit 1]
    ");
    assert_snapshot!(home.run(&["connect", "codex", "--path", "nowhere"]), @"
    Error: No file or directory found at `$HOME/work/nowhere`
    [exit 1]
    ");
    home.ok(&["connect", "auto"]);
}

#[test]
fn a_bad_trace_is_counted_and_costs_no_other() {
    let home = with_traces();
    fs::write(home.root().join("traces/broken.jsonl"), b"\xff\xfe{not json\n{\"type\":\"user\"")
        .unwrap();
    home.ok(&["sync", "--no-extract"]);
    assert!(
        states(&home).iter().any(|state| state.contains("SQLite") && state.contains("pending"))
    );
}

#[test]
fn a_file_that_names_another_project_is_not_queued_for_it() {
    let home = TestHome::new();
    let other = home.root().join("other");
    fs::create_dir(&other).unwrap();
    home.run_in(&other, &["init"]);
    let there = serde_json::json!({ "type": "session", "version": 1, "id": "42", "cwd": other });
    let said = r#"{"type":"user","text":"Remember: we always send the build logs to Oslo."}"#;
    fs::write(home.work().join("x.jsonl"), format!("{there}\n{said}\n")).unwrap();
    assert_snapshot!(home.run(&["trace", "import", "x.jsonl"]), @"
    Error: The session names the project `$HOME/other`; nothing was queued
    Hint: If that is correct, import it there: cd $HOME/other
    [exit 1]
    ");
    let (_, queue) = home.json(&["queue"]);
    assert!(!queue.to_string().contains("pending"), "{queue}");
}
