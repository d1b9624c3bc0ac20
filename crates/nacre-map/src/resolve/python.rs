//! Resolves Python imports, both dotted names below the package roots and relative imports.

use super::files::{By, SourceFiles, below, folder_of, name_of};
use super::{Asking, Resolution, file};
use crate::languages::Language;

/// Directories that may contain packages but are not packages themselves.
const ROOTS: &[&str] = &["", "src", "lib", "python"];

pub(super) fn resolve(asking: &Asking<'_, '_>) -> Resolution {
    match asking.text().strip_prefix('.') {
        Some(rest) => relative(asking, rest),
        None => absolute(asking),
    }
}

/// Resolves `.a.b` relative to the file's directory. Each additional dot goes up one directory.
fn relative(asking: &Asking<'_, '_>, rest: &str) -> Resolution {
    let name = rest.trim_start_matches('.');
    let mut folder = asking.folder();
    for _ in 0..rest.len() - name.len() {
        folder = folder_of(folder);
    }
    let path = below(folder, &name.replace('.', "/"));
    let package = if name.contains('.') { folder_of(&path) } else { folder };
    // The last part may be a name defined in the module.
    let found = module_at(asking.files(), &path).or_else(|| module_at(asking.files(), package));
    found.map(file).or_else(|| beside(asking, &path)).unwrap_or(Resolution::Missing)
}

/// Resolves a compiled module to the source file it is built from.
fn beside(asking: &Asking<'_, '_>, path: &str) -> Option<Resolution> {
    let candidates = [path, folder_of(path)];
    let ends = [".pyx", ".pxd", ".c", ".cpp", ".rs"];
    let found = candidates.iter().find_map(|path| asking.files().with_end(path, &ends));
    found.map(file)
}

fn absolute(asking: &Asking<'_, '_>) -> Resolution {
    let path = asking.text().replace('.', "/");
    let mut name = path.as_str();
    let mut n_left = 0;
    loop {
        let beside = || {
            let is_script = is_script(asking);
            is_script.then(|| module_at(asking.files(), &below(asking.folder(), name))).flatten()
        };
        let found = asking.files().python(modules).get(name).copied().or_else(beside);
        if let Some(idx) = found {
            // If the package does not contain the submodule, either there is no such submodule or
            // another package with the same name is meant.
            return if n_left <= 1 || !is_package(asking.files(), idx) {
                file(idx)
            } else {
                Resolution::Missing
            };
        }
        let Some((shorter, _)) = name.rsplit_once('/') else { return Resolution::Outside };
        name = shorter;
        n_left += 1;
    }
}

/// Returns whether the file may be a script, which can import modules in its own directory.
fn is_script(asking: &Asking<'_, '_>) -> bool {
    let is_script = || module_at(asking.files(), asking.folder()).is_none();
    *asking.own.is_python_script.get_or_init(is_script)
}

fn is_package(files: &SourceFiles<'_>, idx: usize) -> bool {
    name_of(files.path(idx)).starts_with("__init__.")
}

fn module_at(files: &SourceFiles<'_>, path: &str) -> Option<usize> {
    match path.is_empty() {
        true => files.with_end("", &["__init__.py", "__init__.pyi"]),
        false => files.with_end(path, &[".py", "/__init__.py", ".pyi", "/__init__.pyi"]),
    }
}

/// Indexes modules by all their possible names: relative to the directory above the outermost
/// package, and relative to `ROOTS`.
fn modules<'a>(files: &SourceFiles<'a>) -> By<'a, usize> {
    let mut modules = By::default();
    // Cache the previous directory's result, because most files are in the same directory as the
    // file before them.
    let mut last = ("", "");
    for (idx, source) in files.all().filter(|(_, source)| source.language == Some(Language::Python))
    {
        let path = source.path;
        let folder = folder_of(path);
        if last.0 != folder {
            last = (folder, package_root(files, folder));
        }
        let stem = path.strip_suffix(".pyi").or_else(|| path.strip_suffix(".py")).unwrap_or(path);
        let stem = stem.strip_suffix("/__init__").unwrap_or(stem);
        let is_stub = path.ends_with(".pyi");
        for root in ROOTS.iter().copied().chain([last.1]) {
            let name = match root {
                "" => Some(stem),
                root => stem.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')),
            };
            let Some(name) = name else { continue };
            // A stub does not replace the module itself, but a module replaces its stub.
            let known = modules.get(name).copied();
            if known.is_none_or(|known| !is_stub && files.path(known).ends_with(".pyi")) {
                modules.insert(name, idx);
            }
        }
    }
    modules
}

/// Returns the directory above the outermost package that contains `folder`.
fn package_root<'p>(files: &SourceFiles<'_>, folder: &'p str) -> &'p str {
    let mut folder = folder;
    while !folder.is_empty() && module_at(files, folder).is_some_and(|idx| is_package(files, idx)) {
        folder = folder_of(folder);
    }
    folder
}
