//! `nacre undo`

use std::path::PathBuf;

use crate::home::TestHome;
use crate::sync_run::{PNPM, reading, talk};

const NPM: &[&str] = &[
    "Fix the build on CI",
    "I used pnpm install.",
    "From now on use npm, do not use pnpm any more: pnpm broke the docker build.",
    "Switched.",
];

fn memories(home: &TestHome) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = home.snapshot();
    let is_memory = |path: &PathBuf| {
        path.starts_with(home.store("memory")) || path.starts_with(home.store("meta/evidence"))
    };
    files.retain(|(path, _)| is_memory(path));
    files
}

fn last_run(home: &TestHome) -> String {
    let (_, value) = home.json(&["sync"]);
    value["sessions"][0]["report"]["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn an_undone_run_leaves_every_byte_as_it_was() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    let before = memories(&home);
    talk(&home, "three", 3, NPM);
    let run = last_run(&home);
    let after = memories(&home);
    assert_ne!(before, after);
    let (_, undone) = home.json(&["undo", &run]);
    assert_eq!(memories(&home), before);
    assert_eq!(undone["of"], run.as_str());
    // The next sync does not bring back what a person undid.
    home.ok(&["sync"]);
    assert_eq!(memories(&home), before);
    home.ok(&["undo", undone["run"].as_str().unwrap()]);
    assert_eq!(memories(&home), after);
}

#[test]
fn what_was_changed_since_is_not_undone() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    let run = last_run(&home);
    let path =
        "memory/learnings/20261101-always-use-pnpm-here-never-npm-npm-writes-a-second-lock-file.md";
    home.write(path, home.read(path) + "\nMy own words.\n");
    let before = memories(&home);
    let shown = home.run(&["undo", &run]);
    assert!(
        shown.contains("its files were changed since") && shown.ends_with("[exit 1]\n"),
        "{shown}"
    );
    assert_eq!(memories(&home), before);
}

#[test]
fn there_must_be_something_to_undo() {
    let home = reading();
    let shown = home.run(&["undo", "sync-2099"]);
    assert!(shown.starts_with("Error: No run is named `sync-2099`"), "{shown}");
}
