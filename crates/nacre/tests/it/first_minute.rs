//! Tests the first minute: what `init` and `sync` find and report, and the commands they suggest.

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use insta::assert_snapshot;
use serde_json::json;

use crate::agents::{self, Talk};
use crate::home::TestHome;
use crate::sync_run::{PNPM, reading, talk};

/// `RESTED` is when inactive sessions were last modified; `ACTIVE` is a minute before the tests'
/// current time.
const RESTED: u64 = 1_793_527_200;
const ACTIVE: u64 = 1_794_731_340;

/// Writes a session to Claude Code's or Codex's directory.
fn add(home: &TestHome, agent: &str, (n, cwd): (u32, &Path), changed: u64) {
    let id = format!("0a1b2c3d-0000-4000-8000-{n:012}");
    let said = format!("Remember: always use pnpm in package {n}, never npm or yarn.");
    let talk = Talk {
        id: id.clone(),
        cwd: cwd.display().to_string(),
        title: format!("Talk {n}"),
        user: vec![said],
        assistant: vec!["Done.".to_owned()],
        calls: Vec::new(),
    };
    let (path, text) = match agent {
        "claude" => (format!(".claude/projects/p/{id}.jsonl"), agents::claude(&talk)),
        _ => (
            format!(".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-{id}.jsonl"),
            agents::codex(&talk),
        ),
    };
    let path = home.root().join(path);
    let time = jiff::Timestamp::from_second(changed as i64).unwrap().to_string();
    agents::write(&path, &text.replace("2026-11-01T10:00:00.000Z", &time));
    let file = fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(changed)).unwrap();
}

/// Creates a home with two agents' sessions, most of them in its repository.
fn used() -> TestHome {
    let home = TestHome::empty();
    for n in 1..=2 {
        add(&home, "claude", (n, &home.work().join("src")), RESTED);
    }
    add(&home, "codex", (3, &home.work()), RESTED);
    add(&home, "codex", (4, &home.root().join("other")), RESTED);
    home
}

fn line<'t>(text: &'t str, start: &str) -> &'t str {
    text.lines()
        .find(|line| line.starts_with(start))
        .unwrap_or_else(|| panic!("no line starts with `{start}` in {text}"))
}

#[test]
fn init_finds_the_sessions_of_this_repository() {
    let home = used();
    let shown = home.run(&["init"]);
    let found = "Found 3 sessions of this repository (Claude Code 2, Codex 1).";
    assert_eq!(line(&shown, "Found 3"), found);
    assert_eq!(line(&shown, "Next: "), "Next: nacre sync");
    assert!(!home.root().join(".nacre/catalog.sqlite3").exists(), "a look keeps nothing");
    let (_, value) = home.json(&["init"]);
    assert_eq!(
        value["sessions"][0],
        json!({ "agent": "claude", "title": "Claude Code", "sessions": 2 })
    );
    assert_eq!((&value["new_sessions"], &value["is_partial"]), (&json!(3), &json!(false)));
    home.ok(&["sync"]);
    let shown = home.run(&["init"]);
    assert!(
        line(&shown, "Found 3").ends_with("(Claude Code 2, Codex 1), all already read."),
        "{shown}"
    );
    assert_ne!(line(&shown, "Next: "), "Next: nacre sync");
    add(&home, "codex", (5, &home.work()), RESTED);
    let shown = home.run(&["init"]);
    assert!(line(&shown, "Found 4").ends_with(", 1 of them new."), "{shown}");
    assert_eq!(line(&shown, "Next: "), "Next: nacre sync");
}

#[test]
fn init_without_sessions_says_which_kind_of_nothing_it_found() {
    let home = TestHome::empty();
    assert!(home.run(&["init"]).contains("Found no sessions of any coding agent."));
    add(&home, "codex", (1, &home.root().join("other")), RESTED);
    let shown = home.run(&["init"]);
    assert!(shown.contains("Found no sessions of this repository."), "{shown}");
    assert_eq!(line(&shown, "Next: "), "Next: nacre connect auto");
}

#[test]
fn init_in_a_clone_sends_to_trust() {
    let home = TestHome::empty();
    let text = "---\nid: 20261101-a\ntitle: The queue is a SQLite table\n---\n\nOne file.\n";
    home.write("memory/decisions/20261101-a.md", text);
    let shown = home.run(&["init"]);
    assert!(shown.contains("1 memory from elsewhere"), "{shown}");
    assert_eq!(line(&shown, "Next: "), "Next: nacre trust");
}

