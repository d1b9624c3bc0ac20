//! What a delta says, and to whom.

use super::super::{Delta, SinceError, delta_of_all, delta_since, delta_since_git};
use super::*;
use crate::artifact::Revision;

/// One line a change: what, where, and the symbols.
fn shown(delta: &Delta) -> String {
    let mut text = String::new();
    for file in &delta.files {
        let from = file.from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
        text += &format!("{:?} {}{from}\n", file.change, file.path);
        for symbol in file.symbols.iter().flat_map(|symbols| &symbols.changed) {
            let what = if symbol.is_signature { "signature" } else { "body" };
            text += &format!("  {:?} {} {what}\n", symbol.change, symbol.name);
        }
    }
    text
}

const BEFORE: &str = "pub fn kept() {\n    1;\n}\npub fn body() {\n    1;\n}\npub fn shape(a: u8) {}\npub fn gone() {}\n";
const AFTER: &str = "pub fn fresh() {}\npub fn kept() {\n    1;\n}\npub fn body() {\n    2;\n}\npub fn shape(a: u16) {}\n";

#[test]
fn a_delta_names_files_and_symbols_and_a_symbol_that_only_moved_did_not_change() {
    let desk = Desk::new();
    desk.write("lib.rs", BEFORE);
    desk.write("old.rs", "fn same() {\n}\n");
    desk.write("bye.txt", "x");
    let revision = desk.look().artifact.head().revision;
    desk.write("lib.rs", AFTER);
    desk.rename("old.rs", "new.rs");
    desk.remove("bye.txt");
    desk.write("hello.txt", "y");
    let current = desk.look();
    let delta = delta_since(&current, revision).unwrap();
    insta::assert_snapshot!(shown(&delta), @r"
    Removed bye.txt
    Added hello.txt
    Modified lib.rs
      Modified body body
      Added fresh signature
      Removed gone signature
      Modified shape signature
    Renamed new.rs from old.rs
    ");
}

#[test]
fn a_delta_is_read_by_anybody_any_number_of_times() {
    let desk = Desk::new();
    desk.write("a.rs", "fn a() {}\n");
    let first = desk.look().artifact.head().revision;
    desk.write("a.rs", "fn b() {}\n");
    let told: Vec<String> =
        (0..3).map(|_| shown(&delta_since(&desk.look(), first).unwrap())).collect();
    assert!(told[0].starts_with("Modified a.rs"), "{told:?}");
    assert!(told.iter().all(|one| *one == told[0]));
}

#[test]
fn a_client_that_saw_everything_gets_nothing_and_another_everything() {
    let desk = Desk::new();
    desk.write("a.rs", "fn a() {}\n");
    let current = desk.look();
    let state = current.artifact.head().state();
    desk.cache().remember(&desk.project(), "one", state).unwrap();
    let seen = desk.cache().seen_by(&desk.project(), "one").unwrap();
    assert!(current.artifact.knows(seen));
    assert_eq!(delta_since(&current, seen.revision).unwrap(), Delta::default());
    assert_eq!(desk.cache().seen_by(&desk.project(), "two"), None);
    assert_eq!(shown(&delta_of_all(&current)), "Added a.rs\n");
}

#[test]
fn what_changed_and_changed_back_did_not_change() {
    let desk = Desk::new();
    desk.write("a.rs", "fn a() {}\n");
    let first = desk.look().artifact.head().revision;
    for text in ["fn b() {}\n", "fn a() {}\n"] {
        desk.write("a.rs", text);
        desk.look();
    }
    assert_eq!(shown(&delta_since(&desk.look(), first).unwrap()), "");
}

#[test]
fn a_revision_that_cannot_be_told_about_is_refused_with_its_reason() {
    let desk = Desk::new();
    desk.write("a.rs", "fn a() {}\n");
    let current = desk.look();
    let Revision { epoch, number } = current.artifact.head().revision;
    let other = Revision { epoch: epoch ^ 1, number };
    let future = Revision { epoch, number: number + 1 };
    assert!(matches!(delta_since(&current, other), Err(SinceError::OtherArtifact { .. })));
    assert!(matches!(delta_since(&current, future), Err(SinceError::Future { .. })));
}

#[test]
fn a_commit_is_compared_with_what_is_on_the_disk_now() {
    let desk = Desk::with_git();
    desk.write("lib.rs", BEFORE);
    desk.write("old.rs", "fn same() {\n}\n");
    desk.write(".env", "KEY=1");
    desk.commit_all();
    desk.write("lib.rs", AFTER);
    desk.write("old.rs", "fn same() {\n    1;\n}\n");
    desk.commit_all();
    desk.write("old.rs", "fn same() {\n}\n");
    desk.write("untracked.rs", "fn u() {}\n");
    desk.write(".env", "KEY=2");
    let current = desk.look();
    let options = options();
    let since = |reference| delta_since_git(&current, &options, reference);
    insta::assert_snapshot!(shown(&since("HEAD~1").unwrap()), @r"
    Modified lib.rs
      Modified body body
      Added fresh signature
      Removed gone signature
      Modified shape signature
    Added untracked.rs
    ");
    insta::assert_snapshot!(shown(&since("HEAD").unwrap()), @r"
    Modified old.rs
      Modified same body
    Added untracked.rs
    ");
    assert!(matches!(since("--output=x"), Err(SinceError::NoCommit { .. })));
    assert!(matches!(since("nothing"), Err(SinceError::NoCommit { .. })));
}
