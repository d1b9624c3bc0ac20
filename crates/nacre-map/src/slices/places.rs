//! What a file is by where it lies: a test, an example, a stranger's.

/// What a file is for, as far as its path tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Source,
    Test,
    /// Examples, benchmarks, documents, and what belongs to others.
    Aside,
}

const TEST_FOLDERS: &[&str] = &["test", "tests", "__tests__", "spec", "specs", "testdata", "e2e"];

const ASIDE_FOLDERS: &[&str] = &[
    "example",
    "examples",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "doc",
    "docs",
    "fixture",
    "fixtures",
    "vendor",
    "third_party",
    "third-party",
    "node_modules",
    "generated",
    "samples",
];

pub(super) fn place_of(path: &str) -> Place {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_in = |known: &[&str]| folders.split('/').any(|folder| known.contains(&folder));
    match () {
        () if is_in(TEST_FOLDERS) || is_test_name(name) => Place::Test,
        () if is_in(ASIDE_FOLDERS) => Place::Aside,
        () => Place::Source,
    }
}

/// The folder that a file lies in; empty for the root.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn is_test_name(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let lower = stem.to_ascii_lowercase();
    let marks = ["_test", "_tests", "_spec", ".test", ".spec", "-test", "-spec"];
    lower == "tests"
        || lower.starts_with("test_")
        || marks.iter().any(|mark| lower.ends_with(mark))
        || stem.ends_with("Test")
        || stem.ends_with("Tests")
}