#[test]
fn a_sync_ends_with_what_it_learned_what_waits_and_what_to_type() {
    let home = used();
    home.ok(&["init"]);
    add(&home, "claude", (6, &home.work()), ACTIVE);
    let (_, value) = home.json(&["sync", "--dry-run"]);
    assert_eq!(value["waiting"]["active"]["sessions"], 1, "{value:#}");
    let shown = home.run(&["sync", "--run-id", "first"]);
    let example = shown.split("--trace ").nth(1).unwrap().split(')').next().unwrap();
    assert_snapshot!(shown.replace(example, "[ID]"), @"
    Read 5 sessions.
      learning  Always use pnpm in package 1, never npm or yarn
      learning  Always use pnpm in package 2, never npm or yarn (to review)
      learning  Always use pnpm in package 3, never npm or yarn (to review)
    3 sessions: 3 memories learned (1 active, 2 to review), 3 summaries.
    Still active: 1 session; the next sync after 60 s extracts memories (now: nacre sync --trace [ID]).
    1 session outside of all projects: ~/other 1; run `nacre init` there.
    Undo: nacre undo first-[id]
    Next: nacre review
    ");
    let (_, value) = home.json(&["status"]);
    assert_eq!(value["waiting"]["active"]["ready_in"], 60, "{value:#}");
    assert_eq!(value["waiting"]["not_set_up"][0]["sessions"], 1, "{value:#}");
}

#[test]
fn more_than_ten_titles_are_counted() {
    let home = reading();
    let rules = [
        "remember: always use pnpm here, never npm: npm writes a second lock file",
        "remember that the deploy script needs AWS_PROFILE=prod",
        "remember: the report tests fail after midnight unless TZ=UTC is set",
        "remember: never push to main directly, open a pull request",
        "remember that images are built with podman, docker is not installed",
        "remember: database migrations run before the web server starts",
        "remember: indent Go files with tabs",
        "remember that customer ids are UUID version seven",
        "remember: the staging certificate expires every ninety days",
        "remember: log lines are JSON, one object a line",
        "remember that feature flags live in flags.toml",
        "remember: translate German error texts in locale/de.po",
    ];
    for (n, rule) in (1..).zip(rules) {
        talk(&home, &format!("t{n}"), n, &["Do the work", "Done.", rule, "Noted."]);
    }
    let shown = home.run(&["sync"]);
    let (_, value) = home.json(&["memory", "list", "--type", "learning", "--limit", "0"]);
    let n_learned = value["memories"].as_array().unwrap().len();
    assert!(n_learned > 10, "{value:#}");
    assert!(shown.contains(&format!("\n  and {} more\n", n_learned - 10)), "{shown}");
    assert!(shown.contains(&format!("\n12 sessions: {n_learned} memories learned")), "{shown}");
}

#[test]
fn four_kinds_of_nothing_are_four_sentences() {
    let home = TestHome::new();
    let shown = home.run(&["sync"]);
    assert!(shown.starts_with("No coding agent found in: ~/.claude/projects"), "{shown}");
    assert!(
        line(&shown, "No coding agent found in: ")
            .ends_with(" more locations (`nacre connect list`)."),
        "{shown}"
    );
    assert_eq!(line(&shown, "Next: "), "Next: nacre connect AGENT --path FOLDER");
    fs::create_dir_all(home.root().join(".claude/projects")).unwrap();
    let shown = home.run(&["sync"]);
    assert!(shown.starts_with("Found no sessions in ~/.claude/projects.\n"), "{shown}");
    add(&home, "claude", (1, &home.work()), RESTED);
    home.ok(&["sync"]);
    let shown = home.run(&["sync"]);
    assert!(shown.starts_with("No new content in 1 session file.\n"), "{shown}");
    let home = used();
    let shown = home.run(&["sync"]);
    let here = "~/work is not set up: its 3 sessions are not turned into memories.";
    assert_eq!(line(&shown, "~/work"), here);
    assert_eq!(line(&shown, "Next: "), "Next: nacre init");
}

#[test]
fn what_was_said_before_init_is_found_after_it() {
    let home = used();
    home.ok(&["sync"]);
    home.ok(&["init"]);
    let shown = home.run(&["sync"]);
    assert!(shown.contains("Queued 3 sessions of newly set up projects."), "{shown}");
    assert!(home.run(&["trace", "search", "yarn"]).contains("never npm or yarn"));
}

#[test]
fn a_clone_is_registered_by_being_used() {
    let home = used();
    fs::create_dir(home.store("")).unwrap();
    let listed = || home.json(&["project"]).1["projects"].as_array().unwrap().len();
    for looked in [&["status"][..], &["doctor"], &["sync", "--dry-run"]] {
        home.run(looked);
        assert_eq!(listed(), 0, "{looked:?}");
    }
    let (_, value) = home.json(&["sync", "--dry-run"]);
    assert_eq!(value["sessions"].as_array().unwrap().len(), 3, "{value:#}");
    let (_, value) = home.json(&["sync"]);
    assert_eq!((value["totals"]["sessions"].as_u64(), listed()), (Some(3), 1), "{value:#}");
}

#[test]
fn project_add_does_what_init_does() {
    let home = used();
    let other = home.root().join("other");
    fs::create_dir(&other).unwrap();
    let shown = home.run(&["project", "add", "../other"]);
    assert!(other.join(".nacre/config.toml").exists());
    assert!(shown.contains("Found 1 session of this repository (Codex 1)."), "{shown}");
    assert_eq!(line(&shown, "Next: "), "Next: nacre sync");
    // If the name is taken, no store is created.
    fs::create_dir(home.root().join("third")).unwrap();
    assert!(home.run(&["project", "add", "../third", "--name", "other"]).ends_with("[exit 1]\n"));
    assert!(!home.root().join("third/.nacre").exists());
}

#[test]
fn three_commands_in_a_fresh_home_lead_to_an_answer() {
    let home = used();
    home.ok(&["init"]);
    home.ok(&["sync"]);
    assert!(home.ok(&["ask", "pnpm or npm?"]).contains("always use pnpm"));
}

#[test]
fn a_second_sync_is_told_of_the_first() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    let lock = home.root().join(".nacre/run/journal/lock");
    let lock = fs::OpenOptions::new().read(true).write(true).open(lock).unwrap();
    lock.lock().unwrap();
    let shown = home.run(&["sync"]);
    assert!(shown.starts_with("Error: Another sync is running"), "{shown}");
    assert!(!shown.contains("lock.wait_ms"), "{shown}");
}
