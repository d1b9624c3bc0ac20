//! What is searched for: words, a piece of text, or a regular expression.

use super::pattern::{MAX_PATTERN_BYTES, Pattern, PatternError};
use crate::words::{Question, part_words};

/// More words together are a sentence, not a name.
const MAX_NAME_TOKENS: usize = 3;

/// How a query is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMode {
    /// Words and identifiers, ranked.
    Words,
    /// A piece of text, as it stands.
    Fixed,
    /// A regular expression, line by line.
    Regex,
}

impl SearchMode {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Fixed => "fixed",
            Self::Regex => "regex",
        }
    }
}

/// Whether a pattern tells upper from lower case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LetterCase {
    /// Where it has a letter in upper case itself.
    #[default]
    Smart,
    Ignored,
    Kept,
}

/// Why a query cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    #[error("A search needs a query")]
    Empty,
    #[error("The query has more than {MAX_PATTERN_BYTES} bytes")]
    TooLong,
    #[error("The query has a line break, and a match lies in one line")]
    LineBreak,
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

/// What is searched for.
#[derive(Debug)]
pub struct CodeQuery {
    pub mode: SearchMode,
    pub(super) question: Question,
    /// Of a piece of text and a regular expression.
    pub(super) pattern: Option<Pattern>,
    /// Names that are surely meant, in lower case and without what joins their words.
    pub(super) names: Vec<String>,
    /// One word alone, in lower case: lines that have it as it stands come before those that have its stem.
    pub(super) token: Option<String>,
}

impl CodeQuery {
    /// Without a mode, a query in double quotes is a piece of text, and so is one that has no word.
    pub fn new(text: &str, mode: Option<SearchMode>, case: LetterCase) -> Result<Self, QueryError> {
        if text.trim().is_empty() {
            return Err(QueryError::Empty);
        }
        if MAX_PATTERN_BYTES < text.len() {
            return Err(QueryError::TooLong);
        }
        let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let quoted = quoted.filter(|text| mode.is_none() && !text.is_empty());
        let text = quoted.unwrap_or(text);
        let question = Question::as_said(text);
        let is_fixed = quoted.is_some() || question.asked.is_empty();
        let mode = mode.unwrap_or(if is_fixed { SearchMode::Fixed } else { SearchMode::Words });
        let pattern = match mode {
            SearchMode::Words => None,
            SearchMode::Fixed => Some(pattern(&regex_syntax::escape(text), text, case)?),
            SearchMode::Regex => Some(pattern(text, &without_escapes(text), case)?),
        };
        let tokens: Vec<&str> = text.split_whitespace().collect();
        let token = (tokens.len() == 1).then(|| text.trim().to_ascii_lowercase());
        Ok(Self { mode, question, pattern, names: names_of(text, &tokens), token })
    }

    /// Whether a symbol's name is what the query asks for.
    pub(super) fn names(&self, name: &str) -> bool {
        let last = name.rsplit([':', '.', '#']).next().unwrap_or(name);
        match &self.pattern {
            None => [last, name].iter().any(|name| self.names.contains(&joined(name))),
            Some(Pattern { regex, .. }) => [last, name].iter().any(|name| {
                let found = regex.find(name.as_bytes());
                !name.is_empty() && found.is_some_and(|found| found.range() == (0..name.len()))
            }),
        }
    }
}

fn pattern(regex: &str, letters: &str, case: LetterCase) -> Result<Pattern, QueryError> {
    if regex.contains('\n') {
        return Err(QueryError::LineBreak);
    }
    let ignores_case = match case {
        LetterCase::Smart => !letters.contains(char::is_uppercase),
        LetterCase::Ignored => true,
        LetterCase::Kept => false,
    };
    Ok(Pattern::new(regex, ignores_case)?)
}

/// A regular expression without `\S` and the like, whose letters stand for something else.
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

/// A word alone, an identifier of several words, and a few words as one name.
fn names_of(text: &str, tokens: &[&str]) -> Vec<String> {
    let is_name = |token: &&&str| tokens.len() == 1 || 1 < part_words(token).len();
    let mut names: Vec<String> = tokens.iter().filter(is_name).map(|token| joined(token)).collect();
    names.extend((tokens.len() <= MAX_NAME_TOKENS).then(|| joined(text)));
    names.retain(|name| !name.is_empty());
    names
}

/// The words of a name in lower case, without what joins them.
pub(super) fn joined(name: &str) -> String {
    part_words(name).into_iter().map(|(word, _)| word).collect()
}
