//! Python: dotted names from the folders that packages lie in, and dots that lead up from the file.

use std::cell::LazyCell;
use std::collections::HashMap;

use super::files::{Files, below, folder_of};
use super::{Asking, Resolution, file};
use crate::languages::Language;

/// Folders that hold packages without being one.
const ROOTS: &[&str] = &["", "src", "lib", "python"];

pub(super) fn resolve(asking: &Asking<'_, '_>) -> Resolution {
    match asking.text().strip_prefix('.') {
        Some(rest) => relative(asking, rest),
        None => absolute(asking),
    }
}

/// `.a.b`: from the file's folder, and one further up for each dot more.
fn relative(asking: &Asking<'_, '_>, rest: &str) -> Resolution {
    let name = rest.trim_start_matches('.');
    let mut folder = asking.folder();
    for _ in 0..rest.len() - name.len() {
        folder = folder_of(folder);
    }
    let path = below(folder, &name.replace('.', "/"));
    let package = if name.contains('.') { folder_of(&path) } else { folder };
    // The last part may be a name in the module that the others lead to.
    let found = module_at(asking.files(), &path).or_else(|| module_at(asking.files(), package));
    match found {
        Some(idx) => file(idx),
        None => beside(asking, &path).unwrap_or(Resolution::Missing),
    }
}

/// A compiled module has its source or its stub beside where it will be.
fn beside(asking: &Asking<'_, '_>, path: &str) -> Option<Resolution> {
    let candidates = [path, folder_of(path)];
    let found = candidates.iter().find_map(|path| {
        let ends = ["pyx", "pxd", "c", "cpp", "rs"];
        asking.files().first(ends.iter().map(|end| format!("{path}.{end}")))
    });
    found.map(file)
}

fn absolute(asking: &Asking<'_, '_>) -> Resolution {
    let mut name = asking.text();
    let mut n_left = 0;
    // A script sees the modules in its own folder.
    let is_script = LazyCell::new(|| module_at(asking.files(), asking.folder()).is_none());
    loop {
        let beside = || {
            let path = below(asking.folder(), &name.replace('.', "/"));
            module_at(asking.files(), &path).filter(|_| *is_script)
        };
        let found = asking.files().python(name).or_else(beside);
        if let Some(idx) = found {
            // A package that does not have the module that was asked for is another one of that name, or lacks it.
            return if n_left <= 1 || !is_package(asking.files(), idx) {
                file(idx)
            } else {
                Resolution::Missing
            };
        }
        let Some((shorter, _)) = name.rsplit_once('.') else { return Resolution::Outside };
        name = shorter;
        n_left += 1;
    }
}

fn is_package(files: &Files<'_>, idx: usize) -> bool {
    let name = files.path(idx).rsplit('/').next().unwrap_or_default();
    name.starts_with("__init__.")
}

/// The module or package at a path.
fn module_at(files: &Files<'_>, path: &str) -> Option<usize> {
    let mut tried = String::with_capacity(path.len() + 16);
    let ends = [".py", "/__init__.py", ".pyi", "/__init__.pyi"];
    ends.into_iter().find_map(|end| {
        tried.clear();
        tried.push_str(path);
        tried.push_str(if path.is_empty() { end.trim_start_matches('/') } else { end });
        files.at(&tried)
    })
}

/// Every module by the names that an import may call it: from the folder above its outermost package, and from usual roots.
pub(super) fn modules(files: &Files<'_>) -> HashMap<String, usize> {
    let mut modules: HashMap<String, usize> = HashMap::new();
    for (idx, source) in files.all() {
        if source.language != Some(Language::Python) {
            continue;
        }
        let path = source.path.as_str();
        let stem = path.strip_suffix(".pyi").or_else(|| path.strip_suffix(".py")).unwrap_or(path);
        let stem = stem.strip_suffix("/__init__").unwrap_or(stem);
        let own_root = package_root(files, path);
        for root in ROOTS.iter().copied().chain([own_root.as_str()]) {
            let rest = match root {
                "" => Some(stem),
                root => stem.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')),
            };
            let Some(name) = rest.map(|rest| rest.replace('/', ".")) else { continue };
            // A package's stub does not hide the package.
            let is_stub = path.ends_with(".pyi");
            let known = modules.get(&name).copied();
            if known.is_none_or(|known| !is_stub && files.path(known).ends_with(".pyi")) {
                modules.insert(name, idx);
            }
        }
    }
    modules
}

/// The folder above the outermost package around a file.
fn package_root(files: &Files<'_>, path: &str) -> String {
    let mut folder = folder_of(path);
    while !folder.is_empty() && module_at(files, folder).is_some_and(|idx| is_package(files, idx)) {
        folder = folder_of(folder);
    }
    folder.to_owned()
}
