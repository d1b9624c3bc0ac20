//! `nacre maintain`

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::home::TestHome;
use crate::sync_run::{PNPM, reading, talk};

/// Creates a home whose project contains a duplicate memory.
fn doubled() -> (TestHome, String, String) {
    let home = TestHome::new();
    let first =
        home.add("Install packages with pnpm", &["--body", "npm writes a second lock file."]);
    let second =
        home.add("install the packages with PNPM", &["--body", "npm writes a second lock file"]);
    home.add("The job queue lives in SQLite", &["--body", "One file to back up."]);
    (home, first, second)
}

/// Returns all memory files, including evidence and counters.
fn snapshot_memories(home: &TestHome) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = home.snapshot();
    let tops = ["memory", "meta/evidence", "meta/state"].map(|top| home.store(top));
    files.retain(|(path, _)| tops.iter().any(|top| path.starts_with(top)));
    files
}

fn only(value: &Value) -> &Value {
    assert_eq!(value["projects"].as_array().map(Vec::len), Some(1), "{value:#}");
    &value["projects"][0]
}

#[test]
fn what_says_the_same_is_merged_and_can_be_brought_back() {
    let (home, first, second) = doubled();
    let before = snapshot_memories(&home);
    let shown = home.run(&["maintain", "--dry-run"]);
    for sign in [
        "merge ",
        "it says the same",
        "+status: archived",
        "--- memory/decisions/",
        "+++ /dev/null",
    ] {
        assert!(shown.contains(sign), "{sign} is not in {shown}");
    }
    assert_eq!(snapshot_memories(&home), before);
    let (code, value) = home.json(&["maintain"]);
    let report = &only(&value)["report"];
    assert_eq!((code, report["counts"]["merge"].as_u64()), (0, Some(1)), "{report:#}");
    let action = &report["actions"][0];
    let (gone, stays) = (action["target"].as_str().unwrap(), action["with"].as_str().unwrap());
    assert!([&first, &second].iter().all(|id| [gone, stays].contains(&id.as_str())));
    assert!(home.store(&format!("memory/archived/decisions/{gone}.md")).exists());
    let run = report["run_id"].as_str().unwrap();
    for name in ["maintain_actions.json", "metrics.json", "agent.log", "session.log", "undo.json"] {
        assert!(home.store(&format!("workspace/{run}/{name}")).exists(), "{name}");
    }
    assert!(home.ok(&["runs"]).contains("1 merged"));
    assert!(home.ok(&["runs", run]).contains("it says the same"));
    // Nothing has changed since the last run.
    assert!(home.ok(&["maintain"]).contains("unchanged since the last run"));
    assert!(home.ok(&["maintain", "--force"]).contains("nothing to do"));
    home.ok(&["memory", "restore", gone]);
    assert!(home.ok(&["maintain"]).contains("nothing to do"));
}

#[test]
fn what_was_just_learned_from_old_sessions_does_not_age_until_it_was_offered() {
    // The sessions are from 2026, and the current time is 2099.
    let home = reading();
    talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    let (_, value) = home.json(&["maintain", "--force"]);
    assert_eq!(only(&value)["report"]["actions"], serde_json::json!([]), "{value:#}");
    home.ok(&["memory", "list"]);
    let home = home.with_var("NACRE_NOW", "2109-01-01T00:00:00Z");
    let (_, value) = home.json(&["maintain", "--force"]);
    assert_eq!(only(&value)["report"]["actions"], serde_json::json!([]), "{value:#}");
    assert!(home.ok(&["brief"]).contains("pnpm"));
    let home = home.with_var("NACRE_NOW", "2110-12-01T00:00:00Z");
    let (_, value) = home.json(&["maintain", "--force"]);
    let action = &only(&value)["report"]["actions"][0];
    assert!(action["reason"].as_str().unwrap().contains("since 2109-01-01"), "{value:#}");
}

#[test]
fn an_undone_run_leaves_every_byte_as_it_was_and_is_not_repeated() {
    let (home, ..) = doubled();
    let before = snapshot_memories(&home);
    let (_, value) = home.json(&["maintain"]);
    assert_ne!(snapshot_memories(&home), before);
    let run = only(&value)["report"]["run_id"].as_str().unwrap();
    home.ok(&["undo", run]);
    assert_eq!(snapshot_memories(&home), before);
    assert!(home.ok(&["maintain"]).contains("nothing to do"));
    assert_eq!(snapshot_memories(&home), before);
}

#[test]
fn what_nobody_uses_grows_old_and_what_is_used_does_not() {
    let home = TestHome::new();
    let unused = home.add("Deploy on Fridays only", &["--confidence", "0.6"]);
    let used = home.add("Tests need TZ=UTC", &["--confidence", "0.6"]);
    home.ok(&["feedback", &used, "useful"]);
    assert!(home.ok(&["brief"]).contains("Deploy on Fridays only"));
    let later = home.with_var("NACRE_NOW", "2027-12-01T00:00:00Z");
    let (_, value) = later.json(&["maintain"]);
    let actions = only(&value)["report"]["actions"].clone();
    assert_eq!(actions.as_array().map(Vec::len), Some(1), "{actions:#}");
    assert_eq!(actions[0]["target"], unused.as_str());
    assert_eq!(actions[0]["action"], "archive");
    assert_eq!(actions[0]["reason"], "not used or confirmed since 2026-11-15, so it is archived");
    assert!(later.ok(&["memory", "show", &used]).contains("active"));
    later.ok(&["memory", "restore", &unused]);
    let (_, again) = later.json(&["maintain"]);
    assert_eq!(only(&again)["state"], "clean");
}

#[test]
fn all_projects_are_maintained_and_one_that_fails_is_told() {
    let (home, ..) = doubled();
    let other = home.root().join("other");
    fs::create_dir_all(other.join(".git")).unwrap();
    home.run_in(&other, &["init"]);
    fs::remove_dir_all(other.join(".nacre")).unwrap();
    let (code, value) = home.json(&["maintain", "--all"]);
    let states: Vec<(&str, &str)> = value["projects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["project"].as_str().unwrap(), one["state"].as_str().unwrap()))
        .collect();
    assert_eq!(
        (code, states),
        (3, vec![("work", "done"), ("other", "failed"), ("global", "clean")])
    );
    let shown = home.run(&["maintain", "--all"]);
    assert!(shown.contains("Could not maintain other: No `.nacre` directory found"), "{shown}");
    let shown = home.run_in(&other, &["maintain"]);
    assert!(shown.ends_with("[exit 1]\n"), "{shown}");
}

#[test]
fn a_model_rewrites_only_when_asked_to_and_never_what_the_user_wrote() {
    let home = TestHome::new();
    home.add("Install packages with pnpm", &["--body", "npm writes a second lock file."]);
    home.add(
        "Packages are installed with pnpm",
        &["--body", "A second lock file is written by npm."],
    );
    let script = "[[turns]]\nexpect = { role = \"lead\" }\nsay = '''{\"title\": \"Install packages with pnpm, not npm\", \"body\": \"npm writes a second lock file.\"}'''\n";
    fs::write(home.root().join("script.toml"), script).unwrap();
    let file = home.root().join("script.toml").display().to_string();
    let (_, value) = home.json(&["maintain", "--rewrite", "--scripted", &file]);
    let report = &only(&value)["report"];
    assert_eq!((&report["model_calls"], &report["counts"]["merge"]), (&json!(0), &json!(1)));
    let shown = TestHome::new().run(&["maintain", "--rewrite"]);
    assert!(shown.contains("No model is set for `lead`"), "{shown}");
}
