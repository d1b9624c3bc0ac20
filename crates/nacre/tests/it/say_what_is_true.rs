//! Checks that commands report accurately what they did and did not do.

use std::fs;

use serde_json::json;

use crate::home::TestHome;
use crate::sync_run::{PNPM, reading, talk};

#[test]
fn status_remembers_the_last_check() {
    let home = TestHome::new();
    home.add("Use SQLite", &[]);
    assert!(home.run(&["status"]).contains("Health unchecked: run `nacre doctor`"));
    home.ok(&["doctor"]);
    assert!(home.run(&["status"]).contains("Health ok, checked 2026-11-15 08:30\n"));
    home.write("memory/decisions/20261101-broken.md", "nothing");
    home.run(&["doctor"]);
    let shown = home.run(&["status"]);
    assert!(shown.contains("Health broken, checked 2026-11-15 08:30: `nacre doctor`"), "{shown}");
    let (_, value) = home.json(&["status"]);
    assert_eq!(
        (&value["health"], &value["checked"]),
        (&json!("broken"), &json!("2026-11-15T08:30:00Z"))
    );
}

#[test]
fn a_registered_store_that_is_gone_is_an_error_of_doctor() {
    let home = TestHome::new();
    let other = home.root().join("other");
    fs::create_dir(&other).unwrap();
    home.ok(&["project", "add", "../other"]);
    home.ok(&["doctor"]);
    fs::remove_dir_all(other.join(".nacre")).unwrap();
    let shown = home.run(&["doctor"]);
    assert!(
        shown.contains("$HOME/other: error: The store of project `other` is missing"),
        "{shown}"
    );
    assert!(shown.ends_with("[exit 1]\n"), "{shown}");
    fs::remove_dir_all(&other).unwrap();
    let shown = home.run(&["doctor"]);
    assert!(shown.contains("The directory of project `other` is missing"), "{shown}");
    home.ok(&["doctor", "--scope", "project_only"]);
    home.ok(&["project", "remove", "other"]);
    home.ok(&["doctor"]);
}

#[test]
fn a_list_that_a_filter_emptied_does_not_say_that_there_is_nothing() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    assert_eq!(home.run(&["queue", "--status", "running"]), "No session is running.\n");
    assert_eq!(home.run(&["trace", "--since", "30d"]), "No session matches.\n");
    assert_eq!(home.run(&["memory", "list", "--tag", "x"]), "No memory matches.\n");
}

#[test]
fn garbage_is_not_imported() {
    let home = reading();
    let file = home.root().join("notes.jsonl");
    for text in ["# Read me\n\nHello.\n", "{\"a\":1}\n", "\0\x01\x02"] {
        fs::write(&file, text).unwrap();
        let path = file.display().to_string();
        for args in [&["sync", "--trace", &path][..], &["trace", "import", &path]] {
            let shown = home.run(args);
            assert!(shown.contains("notes.jsonl` is not a session"), "{args:?}: {shown}");
            assert!(shown.ends_with("[exit 1]\n"), "{args:?}: {shown}");
        }
    }
    assert_eq!(home.json(&["trace", "--all"]).1["sessions"], json!([]));
    assert_eq!(home.tree("memory"), "");
}

#[test]
fn brief_and_ask_say_what_could_not_be_read() {
    let home = TestHome::new();
    home.add("Use SQLite for the queue", &[]);
    home.write("memory/decisions/20261101-broken.md", "nothing");
    let shown = home.run(&["brief"]);
    assert!(shown.contains("memory/decisions/20261101-broken.md could not be read"), "{shown}");
    assert!(shown.contains("Use SQLite for the queue") && shown.ends_with("[exit 3]\n"), "{shown}");
    let shown = home.run(&["ask", "Which queue?"]);
    assert!(shown.contains("The search is incomplete: 1 file is broken"), "{shown}");
}

