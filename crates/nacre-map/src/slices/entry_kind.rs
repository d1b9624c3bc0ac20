//! Which files are the ones to begin with.

use serde::{Deserialize, Serialize};

/// What begins in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    Readme,
    Program,
    Library,
    Manifest,
    /// A program that serves the work on the project rather than its users.
    Script,
}

/// Folders whose programs build, check or release the project.
const SCRIPT_FOLDERS: &[&str] = &[
    "scripts",
    "script",
    "hack",
    "tools",
    "tool",
    "build",
    "buildSrc",
    "build-tools",
    "ci",
    ".ci",
    ".github",
    "contrib",
    "dev",
    "devtools",
    "misc",
    "release",
    "releasing",
    "packaging",
    "docker",
    "eng",
    "infra",
    "maint",
    "util",
    "utils",
    "generators",
    "codegen",
    "gen",
];

/// Files that tools start, wherever they lie.
const SCRIPT_NAMES: &[&str] =
    &["build.rs", "setup.py", "conftest.py", "noxfile.py", "generate.go", "gen.go"];

impl EntryKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Readme => "readme",
            Self::Program => "program",
            Self::Library => "library",
            Self::Manifest => "manifest",
            Self::Script => "script",
        }
    }
}

/// What begins in a file, by its name and by what its analysis said.
pub(super) fn entry_kind(path: &str, depth: usize, is_program: bool) -> Option<EntryKind> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_top = |folders: &[&str]| {
        folders.iter().any(|top| folder == *top || folder.ends_with(&format!("/{top}")))
    };
    match name {
        // A README below the root is about its folder alone.
        _ if depth == 0 && stem.eq_ignore_ascii_case("readme") => Some(EntryKind::Readme),
        _ if is_program && is_script(folder, name) => Some(EntryKind::Script),
        // A function of that name is a program only where Cargo looks for one; others are declared.
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
        || SCRIPT_NAMES.contains(&name)
        || folder.split('/').any(|part| SCRIPT_FOLDERS.contains(&part))
}
