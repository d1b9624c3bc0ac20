//! What a file is by where it lies: a test, an example, a stranger's.

/// What a file is for, as far as its path tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeRole {
    Source,
    Test,
    /// Examples, benchmarks and documents.
    Aside,
    /// Code of others that lies here as a copy.
    Vendored,
    /// What a program wrote, as far as the path or the project's `.gitattributes` tell.
    Generated,
}

const TEST_FOLDERS: &[&str] =
    &["test", "tests", "__tests__", "spec", "specs", "testdata", "e2e", "fuzz"];

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
    "samples",
    "playground",
    "playgrounds",
    "demo",
    "demos",
];

const VENDOR_FOLDERS: &[&str] = &[
    "vendor",
    "vendored",
    "_vendor",
    "third_party",
    "third-party",
    "thirdparty",
    "node_modules",
    "bower_components",
    "Godeps",
];

const GENERATED_FOLDERS: &[&str] = &["generated", "__generated__", "_generated"];

/// Parts of names that only programs give to files.
const GENERATED_STARTS: &[&str] = &["zz_generated", "generated."];
const GENERATED_ENDS: &[&str] = &[
    ".pb.go",
    ".pb.gw.go",
    "_pb2.py",
    "_pb2_grpc.py",
    ".pb.cc",
    ".pb.h",
    ".gen.go",
    ".gen.ts",
    ".min.js",
    "_generated.go",
    "_generated.rs",
    ".generated.ts",
    ".generated.js",
    ".g.cs",
    ".designer.cs",
    "bindata.go",
];

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
        || GENERATED_ENDS.iter().any(|end| name.ends_with(end))
}

fn place_of_folder(folders: &str) -> CodeRole {
    let mut place = CodeRole::Source;
    for folder in folders.split('/') {
        // Most names of folders are neither, and most of those differ in their first letter.
        match folder.as_bytes().first() {
            Some(b'v' | b'_' | b't' | b'n' | b'b' | b'G') if VENDOR_FOLDERS.contains(&folder) => {
                return CodeRole::Vendored;
            }
            Some(b't' | b'_' | b's' | b'e' | b'f') if TEST_FOLDERS.contains(&folder) => {
                place = CodeRole::Test;
            }
            // `tests-integration`, `integration-tests`; `tide-test` may be a package for those who test.
            Some(_) if folder.starts_with("tests-") || folder.ends_with("-tests") => {
                place = CodeRole::Test;
            }
            Some(b'g' | b'_')
                if place == CodeRole::Source && GENERATED_FOLDERS.contains(&folder) =>
            {
                place = CodeRole::Generated;
            }
            Some(b'e' | b'b' | b'd' | b'f' | b's' | b'p')
                if place == CodeRole::Source && ASIDE_FOLDERS.contains(&folder) =>
            {
                place = CodeRole::Aside;
            }
            Some(_)
                if place == CodeRole::Source
                    && (folder.ends_with("-docs") || folder.starts_with("template-")) =>
            {
                place = CodeRole::Aside;
            }
            _ => {}
        }
    }
    place
}

/// Whether a path looks like code of the project itself: no test, example, copy or generated file.
pub fn is_own_source(path: &str) -> bool {
    place_of(path) == CodeRole::Source
}

/// Whether a file stands for its folder: those who import the folder get what it hands on.
pub(super) fn is_index(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(name, "mod.rs" | "lib.rs" | "__init__.py" | "__init__.pyi" | "package-info.java")
        || name.strip_prefix("index.").is_some_and(|end| {
            matches!(end, "js" | "cjs" | "mjs" | "jsx" | "ts" | "cts" | "mts" | "tsx")
        })
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
