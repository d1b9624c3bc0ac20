//! Classifies files by their path, and estimates how likely a task is to change them.

use nacre_types::EntryKind;

use super::weights::Weights;
use crate::languages::Language;
use nacre_base::text::is_listed;

/// A file's purpose, as suggested by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeRole {
    Source,
    Test,
    /// Examples, benchmarks and documentation.
    Aside,
    /// A copy of external code.
    Vendored,
    /// A file that its path or the project's `.gitattributes` marks as generated.
    Generated,
}

const TEST_FOLDERS: &str = "test tests __tests__ spec specs testdata e2e fuzz";

const ASIDE_FOLDERS: &str = "example examples bench benches benchmark benchmarks doc docs fixture fixtures samples \
    playground playgrounds demo demos";

const VENDOR_FOLDERS: &str = "vendor vendored _vendor third_party third-party thirdparty node_modules bower_components \
    Godeps";

const GENERATED_FOLDERS: &str = "generated __generated__ _generated";

const GENERATED_STARTS: &[&str] = &["zz_generated", "generated."];
const GENERATED_ENDS: &str = ".pb.go .pb.gw.go _pb2.py _pb2_grpc.py .pb.cc .pb.h .gen.go .gen.ts \
    .min.js _generated.go _generated.rs .generated.ts .generated.js .g.cs .designer.cs bindata.go";

pub(super) fn place_of(path: &str) -> CodeRole {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let place = place_of_folder(folders);
    if place == CodeRole::Vendored {
        return place;
    }
    if is_test_name(name) {
        return CodeRole::Test;
    }
    let is_generated = place == CodeRole::Source && is_generated_name(name);
    if is_generated { CodeRole::Generated } else { place }
}

fn is_generated_name(name: &str) -> bool {
    GENERATED_STARTS.iter().any(|start| name.starts_with(start))
        || GENERATED_ENDS.split(' ').any(|end| name.ends_with(end))
}

fn place_of_folder(folders: &str) -> CodeRole {
    let mut place = CodeRole::Source;
    for folder in folders.split('/') {
        let is_source = place == CodeRole::Source;
        if is_listed(VENDOR_FOLDERS, folder) {
            return CodeRole::Vendored;
        }
        // `tests-integration` and `integration-tests` contain tests, but `tide-test` may be a
        // library for tests.
        let is_test = is_listed(TEST_FOLDERS, folder)
            || folder.starts_with("tests-")
            || folder.ends_with("-tests");
        let is_aside = is_listed(ASIDE_FOLDERS, folder)
            || folder.ends_with("-docs")
            || folder.starts_with("template-");
        if is_test {
            place = CodeRole::Test;
        } else if is_source && is_listed(GENERATED_FOLDERS, folder) {
            place = CodeRole::Generated;
        } else if is_source && is_aside {
            place = CodeRole::Aside;
        }
    }
    place
}

/// Returns whether a path appears to be the project's own code, as opposed to a test, an example, a
/// copy or a generated file.
pub fn is_own_source(path: &str) -> bool {
    place_of(path) == CodeRole::Source
}

/// Returns whether a file is its directory's index file. Importing the directory imports what this
/// file exports.
pub(super) fn is_index(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(name, "mod.rs" | "lib.rs" | "__init__.py" | "__init__.pyi" | "package-info.java")
        || name.strip_prefix("index.").is_some_and(|end| {
            matches!(end, "js" | "cjs" | "mjs" | "jsx" | "ts" | "cts" | "mts" | "tsx")
        })
}

pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn is_test_name(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let lower = stem.to_ascii_lowercase();
    let marks = ["_test", "_tests", "_spec", ".test", ".spec", "-test", "-spec"];
    lower.starts_with("test_")
        || lower == "tests"
        || stem.ends_with("Test")
        || stem.ends_with("Tests")
        || marks.iter().any(|mark| lower.ends_with(mark))
}

const SCRIPT_FOLDERS: &str = "scripts script hack tools tool build buildSrc build-tools ci .ci .github contrib dev \
    devtools misc release releasing packaging docker eng infra maint util utils generators \
    codegen gen";

const SCRIPT_NAMES: &str = "build.rs setup.py conftest.py noxfile.py generate.go gen.go";

