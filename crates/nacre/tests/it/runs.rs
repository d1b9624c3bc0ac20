//! `nacre run`

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::home::TestHome;
use crate::sync_run::{PNPM, reading, talk};

fn masked(home: &TestHome, text: &str) -> String {
    let (_, value) = home.json(&["runs"]);
    let mut text = text.to_owned();
    for (n, run) in value["runs"].as_array().unwrap().iter().enumerate() {
        text = text.replace(run["id"].as_str().unwrap(), &format!("[RUN {n}]"));
    }
    text
}

#[test]
fn runs_are_listed_and_say_what_they_did() {
    let home = reading();
    assert_snapshot!(home.run(&["runs"]), @"No runs yet.");
    talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    assert_snapshot!(masked(&home, &home.run(&["runs"])), @"[RUN 0]  +1 ~0 =0  ~/traces/one.jsonl");
    assert_snapshot!(masked(&home, &home.run(&["runs", "sync-2099"])), @"
    [RUN 0]
    ~/traces/one.jsonl · 2099-01-01T00:00:00Z

    add 20261101-always-use-pnpm-here-never-npm-npm-writes-a-second-lock-file
      Always use pnpm here, never npm: npm writes a second lock file
      no similar memory

    summary memory/summaries/20261101/100300/add-a-health-endpoint-to-the-server.md
    ");
    assert_snapshot!(home.run(&["runs", "nothing"]), @"
    Error: Run `nothing` not found
    Hint: `nacre runs` lists all runs
    [exit 1]
    ");
}

/// Returns the output of `runs show`, and what the run directory contains.
fn shown_and_written(home: &TestHome, run: &str, actions: &str) -> [(Value, Value); 2] {
    let (code, shown) = home.json(&["runs", run]);
    assert_eq!((code, shown["id"].as_str()), (0, Some(run)));
    let file = |name: &str| {
        let text = fs::read_to_string(home.store(&format!("workspace/{run}/{name}")));
        // Replaces the test's directory with a variable in the output.
        let text = text.map(|text| text.replace(&*home.root().to_string_lossy(), "$HOME"));
        text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
    };
    [(shown["report"].clone(), file(actions)), (shown["metrics"].clone(), file("metrics.json"))]
}

#[test]
fn a_run_is_shown_as_it_was_written() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    home.add("Install packages with pnpm", &["--body", "npm writes a second lock file."]);
    home.add("install the packages with PNPM", &["--body", "npm writes a second lock file"]);
    let (_, maintained) = home.json(&["maintain"]);
    let maintained = maintained["projects"][0]["report"]["run_id"].as_str().unwrap().to_owned();
    let (_, undone) = home.json(&["undo", &maintained]);
    let undone = undone["run"].as_str().unwrap().to_owned();
    let (_, runs) = home.json(&["runs"]);
    let ids = runs["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap());
    let synced = ids.into_iter().find(|id| id.starts_with("sync-")).unwrap().to_owned();
    for (run, actions) in [
        (&synced, "memory_actions.json"),
        (&maintained, "maintain_actions.json"),
        (&undone, "memory_actions.json"),
    ] {
        let [(report, actions), (metrics, measured)] = shown_and_written(&home, run, actions);
        assert!(report.is_object(), "{run}: {report}");
        assert_eq!((report, metrics), (actions, measured), "{run}");
    }
}

#[test]
fn a_run_that_this_program_did_not_write_is_listed_and_says_nothing() {
    let home = TestHome::new();
    let run = "sync-20261101-101010-abcdef12";
    home.write(&format!("workspace/{run}/memory_actions.json"), r#"{"counts":{"add":"many"}}"#);
    assert_snapshot!(home.run(&["runs"]), @"sync-20261101-101010-abcdef12  -");
    assert_snapshot!(home.run(&["runs", run]), @"
    sync-20261101-101010-abcdef12
    The run has no readable report.
    ");
    assert_eq!(home.json(&["runs", run]).1["report"], Value::Null);
}

#[test]
fn a_run_of_a_command_without_a_report_says_what_it_is() {
    let home = TestHome::new();
    home.add("Use tabs", &[]);
    let (_, runs) = home.json(&["runs"]);
    let run = runs["runs"][0]["id"].as_str().unwrap();
    assert_snapshot!(home.run(&["runs", run]).replace(run, "[run]"), @"
    [run]
    A change by `nacre memory`. `nacre undo --list` shows what it changed.
    ");
}

#[test]
fn only_the_newest_runs_are_kept() {
    let home = reading();
    home.ok(&["config", "set", "runs.keep", "2"]);
    for (id, day) in [("one", 1), ("two", 2), ("three", 3)] {
        talk(
            &home,
            id,
            day,
            &["Rename the server to gateway", "Done.", "Thanks, that is all for now"],
        );
    }
    home.ok(&["sync"]);
    assert_eq!(home.json(&["runs"]).1["total"], 2);
    // The sessions stay marked as read.
    assert_eq!(home.tree("meta/sessions").lines().count(), 3);
}

#[test]
fn every_id_that_a_sync_prints_can_be_shown() {
    let home = crate::sync_run::reading();
    crate::sync_run::talk(&home, "one", 1, crate::sync_run::PNPM);
    crate::sync_run::talk(&home, "two", 3, &["Fix the build on CI", "Done."]);
    let (_, synced) = home.json(&["sync"]);
    let id = synced["run"].as_str().unwrap();
    let (code, shown) = home.json(&["runs", id]);
    assert_eq!((code, shown["runs"].as_array().map(Vec::len)), (0, Some(2)), "{shown:#}");
    let text = home.ok(&["runs", id]);
    assert!(text.contains("2 runs, one per session") && text.contains("pnpm"), "{text}");
    // Nothing was done, so there is no run to show.
    let again = home.run(&["sync"]);
    assert!(!again.contains("Run:") && !again.contains("Undo:"), "{again}");
    // Syncing a single session also has a run id.
    let (_, listed) = home.json(&["trace"]);
    let session = listed["sessions"][0]["id"].as_str().unwrap();
    let (_, one) = home.json(&["sync", "--trace", session, "--force"]);
    let change = one["change"].as_str().unwrap();
    assert!(home.run(&["sync", "--trace", session, "--force"]).contains("Undo: nacre undo "));
    home.ok(&["runs", change]);
    assert!(home.json(&["sync", "--trace", session]).1.get("change").is_none());
}
