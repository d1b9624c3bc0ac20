//! Resolves Rust paths: module names to files, and crate names through the manifests.
//!
//! A path is followed as long as its parts correspond to files. The remaining parts name an item,
//! an inline module or a re-export in the last file, so the path resolves to that file.

use super::files::{add, around, below, folder_of, join_path, name_of};
use super::{Asking, Resolution, file};
use crate::languages::ImportKind;

const LANGUAGE_CRATES: &[&str] = &["std", "core", "alloc", "proc_macro", "test"];

/// Cost of extracting the last part of a path, measured in name comparisons.
const PARTS_OF_A_PATH: usize = 4;

/// A position in the module tree: the module's file and the directory that contains its children.
#[derive(Clone, Debug)]
pub(super) struct Module {
    file: Option<usize>,
    children: String,
}

pub(super) fn resolve(asking: &Asking<'_, '_>) -> Resolution {
    let text = asking.text();
    match asking.import.kind {
        ImportKind::Child => {
            let own = own_module(asking);
            let (around, name) = text.rsplit_once("::").unwrap_or(("", text));
            let folder = below(&own.children, &around.replace("::", "/"));
            return child(asking, &folder, name).map_or(Resolution::Missing, file);
        }
        ImportKind::Path => {
            let path = join_path(asking.folder(), text);
            let found = path.and_then(|path| asking.files().at(&path));
            return found.map_or(Resolution::Missing, file);
        }
        ImportKind::Module | ImportKind::Reexport | ImportKind::System | ImportKind::Type => {}
    }
    let text = text.strip_prefix("::").unwrap_or(text);
    let parts: Vec<&str> = text.split("::").map(|part| part.trim_start_matches("r#")).collect();
    match parts.as_slice() {
        ["crate" | "$crate", rest @ ..] => walk_parts(asking, crate_root(asking).clone(), rest),
        ["self", rest @ ..] => walk_parts(asking, own_module(asking).clone(), rest),
        ["super", ..] => above(asking, &parts),
        [first, rest @ ..] => resolve_named(asking, first, rest),
        [] => Resolution::Outside,
    }
}

/// Resolves a path whose first part is a crate, or a name that the file already imports.
fn resolve_named(asking: &Asking<'_, '_>, first: &str, rest: &[&str]) -> Resolution {
    let own = own_module(asking);
    if let Some(found) = child(asking, &own.children, first) {
        let module = Module { file: Some(found), children: below(&own.children, first) };
        return walk_parts(asking, module, rest);
    }
    if LANGUAGE_CRATES.contains(&first) {
        return Resolution::Outside;
    }
    if let Some(root) = asking.manifests().rust_crates.get(first) {
        let folder = folder_of(root).to_owned();
        let module = Module { file: asking.files().at(root), children: folder };
        return walk_parts(asking, module, rest);
    }
    let symbols = asking.files().source(asking.from).map(|source| &source.outline.symbols);
    let is_own = symbols.is_some_and(|symbols| {
        asking.affords(symbols.len()) && symbols.iter().any(|(name, _)| name == first)
    });
    if is_own { file(asking.from) } else { through_another(asking, first, rest) }
}

/// Resolves a path whose first part is imported by another `use` in the same file, as in `use
/// crate::model; use model::Store;`.
fn through_another(asking: &Asking<'_, '_>, first: &str, rest: &[&str]) -> Resolution {
    let imports = asking.files().source(asking.from).map(|source| &source.outline.imports);
    let imports = imports.filter(|imports| asking.affords(imports.len() * PARTS_OF_A_PATH));
    let other = imports.and_then(|imports| {
        imports.iter().find(|other| {
            let last = other.text.rsplit("::").next();
            let is_path = other.text.starts_with("crate::")
                || other.text.starts_with("self::")
                || other.text.starts_with("super::");
            last == Some(first) && is_path
        })
    });
    let Some(other) = other else { return Resolution::Outside };
    let mut parts: Vec<&str> = other.text.split("::").collect();
    parts.extend(rest);
    match parts.as_slice() {
        ["crate", rest @ ..] => walk_parts(asking, crate_root(asking).clone(), rest),
        ["self", rest @ ..] => walk_parts(asking, own_module(asking).clone(), rest),
        _ => above(asking, &parts),
    }
}

