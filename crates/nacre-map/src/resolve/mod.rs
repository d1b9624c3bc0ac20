//! Which file of the project an import leads to.
//!
//! An import's text means something only beside the list of files and the manifests that give names to folders, so this is
//! asked of a project as a whole. It reads no file: paths, analyses and the texts of manifests come in, edges go out. What
//! leads nowhere is told apart: a stranger's package is outside, a file of ours that is not there is missing.

mod c;
mod files;
mod following;
mod go;
mod jvm;
mod leads;
mod manifests;
mod named;
mod package;
mod paths;
mod python;
mod rust;
mod script;
mod standard;

#[cfg(test)]
mod tests;

use std::cell::{Cell, OnceCell};
use std::panic::resume_unwind;
use std::thread;

use crate::artifact::RelativePath;
use crate::languages::{ImportKind, ImportRef, Language, Outline};

use files::Files;
use manifests::Manifests;

pub use following::Following;
pub use leads::{Leads, leads_alike};
pub use manifests::is_manifest;

/// A file of the project, as far as resolution looks at it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    pub path: &'a str,
    pub language: Option<Language>,
    pub outline: &'a Outline<'a>,
}

/// A manifest that gives names to folders: `Cargo.toml`, `go.mod`, `package.json` and others.
#[derive(Clone, Debug)]
pub struct Manifest {
    pub path: RelativePath,
    pub text: String,
}

/// What an import leads to. Numbers are places in the list of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    File(usize),
    /// All files of one language in a folder, as a package of Go: one of them stands for it.
    Folder(usize),
}

/// What became of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Of this project.
    Inside(Vec<Target>),
    /// It should be a file of this project, and is not there: generated, ignored, or a mistake.
    Missing,
    /// A package of somebody else, or the language's own.
    Outside,
}

/// One import that leads to a file of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub from: usize,
    pub to: Target,
    /// Where the import stands.
    pub line: u32,
    pub kind: ImportKind,
}

/// What became of all imports of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// In the order of the sources, without those from a file to itself.
    pub edges: Vec<Edge>,
    pub n_inside: usize,
    pub n_missing: usize,
    pub n_outside: usize,
}

/// Whether imports of a language lead to files by what those define, and not by their paths alone.
pub fn looks_into_others(language: Language) -> bool {
    match language {
        Language::CSharp
        | Language::Elixir
        | Language::Java
        | Language::Kotlin
        | Language::Php
        | Language::Scala => true,
        Language::Bash
        | Language::C
        | Language::Cpp
        | Language::Go
        | Language::JavaScript
        | Language::Lua
        | Language::Python
        | Language::Ruby
        | Language::Rust
        | Language::Swift
        | Language::Tsx
        | Language::TypeScript => false,
    }
}

/// More targets of one import than this say nothing.
const MAX_TARGETS: usize = 16;

/// Names that are compared for the imports of one file: a thousand imports of a package with two thousand names. What is left
/// then leads nowhere; only a file that was made to keep us busy has so many.
const MAX_COMPARED: usize = 2_000_000;

/// Knows where the names of a project lead.
#[derive(Debug)]
pub struct Resolver<'a> {
    sources: &'a [Source<'a>],
    files: Files<'a>,
    manifests: Manifests,
}

impl<'a> Resolver<'a> {
    /// Takes the project as it is now. Sources are in the order of their paths.
    pub fn new(sources: &'a [Source<'a>], manifests: &[Manifest]) -> Self {
        let (files, manifests) = thread::scope(|scope| {
            // Of a large project both take a moment, and neither needs the other.
            let beside = scope.spawn(|| (Manifests::read(manifests), files::names(sources)));
            let files = Files::new(sources);
            let (manifests, names) = beside.join().unwrap_or_else(|panic| resume_unwind(panic));
            (files.with_names(names), manifests)
        });
        Self { sources, files, manifests }
    }

    /// Follows imports, one file after the other.
    pub fn following(&self) -> Following<'_, 'a> {
        Following::new(self)
    }

    /// Follows one import of the file at a place of the list, whether or not that has it.
    pub fn resolve_one(&self, from: usize, import: ImportRef<'_>) -> Resolution {
        let source = self.sources.get(from);
        let Some((source, language)) = source.and_then(|source| Some((source, source.language?)))
        else {
            return Resolution::Outside;
        };
        let own = OwnPlace::default();
        Asking { resolver: self, from, path: source.path, import, own: &own }.resolve(language)
    }

    /// Follows every import of every file.
    pub fn resolve_all(&self) -> Resolved {
        let mut resolved = Resolved::default();
        let mut following = self.following();
        for (from, source) in self.sources.iter().enumerate() {
            for import in &source.outline.imports {
                match following.resolve(from, import) {
                    Resolution::Inside(targets) => {
                        resolved.n_inside += 1;
                        let edge = |to| Edge { from, to, line: import.line, kind: import.kind };
                        let others = targets.iter().filter(|to| **to != Target::File(from));
                        resolved.edges.extend(others.copied().map(edge));
                    }
                    Resolution::Missing => resolved.n_missing += 1,
                    Resolution::Outside => resolved.n_outside += 1,
                }
            }
        }
        resolved
    }
}

/// One question: where does this import of this file lead?
struct Asking<'q, 'a> {
    resolver: &'q Resolver<'a>,
    from: usize,
    path: &'q str,
    import: ImportRef<'q>,
    /// What was found out about the file by the questions before.
    own: &'q OwnPlace,
}

/// What the imports of one file ask for again and again.
#[derive(Debug, Default)]
struct OwnPlace {
    rust_module: OnceCell<rust::Module>,
    rust_root: OnceCell<rust::Module>,
    is_python_script: OnceCell<bool>,
    n_compared: Cell<usize>,
}

impl<'a> Asking<'_, 'a> {
    fn resolve(&self, language: Language) -> Resolution {
        let mut resolution = match language {
            Language::Rust => rust::resolve(self),
            Language::Python => python::resolve(self),
            Language::JavaScript | Language::Tsx | Language::TypeScript => script::resolve(self),
            Language::Go => go::resolve(self),
            Language::Java | Language::Kotlin | Language::Scala => jvm::resolve(self),
            Language::C | Language::Cpp => c::resolve(self),
            Language::Bash => paths::bash(self),
            Language::Lua => paths::lua(self),
            Language::Ruby => paths::ruby(self),
            Language::CSharp => named::c_sharp(self),
            Language::Elixir => named::elixir(self),
            Language::Php => named::php(self),
            Language::Swift => named::swift(self),
        };
        if let Resolution::Inside(targets) = &mut resolution {
            targets.truncate(MAX_TARGETS);
        }
        resolution
    }

    /// Whether so many more names may be compared for the imports of this file.
    fn affords(&self, n_names: usize) -> bool {
        let n_compared = self.own.n_compared.get().saturating_add(n_names);
        self.own.n_compared.set(n_compared);
        n_compared <= MAX_COMPARED
    }

    fn files(&self) -> &Files<'a> {
        &self.resolver.files
    }

    fn manifests(&self) -> &Manifests {
        &self.resolver.manifests
    }

    fn text(&self) -> &str {
        self.import.text
    }

    fn folder(&self) -> &str {
        files::folder_of(self.path)
    }
}

fn file(idx: usize) -> Resolution {
    Resolution::Inside(vec![Target::File(idx)])
}
