//! Tests what the chat recalls and stores, in the session's own project and across all memories.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::home::TestHome;

/// Creates a second repository with a store, next to the first one.
fn other(home: &TestHome) -> PathBuf {
    let folder = home.root().join("other");
    fs::create_dir_all(folder.join(".git")).unwrap();
    home.run_in(&folder, &["init"]);
    folder
}

fn json_in(home: &TestHome, folder: &Path, args: &[&str]) -> Value {
    let mut args = args.to_vec();
    args.push("--json");
    let output = home.command(folder, &args).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{args:?}: {error}: {}", String::from_utf8_lossy(&output.stderr))
    })
}

/// Runs one turn with a scripted model in a directory. Returns the exported conversation.
fn turn(home: &TestHome, folder: &Path, words: &str, turns: &Value) -> String {
    let script = json!({ "turns": turns }).to_string();
    fs::write(home.root().join("script.json"), script).unwrap();
    let args = ["chat", "-p", words, "--scripted", "../script.json", "--policy", "auto-edit"];
    let report = json_in(home, folder, &args);
    let session = report["session"].as_str().unwrap_or_else(|| panic!("{report}"));
    let exported = home.command(folder, &["chat", "--export", session]).output().unwrap();
    String::from_utf8(exported.stdout).unwrap()
}

fn search(query: &str) -> Value {
    json!([
        { "calls": [{ "name": "memory_search", "arguments": { "query": query } }] },
        { "say": "That is what I know." },
    ])
}

#[test]
fn recall_finds_what_fits_in_the_sessions_own_project_and_nothing_else() {
    let home = TestHome::new();
    let other = other(&home);
    home.add("The queue of the work project is a SQLite file", &[]);
    home.add("Deployments happen on Tuesdays", &[]);
    home.run_in(&other, &["memory", "add", "The queue of the other project is Redis"]);
    let here = turn(&home, &home.work(), "What is the queue?", &search("queue"));
    assert!(here.contains("SQLite file") && !here.contains("Redis"), "{here}");
    let there = turn(&home, &other, "What is the queue?", &search("queue"));
    assert!(there.contains("Redis") && !there.contains("SQLite file"), "{there}");
    // A search without matches must not return the oldest memories.
    let nothing = turn(&home, &home.work(), "And this?", &search("zebra crossing stripes"));
    assert!(!nothing.contains("Tuesdays") && !nothing.contains("SQLite file"), "{nothing}");
}

fn remember(title: &str, body: &str, quote: &str) -> Value {
    let arguments = json!({ "title": title, "body": body, "quote": quote });
    json!({ "calls": [{ "name": "memory_add", "arguments": arguments }] })
}

#[test]
fn a_claim_is_compared_with_all_memories_and_not_with_the_latest() {
    let home = TestHome::new();
    let storage = remember(
        "Reports are stored in PostgreSQL",
        "The team runs PostgreSQL already, and its backups are tested every week.",
        "we store reports in PostgreSQL",
    );
    let colour = remember(
        "The dashboard shows failed builds in purple",
        "Red and green look the same to two of the people who watch the dashboard.",
        "the dashboard shows failed builds in purple",
    );
    let words = "Note that we store reports in PostgreSQL, and that the dashboard shows failed builds in purple.";
    let turns = json!([storage.clone(), colour, storage, { "say": "Noted." }]);
    let said = turn(&home, &home.work(), words, &turns);
    let results: Vec<String> = said
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["type"] == "tool_result")
        .map(|event| event["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(results.len(), 3, "{said}");
    assert!(!results[0].starts_with("Error") && !results[1].starts_with("Error"), "{results:?}");
    assert!(results[2].starts_with("Already known"), "{results:?}");
}

#[test]
fn memories_of_two_projects_never_share_an_id() {
    let home = TestHome::new();
    let other = other(&home);
    let title = "Releases are cut from the main branch";
    home.add(title, &["--body", "Here because of the pipeline."]);
    home.run_in(&other, &["memory", "add", title, "--body", "There because of a habit."]);
    let bodies =
        |folder: &Path| json_in(&home, folder, &["memory", "search", "releases"]).to_string();
    let (here, there) = (bodies(&home.work()), bodies(&other));
    assert!(here.contains("pipeline") && !here.contains("habit"), "{here}");
    assert!(there.contains("habit") && !there.contains("pipeline"), "{there}");
    fs::remove_dir_all(other.join(".nacre")).unwrap();
    assert!(bodies(&home.work()).contains("pipeline"));
}
