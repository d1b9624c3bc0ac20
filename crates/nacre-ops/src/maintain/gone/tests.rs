//! Tests the detection of removed files and symbols in a real repository.

#![expect(clippy::disallowed_methods, reason = "the tests act as a user of the repository")]

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::process::Command;

use nacre_base::git::GitProgram;

use super::*;

fn program() -> GitProgram {
    GitProgram::new(std::env::var_os("PATH").unwrap_or_default())
}

fn git(root: &Path, args: &[&str], date: &str) {
    let identity =
        ["-c", "user.name=Mara", "-c", "user.email=m@example.com", "-c", "commit.gpgsign=false"];
    let output = Command::new("git")
        .args(identity)
        .args(args)
        .env("GIT_AUTHOR_DATE", date)
        .env("GIT_COMMITTER_DATE", date)
        .current_dir(root)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {output:?}");
}

fn write(root: &Path, path: &str, text: &str) {
    let full = root.join(path);
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    fs::write(full, text).unwrap();
}

/// Creates a repository with files that are kept, deleted, moved, ignored, or not checked out.
fn repository() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    git(root, &["init", "-q"], "2026-01-01T00:00:00Z");
    write(root, "src/stays.rs", "fn keeper() {}\n");
    write(root, "src/goes.rs", "fn leaver() {}\nfn second_leaver() {}\n");
    write(root, "src/moves.rs", &"fn mover() { let a_long_line = 1; }\n".repeat(20));
    write(root, "src/hidden.rs", "fn hidden() {}\n");
    write(root, ".gitignore", "out/\n");
    git(root, &["add", "."], "2026-01-01T00:00:00Z");
    git(root, &["commit", "-q", "-m", "one"], "2026-01-01T00:00:00Z");
    git(root, &["rm", "-q", "src/goes.rs"], "2026-02-01T00:00:00Z");
    git(root, &["mv", "src/moves.rs", "src/moved.rs"], "2026-02-01T00:00:00Z");
    git(root, &["commit", "-q", "-m", "two"], "2026-02-01T00:00:00Z");
    fs::remove_file(root.join("src/hidden.rs")).unwrap();
    dir
}

#[test]
fn only_what_was_deleted_for_good_is_gone() {
    let dir = repository();
    let repository = Repository::open(&program(), dir.path());
    let names = [
        "src/stays.rs",
        "stays.rs",
        "src/goes.rs",
        "src/moves.rs",
        "src/hidden.rs",
        "out/a.rs",
        "src/never.rs",
        "../etc/passwd.txt",
    ];
    let facts = repository.files(&names.iter().map(|name| (*name).to_owned()).collect());
    let told = |name: &str| facts[name];
    assert_eq!(
        names.map(told),
        [
            Presence::Here,
            Presence::Here,
            Presence::Gone,
            Presence::Unknown,
            Presence::Here,
            Presence::Unknown,
            Presence::Unknown,
            Presence::Unknown,
        ]
    );
}

#[test]
fn a_symbol_is_gone_when_it_was_there_when_it_was_spoken_of() {
    let dir = repository();
    let repository = Repository::open(&program(), dir.path());
    let when = |text: &str| text.parse::<Timestamp>().unwrap();
    let named = BTreeMap::from([
        ("keeper".to_owned(), when("2026-01-15T00:00:00Z")),
        ("leaver".to_owned(), when("2026-01-15T00:00:00Z")),
        ("second_leaver".to_owned(), when("2026-03-01T00:00:00Z")),
        ("never_was".to_owned(), when("2026-01-15T00:00:00Z")),
    ]);
    let facts = repository.symbols(&named, &|| Duration::ZERO);
    assert_eq!(facts["keeper"], Presence::Here);
    assert_eq!(facts["leaver"], Presence::Gone);
    assert_eq!(
        (facts["second_leaver"], facts["never_was"]),
        (Presence::Unknown, Presence::Unknown)
    );
}

#[test]
fn without_git_nothing_is_said_to_be_gone() {
    let dir = tempfile::tempdir().unwrap();
    let repository = Repository::open(&program(), dir.path());
    let facts = repository.files(&BTreeSet::from(["src/goes.rs".to_owned()]));
    assert_eq!(facts["src/goes.rs"], Presence::Unknown);
}

#[test]
fn one_file_that_is_there_is_enough() {
    let facts = BTreeMap::from([
        ("a/x.rs".to_owned(), Presence::Gone),
        ("a/y.rs".to_owned(), Presence::Here),
    ]);
    let named = |files: &[&str]| NamedThings {
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        symbols: Vec::new(),
        when: Timestamp::UNIX_EPOCH,
    };
    let none = BTreeMap::new();
    assert_eq!(named(&["a/x.rs", "a/y.rs"]).reason(&facts, &none), None);
    assert_eq!(
        named(&["a/x.rs", "a/z.rs"]).reason(&facts, &none).unwrap(),
        "`a/x.rs` is no longer in the repository"
    );
}

#[test]
fn names_that_are_too_many_cost_no_more_and_are_not_said_to_be_gone() {
    let dir = repository();
    let repository = Repository::open(&program(), dir.path());
    let when: Timestamp = "2026-01-15T00:00:00Z".parse().unwrap();
    let mut named: BTreeMap<String, Timestamp> =
        (0..20_000).map(|n| (format!("sym_{n:05}_abc"), when)).collect();
    named.insert("keeper".to_owned(), when);
    // The last symbol exceeds the search limit.
    named.insert("the_hidden".to_owned(), when);
    let facts = repository.symbols(&named, &|| Duration::ZERO);
    assert_eq!((facts.len(), facts["keeper"]), (20_002, Presence::Here));
    assert_eq!(facts["the_hidden"], Presence::Unknown);
    let late = Cell::new(Duration::ZERO);
    let clock = || late.replace(late.get() + Duration::from_secs(2));
    let facts = repository.symbols(&named, &clock);
    assert!(facts.values().all(|fact| *fact == Presence::Unknown));
}

#[test]
fn names_within_names_end_the_search() {
    let dir = repository();
    write(dir.path(), "src/long.rs", &"a".repeat(1 << 20));
    let repository = Repository::open(&program(), dir.path());
    let when: Timestamp = "2026-01-15T00:00:00Z".parse().unwrap();
    let named = (4..200).map(|n| ("a".repeat(n), when)).chain([("nowhere".to_owned(), when)]);
    let facts = repository.symbols(&named.collect(), &|| Duration::ZERO);
    assert!(facts.values().all(|fact| *fact == Presence::Unknown));
}
