//! Structural search with ast-grep. A pattern is code with placeholders, and matches code with the
//! same syntax tree.
//!
//! `$NAME` matches one node, and `$$$NAME` matches any number of nodes.

use ast_grep_core::Pattern;

use super::language::Language;
use super::{ParseError, parse};

const MAX_PATTERN_BYTES: usize = 10_000;

/// A pattern in one language: code with placeholders.
#[derive(Clone)]
pub struct CodePattern {
    pattern: Pattern,
    language: Language,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("The pattern is not valid {language} code: {why}")]
pub struct PatternError {
    language: Language,
    why: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeMatch {
    /// 1-based.
    pub first_line: usize,
    pub text: String,
}

impl CodePattern {
    pub fn new(pattern: &str, language: Language) -> Result<Self, PatternError> {
        let fail = |why: String| PatternError { language, why };
        if MAX_PATTERN_BYTES < pattern.len() {
            return Err(fail(format!("it has more than {MAX_PATTERN_BYTES} bytes")));
        }
        // ast-grep recurses into the pattern without a depth limit, so check its depth first.
        parse(pattern, language).map_err(|error| fail(error.to_string()))?;
        let pattern = Pattern::try_new(pattern, language.grammar())
            .map_err(|error| fail(error.to_string()))?;
        if pattern.has_error() {
            return Err(fail("it has a syntax error".to_owned()));
        }
        Ok(Self { pattern, language })
    }

    pub fn find(&self, text: &str, limit: usize) -> Result<Vec<CodeMatch>, ParseError> {
        let tree = parse(text, self.language)?;
        let root = tree.root();
        let found = root.find_all(&self.pattern).take(limit).map(|found| CodeMatch {
            first_line: found.start_pos().line() + 1,
            text: found.text().into_owned(),
        });
        Ok(found.collect())
    }
}

nacre_base::debug_only!(CodePattern { language });
