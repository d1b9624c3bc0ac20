//! What a file is by where it lies: a test, an example, a stranger's.

/// What a file is for, as far as its path tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeRole {
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

pub(super) fn place_of(path: &str) -> CodeRole {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    if is_test_name(name) { CodeRole::Test } else { place_of_folder(folders) }
}

fn place_of_folder(folders: &str) -> CodeRole {
    let mut place = CodeRole::Source;
    for folder in folders.split('/') {
        // Most names of folders are neither, and most of those differ in their first letter.
        match folder.as_bytes().first() {
            Some(b't' | b'_' | b's' | b'e') if TEST_FOLDERS.contains(&folder) => {
                return CodeRole::Test;
            }
            Some(b'e' | b'b' | b'd' | b'f' | b'v' | b't' | b'n' | b'g' | b's')
                if ASIDE_FOLDERS.contains(&folder) =>
            {
                place = CodeRole::Aside;
            }
            _ => {}
        }
    }
    place
}

/// The folder that a file lies in; empty for the root.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn is_test_name(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let ends = |mark: &str| {
        let at = stem.len().wrapping_sub(mark.len());
        stem.as_bytes().get(at..).is_some_and(|end| end.eq_ignore_ascii_case(mark.as_bytes()))
    };
    let begins = stem.as_bytes().get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"test_"));
    let marks = ["_test", "_tests", "_spec", ".test", ".spec", "-test", "-spec"];
    // All that is looked for ends with one of these.
    let may_end = matches!(stem.as_bytes().last(), Some(b't' | b'T' | b's' | b'S' | b'c' | b'C'));
    begins
        || may_end
            && (stem.eq_ignore_ascii_case("tests")
                || stem.ends_with("Test")
                || stem.ends_with("Tests")
                || marks.iter().any(|mark| ends(mark)))
}
