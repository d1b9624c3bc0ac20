//! Outlines, symbols and structural search, by language.
//!
//! What a language calls a function or a type is a table (`rules`); the walk over the tree is the same for all. Texts are
//! bounded before they are parsed, and no walk recurses, so that a hostile file costs time in proportion to its size.

mod analyse;
mod analysis;
mod bindings;
mod counted;
mod exports;
mod find;
mod glance;
mod imports;
mod item_macros;
mod keywords;
mod language;
mod lines;
mod mentions;
mod names;
mod outline;
mod role;
mod rules;
mod signature;
mod structure;
mod symbol;
mod syntax;
mod taken;
mod visibility;
mod walk;

#[cfg(test)]
mod tests;

use ast_grep_core::AstGrep;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_language::SupportLang;

use syntax::{is_deeper_than, tree_of};

pub use analyse::analyse;
pub use analysis::{
    Analysis, AnalysisRef, Depth, Import, ImportKind, ImportRef, Outline, Problem, SymbolFacts,
    SymbolFactsRef, SymbolRef, Visibility,
};
pub use bindings::{ScriptBindings, script_bindings};
pub use glance::{glance, glimpse};
pub(crate) use language::MAX_NAME_BYTES;
pub use language::{Language, UnknownLanguage};
pub use mentions::{Mention, MentionForm, SoughtNames, each_mention};
pub use outline::{enclosing, outline};
pub use structure::{Capture, CodeMatch, CodePattern, PatternError};
pub use symbol::{Symbol, SymbolKind};
pub use syntax::{Bounds, ParseCost, parse_cost};
pub use taken::{Taken, each_taken};

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

/// Search by structure compares trees step by step into the depth, and the stack of a thread has an end.
const MAX_SEARCHED_DEPTH: usize = 1_000;

type Tree = AstGrep<StrDoc<SupportLang>>;

/// The tree of a text, for search by structure.
fn parse(text: &str, language: Language) -> Result<Tree, ParseError> {
    let tree = tree_of(text, language)?;
    if is_deeper_than(&tree, MAX_SEARCHED_DEPTH) {
        return Err(ParseError::TooHard { language });
    }
    Ok(AstGrep::doc(StrDoc { src: text.to_owned(), lang: language.grammar(), tree }))
}
