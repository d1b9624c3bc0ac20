//! A crate's modules and their imports. Paths are resolved through `super`, `crate` and re-exports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::paths::{NamedPath, list_paths};

/// A module's path, as names that start at the root of its crate.
pub(crate) type ModulePath = Vec<String>;

/// Maximum length of a chain of re-exports.
const MAX_STEPS: usize = 8;

/// The modules of one crate.
pub(crate) struct Modules {
    /// The file of each module.
    pub(crate) files: BTreeMap<ModulePath, PathBuf>,
    paths: BTreeMap<ModulePath, Vec<NamedPath>>,
    /// Each module's imports: the imported name and its path.
    imports: BTreeMap<ModulePath, BTreeMap<String, Vec<String>>>,
}

/// A reference from one file to another.
#[derive(Debug)]
pub(crate) struct Arrow {
    pub(crate) from: ModulePath,
    pub(crate) to: ModulePath,
    pub(crate) is_test: bool,
}

impl Modules {
    /// Reads the files below `src`.
    pub(crate) fn read(src: &Path, files: &[PathBuf]) -> Self {
        let texts = files.iter().filter(|file| file.starts_with(src)).map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            (file.strip_prefix(src).unwrap().to_owned(), text)
        });
        Self::of(texts.collect())
    }

    /// Builds the modules from files, each given as its path in `src` and its contents.
    fn of(texts: Vec<(PathBuf, String)>) -> Self {
        let mut modules =
            Self { files: BTreeMap::new(), paths: BTreeMap::new(), imports: BTreeMap::new() };
        for (file, text) in texts {
            let module = module_of(&file);
            let paths = list_paths(&text);
            for path in &paths {
                let Some(name) = &path.imported_as else { continue };
                let place = [module.clone(), path.inside.clone()].concat();
                let imports = modules.imports.entry(place).or_default();
                imports.insert(name.clone(), path.segments.clone());
            }
            modules.files.insert(module.clone(), file);
            modules.paths.insert(module, paths);
        }
        modules
    }

    /// Returns all references from one file to another.
    pub(crate) fn arrows(&self) -> Vec<Arrow> {
        let mut arrows = Vec::new();
        for (module, paths) in &self.paths {
            for path in paths {
                let place = [module.clone(), path.inside.clone()].concat();
                let Some(found) = self.follow(&place, &path.segments, MAX_STEPS) else { continue };
                let to = self.file_of(&found);
                if to != *module {
                    arrows.push(Arrow { from: module.clone(), to, is_test: path.is_test });
                }
            }
        }
        arrows
    }

    /// Returns the module that defines the item at a path, or `None` for items from other crates.
    fn follow(&self, place: &[String], segments: &[String], steps: usize) -> Option<ModulePath> {
        let (first, rest) = segments.split_first()?;
        let (mut module, mut rest) = match first.as_str() {
            "crate" => (Vec::new(), rest),
            "self" => (place.to_vec(), rest),
            "super" => (place.split_last()?.1.to_vec(), rest),
            name if self.is_child(place, name) || self.imported(place, name).is_some() => {
                (place.to_vec(), segments)
            }
            _ => return None,
        };
        while let Some((name, after)) = rest.split_first() {
            if name == "super" {
                module.pop()?;
            } else if self.is_child(&module, name) {
                module.push(name.clone());
            } else if let Some(import) = self.imported(&module, name).filter(|_| steps > 0) {
                // The step limit prevents an endless loop if an import refers to itself.
                let path = [import.clone(), after.to_vec()].concat();
                return match self.follow(&module, &path, steps - 1) {
                    Some(found) => Some(found),
                    // The import is from another crate.
                    None => Some(module),
                };
            } else {
                break;
            }
            rest = after;
        }
        Some(module)
    }

    fn is_child(&self, module: &[String], name: &str) -> bool {
        self.files.contains_key(&[module, &[name.to_owned()]].concat())
    }

    fn imported(&self, module: &[String], name: &str) -> Option<&Vec<String>> {
        self.imports.get(module)?.get(name)
    }

    /// Returns the module's own file. For an inline module, that is the file it is in.
    fn file_of(&self, module: &[String]) -> ModulePath {
        let mut module = module.to_vec();
        while !module.is_empty() && !self.files.contains_key(&module) {
            module.pop();
        }
        module
    }
}

fn module_of(file: &Path) -> ModulePath {
    let parts = file.with_extension("");
    let mut parts: Vec<String> =
        parts.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    parts.pop_if(|last| matches!(last.as_str(), "mod" | "lib" | "main"));
    parts
}

fn arrows_of(texts: &[(&str, &str)]) -> Vec<String> {
    let texts = texts.iter().map(|(file, text)| (PathBuf::from(file), (*text).to_owned()));
    let arrows = Modules::of(texts.collect()).arrows();
    let shown = |module: &ModulePath| match module.as_slice() {
        [] => "crate".to_owned(),
        names => names.join("::"),
    };
    arrows.iter().map(|arrow| format!("{} -> {}", shown(&arrow.from), shown(&arrow.to))).collect()
}

#[test]
fn every_way_to_name_a_module_is_followed() {
    let seen = arrows_of(&[
        ("lib.rs", "pub mod high; pub mod low; mod other; pub use high::Door;"),
        ("high/mod.rs", "mod desk; pub use desk::Door;"),
        ("high/desk.rs", "pub struct Door;"),
        ("low/mod.rs", "use crate::{other, high::{self, desk}}; fn f() { crate::other::g(); }"),
        ("low/a.rs", "use super::super::high::Door; mod tests { use super::super::b::X; }"),
        ("low/b.rs", "use crate::Door; fn f() -> super::super::other::T {}"),
        ("other.rs", "use std::fmt; use serde::Serialize;"),
    ]);
    let expected = [
        "crate -> high::desk",
        "high -> high::desk",
        "low -> other",
        "low -> high",
        "low -> high::desk",
        "low -> other",
        "low::a -> high::desk",
        "low::a -> low::b",
        "low::b -> high::desk",
        "low::b -> other",
    ];
    assert_eq!(seen, expected);
}
