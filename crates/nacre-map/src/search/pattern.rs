//! A compiled pattern and its required trigrams.
//!
//! The `regex` crate's running time depends on the lengths of the pattern and the input. Both
//! lengths are limited, so no pattern can make a search hang.

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::needs::Need;

pub(super) const MAX_PATTERN_BYTES: usize = 2_000;

const MAX_COMPILED_BYTES: usize = 1 << 20;
const MAX_DFA_BYTES: usize = 4 << 20;
const MAX_NESTING: u32 = 60;

#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    #[error("`{pattern}` is not a valid regular expression: {why}")]
    Syntax { pattern: String, why: String },
    #[error("The compiled regular expression is too large")]
    TooLarge,
}

#[derive(Debug)]
pub(super) struct Pattern {
    /// `^` and `$` match at line boundaries.
    pub(super) regex: Regex,
    pub(super) need: Need,
    /// Whether searching the whole file finds the same matches as searching line by line.
    pub(super) is_of_lines: bool,
}

impl Pattern {
    pub(super) fn new(pattern: &str, ignores_case: bool) -> Result<Self, PatternError> {
        let mut parser = ParserBuilder::new();
        parser.case_insensitive(ignores_case).multi_line(true).utf8(false).nest_limit(MAX_NESTING);
        let tree = parser.build().parse(pattern).map_err(|error| syntax(pattern, &error))?;
        let regex = RegexBuilder::new(pattern)
            .case_insensitive(ignores_case)
            .multi_line(true)
            .size_limit(MAX_COMPILED_BYTES)
            .dfa_size_limit(MAX_DFA_BYTES)
            .nest_limit(MAX_NESTING)
            .build()
            .map_err(|error| compile_error(pattern, &error))?;
        Ok(Self { regex, need: Need::of(&tree), is_of_lines: is_of_lines(&tree) })
    }
}

fn compile_error(pattern: &str, error: &regex::Error) -> PatternError {
    match matches!(error, regex::Error::CompiledTooBig(_)) {
        true => PatternError::TooLarge,
        false => syntax(pattern, error),
    }
}

/// Returns the last line of a regex error. The preceding lines only repeat the pattern.
fn syntax(pattern: &str, error: &dyn std::fmt::Display) -> PatternError {
    let told = error.to_string();
    let why = told.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
    PatternError::Syntax { pattern: pattern.chars().take(80).collect(), why }
}

/// Returns whether a pattern cannot match a line break and does not refer to the start or end of
/// the input.
fn is_of_lines(tree: &Hir) -> bool {
    match tree.kind() {
        HirKind::Empty => true,
        HirKind::Literal(literal) => !literal.0.contains(&b'\n'),
        HirKind::Class(Class::Unicode(class)) => {
            !class.iter().any(|range| (range.start()..=range.end()).contains(&'\n'))
        }
        HirKind::Class(Class::Bytes(class)) => {
            !class.iter().any(|range| (range.start()..=range.end()).contains(&b'\n'))
        }
        HirKind::Look(look) => !matches!(look, Look::Start | Look::End),
        HirKind::Repetition(repetition) => is_of_lines(&repetition.sub),
        HirKind::Capture(capture) => is_of_lines(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(is_of_lines),
    }
}
