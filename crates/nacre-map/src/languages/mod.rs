//! Outlines, symbols and structural search, by language.
//!
//! What a language calls a function or a type is a table (`rules`); the walk over the tree is the same for all. Texts are
//! bounded before they are parsed, and no walk recurses, so that a hostile file costs time in proportion to its size.

mod analyse;
mod analysis;
mod exports;
mod glance;
mod imports;
mod keywords;
mod language;
mod lines;
mod names;
mod outline;
mod rules;
mod structure;
mod syntax;
mod visibility;
mod walk;

#[cfg(test)]
mod tests;

use ast_grep_core::AstGrep;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_language::SupportLang;

pub use analyse::analyse;
pub use analysis::{
    Analysis, AnalysisRef, Depth, Import, ImportKind, ImportRef, Outline, Problem, SymbolFacts,
    SymbolFactsRef, SymbolRef, Visibility,
};
pub use glance::{glance, glimpse};
pub(crate) use language::MAX_NAME_BYTES;
pub use language::{Language, UnknownLanguage};
pub use outline::{Symbol, SymbolKind, enclosing, outline};
pub use structure::{Capture, CodeMatch, CodePattern, PatternError};

/// Larger texts are not parsed: they were made by a program.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

/// A text that has no tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    #[error("The text has {size} bytes, more than {MAX_TEXT_BYTES}")]
    TooLarge { size: usize },
    #[error("The grammar of {language} could not be used")]
    Grammar { language: Language },
    #[error("The grammar of {language} cannot make sense of the text in reasonable time")]
    TooHard { language: Language },
}

type Tree = AstGrep<StrDoc<SupportLang>>;

fn parse(text: &str, language: Language) -> Result<Tree, ParseError> {
    if MAX_TEXT_BYTES < text.len() {
        return Err(ParseError::TooLarge { size: text.len() });
    }
    if !language.has_grammar() {
        return Err(ParseError::Grammar { language });
    }
    StrDoc::try_new(text, language.grammar())
        .map(AstGrep::doc)
        .map_err(|_| ParseError::Grammar { language })
}
