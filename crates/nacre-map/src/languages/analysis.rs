//! The imports and definitions in one file.
//!
//! An analysis depends only on the bytes and the language, so copies of a file in different
//! worktrees or branches share it. It does not include resolved imports, because those depend on
//! the project.

pub use nacre_types::{AnalysisDepth as Depth, AnalysisProblem as Problem, SymbolKind};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysis {
    pub depth: Depth,
    pub imports: Vec<Import>,
    /// The symbols in source order.
    pub symbols: Vec<SymbolFacts>,
    pub is_entry: bool,
    pub is_test: bool,
    /// Why the lists are empty or incomplete.
    pub problem: Option<Problem>,
}

/// The part of an analysis that every query needs for all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    pub imports: Vec<Import>,
    /// Empty for languages whose imports cannot refer to symbols by name.
    pub symbols: Vec<(String, SymbolKind)>,
    pub is_entry: bool,
    pub is_test: bool,
    /// Whether the file declares anything that other files can use.
    pub is_public: bool,
    pub problem: Option<Problem>,
}

impl Analysis {
    pub(crate) fn with_problem(problem: Problem) -> Self {
        Self { problem: Some(problem), ..Self::default() }
    }

    pub fn into_outline(self, language: super::Language) -> Outline {
        let is_public = self.symbols.iter().any(SymbolFacts::is_offered);
        let symbols = self.symbols.into_iter().filter(|_| language.resolves_by_names());
        Outline {
            imports: self.imports,
            symbols: symbols.map(|symbol| (symbol.name, symbol.kind)).collect(),
            is_entry: self.is_entry,
            is_test: self.is_test,
            is_public,
            problem: self.problem,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// The import as written in the code: `crate::store::Store`, `./store`, `fmt`, `stdio.h`.
    pub text: String,
    /// 1-based.
    pub line: u32,
    pub kind: ImportKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImportKind {
    /// Imports a module or package by name: `use`, `import`, `require`.
    Module,
    /// Declares a child module that is in its own file: `mod store;`.
    Child,
    /// Imports a file by its path: `#include "…"`, `require_relative`, `source`.
    Path,
    /// Imports a file in the system's include directories: `#include <…>`.
    System,
    /// `pub use`, `export … from`.
    Reexport,
    /// A type-only import, which does not exist at run time.
    Type,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SymbolFacts {
    /// The name, qualified with the language's separator: `Store::open`, `Store.open`.
    pub name: String,
    pub kind: SymbolKind,
    /// 1-based, inclusive.
    pub first_line: u32,
    pub last_line: u32,
    pub visibility: Visibility,
    pub signature: String,
    /// A hash that ignores whitespace. When it changes, code that uses the symbol may have to
    /// change too.
    pub signature_hash: u64,
    pub body_hash: u64,
}

impl SymbolFacts {
    /// Returns whether other files can use the symbol. Excludes modules, which are only parts of
    /// paths, and implementations, which only repeat a trait's members.
    pub(crate) fn is_offered(&self) -> bool {
        self.visibility == Visibility::Public
            && !matches!(self.kind, SymbolKind::Module | SymbolKind::Implementation)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    Public,
    /// Visible only in its package or crate: `pub(crate)`, Java's default visibility, lower-case
    /// names in Go.
    Internal,
    Private,
}

/// A file with more symbols or imports than this is treated as data.
pub(super) const MAX_SYMBOLS: usize = 5_000;
pub(super) const MAX_IMPORTS: usize = 2_000;

const MAX_SIGNATURE_BYTES: usize = 240;

/// Returns a signature on one line, with single spaces and without the start of the body.
pub(super) fn format_signature(text: &str) -> String {
    let mut shown = String::new();
    for word in text.split_whitespace() {
        let space = if shown.is_empty() { "" } else { " " };
        shown.extend([space, word]);
        if MAX_SIGNATURE_BYTES < shown.len() {
            shown.truncate(shown.floor_char_boundary(MAX_SIGNATURE_BYTES));
            break;
        }
    }
    let mut kept = shown.trim_end_matches([' ', '{', '=', ':', ';', ',']);
    while let Some(rest) = kept.strip_suffix("=>") {
        kept = rest;
    }
    let len = kept.trim_end().len();
    shown.truncate(len);
    shown
}
