//! Indexes a project's files by path, directory, name and the modules they define.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::RandomState;

use crate::artifact::FileOutline;
use crate::languages::{Language, SymbolKind};

pub(super) type By<'a, T> = HashMap<&'a str, T, RandomState>;

pub(super) type ByName<'a> = By<'a, Vec<usize>>;

/// A project's files. Indexes that only some languages need are built on first use.
#[derive(Debug)]
pub(super) struct SourceFiles<'a> {
    sources: &'a [FileOutline<'a>],
    by_path: By<'a, usize>,
    by_folder: OnceLock<ByName<'a>>,
    by_name: OnceLock<ByName<'a>>,
    by_folder_name: OnceLock<By<'a, Vec<&'a str>>>,
    by_module: OnceLock<HashMap<Language, ByName<'a>>>,
    python: OnceLock<By<'a, usize>>,
}

impl<'a> SourceFiles<'a> {
    pub(super) fn new(sources: &'a [FileOutline<'a>]) -> Self {
        let paths = sources.iter().enumerate().map(|(idx, source)| (source.path, idx));
        Self {
            sources,
            by_path: paths.collect(),
            by_folder: OnceLock::new(),
            by_name: OnceLock::new(),
            by_folder_name: OnceLock::new(),
            by_module: OnceLock::new(),
            python: OnceLock::new(),
        }
    }

    pub(super) fn source(&self, idx: usize) -> Option<&FileOutline<'a>> {
        self.sources.get(idx)
    }

    pub(super) fn path(&self, idx: usize) -> &'a str {
        self.sources.get(idx).map_or("", |source| source.path)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (usize, &FileOutline<'a>)> {
        self.sources.iter().enumerate()
    }

    pub(super) fn at(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// Returns the first of the paths that exists.
    pub(super) fn first<S: AsRef<str>>(&self, paths: impl IntoIterator<Item = S>) -> Option<usize> {
        paths.into_iter().find_map(|path| self.at(path.as_ref()))
    }

    pub(super) fn with_end(&self, start: &str, ends: &[&str]) -> Option<usize> {
        let mut path = String::with_capacity(start.len() + 16);
        path.push_str(start);
        ends.iter().find_map(|end| {
            path.truncate(start.len());
            path.push_str(end);
            self.at(&path)
        })
    }

    /// Returns a directory's first file in the given language. This file represents the directory.
    pub(super) fn in_folder(&self, folder: &str, language: Language) -> Option<usize> {
        self.all_in_folder(folder).iter().copied().find(|idx| self.is_of(*idx, language))
    }

    pub(super) fn all_in_folder(&self, folder: &str) -> &[usize] {
        self.by_folder().get(folder).map_or(&[], Vec::as_slice)
    }

    fn by_folder(&self) -> &ByName<'a> {
        self.by_folder.get_or_init(|| by(self.sources, folder_of))
    }

    pub(super) fn is_of(&self, idx: usize, language: Language) -> bool {
        self.sources.get(idx).is_some_and(|source| source.language == Some(language))
    }

    pub(super) fn find_by_name(&self, name: &str) -> &[usize] {
        let by_name = self.by_name.get_or_init(|| by(self.sources, name_of));
        by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the file that satisfies `is_wanted` and whose path ends with `end`. If there are
    /// several, returns the one that shares the most parent directories with `from`.
    pub(super) fn nearest(
        &self,
        end: &str,
        from: &str,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let all = self.find_by_name(name_of(end)).iter().copied();
        let found = all.filter(|idx| ends_with_path(self.path(*idx), end) && is_wanted(*idx));
        found.min_by_key(|idx| {
            let path = self.path(*idx);
            (Reverse(n_shared(path, from)), path.len(), path)
        })
    }

    pub(super) fn folders_ending(&self, end: &str) -> Vec<&'a str> {
        let by_name = self.by_folder_name.get_or_init(|| {
            let mut by_name: By<'a, Vec<&str>> = By::default();
            let mut folders: Vec<&str> = self.by_folder().keys().copied().collect();
            folders.sort_unstable();
            for folder in folders {
                by_name.entry(name_of(folder)).or_default().push(folder);
            }
            by_name
        });
        let name = name_of(end);
        let folders = by_name.get(name).map_or(&[][..], Vec::as_slice);
        folders.iter().copied().filter(|folder| ends_with_path(folder, end)).collect()
    }

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
            let is_module =
                |kind: SymbolKind| matches!(kind, SymbolKind::Module | SymbolKind::Interface);
            let symbols = source.outline.symbols.iter();
            for (name, _) in symbols.filter(|(_, kind)| is_module(*kind)) {
                let of_language = by_module.entry(language).or_default();
                let files = of_language.entry(name.as_str()).or_default();
                if files.last() != Some(&idx) {
                    files.push(idx);
                }
            }
        }
        by_module
    }

    /// Returns an index of Python modules by name, with `/` in place of each dot. The index is
    /// built on first use.
    pub(super) fn python(&self, make: impl FnOnce(&Self) -> By<'a, usize>) -> &By<'a, usize> {
        self.python.get_or_init(|| make(self))
    }
}

fn by<'a>(sources: &[FileOutline<'a>], part: impl Fn(&'a str) -> &'a str) -> ByName<'a> {
    let mut by = ByName::default();
    for (idx, source) in sources.iter().enumerate() {
        by.entry(part(source.path)).or_default().push(idx);
    }
    by
}

fn has_namespaces(language: Language) -> bool {
    matches!(language, Language::CSharp | Language::Elixir | Language::Php)
}

fn ends_with_path(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

fn n_shared(path: &str, other: &str) -> usize {
    path.split('/').zip(other.split('/')).take_while(|(one, other)| one == other).count()
}

pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(super) fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Resolves a relative path from a directory. Returns `None` if it leads above the root.
pub(super) fn join_path(folder: &str, relative: &str) -> Option<String> {
    let mut path = String::with_capacity(folder.len() + 1 + relative.len());
    for part in folder.split('/').filter(|part| !part.is_empty()) {
        add(&mut path, part);
    }
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." if path.is_empty() => return None,
            ".." => path.truncate(folder_of(&path).len()),
            part => add(&mut path, part),
        }
    }
    Some(path)
}

pub(super) fn add(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('/');
    }
    path.push_str(name);
}

pub(super) fn below(folder: &str, rest: &str) -> String {
    match (folder.is_empty(), rest.is_empty()) {
        (true, _) => rest.to_owned(),
        (false, true) => folder.to_owned(),
        (false, false) => [folder, "/", rest].concat(),
    }
}

/// Returns the parent directories of a file, from the innermost up to the root.
pub(super) fn around(path: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(folder_of(path));
    std::iter::from_fn(move || {
        let folder = next?;
        next = (!folder.is_empty()).then(|| folder_of(folder));
        Some(folder)
    })
}
