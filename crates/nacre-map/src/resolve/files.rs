//! The files of a project by path, by folder, by name and by what they define.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::Source;
use crate::languages::{Language, SymbolKind};

/// Files by a name.
type ByName<'a> = HashMap<&'a str, Vec<usize>>;

/// The ways to find a file. What only some languages need is made when the first of them asks.
#[derive(Debug)]
pub(super) struct Files<'a> {
    sources: &'a [Source<'a>],
    by_path: HashMap<&'a str, usize>,
    by_folder: HashMap<&'a str, Vec<usize>>,
    by_name: OnceLock<ByName<'a>>,
    by_folder_name: OnceLock<HashMap<&'a str, Vec<&'a str>>>,
    by_module: OnceLock<HashMap<Language, ByName<'a>>>,
    python: OnceLock<HashMap<String, usize>>,
}

impl<'a> Files<'a> {
    pub(super) fn new(sources: &'a [Source<'a>]) -> Self {
        let mut by_path = HashMap::with_capacity(sources.len());
        let mut by_folder: HashMap<&str, Vec<usize>> = HashMap::new();
        for (idx, source) in sources.iter().enumerate() {
            by_path.insert(source.path.as_str(), idx);
            by_folder.entry(source.path.folder()).or_default().push(idx);
        }
        Self {
            sources,
            by_path,
            by_folder,
            by_name: OnceLock::new(),
            by_folder_name: OnceLock::new(),
            by_module: OnceLock::new(),
            python: OnceLock::new(),
        }
    }

    pub(super) fn source(&self, idx: usize) -> Option<&Source<'a>> {
        self.sources.get(idx)
    }

    pub(super) fn path(&self, idx: usize) -> &'a str {
        self.sources.get(idx).map_or("", |source| source.path.as_str())
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (usize, &Source<'a>)> {
        self.sources.iter().enumerate()
    }

    /// The file at a path.
    pub(super) fn at(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// The first of some files that is there.
    pub(super) fn first<S: AsRef<str>>(&self, paths: impl IntoIterator<Item = S>) -> Option<usize> {
        paths.into_iter().find_map(|path| self.at(path.as_ref()))
    }

    /// Some file of a language in a folder, to stand for all of them.
    pub(super) fn in_folder(&self, folder: &str, language: Language) -> Option<usize> {
        let files = self.by_folder.get(folder)?;
        files.iter().copied().find(|idx| self.is_of(*idx, language))
    }

    pub(super) fn all_in_folder(&self, folder: &str) -> &[usize] {
        self.by_folder.get(folder).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_of(&self, idx: usize, language: Language) -> bool {
        self.sources.get(idx).is_some_and(|source| source.language == Some(language))
    }

    /// Files by the last name of their path.
    pub(super) fn named(&self, name: &str) -> &[usize] {
        let by_name = self.by_name.get_or_init(|| {
            let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
            for (idx, source) in self.sources.iter().enumerate() {
                by_name.entry(source.path.name()).or_default().push(idx);
            }
            by_name
        });
        by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Files whose path ends with another, nearest to `from` first.
    pub(super) fn ending(&self, end: &str, from: &str) -> Vec<usize> {
        let name = end.rsplit('/').next().unwrap_or(end);
        let mut found: Vec<usize> = self
            .named(name)
            .iter()
            .copied()
            .filter(|idx| ends_with_path(self.path(*idx), end))
            .collect();
        found.sort_by_key(|idx| {
            let path = self.path(*idx);
            (std::cmp::Reverse(n_shared(path, from)), path.len(), path)
        });
        found
    }

    /// Folders whose path ends with another.
    pub(super) fn folders_ending(&self, end: &str) -> Vec<&'a str> {
        let by_name = self.by_folder_name.get_or_init(|| {
            let mut by_name: HashMap<&str, Vec<&str>> = HashMap::new();
            let mut folders: Vec<&str> = self.by_folder.keys().copied().collect();
            folders.sort_unstable();
            for folder in folders {
                by_name
                    .entry(folder.rsplit('/').next().unwrap_or(folder))
                    .or_default()
                    .push(folder);
            }
            by_name
        });
        let name = end.rsplit('/').next().unwrap_or(end);
        let folders = by_name.get(name).map_or(&[][..], Vec::as_slice);
        folders.iter().copied().filter(|folder| ends_with_path(folder, end)).collect()
    }

    /// Files that define a module or namespace of this name.
    pub(super) fn defining(&self, language: Language, module: &str) -> &[usize] {
        let by_module = self.by_module.get_or_init(|| self.modules());
        let files = by_module.get(&language).and_then(|files| files.get(module));
        files.map_or(&[], Vec::as_slice)
    }

    fn modules(&self) -> HashMap<Language, ByName<'a>> {
        let mut by_module: HashMap<Language, ByName<'a>> = HashMap::new();
        for (idx, source) in self.sources.iter().enumerate() {
            let Some(language) = source.language.filter(|language| has_namespaces(*language))
            else {
                continue;
            };
            let is_module = |kind| matches!(kind, SymbolKind::Module | SymbolKind::Interface);
            let symbols = source.analysis.symbols.iter();
            for module in symbols.filter(|symbol| is_module(symbol.kind)) {
                let of_language = by_module.entry(language).or_default();
                let files = of_language.entry(module.name.as_str()).or_default();
                if files.last() != Some(&idx) {
                    files.push(idx);
                }
            }
        }
        by_module
    }

    /// Modules of Python by their dotted names.
    pub(super) fn python(&self, module: &str) -> Option<usize> {
        self.python.get_or_init(|| super::python::modules(self)).get(module).copied()
    }
}

fn has_namespaces(language: Language) -> bool {
    matches!(language, Language::CSharp | Language::Elixir | Language::Php)
}

fn ends_with_path(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// How many folders two paths have in common.
fn n_shared(path: &str, other: &str) -> usize {
    path.split('/').zip(other.split('/')).take_while(|(one, other)| one == other).count()
}

pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Walks from a folder along a relative path; `None` when it leads above the root.
pub(super) fn joined(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// A path below a folder, which may be the root.
pub(super) fn below(folder: &str, rest: &str) -> String {
    match (folder.is_empty(), rest.is_empty()) {
        (true, _) => rest.to_owned(),
        (false, true) => folder.to_owned(),
        (false, false) => format!("{folder}/{rest}"),
    }
}

/// The folders around a file, nearest first, down to the root.
pub(super) fn around(path: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(folder_of(path));
    std::iter::from_fn(move || {
        let folder = next?;
        next = (!folder.is_empty()).then(|| folder_of(folder));
        Some(folder)
    })
}
