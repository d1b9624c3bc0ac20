//! The files of a project by path, by folder, by name and by what they define.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::RandomState;

use super::Source;
use crate::languages::{Language, SymbolKind};

/// Something by a path or a name. There are hundreds of thousands of look-ups in one, so it hashes fast.
pub(super) type By<'a, T> = HashMap<&'a str, T, RandomState>;

/// Files by a name.
pub(super) type ByName<'a> = By<'a, Vec<usize>>;

/// The ways to find a file. What only some languages need is made when the first of them asks.
#[derive(Debug)]
pub(super) struct Files<'a> {
    sources: &'a [Source<'a>],
    by_path: By<'a, usize>,
    by_folder: OnceLock<ByName<'a>>,
    by_name: OnceLock<ByName<'a>>,
    by_folder_name: OnceLock<By<'a, Vec<&'a str>>>,
    by_module: OnceLock<HashMap<Language, ByName<'a>>>,
    python: OnceLock<By<'a, usize>>,
}

impl<'a> Files<'a> {
    pub(super) fn new(sources: &'a [Source<'a>]) -> Self {
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

    pub(super) fn source(&self, idx: usize) -> Option<&Source<'a>> {
        self.sources.get(idx)
    }

    pub(super) fn path(&self, idx: usize) -> &'a str {
        self.sources.get(idx).map_or("", |source| source.path)
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

    /// The first that is there of the paths that begin so and have one of these ends.
    pub(super) fn with_end(&self, start: &str, ends: &[&str]) -> Option<usize> {
        let mut path = String::with_capacity(start.len() + 16);
        path.push_str(start);
        ends.iter().find_map(|end| {
            path.truncate(start.len());
            path.push_str(end);
            self.at(&path)
        })
    }

    /// Some file of a language in a folder, to stand for all of them.
    pub(super) fn in_folder(&self, folder: &str, language: Language) -> Option<usize> {
        self.all_in_folder(folder).iter().copied().find(|idx| self.is_of(*idx, language))
    }

    pub(super) fn all_in_folder(&self, folder: &str) -> &[usize] {
        self.by_folder().get(folder).map_or(&[], Vec::as_slice)
    }

    fn by_folder(&self) -> &ByName<'a> {
        self.by_folder.get_or_init(|| by(self.sources, folder_of))
    }

    /// Takes over what was made beside.
    pub(super) fn with_names(mut self, names: Option<ByName<'a>>) -> Self {
        if let Some(names) = names {
            self.by_name = OnceLock::from(names);
        }
        self
    }

    pub(super) fn is_of(&self, idx: usize, language: Language) -> bool {
        self.sources.get(idx).is_some_and(|source| source.language == Some(language))
    }

    /// Files by the last name of their path.
    pub(super) fn named(&self, name: &str) -> &[usize] {
        let by_name = self.by_name.get_or_init(|| by(self.sources, name_of));
        by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// The file whose path ends with another that is nearest to `from`, of those that are wanted.
    pub(super) fn nearest(
        &self,
        end: &str,
        from: &str,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let all = self.named(name_of(end)).iter().copied();
        let found = all.filter(|idx| ends_with_path(self.path(*idx), end) && is_wanted(*idx));
        found.min_by_key(|idx| {
            let path = self.path(*idx);
            (Reverse(n_shared(path, from)), path.len(), path)
        })
    }

    /// Folders whose path ends with another.
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
            let symbols = source.outline.symbols.iter();
            for module in symbols.filter(|symbol| is_module(symbol.kind)) {
                let of_language = by_module.entry(language).or_default();
                let files = of_language.entry(module.name).or_default();
                if files.last() != Some(&idx) {
                    files.push(idx);
                }
            }
        }
        by_module
    }

    /// Modules of Python by their names, with `/` for each dot; made when they are first asked for.
    pub(super) fn python(&self, make: impl FnOnce(&Self) -> By<'a, usize>) -> &By<'a, usize> {
        self.python.get_or_init(|| make(self))
    }
}

/// All files by a part of their paths.
fn by<'a>(sources: &[Source<'a>], part: impl Fn(&'a str) -> &'a str) -> ByName<'a> {
    let mut by = ByName::default();
    for (idx, source) in sources.iter().enumerate() {
        by.entry(part(source.path)).or_default().push(idx);
    }
    by
}

/// Files by their last names, if any of their imports is found so.
pub(super) fn names<'a>(sources: &[Source<'a>]) -> Option<ByName<'a>> {
    let is_by_name = |source: &Source<'_>| {
        let is_c = matches!(source.language, Some(Language::C | Language::Cpp));
        is_c && !source.outline.imports.is_empty()
    };
    sources.iter().any(is_by_name).then(|| by(sources, name_of))
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

/// The last name of a path.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Walks from a folder along a relative path; `None` when it leads above the root.
pub(super) fn joined(folder: &str, relative: &str) -> Option<String> {
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

/// Goes one name down.
pub(super) fn add(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('/');
    }
    path.push_str(name);
}

/// A path below a folder, which may be the root.
pub(super) fn below(folder: &str, rest: &str) -> String {
    match (folder.is_empty(), rest.is_empty()) {
        (true, _) => rest.to_owned(),
        (false, true) => folder.to_owned(),
        (false, false) => [folder, "/", rest].concat(),
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
