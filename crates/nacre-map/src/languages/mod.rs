//! Outlines, symbols and structural search for all supported languages.
//!
//! A table (`rules`) maps each grammar's node kinds to symbol kinds, and one tree walk handles all
//! languages. Malicious files cannot cause more than linear work or exhaust the stack, because file
//! sizes are limited and no walk is recursive.

mod analyse;
mod analysis;
mod bindings;
mod counted;
mod glance;
mod imports;
mod item_macros;
mod language;
mod mentions;
mod role;
mod rules;
mod structure;
mod syntax;
#[cfg(test)]
mod tests;
mod walk;

use ast_grep_core::AstGrep;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_language::SupportLang;

use syntax::{is_deeper_than, tree_of};

pub use analyse::{Symbol, analyse, enclosing, outline};
pub use analysis::{
    Analysis, Depth, Import, ImportKind, Outline, Problem, SymbolFacts, SymbolKind, Visibility,
};
pub use bindings::{FromImport, ScriptBindings, each_taken, script_bindings};
pub use glance::glance;
pub use language::{Language, UnknownLanguage};
pub use mentions::{Mention, MentionForm, SoughtNames, each_mention};
pub use structure::{CodeMatch, CodePattern, PatternError};
pub use syntax::{ParseCost, parse_cost};

/// Larger files are assumed to be generated code and are not parsed.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    #[error("The file is {size} bytes, which exceeds the limit of {MAX_TEXT_BYTES}")]
    TooLarge { size: usize },
    #[error("Cannot use the {language} grammar")]
    Grammar { language: Language },
    #[error("The file takes too long to parse as {language}")]
    TooHard { language: Language },
}

/// Maximum tree depth in a structural search, which compares trees recursively on a thread with a
/// limited stack.
const MAX_SEARCHED_DEPTH: usize = 1_000;

type Tree = AstGrep<StrDoc<SupportLang>>;

fn parse(text: &str, language: Language) -> Result<Tree, ParseError> {
    let tree = tree_of(text, language)?;
    if is_deeper_than(&tree, MAX_SEARCHED_DEPTH) {
        return Err(ParseError::TooHard { language });
    }
    Ok(AstGrep::doc(StrDoc { src: text.to_owned(), lang: language.grammar(), tree }))
}

// Every file is searched, so this uses `memchr`, which is much faster than the standard library.

fn holds(text: &str, words: &str) -> bool {
    place(text, words).is_some()
}

fn place(text: &str, words: &str) -> Option<usize> {
    memchr::memmem::find(text.as_bytes(), words.as_bytes())
}

fn last_place(text: &str, words: &str) -> Option<usize> {
    memchr::memmem::rfind(text.as_bytes(), words.as_bytes())
}