/// Follows `parts` from a module as long as they correspond to files.
fn walk_parts(asking: &Asking<'_, '_>, from: Module, parts: &[&str]) -> Resolution {
    let Module { file: mut at, mut children } = from;
    for part in parts.iter().filter(|part| !part.is_empty()) {
        let Some(found) = child(asking, &children, part) else { break };
        at = Some(found);
        add(&mut children, part);
    }
    at.map_or(Resolution::Missing, file)
}

fn above(asking: &Asking<'_, '_>, parts: &[&str]) -> Resolution {
    let mut module = own_module(asking).clone();
    let mut rest = parts;
    while let ["super", after @ ..] = rest {
        let folder = folder_of(&module.children).to_owned();
        module = Module { file: module_file(asking, &folder), children: folder };
        rest = after;
    }
    walk_parts(asking, module, rest)
}

/// Returns the file of the module whose children are in `folder`. An inline module is in its
/// parent's file.
fn module_file(asking: &Asking<'_, '_>, folder: &str) -> Option<usize> {
    let mut folder = folder;
    loop {
        let ends = match folder.is_empty() {
            true => &["mod.rs", "lib.rs", "main.rs"][..],
            false => &[".rs", "/mod.rs", "/lib.rs", "/main.rs"],
        };
        let found = asking.files().with_end(folder, ends).or_else(|| root_in(asking, folder));
        if found.is_some() || folder.is_empty() {
            return found;
        }
        folder = folder_of(folder);
    }
}

/// Returns a directory's crate root, which can have any name if the manifest names it.
fn root_in(asking: &Asking<'_, '_>, folder: &str) -> Option<usize> {
    asking.manifests().rust_folders.get(folder).and_then(|root| asking.files().at(root))
}

fn child(asking: &Asking<'_, '_>, folder: &str, name: &str) -> Option<usize> {
    let found = asking.files().with_end(&below(folder, name), &[".rs", "/mod.rs"]);
    found.filter(|idx| *idx != asking.from)
}

/// Returns the module that the file defines. The children of crate roots and `mod.rs` files are in
/// the same directory; other files' children are in a directory with the file's name.
fn own_module<'q>(asking: &Asking<'q, '_>) -> &'q Module {
    asking.own.rust_module.get_or_init(|| find_own_module(asking.path, asking))
}

fn find_own_module(path: &str, asking: &Asking<'_, '_>) -> Module {
    let folder = folder_of(path);
    let name = name_of(path);
    let is_root = matches!(name, "mod.rs" | "lib.rs" | "main.rs" | "build.rs")
        || asking.manifests().rust_roots.contains(path)
        || is_loose_root(path, asking);
    let stem = name.strip_suffix(".rs").unwrap_or(name);
    let children = if is_root { folder.to_owned() } else { below(folder, stem) };
    Module { file: Some(asking.from), children }
}

/// Returns whether a file is a crate root because it is in a directory such as `tests` or
/// `src/bin`.
fn is_loose_root(path: &str, asking: &Asking<'_, '_>) -> bool {
    let folder = folder_of(path);
    is_of_package(folder, asking) || folder.ends_with("src/bin") || folder == "bin"
}

/// Returns whether a directory is a package's own `tests`, `examples` or `benches` directory.
/// `src/runtime/tests`, for example, is an ordinary module.
fn is_of_package(folder: &str, asking: &Asking<'_, '_>) -> bool {
    let name = name_of(folder);
    let has_manifest = || asking.files().at(&below(folder_of(folder), "Cargo.toml")).is_some();
    matches!(name, "tests" | "examples" | "benches") && (folder == name || has_manifest())
}

fn crate_root<'q>(asking: &Asking<'q, '_>) -> &'q Module {
    asking.own.rust_root.get_or_init(|| find_crate_root(asking))
}

fn find_crate_root(asking: &Asking<'_, '_>) -> Module {
    for folder in around(asking.path) {
        let is_package = asking.files().at(&below(folder, "Cargo.toml")).is_some();
        let names = ["lib.rs", "main.rs"].map(|name| below(folder, name));
        if let Some(found) = asking.files().first(names).or_else(|| root_in(asking, folder)) {
            return Module { file: Some(found), children: folder.to_owned() };
        }
        if is_package || is_of_package(folder, asking) {
            let file = is_loose_root(asking.path, asking).then_some(asking.from);
            return Module { file, children: folder.to_owned() };
        }
    }
    Module { file: Some(asking.from), children: String::new() }
}
