//! `nacre refresh`

use std::fs;

use insta::assert_snapshot;

use crate::delta::{put, repository};

#[test]
fn a_refresh_reads_everything_and_tells_what_is_new_since_the_last_look() {
    let home = repository();
    assert_snapshot!(home.run(&["refresh"]), @"
    3 files, 3 read, 0 skipped
    3 added, 0 modified, 0 removed, 0 renamed since 0
    + Cargo.toml
    + src/lib.rs
    + src/store.rs
    Revision 6af96d88.1
    ");
    put(&home, "src/store.rs", "pub fn open(number: u8) {}\n");
    assert_snapshot!(home.run(&["refresh"]), @"
    3 files, 3 read, 0 skipped
    0 added, 1 modified, 0 removed, 0 renamed since 6af96d88.1
    ~ src/store.rs
        ~ function open (body)
    Revision 6af96d88.2
    ");
    assert_snapshot!(home.run(&["refresh"]), @"
    3 files, 3 read, 0 skipped
    Revision 6af96d88.2
    ");
    let (_, value) = home.json(&["refresh"]);
    assert_eq!(value["cache_status"], "refreshed");
    assert_eq!(value["stats"]["rehashed_entries"], 3);
}

#[test]
fn a_damaged_artifact_is_built_again_without_a_word() {
    let home = repository();
    home.ok(&["delta"]);
    let mut n_damaged = 0;
    for entry in fs::read_dir(home.root().join(".nacre/cache/codemap")).unwrap() {
        for file in fs::read_dir(entry.unwrap().path()).unwrap() {
            fs::write(file.unwrap().path(), "damaged").unwrap();
            n_damaged += 1;
        }
    }
    assert!(n_damaged > 1);
    let (code, value) = home.json(&["delta"]);
    assert_eq!((code, &value["cache_status"]), (0, &serde_json::json!("miss")));
    assert_eq!(value["stats"]["file_count"], 3);
}

#[test]
fn after_a_day_everything_is_read_again() {
    let home = repository();
    home.ok(&["delta"]);
    let home = home.with_var("NACRE_NOW", "2026-11-16T08:30:01Z");
    let (_, value) = home.json(&["delta"]);
    assert_eq!(value["cache_status"], "stale_rebuild");
}