pub(super) fn entry_kind(path: &str, depth: usize, is_program: bool) -> Option<EntryKind> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_top = |folders: &[&str]| {
        folders.iter().any(|top| folder == *top || folder.ends_with(&format!("/{top}")))
    };
    match name {
        // A README below the root describes only its directory.
        _ if depth == 0 && stem.eq_ignore_ascii_case("readme") => Some(EntryKind::Readme),
        _ if is_program && is_script(folder, name) => Some(EntryKind::Script),
        // A Rust file that contains `main` is a program only at the paths that Cargo searches.
        // Other programs must be declared.
        _ if is_program && is_rust_module(folder, name, depth) => None,
        _ if is_program || name == "__main__.py" => Some(EntryKind::Program),
        "lib.rs" if is_top(&["src"]) => Some(EntryKind::Library),
        "index.ts" | "index.tsx" | "index.js" | "main.ts" | "main.js"
            if depth == 0 || is_top(&["src"]) =>
        {
            Some(EntryKind::Library)
        }
        "__init__.py" if depth == 1 || (depth == 2 && path.starts_with("src/")) => {
            Some(EntryKind::Library)
        }
        "Cargo.toml" | "go.mod" | "package.json" | "pyproject.toml" | "setup.py" | "pom.xml"
        | "build.gradle" | "build.gradle.kts" | "composer.json" | "Gemfile" | "Package.swift"
        | "mix.exs" | "CMakeLists.txt" | "Makefile" | "build.sbt"
            if depth == 0 =>
        {
            Some(EntryKind::Manifest)
        }
        _ => None,
    }
}

fn is_rust_module(folder: &str, name: &str, depth: usize) -> bool {
    let is_place = name == "main.rs" || depth == 0 || folder == "bin" || folder.ends_with("/bin");
    std::path::Path::new(name).extension().is_some_and(|end| end == "rs") && !is_place
}

fn is_script(folder: &str, name: &str) -> bool {
    let is_shell =
        std::path::Path::new(name).extension().is_none_or(|end| end == "sh" || end == "bash");
    is_shell
        || is_listed(SCRIPT_NAMES, name)
        || folder.split('/').any(|part| is_listed(SCRIPT_FOLDERS, part))
}

const LOW_WORTH_FOLDERS: &str = "__fixtures__ __mocks__ __snapshots__ __tests__ bench benches benchmark benchmarks doc docs \
    e2e example examples fixture fixtures generated mock mocks node_modules sample samples \
    snapshots spec specs stubs test testdata testfixtures testing tests testutil testutils \
    third-party third_party thirdparty vendor vendored";

/// Name parts that identify generated files and mocks. Each one begins with a dot or an underscore.
const NAME_PARTS: &[&str] =
    &[".pb.", "_pb2", ".gen.", "_gen.", "_generated", ".generated", ".min.", ".snap"];

const TEST_ENDS: &[&str] = &[
    "_test", "_tests", "_spec", ".test", ".spec", "-test", "-tests", "-spec", "Test", "Tests",
    "IT", "_mock", "_mocks", "Mock",
];

const OTHER_CODE: &str = "astro cmake css dart erb ex graphql groovy hs html jinja less m ml mts cts mjs cjs proto \
    scss sql svelte tf tmpl vue zig";

/// Weights a file from 0 to 1 by its path. Tests have full weight if the task is about tests.
pub(super) fn worth(path: &str, wants_tests: bool, weights: &Weights) -> f64 {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    worth_in(lies_aside(folders), path, wants_tests, weights)
}

pub(super) fn lies_aside(folders: &str) -> bool {
    folders.split('/').any(is_aside_folder)
}

/// Like [`worth`], for callers that have already checked the directory.
pub(super) fn worth_in(lies_aside: bool, path: &str, wants_tests: bool, weights: &Weights) -> f64 {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_aside = lies_aside || is_aside_name(name);
    let aside = if is_aside && !wants_tests { weights.aside } else { 1.0 };
    let is_code = Language::of_path(path).is_some()
        || name.rsplit_once('.').is_some_and(|(_, end)| is_listed(OTHER_CODE, end));
    if is_code { aside } else { aside * weights.prose }
}

fn is_aside_folder(folder: &str) -> bool {
    let is_tests = |folder: &str| {
        ["-test", "-tests", "_test", "_tests"].iter().any(|end| folder.ends_with(end))
            || ["tests-", "tests_", "test-"].iter().any(|start| folder.starts_with(start))
    };
    is_listed(LOW_WORTH_FOLDERS, folder) || is_tests(folder)
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
    use super::*;
    use crate::slices::weights::WEIGHTS;

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
