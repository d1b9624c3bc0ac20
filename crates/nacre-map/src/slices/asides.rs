//! Which files are rarely what a task changes: tests, what belongs to others, what a program made, and data.
//!
//! By the path alone; what a text says of itself comes with its words ([`crate::words::Bag::is_made`]).

use super::weights::Weights;
use crate::languages::Language;

/// Folders whose files are tests, examples, documents, data of tests, or a stranger's.
const FOLDERS: &[&str] = &[
    "__fixtures__",
    "__mocks__",
    "__snapshots__",
    "__tests__",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "doc",
    "docs",
    "e2e",
    "example",
    "examples",
    "fixture",
    "fixtures",
    "generated",
    "mock",
    "mocks",
    "node_modules",
    "sample",
    "samples",
    "snapshots",
    "spec",
    "specs",
    "stubs",
    "test",
    "testdata",
    "testfixtures",
    "testing",
    "tests",
    "testutil",
    "testutils",
    "third-party",
    "third_party",
    "thirdparty",
    "vendor",
    "vendored",
];

/// Parts of names of files that a program made, or that stand for others in tests. Each begins with a dot or an underscore.
const NAME_PARTS: &[&str] =
    &[".pb.", "_pb2", ".gen.", "_gen.", "_generated", ".generated", ".min.", ".snap"];

/// Ends of the names of tests, before the last dot.
const TEST_ENDS: &[&str] = &[
    "_test", "_tests", "_spec", ".test", ".spec", "-test", "-tests", "-spec", "Test", "Tests",
    "IT", "_mock", "_mocks", "Mock",
];

/// Languages that people write and no grammar here reads.
const OTHER_CODE: &[&str] = &[
    "astro", "cmake", "css", "dart", "erb", "ex", "graphql", "groovy", "hs", "html", "jinja",
    "less", "m", "ml", "mts", "cts", "mjs", "cjs", "proto", "scss", "sql", "svelte", "tf", "tmpl",
    "vue", "zig",
];

/// How much a file is worth by its path, from 0 to 1. Tests count fully where the task asks for them.
pub(super) fn worth(path: &str, wants_tests: bool, weights: &Weights) -> f64 {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    worth_in(lies_aside(folders), path, wants_tests, weights)
}

/// Whether what lies in a folder is rarely what a task changes.
pub(super) fn lies_aside(folders: &str) -> bool {
    folders.split('/').any(is_aside_folder)
}

/// The same as [`worth`] for a file of a folder of which it is known whether it lies aside.
pub(super) fn worth_in(lies_aside: bool, path: &str, wants_tests: bool, weights: &Weights) -> f64 {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_aside = lies_aside || is_aside_name(name);
    let aside = if is_aside && !wants_tests { weights.aside } else { 1.0 };
    let is_code = Language::of_path(path).is_some()
        || name.rsplit_once('.').is_some_and(|(_, end)| OTHER_CODE.contains(&end));
    if is_code { aside } else { aside * weights.prose }
}

fn is_aside_folder(folder: &str) -> bool {
    let is_tests = |folder: &str| {
        ["-test", "-tests", "_test", "_tests"].iter().any(|end| folder.ends_with(end))
            || ["tests-", "tests_", "test-"].iter().any(|start| folder.starts_with(start))
    };
    FOLDERS.binary_search(&folder).is_ok() || is_tests(folder)
}

fn is_aside_name(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let is_lock = name.ends_with(".lock") || name.ends_with("-lock.json") || name == "go.sum";
    is_lock
        || stem.starts_with("test_")
        || stem.starts_with("mock_")
        || matches!(stem, "tests" | "test" | "conftest" | "CHANGELOG")
        || TEST_ENDS.iter().any(|end| stem.ends_with(end))
        || has_part(name)
}

fn has_part(name: &str) -> bool {
    let mut joints = memchr::memchr2_iter(b'.', b'_', name.as_bytes());
    joints.any(|at| NAME_PARTS.iter().any(|part| name[at..].starts_with(part)))
}

#[cfg(test)]
mod tests {
    use super::super::weights::WEIGHTS;
    use super::*;

    #[test]
    fn the_list_of_folders_is_in_order() {
        assert!(FOLDERS.is_sorted());
    }

    #[test]
    fn tests_and_what_a_program_made_count_less() {
        let cases = [
            ("src/store.rs", 1.0),
            ("src/contest.rs", 1.0),
            ("web/theme.css", 1.0),
            ("README.md", 0.7),
            ("tests/store.rs", 0.4),
            ("pkg/store_test.go", 0.4),
            ("src/test/java/StoreTests.java", 0.4),
            ("api/types.pb.go", 0.4),
            ("pkg/zz_generated.deepcopy.go", 0.4),
            ("Cargo.lock", 0.28),
            ("vendor/lib/store.go", 0.4),
        ];
        for (path, expected) in cases {
            assert!((worth(path, false, &WEIGHTS) - expected).abs() < 1e-9, "{path}");
        }
        assert!((worth("tests/store.rs", true, &WEIGHTS) - 1.0).abs() < 1e-9);
    }
}
