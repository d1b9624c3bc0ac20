//! What is known of a text alone: what it imports and what it defines.
//!
//! An analysis depends on a text's bytes and language and on nothing else, so that two copies of a file, in two
//! worktrees or on two branches, share one. Which file an import leads to depends on the project, and is no part of it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::symbol::SymbolKind;

/// What a text is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Analysis {
    pub depth: Depth,
    pub imports: Vec<Import>,
    /// In the order in which the text defines them.
    pub symbols: Vec<SymbolFacts>,
    /// Whether a program starts here.
    pub is_entry: bool,
    /// Whether it holds tests.
    pub is_test: bool,
    /// Why the lists are empty or end early.
    pub problem: Option<Problem>,
}

/// How closely a text was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// Not at all: there is no grammar for it, or it is no text.
    #[default]
    None,
    /// Line by line, without a tree: imports and what is defined at the top.
    Glance,
    /// By its grammar.
    Full,
}

/// An analysis in words of the text itself, as far as they stand there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnalysisRef<'a> {
    pub depth: Depth,
    pub imports: Cow<'a, [Import]>,
    pub symbols: Vec<SymbolFactsRef<'a>>,
    pub is_entry: bool,
    pub is_test: bool,
    pub problem: Option<Problem>,
}

/// One thing that a text defines, in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolFactsRef<'a> {
    pub name: &'a str,
    pub kind: SymbolKind,
    pub first_line: u32,
    pub last_line: u32,
    pub visibility: Visibility,
    pub signature: Cow<'a, str>,
    pub signature_hash: u64,
    pub body_hash: u64,
}

impl AnalysisRef<'_> {
    pub fn into_owned(self) -> Analysis {
        let owned = |symbol: SymbolFactsRef<'_>| SymbolFacts {
            name: symbol.name.to_owned(),
            kind: symbol.kind,
            first_line: symbol.first_line,
            last_line: symbol.last_line,
            visibility: symbol.visibility,
            signature: symbol.signature.into_owned(),
            signature_hash: symbol.signature_hash,
            body_hash: symbol.body_hash,
        };
        Analysis {
            depth: self.depth,
            imports: self.imports.into_owned(),
            symbols: self.symbols.into_iter().map(owned).collect(),
            is_entry: self.is_entry,
            is_test: self.is_test,
            problem: self.problem,
        }
    }
}

/// What an analysis says of a text as a whole, looked at where it lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline<'a> {
    pub imports: Vec<ImportRef<'a>>,
    /// Empty where no import could lead to them by name.
    pub symbols: Vec<SymbolRef<'a>>,
    pub is_entry: bool,
    pub is_test: bool,
    /// Whether it offers anything to others.
    pub is_public: bool,
    pub problem: Option<Problem>,
}

/// An import of a text, looked at where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportRef<'a> {
    pub text: &'a str,
    pub line: u32,
    pub kind: ImportKind,
}

/// A symbol of a text, as far as others ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolRef<'a> {
    pub name: &'a str,
    pub kind: SymbolKind,
}

impl Analysis {
    pub fn as_ref(&self) -> AnalysisRef<'_> {
        AnalysisRef {
            depth: self.depth,
            imports: Cow::Borrowed(&self.imports),
            symbols: self.symbols.iter().map(SymbolFacts::lent).collect(),
            is_entry: self.is_entry,
            is_test: self.is_test,
            problem: self.problem,
        }
    }

    /// What it says of the text as a whole.
    pub fn outline(&self) -> Outline<'_> {
        let is_offered = |symbol: &SymbolFacts| {
            symbol.visibility == Visibility::Public && symbol.kind.is_offered()
        };
        Outline {
            imports: self.imports.iter().map(Import::as_ref).collect(),
            symbols: self.symbols.iter().map(SymbolFacts::as_ref).collect(),
            is_entry: self.is_entry,
            is_test: self.is_test,
            is_public: self.symbols.iter().any(is_offered),
            problem: self.problem,
        }
    }
}

/// One thing that a text asks for by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Import {
    /// As the language names it: `crate::store::Store`, `./store`, `fmt`, `stdio.h`.
    pub text: String,
    /// From 1.
    pub line: u32,
    pub kind: ImportKind,
}

impl Import {
    fn as_ref(&self) -> ImportRef<'_> {
        ImportRef { text: &self.text, line: self.line, kind: self.kind }
    }
}

/// How an import is meant, where that decides which file it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ImportKind {
    /// `use`, `import`, `require`: by the name of a module or package.
    Module,
    /// `mod store;`: the file is a part of this one.
    Child,
    /// `#include "…"`, `require_relative`, `source`: by a path.
    Path,
    /// `#include <…>`: by a path that is looked up among the system's.
    System,
    /// `pub use`, `export … from`: asked for, and handed on.
    Reexport,
    /// For types alone; nothing of it runs.
    Type,
}

/// One thing that a text defines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SymbolFacts {
    /// With what it lies in, as the language joins them: `Store::open`, `Store.open`.
    pub name: String,
    pub kind: SymbolKind,
    /// From 1, both inside.
    pub first_line: u32,
    pub last_line: u32,
    pub visibility: Visibility,
    pub signature: String,
    /// Of the signature without its spacing: whoever uses the symbol may have to change when this does.
    pub signature_hash: u64,
    /// Of the whole symbol: changes whenever it does something else.
    pub body_hash: u64,
}

impl SymbolFacts {
    fn lent(&self) -> SymbolFactsRef<'_> {
        SymbolFactsRef {
            name: &self.name,
            kind: self.kind,
            first_line: self.first_line,
            last_line: self.last_line,
            visibility: self.visibility,
            signature: Cow::Borrowed(&self.signature),
            signature_hash: self.signature_hash,
            body_hash: self.body_hash,
        }
    }

    fn as_ref(&self) -> SymbolRef<'_> {
        SymbolRef { name: &self.name, kind: self.kind }
    }
}

/// Who may use a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    Public,
    /// Its package or crate: `pub(crate)`, Java's default, Go's lower case.
    Internal,
    Private,
}

/// What kept an analysis from being whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// The bytes are no UTF-8.
    NotText,
    TooLarge,
    /// The grammar could make nothing of some part of it.
    Broken,
    /// More symbols or imports than a person would write.
    TooMany,
    /// The file could not be read.
    Unreadable,
}

impl Problem {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotText => "not_text",
            Self::TooLarge => "too_large",
            Self::Broken => "broken",
            Self::TooMany => "too_many",
            Self::Unreadable => "unreadable",
        }
    }
}
