//! `nacre run`

use insta::assert_snapshot;

use crate::home::TestHome;
use crate::sync_run::{PNPM, reading, talk};

fn masked(home: &TestHome, text: &str) -> String {
    let (_, value) = home.json(&["run", "list"]);
    let mut text = text.to_owned();
    for (n, run) in value["runs"].as_array().unwrap().iter().enumerate() {
        text = text.replace(run["id"].as_str().unwrap(), &format!("[RUN {n}]"));
    }
    text
}

#[test]
fn runs_are_listed_and_say_what_they_did() {
    let home = reading();
    assert_snapshot!(home.run(&["run", "list"]), @"No runs yet.");
    talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    assert_snapshot!(masked(&home, &home.run(&["run", "list"])), @"[RUN 0]  +1 ~0 =0  ~/traces/one.jsonl");
    assert_snapshot!(masked(&home, &home.run(&["run", "show", "sync-2099"])), @"
    [RUN 0]
    ~/traces/one.jsonl · 2099-01-01T00:00:00Z

    add 20261101-always-use-pnpm-here-never-npm-npm-writes-a-second-lock-file
      Always use pnpm here, never npm: npm writes a second lock file
      no memory is near

    summary memory/summaries/20261101/100300/add-a-health-endpoint-to-the-server.md
    ");
    assert_snapshot!(home.run(&["run", "show", "nothing"]), @"
    Error: No run is named `nothing`
    Hint: `nacre run list` shows every run
    [exit 1]
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
    assert_eq!(home.json(&["run", "list"]).1["total"], 2);
    // What was read stays read.
    assert_eq!(home.tree("meta/sessions").lines().count(), 3);
}
