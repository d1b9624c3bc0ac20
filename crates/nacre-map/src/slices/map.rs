//! A project's facts, and the graph that its imports make.

use std::collections::HashMap;

use crate::artifact::{FileFacts, RelativePath};
use crate::languages::{Import, Language};
use crate::resolve::{Edge, Manifest, Resolution, Resolver, Source, Target};

/// A folder that an import leads to gives its weight to at most so many of its files.
const MAX_FOLDER_FILES: usize = 64;

/// What is known of a project, ready to be cut.
#[derive(Debug, Default)]
pub struct Map {
    /// In the order of their paths.
    pub(super) files: Vec<FileFacts>,
    pub(super) edges: Vec<Edge>,
    /// Who imports each file, each one once, in order.
    pub(super) importers: Vec<Vec<usize>>,
    /// What each file imports, each one once, in order.
    pub(super) imported: Vec<Vec<usize>>,
    /// How many files import each package of somebody else.
    pub(super) strangers: Vec<(String, usize)>,
    pub(super) n_missing: usize,
    by_path: HashMap<String, usize>,
}

impl Map {
    /// Follows all imports. The facts come in the order of their paths.
    pub fn new(files: Vec<FileFacts>, manifests: &[Manifest]) -> Self {
        let sources: Vec<Source<'_>> = files
            .iter()
            .map(|file| Source {
                path: &file.path,
                language: file.language,
                analysis: &file.analysis,
            })
            .collect();
        let resolver = Resolver::new(&sources, manifests);
        let mut map = Self::default();
        let mut strangers: HashMap<String, Vec<usize>> = HashMap::new();
        for (from, source) in sources.iter().enumerate() {
            for import in &source.analysis.imports {
                let resolution = resolver.resolve(from, import);
                if resolution == Resolution::Outside {
                    strangers.entry(package(source.language, import)).or_default().push(from);
                }
                map.follow(from, import, resolution);
            }
        }
        for users in strangers.values_mut() {
            users.dedup();
        }
        strangers.remove("");
        map.strangers = strangers.into_iter().map(|(name, users)| (name, users.len())).collect();
        map.strangers.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
        map.by_path =
            files.iter().enumerate().map(|(idx, file)| (file.path.to_string(), idx)).collect();
        map.files = files;
        map.connect();
        map
    }

    fn follow(&mut self, from: usize, import: &Import, resolution: Resolution) {
        match resolution {
            Resolution::Inside(targets) => {
                let edge = |to| Edge { from, to, line: import.line, kind: import.kind };
                let others = targets.into_iter().filter(|to| *to != Target::File(from));
                self.edges.extend(others.map(edge));
            }
            Resolution::Missing => self.n_missing += 1,
            Resolution::Outside => {}
        }
    }

    pub fn files(&self) -> &[FileFacts] {
        &self.files
    }

    /// Imports that lead to a file of the project: who imports, and what.
    pub fn edges(&self) -> impl Iterator<Item = (&RelativePath, &RelativePath)> {
        let pairs = self.imported.iter().enumerate();
        pairs.flat_map(move |(from, all)| {
            all.iter().map(move |to| (&self.files[from].path, &self.files[*to].path))
        })
    }

    /// Takes a closer look at a file over: its symbols, not its imports, which were followed already.
    pub fn refine(&mut self, facts: FileFacts) {
        if let Some(idx) = self.find(facts.path.as_str()) {
            self.files[idx] = facts;
        }
    }

    pub(super) fn find(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    fn connect(&mut self) {
        let mut folders: HashMap<(&str, Option<Language>), Vec<usize>> = HashMap::new();
        for (idx, file) in self.files.iter().enumerate() {
            let files = folders.entry((file.path.folder(), file.language)).or_default();
            if files.len() < MAX_FOLDER_FILES {
                files.push(idx);
            }
        }
        let mut imported = vec![Vec::new(); self.files.len()];
        for edge in &self.edges {
            match edge.to {
                Target::File(to) => imported[edge.from].push(to),
                Target::Folder(one) => {
                    let file = &self.files[one];
                    let all = folders.get(&(file.path.folder(), file.language));
                    let others = all.into_iter().flatten().filter(|to| **to != edge.from);
                    imported[edge.from].extend(others);
                }
            }
        }
        let mut importers = vec![Vec::new(); self.files.len()];
        for (from, all) in imported.iter_mut().enumerate() {
            all.sort_unstable();
            all.dedup();
            for to in all.iter() {
                importers[*to].push(from);
            }
        }
        (self.imported, self.importers) = (imported, importers);
    }
}

/// The package of an import that leads outside; empty for what comes with the language and says nothing.
pub(super) fn package(language: Option<Language>, import: &Import) -> String {
    let text = import.text.as_str();
    let first_of =
        |separators: &[char]| text.split(separators).next().unwrap_or_default().to_owned();
    match language {
        Some(Language::Rust) => {
            let first = first_of(&[':']);
            let is_own =
                matches!(first.as_str(), "std" | "core" | "alloc" | "self" | "super" | "crate");
            if is_own { String::new() } else { first }
        }
        Some(Language::Python | Language::Elixir | Language::Swift | Language::Lua) => {
            first_of(&['.'])
        }
        Some(Language::JavaScript | Language::Tsx | Language::TypeScript) => {
            let n_parts = if text.starts_with('@') { 2 } else { 1 };
            let end = text.match_indices('/').nth(n_parts - 1).map_or(text.len(), |(at, _)| at);
            text[..end].to_owned()
        }
        Some(Language::Java | Language::Kotlin | Language::Scala | Language::CSharp) => {
            let parts: Vec<&str> = text.split('.').filter(|part| *part != "*").collect();
            parts[..parts.len().min(2)].join(".")
        }
        Some(Language::Php) => first_of(&['\\']),
        Some(Language::Bash | Language::C | Language::Cpp | Language::Go | Language::Ruby)
        | None => text.to_owned(),
    }
}
