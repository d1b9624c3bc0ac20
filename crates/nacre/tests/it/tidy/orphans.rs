//! Finds source files that are never compiled, because no module declares them.

use std::path::{Path, PathBuf};

use super::{read, sources};
use crate::home::repository;

#[test]
fn every_source_is_declared_by_a_module() {
    let crates = repository().join("crates");
    let sources = sources();
    let orphans: Vec<&PathBuf> = sources
        .iter()
        .filter(|file| {
            let in_crate: PathBuf = file.strip_prefix(&crates).unwrap().iter().skip(1).collect();
            !is_root(&in_crate) && !is_declared(file, &sources)
        })
        .collect();
    assert!(orphans.is_empty(), "Declare these files with `mod`, or remove them: {orphans:#?}");
}

/// Returns whether cargo compiles a file as a target's root. `file` is its path in the crate.
fn is_root(file: &Path) -> bool {
    let parts: Vec<&str> = file.iter().filter_map(|part| part.to_str()).collect();
    matches!(
        parts.as_slice(),
        ["build.rs"]
            | ["src", "lib.rs" | "main.rs"]
            | ["src", "bin", ..]
            | ["tests", "support", _]
            | ["tests" | "examples", _]
            | ["tests" | "examples", _, "main.rs"]
    )
}

/// Returns whether a module in the file's directory declares it, by name or with a `path`
/// attribute.
fn is_declared(file: &Path, sources: &[PathBuf]) -> bool {
    // `a/mod.rs` is declared where `a.rs` would be.
    let module = if file.ends_with("mod.rs") { file.parent().unwrap() } else { file };
    let folder = module.parent().unwrap();
    let name = module.file_stem().unwrap().to_string_lossy();
    let parents = ["mod.rs", "lib.rs", "main.rs"].map(|root| folder.join(root));
    let declares = |parent: &PathBuf| {
        let text = read(parent);
        let has_module = text.lines().any(|line| line.trim().ends_with(&format!("mod {name};")));
        has_module || text.contains(&format!("path = \"{name}.rs\""))
    };
    let mut parents = parents.into_iter().chain([folder.with_extension("rs")]);
    parents.any(|parent| sources.contains(&parent) && declares(&parent))
}
