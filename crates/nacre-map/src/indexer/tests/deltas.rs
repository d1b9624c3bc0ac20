//! Tests what deltas contain, and that any client can read them repeatedly.

use nacre_types::MapRevision;

use super::super::{Delta, SinceError, delta_of_all, delta_since, delta_since_git};
use super::*;

/// Formats each change as one line with its kind, path and symbols.
fn format_delta(delta: &Delta) -> String {
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
    let tree = TestTree::new();
    tree.write("lib.rs", BEFORE);
    tree.write("old.rs", "fn same() {\n}\n");
    tree.write("bye.txt", "x");
    let revision = tree.look().artifact.head().revision;
    tree.write("lib.rs", AFTER);
    tree.rename("old.rs", "new.rs");
    tree.remove("bye.txt");
    tree.write("hello.txt", "y");
    let current = tree.look();
    let delta = delta_since(&current, revision).unwrap();
    insta::assert_snapshot!(format_delta(&delta), @r"
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
    let tree = TestTree::new();
    tree.write("a.rs", "fn a() {}\n");
    let first = tree.look().artifact.head().revision;
    tree.write("a.rs", "fn b() {}\n");
    let told: Vec<String> =
        (0..3).map(|_| format_delta(&delta_since(&tree.look(), first).unwrap())).collect();
    assert!(told[0].starts_with("Modified a.rs"), "{told:?}");
    assert!(told.iter().all(|one| *one == told[0]));
}

#[test]
fn a_client_that_saw_everything_gets_nothing_and_another_everything() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn a() {}\n");
    let current = tree.look();
    let state = current.artifact.head().state();
    tree.cache().remember(&tree.project(), "one", state).unwrap();
    let seen = tree.cache().seen_by(&tree.project(), "one").unwrap();
    assert!(current.artifact.knows(seen));
    assert_eq!(delta_since(&current, seen.revision).unwrap(), Delta::default());
    assert_eq!(tree.cache().seen_by(&tree.project(), "two"), None);
    assert_eq!(format_delta(&delta_of_all(&current)), "Added a.rs\n");
}

#[test]
fn what_changed_and_changed_back_did_not_change() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn a() {}\n");
    let first = tree.look().artifact.head().revision;
    for text in ["fn b() {}\n", "fn a() {}\n"] {
        tree.write("a.rs", text);
        tree.look();
    }
    assert_eq!(format_delta(&delta_since(&tree.look(), first).unwrap()), "");
}

#[test]
fn a_revision_that_cannot_be_told_about_is_refused_with_its_reason() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn a() {}\n");
    let current = tree.look();
    let MapRevision { epoch, number } = current.artifact.head().revision;
    let other = MapRevision { epoch: epoch ^ 1, number };
    let future = MapRevision { epoch, number: number + 1 };
    assert!(matches!(delta_since(&current, other), Err(SinceError::OtherArtifact { .. })));
    assert!(matches!(delta_since(&current, future), Err(SinceError::Future { .. })));
}

#[test]
fn a_commit_is_compared_with_what_is_on_the_disk_now() {
    let tree = TestTree::with_git();
    tree.write("lib.rs", BEFORE);
    tree.write("old.rs", "fn same() {\n}\n");
    tree.write(".env", "KEY=1");
    tree.commit_all();
    tree.write("lib.rs", AFTER);
    tree.write("old.rs", "fn same() {\n    1;\n}\n");
    tree.commit_all();
    tree.write("old.rs", "fn same() {\n}\n");
    tree.write("untracked.rs", "fn u() {}\n");
    tree.write(".env", "KEY=2");
    let current = tree.look();
    let options = options();
    let since = |reference| delta_since_git(&current, &options, reference);
    insta::assert_snapshot!(format_delta(&since("HEAD~1").unwrap()), @r"
    Modified lib.rs
      Modified body body
      Added fresh signature
      Removed gone signature
      Modified shape signature
    Added untracked.rs
    ");
    insta::assert_snapshot!(format_delta(&since("HEAD").unwrap()), @r"
    Modified old.rs
      Modified same body
    Added untracked.rs
    ");
    assert!(matches!(since("--output=x"), Err(SinceError::NoCommit { .. })));
    assert!(matches!(since("nothing"), Err(SinceError::NoCommit { .. })));
}
