//! Rust: modules follow the files, crates follow the manifests.
//!
//! A path is walked as far as there are files for it; what is left is an item, an inline module or a re-export of the file
//! that was reached, which is the file that has to answer for the name.

use super::files::{add, around, below, folder_of, joined, name_of};
use super::{Asking, Resolution, file};
use crate::languages::ImportKind;

/// Names that come with the language.
const LANGUAGE_CRATES: &[&str] = &["std", "core", "alloc", "proc_macro", "test"];

/// To look for the last part of a path takes about as long as to compare so many names.
const PARTS_OF_A_PATH: usize = 4;

/// Where a walk over modules stands: the file of a module, and the folder of its children.
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
            let path = joined(asking.folder(), text);
            let found = path.and_then(|path| asking.files().at(&path));
            return found.map_or(Resolution::Missing, file);
        }
        ImportKind::Module | ImportKind::Reexport | ImportKind::System | ImportKind::Type => {}
    }
    let text = text.strip_prefix("::").unwrap_or(text);
    let parts: Vec<&str> = text.split("::").map(|part| part.trim_start_matches("r#")).collect();
    match parts.as_slice() {
        ["crate" | "$crate", rest @ ..] => walked(asking, crate_root(asking).clone(), rest),
        ["self", rest @ ..] => walked(asking, own_module(asking).clone(), rest),
        ["super", ..] => above(asking, &parts),
        [first, rest @ ..] => named(asking, first, rest),
        [] => Resolution::Outside,
    }
}

/// The first part names a crate, or something that the file has already.
fn named(asking: &Asking<'_, '_>, first: &str, rest: &[&str]) -> Resolution {
    let own = own_module(asking);
    if let Some(found) = child(asking, &own.children, first) {
        let module = Module { file: Some(found), children: below(&own.children, first) };
        return walked(asking, module, rest);
    }
    if LANGUAGE_CRATES.contains(&first) {
        return Resolution::Outside;
    }
    if let Some(root) = asking.manifests().rust_crates.get(first) {
        let folder = folder_of(root).to_owned();
        let module = Module { file: asking.files().at(root), children: folder };
        return walked(asking, module, rest);
    }
    let symbols = asking.files().source(asking.from).map(|source| &source.outline.symbols);
    let is_own = symbols.is_some_and(|symbols| {
        asking.affords(symbols.len()) && symbols.iter().any(|symbol| symbol.name == first)
    });
    if is_own { file(asking.from) } else { through_another(asking, first, rest) }
}

/// `use crate::model; use model::Store;`: the first part was imported by the same file.
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
        ["crate", rest @ ..] => walked(asking, crate_root(asking).clone(), rest),
        ["self", rest @ ..] => walked(asking, own_module(asking).clone(), rest),
        _ => above(asking, &parts),
    }
}

/// Goes down from a module as far as there are files.
fn walked(asking: &Asking<'_, '_>, from: Module, parts: &[&str]) -> Resolution {
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
    walked(asking, module, rest)
}

/// The file of the module whose children lie in a folder; an inline module is in the file of the one around it.
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

/// A crate's root may have any name that the manifest gives it, and any file of `tests/` is one.
fn root_in(asking: &Asking<'_, '_>, folder: &str) -> Option<usize> {
    asking.manifests().rust_folders.get(folder).and_then(|root| asking.files().at(root))
}

fn child(asking: &Asking<'_, '_>, folder: &str, name: &str) -> Option<usize> {
    let found = asking.files().with_end(&below(folder, name), &[".rs", "/mod.rs"]);
    found.filter(|idx| *idx != asking.from)
}

/// A file as a module: roots and `mod.rs` have their children beside them, others in a folder of their own name.
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

/// Files right in these folders of a package are crates of their own.
fn is_loose_root(path: &str, asking: &Asking<'_, '_>) -> bool {
    let folder = folder_of(path);
    is_of_package(folder, asking) || folder.ends_with("src/bin") || folder == "bin"
}

/// Whether a folder is one that a package keeps such crates in; `src/runtime/tests` is a module like any other.
fn is_of_package(folder: &str, asking: &Asking<'_, '_>) -> bool {
    let name = name_of(folder);
    let has_manifest = || asking.files().at(&below(folder_of(folder), "Cargo.toml")).is_some();
    matches!(name, "tests" | "examples" | "benches") && (folder == name || has_manifest())
}

/// The root of the crate that a file is of.
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
