//! A search query: words, literal text, or a regular expression.

use nacre_types::CodeSearchMode;

use super::pattern::{MAX_PATTERN_BYTES, Pattern, PatternError};
use crate::words::{TaskQuery, part_words};

/// Maximum number of words in a name. Longer queries are treated as sentences.
const MAX_NAME_TOKENS: usize = 3;

#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    #[error("A search needs a query")]
    Empty,
    #[error("The query has more than {MAX_PATTERN_BYTES} bytes")]
    TooLong,
    #[error("The query contains a line break, but a match cannot span lines")]
    LineBreak,
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

#[derive(Debug)]
pub struct CodeQuery {
    pub(super) text: String,
    pub(super) mode: CodeSearchMode,
    pub(super) question: TaskQuery,
    /// Set for literal text and regular expressions.
    pub(super) pattern: Option<Pattern>,
    /// Possible symbol names in lower case, without separators.
    pub(super) names: Vec<String>,
    /// The query's only word in lower case. Lines with exactly this word rank above lines that only
    /// contain its stem.
    pub(super) token: Option<String>,
}

impl CodeQuery {
    /// Parses a query. If `ignores_case` is `None`, matching is case-sensitive only if the pattern
    /// contains an upper-case letter. If `mode` is `None`, a query that is quoted or contains no
    /// words is treated as literal text.
    pub fn new(
        text: &str,
        mode: Option<CodeSearchMode>,
        ignores_case: Option<bool>,
    ) -> Result<Self, QueryError> {
        if text.trim().is_empty() {
            return Err(QueryError::Empty);
        }
        if MAX_PATTERN_BYTES < text.len() {
            return Err(QueryError::TooLong);
        }
        let given = text.to_owned();
        let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let quoted = quoted.filter(|text| mode.is_none() && !text.is_empty());
        let text = quoted.unwrap_or(text);
        let question = TaskQuery::as_said(text);
        let is_fixed = quoted.is_some() || question.asked.is_empty();
        let mode =
            mode.unwrap_or(if is_fixed { CodeSearchMode::Fixed } else { CodeSearchMode::Words });
        let pattern = match mode {
            CodeSearchMode::Words => None,
            CodeSearchMode::Fixed => {
                Some(pattern(&regex_syntax::escape(text), text, ignores_case)?)
            }
            CodeSearchMode::Regex => Some(pattern(text, &without_escapes(text), ignores_case)?),
        };
        let tokens: Vec<&str> = text.split_whitespace().collect();
        let token = (tokens.len() == 1).then(|| text.trim().to_ascii_lowercase());
        Ok(Self { text: given, mode, question, pattern, names: names_of(text, &tokens), token })
    }

    pub(super) fn names(&self, name: &str) -> bool {
        let last = name.rsplit([':', '.', '#']).next().unwrap_or(name);
        match &self.pattern {
            None => [last, name].iter().any(|name| self.names.contains(&join_words(name))),
            Some(Pattern { regex, .. }) => [last, name].iter().any(|name| {
                let found = regex.find(name.as_bytes());
                !name.is_empty() && found.is_some_and(|found| found.range() == (0..name.len()))
            }),
        }
    }
}

fn pattern(regex: &str, letters: &str, ignores_case: Option<bool>) -> Result<Pattern, QueryError> {
    if regex.contains('\n') {
        return Err(QueryError::LineBreak);
    }
    let ignores_case = ignores_case.unwrap_or_else(|| !letters.contains(char::is_uppercase));
    Ok(Pattern::new(regex, ignores_case)?)
}

/// Removes escapes such as `\S`, because their letters are not literal text.
fn without_escapes(text: &str) -> String {
    let mut letters = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            letters.push(character);
            continue;
        }
        if matches!(characters.next(), Some('p' | 'P')) && characters.next() == Some('{') {
            characters.by_ref().find(|character| *character == '}');
        }
    }
    letters
}

fn names_of(text: &str, tokens: &[&str]) -> Vec<String> {
    let is_name = |token: &&&str| tokens.len() == 1 || 1 < part_words(token).len();
    let mut names: Vec<String> =
        tokens.iter().filter(is_name).map(|token| join_words(token)).collect();
    names.extend((tokens.len() <= MAX_NAME_TOKENS).then(|| join_words(text)));
    names.retain(|name| !name.is_empty());
    names
}

pub(super) fn join_words(name: &str) -> String {
    part_words(name).into_iter().map(|(word, _)| word).collect()
}
