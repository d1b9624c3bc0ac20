//! Tests that no command with `--strict` changes anything on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::delta::{put, repository};
use crate::explore::wait_until_settled;
use crate::home::TestHome;

const ASKED: &[&[&str]] = &[
    &["explore", "--strict"],
    &["explore", "--strict", "--detail", "verbose", "--client", "new"],
    &["delta", "--strict"],
    &["delta", "--strict", "--since", "0", "--client", "new"],
    &["delta", "--strict", "--since", "client:new"],
    &["context", "--strict", "--for", "open the store"],
    &["search-code", "--strict", "open the store"],
    &["search-code", "--strict", "--regex", "open.*"],
    &["context", "--strict", "--files", "src/store.rs", "--client", "new"],
];

/// Returns every path in the home, with modification times and file contents.
fn everything(folder: &Path) -> BTreeMap<PathBuf, (SystemTime, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let mut bytes = Vec::new();
        if metadata.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            bytes = fs::read(&path).unwrap();
        }
        all.insert(path, (metadata.modified().unwrap(), bytes));
    }
    all
}

/// Runs every query, checks that the home did not change, and returns the exit codes.
fn run_queries(home: &TestHome) -> Vec<Option<i32>> {
    let ended = |args: &&[&str]| {
        let before = everything(&home.root());
        let output = home.command(&home.work(), args).output().unwrap();
        let after = everything(&home.root());
        let paths: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
        let touched: Vec<_> =
            paths.into_iter().filter(|path| before.get(*path) != after.get(*path)).collect();
        assert!(touched.is_empty(), "{args:?} touched {touched:?}: {}", home.render(&output));
        output.status.code()
    };
    ASKED.iter().map(ended).collect()
}

#[test]
fn a_strict_look_writes_nothing_wherever_the_map_stands_and_however_it_is_kept() {
    for at_rest in ["plain", "encrypted"] {
        let home = repository().with_var("NACRE_MAP_AT_REST", at_rest);
        assert!(run_queries(&home).iter().all(|code| *code == Some(1)), "there is no map yet");
        home.ok(&["init"]);
        home.add("The store opens once", &["--body", "See src/store.rs."]);
        wait_until_settled(&home);
        // The memory index is outdated and must stay so.
        home.add("The store is a file", &["--body", "Look at src/store.rs first."]);
        assert!(run_queries(&home).iter().all(|code| *code == Some(0)), "all of it is fresh");
        // Only a process that may write can complete an interrupted change.
        fs::create_dir(home.store("journal/txn")).unwrap();
        fs::write(home.store("journal/txn/0"), "half").unwrap();
        assert!(run_queries(&home).iter().all(|code| *code == Some(0)), "and is in nobody's way");
        put(&home, "src/store.rs", "pub fn reopen() {}\n");
        assert!(run_queries(&home).iter().all(|code| *code == Some(1)), "one file is not");
    }
}

#[test]
fn a_strict_look_clears_nothing_when_the_map_is_to_be_kept_otherwise() {
    let home = repository();
    wait_until_settled(&home);
    let home = home.with_var("NACRE_MAP_AT_REST", "encrypted");
    assert!(
        run_queries(&home).iter().all(|code| *code == Some(1)),
        "there is no encrypted map yet"
    );
    wait_until_settled(&home);
    let home = home.with_var("NACRE_MAP_AT_REST", "plain");
    assert!(run_queries(&home).iter().all(|code| *code == Some(1)), "the plain one is gone");
}
