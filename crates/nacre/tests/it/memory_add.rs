//! `nacre memory add`

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::json;

use crate::home::TestHome;

#[test]
fn situations_that_a_memory_applies_to_are_kept_and_shown() {
    let home = TestHome::new();
    let title = "Dropping a column takes two releases";
    home.run(&["memory", "add", title, "--applies", "remove a field", "--applies", "alter table"]);
    let file = home.read("memory/decisions/20261115-dropping-a-column-takes-two-releases.md");
    assert!(file.contains("applies: [remove a field, alter table]\n"), "{file}");
    assert_snapshot!(home.run(&["memory", "show", "20261115-dropping"]), @"
    Dropping a column takes two releases
    20261115-dropping-a-column-takes-two-releases · decision · active · confidence 0.9 · updated 2026-11-15T08:30:00Z
    applies to remove a field
    applies to alter table
    ");
}

#[test]
fn a_decision_becomes_a_file_with_evidence() {
    let home = TestHome::new();
    let said = home.run(&[
        "memory",
        "add",
        "Use SQLite for the queue",
        "--body",
        "One file, no server.",
        "--tag",
        "storage",
        "--tag",
        "queue",
    ]);
    assert_snapshot!(said, @"
    Added 20261115-use-sqlite-for-the-queue
    $HOME/work/.nacre/memory/decisions/20261115-use-sqlite-for-the-queue.md
    Undo: nacre undo memory-20261115-083000-[id]
    ");
    assert_snapshot!(home.tree("memory"), @"memory/decisions/20261115-use-sqlite-for-the-queue.md");
    assert_snapshot!(home.read("memory/decisions/20261115-use-sqlite-for-the-queue.md"), @"
    ---
    id: 20261115-use-sqlite-for-the-queue
    title: Use SQLite for the queue
    created: 2026-11-15T08:30:00Z
    updated: 2026-11-15T08:30:00Z
    source: human
    confidence: 0.9
    tags: [storage, queue]
    related: []
    status: active
    ---

    One file, no server.
    ");
    assert_snapshot!(home.read("meta/evidence/20261115-use-sqlite-for-the-queue.json"), @r#"
    {
      "version": 1,
      "id": "20261115-use-sqlite-for-the-queue",
      "quotes": [
        {
          "text": "Use SQLite for the queue\n\nOne file, no server.",
          "speaker": "human",
          "place": "nacre memory add",
          "at": "2026-11-15T08:30:00Z"
        }
      ]
    }
    "#);
    let state = home.read("meta/state/20261115-use-sqlite-for-the-queue.json");
    let mark = state.split('"').find(|part| part.len() == 64).unwrap();
    assert_snapshot!(state.replace(mark, "MARK"), @r#"
    {
      "version": 1,
      "id": "20261115-use-sqlite-for-the-queue",
      "citations": 0,
      "confirmations": 0,
      "last_confirmed": null,
      "status_before_archive": null,
      "own": true,
      "mark": "MARK"
    }
    "#);
}

#[test]
fn a_learning_has_a_kind_and_links() {
    let home = TestHome::new();
    let id = home.add("Use SQLite", &[]);
    home.ok(&[
        "memory",
        "add",
        "--type",
        "learning",
        "--kind",
        "pitfall",
        "Tests need TZ=UTC",
        "--related",
        &id,
        "--confidence",
        "0.5",
    ]);
    assert_snapshot!(home.read("memory/learnings/20261115-tests-need-tz-utc.md"), @"
    ---
    id: 20261115-tests-need-tz-utc
    title: Tests need TZ=UTC
    kind: pitfall
    created: 2026-11-15T08:30:00Z
    updated: 2026-11-15T08:30:00Z
    source: human
    confidence: 0.5
    tags: []
    related: [20261115-use-sqlite]
    status: active
    ---
    ");
}

#[test]
fn the_same_title_twice_gives_two_ids() {
    let home = TestHome::new();
    assert_eq!(home.add("Use SQLite", &[]), "20261115-use-sqlite");
    assert_eq!(home.add("use sqlite!", &[]), "20261115-use-sqlite-2");
    assert_eq!(home.add("Use SQLite", &["--type", "learning"]), "20261115-use-sqlite-3");
}

#[test]
fn titles_of_every_script_keep_their_words() {
    let home = TestHome::new();
    let ids: Vec<String> = ["使用 SQLite 存储", "Прощай, Redis", "Δοκιμές", "🚀", "…"]
        .iter()
        .map(|title| home.add(title, &[]))
        .collect();
    assert_snapshot!(ids.join("\n"), @"
    20261115-shi-yong-sqlite-cun-chu
    20261115-proshchai-redis
    20261115-dokimes
    20261115-rocket
    20261115-untitled-d38c119b
    ");
}

#[test]
fn a_secret_is_not_stored() {
    let home = TestHome::new();
    let secret = ["ghp", "_a8F3kZ0qLm2Vn5Xb7Rt9Wc1Yd4Hs6Jp0Qe2"].concat();
    let body = format!("The token is {secret} for now.");
    assert_snapshot!(home.run(&["memory", "add", "Deploy by hand", "--body", &body]), @"
    Added 20261115-deploy-by-hand
    $HOME/work/.nacre/memory/decisions/20261115-deploy-by-hand.md
    Undo: nacre undo memory-20261115-083000-[id]
    Warning: A secret was not stored; it was replaced by `[redacted:github-token]`
    ");
    let stored: Vec<u8> = home.snapshot().into_iter().flat_map(|(_, bytes)| bytes).collect();
    assert!(!String::from_utf8_lossy(&stored).contains(&secret));
}

#[test]
fn texts_that_the_settings_name_are_not_stored() {
    let home = TestHome::new();
    home.ok(&["config", "set", "redact.extra", "Project Oyster"]);
    home.ok(&["memory", "add", "About Project Oyster", "--body", "Project Oyster ships in May."]);
    assert!(
        home.read("memory/decisions/20261115-about-redacted-extra.md")
            .contains("[redacted:extra] ships in May.")
    );
}

#[test]
fn a_body_can_come_from_a_pipe() {
    let home = TestHome::new();
    let mut command = home.command(&home.work(), &["memory", "add", "Piped", "--body", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"From a pipe.\n---\nstill the body\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert!(
        home.read("memory/decisions/20261115-piped.md")
            .ends_with("---\n\nFrom a pipe.\n---\nstill the body\n")
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let home = TestHome::new();
    let before = home.snapshot();
    assert_snapshot!(home.run(&["memory", "add", "\u{200b} \u{202e}"]), @r#"
    Error: A memory needs a title with at least one visible character
    Hint: nacre memory add "Use SQLite for the queue"
    [exit 1]
    "#);
    assert_snapshot!(home.run(&["memory", "add", &"long ".repeat(60)]), @"
    Error: The title is 299 bytes, which exceeds the limit of 200
    Hint: Shorten it, or split it into two memories
    [exit 1]
    ");
    assert_snapshot!(home.run(&["memory", "add", "x", "--body", &"y".repeat(70_000)]), @"
    Error: The memory is 70160 bytes, which exceeds the limit of 65536
    Hint: Shorten it, or split it into two memories
    [exit 1]
    ");
    assert_snapshot!(home.run(&["memory", "add", "x", "--confidence", "2"]), @"
    Error: `--confidence` must be a number from 0 to 1
    Hint: Use 0.9 if you are sure
    [exit 2]
    ");
    assert_snapshot!(home.run(&["memory", "add", "x", "--kind", "pitfall"]), @"
    Error: A decision cannot have a kind
    Hint: Add `--type learning` to set the kind of learning
    [exit 2]
    ");
    assert_snapshot!(home.run(&["memory", "add", "x", "--related", "20261115-nothing"]), @"
    Error: Memory `20261115-nothing` not found
    Hint: `nacre memory list` lists all ids
    [exit 1]
    ");
    assert_eq!(home.snapshot(), before);
}

#[test]
fn a_memory_supersedes_another_in_one_change() {
    let home = TestHome::new();
    let older = home.add("Use Redis for the queue", &[]);
    let newer = home.add("Use SQLite for the queue", &["--supersedes", "20261115-use-redis"]);
    let text = home.read(&format!("memory/decisions/{older}.md"));
    assert!(
        text.contains("status: superseded") && text.contains(&format!("superseded_by: {newer}")),
        "{text}"
    );
    assert!(home.read(&format!("memory/decisions/{newer}.md")).contains(&older));
    let shown = home.run(&["memory", "search", "queue"]);
    assert!(shown.contains(&newer) && !shown.contains(&older), "{shown}");
    assert_snapshot!(home.run(&["memory", "add", "Use Postgres", "--supersedes", &older]), @"
    Error: The memory `20261115-use-redis-for-the-queue` cannot be superseded: it is already superseded
    Hint: nacre memory show 20261115-use-redis-for-the-queue
    [exit 1]
    ");
    assert_eq!(home.tree("memory").lines().count(), 2);
}

#[test]
fn what_is_said_already_is_warned_about() {
    let home = TestHome::new();
    let known = home.add("Use SQLite for the queue", &["--body", "One file, no server."]);
    assert_snapshot!(home.run(&["memory", "add", "use SQLite for the queue!", "--body", "One file, no server"]), @"
    Added 20261115-use-sqlite-for-the-queue-2
    $HOME/work/.nacre/memory/decisions/20261115-use-sqlite-for-the-queue-2.md
    Undo: nacre undo memory-20261115-083000-[id]
    Warning: `20261115-use-sqlite-for-the-queue` already contains this: Use SQLite for the queue
    Hint: To keep only the older memory: nacre undo memory-20261115-083000-[id]
    ");
    let shown =
        home.run(&["memory", "add", "Deploy on Tuesdays only", "--body", "The ops team is there."]);
    assert!(!shown.contains("already"), "{shown}");
    let args = ["memory", "add", "Use SQLite for the queue", "--supersedes", &known];
    assert!(!home.run(&args).contains(&format!("`{known}` already contains this")));
}

#[test]
fn the_lines_of_a_file_become_memories_and_bad_ones_are_skipped() {
    let home = TestHome::new();
    let older = home.add("Use Redis for the queue", &[]);
    let secret = ["ghp", "_a8F3kZ0qLm2Vn5Xb7Rt9Wc1Yd4Hs6Jp0Qe2"].concat();
    let newer = json!({ "title": "Use SQLite", "tags": ["storage"], "supersedes": older });
    let leak = json!({ "title": "Deploy by hand", "body": format!("The token is {secret}.") });
    let lines = [
        newer.to_string(),
        json!({ "title": "Tests need TZ=UTC", "type": "learning", "kind": "pitfall" }).to_string(),
        String::new(),
        "not JSON".to_owned(),
        json!({ "body": "Without a title." }).to_string(),
        json!({ "title": "One", "colour": "red" }).to_string(),
        json!({ "title": "\u{200b}" }).to_string(),
        json!({ "title": "long ".repeat(60) }).to_string(),
        json!({ "title": "Two", "body": "x".repeat(200_000) }).to_string(),
        leak.to_string(),
        json!({ "title": "tests need tz UTC!" }).to_string(),
        json!({ "title": "Use Postgres", "supersedes": older }).to_string(),
        json!({ "title": "Three", "supersedes": "20261115-nothing" }).to_string(),
        json!({ "title": "Four", "kind": "pitfall" }).to_string(),
        json!({ "title": "Five", "confidence": 2 }).to_string(),
        json!({ "title": "Six", "scope": "global_only" }).to_string(),
    ];
    fs::write(home.work().join("memories.jsonl"), lines.join("\r\n")).unwrap();
    let before = home.tree("memory");
    assert_snapshot!(home.run(&["memory", "add", "--from", "memories.jsonl"]), @"
    Added 2 memories
    Undo: nacre undo memory-20261115-083000-[id]
    Warning: Line 4 was skipped: expected ident at column 2
    Warning: Line 5 was skipped: missing field `title` at column 27
    Warning: Line 6 was skipped: unknown field `colour`, expected one of `title`, `body`, `type`, `kind`, `tags`, `applies`, `related`, `supersedes`, `confidence`, `scope` at column 9
    Warning: Line 7 was skipped: A memory needs a title with at least one visible character
    Warning: Line 8 was skipped: The title is 299 bytes, which exceeds the limit of 200
    Warning: Line 9 was skipped: The line is longer than 128 KiB
    Warning: Line 10 was skipped: It holds a secret
    Warning: Line 11 was skipped: `20261115-tests-need-tz-utc` already contains this
    Warning: Line 12 was skipped: The memory `20261115-use-redis-for-the-queue` cannot be superseded: the same change already changes it
    Warning: Line 13 was skipped: Memory `20261115-nothing` not found
    Warning: Line 14 was skipped: A decision cannot have a kind
    Warning: Line 15 was skipped: `--confidence` must be a number from 0 to 1
    Warning: Line 16 was skipped: All lines have the same scope
    [exit 3]
    ");
    assert_snapshot!(home.tree("memory"), @"
    memory/decisions/20261115-use-redis-for-the-queue.md
    memory/decisions/20261115-use-sqlite.md
    memory/learnings/20261115-tests-need-tz-utc.md
    ");
    let newer = home.read("memory/decisions/20261115-use-sqlite.md");
    assert!(newer.contains("tags: [storage]\n") && newer.contains(&older), "{newer}");
    let text = home.read(&format!("memory/decisions/{older}.md"));
    assert!(text.contains("superseded_by: 20261115-use-sqlite\n"), "{text}");
    home.ok(&["undo", "--last"]);
    assert_eq!(home.tree("memory"), before);
    let text = home.read(&format!("memory/decisions/{older}.md"));
    assert!(text.contains("status: active\n"), "{text}");
}

#[test]
fn hundreds_of_lines_are_one_change() {
    let home = TestHome::new();
    let lines: String = (0..300).map(|n| format!("{{\"title\": \"Fact {n}\"}}\n")).collect();
    let add = || {
        let mut command = home.command(&home.work(), &["--json", "memory", "add", "--from", "-"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), report)
    };
    let (code, first) = add();
    assert_eq!((code, first["ids"].as_array().unwrap().len()), (Some(0), 300));
    assert_eq!(home.tree("meta/evidence").lines().count(), 300);
    let (code, again) = add();
    assert_eq!((code, &again["ids"], &again["change"]), (Some(3), &json!([]), &json!(null)));
    assert_eq!(again["skipped"].as_array().unwrap().len(), 300);
    assert_eq!(again["skipped"][299]["line"], 300);
    assert_eq!(again["skipped"][299]["code"], "conflict");
    home.ok(&["undo", first["change"].as_str().unwrap()]);
    assert_eq!(home.tree("memory"), "");
}

#[test]
fn a_file_that_is_missing_or_too_large_adds_nothing() {
    let home = TestHome::new();
    let before = home.snapshot();
    assert_snapshot!(home.run(&["memory", "add", "--from", "nothing.jsonl"]), @r#"
    Error: Could not open `$HOME/work/nothing.jsonl`
    Caused by: No such file or directory (os error 2)
    Hint: Specify a file with a JSON object on each line: {"title": "Use SQLite"}
    [exit 1]
    "#);
    assert_snapshot!(home.run(&["memory", "add", "One", "--from", "nothing.jsonl"]), @"
    Error: `[TITLE]` cannot be used with `--from <FILE>`
    Hint: See `nacre memory add --help`
    [exit 2]
    ");
    fs::write(home.work().join("many.jsonl"), "{}\n".repeat(10_001)).unwrap();
    assert_snapshot!(home.run(&["memory", "add", "--from", "many.jsonl"]), @"
    Error: The input exceeds the limit of 10000 lines or 8 MiB
    Hint: Split it into several files
    [exit 1]
    ");
    assert!(home.snapshot() == before);
}