#[test]
fn a_brief_says_that_candidates_wait() {
    let home = TestHome::new();
    let id = home.add("Use SQLite for the queue", &[]);
    let path = format!("memory/decisions/{id}.md");
    home.write(&path, home.read(&path).replace("status: active", "status: candidate"));
    assert!(home.read(&path).contains("status: candidate"));
    let (_, value) = home.json(&["brief"]);
    assert_eq!(value["candidates"], 1, "{value:#}");
    assert!(home.run(&["brief"]).contains("1 candidate to review, not included: nacre review"));
}

#[test]
fn feedback_and_maintain_name_the_memories_that_they_changed() {
    let home = TestHome::new();
    let first =
        home.add("Install packages with pnpm", &["--body", "npm writes a second lock file."]);
    home.add("install the packages with PNPM", &["--body", "npm writes a second lock file"]);
    assert!(home.ok(&["feedback", &first, "useful"]).contains(&first));
    let shown = home.ok(&["maintain"]);
    assert!(shown.contains("  merge 20261115-"), "{shown}");
    assert!(shown.contains("it says the same"), "{shown}");
    let undo = shown.split("\nUndo: nacre undo ").nth(1).unwrap().trim();
    home.ok(&["undo", undo]);
}

#[test]
fn a_report_counts_by_when_it_was_learned() {
    // The session is from 2026, and the current time is 2099.
    let home = reading();
    talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    let (_, value) = home.json(&["report", "--since", "1d"]);
    let report = &value["report"];
    assert_eq!(report["learned"].as_object().unwrap().len(), 1, "{report:#}");
    assert_eq!(report["sessions"], 1, "{report:#}");
    assert_eq!(report["n_never_used"], 0, "it had no chance yet: {report:#}");
    let later = home.with_var("NACRE_NOW", "2099-02-01T00:00:00Z");
    let (_, value) = later.json(&["report", "--since", "1d"]);
    assert_eq!(
        (&value["report"]["learned"], &value["report"]["sessions"]),
        (&json!({}), &json!(0))
    );
}

#[test]
fn connect_says_whose_sessions_are_read_and_auto_turns_nothing_off() {
    let home = reading();
    let read = || {
        let (_, value) = home.json(&["connect", "list"]);
        let agents = value["agents"].as_array().unwrap().iter();
        let read = agents.filter(|agent| agent["connected"] == true);
        read.map(|agent| agent["agent"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(read(), ["generic"]);
    let folder = home.root().join(".codex/sessions");
    fs::create_dir_all(&folder).unwrap();
    let shown = home.run(&["connect", "codex", "--path", &folder.display().to_string()]);
    assert!(shown.contains("Reading the sessions of codex\n"), "{shown}");
    home.ok(&["connect", "auto", "--yes"]);
    assert!(["generic", "codex"].iter().all(|agent| read().contains(&(*agent).to_owned())));
    let shown = home.run(&["connect", "remove", "codex", "--yes"]);
    assert!(shown.contains("No longer reading the sessions of codex\n"), "{shown}");
    assert!(!read().contains(&"codex".to_owned()));
}

#[test]
fn an_agent_that_is_removed_is_no_longer_read() {
    let home = TestHome::new();
    let file = home.root().join(".claude/projects/p/a.jsonl");
    let talk = crate::agents::Talk {
        id: "a".to_owned(),
        cwd: home.work().display().to_string(),
        user: vec!["use sqlite".to_owned()],
        ..Default::default()
    };
    crate::agents::write(&file, &crate::agents::claude(&talk));
    assert_eq!(home.json(&["sync", "--no-extract"]).1["sources"], 1);
    // Without a register, all agents are read.
    home.ok(&["connect", "claude", "--remove", "--yes"]);
    assert_eq!(home.json(&["sync", "--no-extract"]).1["sources"], 0);
    let (_, value) = home.json(&["connect", "list"]);
    let off = value["agents"].as_array().unwrap().iter().filter(|agent| agent["traces"] == "off");
    assert_eq!(off.count(), 1, "{value:#}");
    home.ok(&[
        "connect",
        "claude",
        "--path",
        &home.root().join(".claude/projects").display().to_string(),
    ]);
    assert_eq!(home.json(&["sync", "--no-extract"]).1["sources"], 1);
}
