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
}

impl EntryKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Readme => "readme",
            Self::Program => "program",
            Self::Library => "library",
            Self::Manifest => "manifest",
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
