//! A text as words: each with a key under which its other forms are found too, and what kind of word it is.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use nacre_core::search::{is_stop_word, word_stem};

use super::tables::{GENERIC, IRREGULAR, NEGATORS, NUMBERS, SYNONYMS};

/// The stem of each word of a group, with the stem that names the group.
static GROUPS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let mut groups = HashMap::new();
    for group in SYNONYMS {
        let name = group.first().map_or_else(String::new, |first| single_end(word_stem(first)));
        for word in *group {
            groups.entry(single_end(word_stem(word))).or_insert_with(|| name.clone());
        }
    }
    groups
});

/// What a word does in a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordKind {
    /// It says something.
    Content,
    Number,
    Negator,
    /// It stands in every text.
    Filler,
}

/// One word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// In lower case.
    pub(super) text: String,
    /// The same for all forms of the word, and for words that may stand for it.
    pub(super) key: String,
    pub(super) kind: WordKind,
    /// Whether a comma or the like stands behind it.
    pub(super) ends_piece: bool,
}

impl Word {
    fn new(token: &str) -> Self {
        let lower = token.to_lowercase().replace('’', "'");
        let text = lower.strip_suffix("'s").unwrap_or(&lower).to_owned();
        let digits = NUMBERS.iter().find(|(name, _)| *name == text).map(|(_, digits)| *digits);
        if text.starts_with(char::is_numeric) || digits.is_some() {
            let key = digits.map_or_else(|| text.replace(',', ""), str::to_owned);
            return Self { text, key, kind: WordKind::Number, ends_piece: false };
        }
        let kind = if NEGATORS.contains(&text.as_str()) || text.ends_with("n't") {
            WordKind::Negator
        } else if is_stop_word(&text) || GENERIC.contains(&text.as_str()) || text.len() < 2 {
            WordKind::Filler
        } else {
            WordKind::Content
        };
        Self { key: key_of(&text), text, kind, ends_piece: false }
    }

    pub(super) fn is_content(&self) -> bool {
        self.kind == WordKind::Content
    }
}

/// Whether a text claims anything: it has a word that is not in every text.
pub fn says_something(text: &str) -> bool {
    words(text).iter().any(|word| word.kind != WordKind::Filler)
}

/// The words of a text. An identifier is taken apart.
pub(super) fn words(text: &str) -> Vec<Word> {
    let is_mark = |c: char| matches!(c, ',' | ';' | ':' | '(' | ')' | '—' | '–' | '.' | '!' | '?');
    let tokens = tokens(text);
    let mut found = Vec::with_capacity(tokens.len());
    for (idx, token) in tokens.iter().enumerate() {
        let next = tokens.get(idx + 1).map_or(text.len(), |next| next.start);
        let gap = &text[token.end..next];
        // A mark inside of a name ends nothing.
        let ends_piece = gap.contains(is_mark) && (gap.len() > 1 || next == text.len());
        found.push(Word { ends_piece, ..Word::new(&text[token.clone()]) });
    }
    found
}

/// The key of a word in lower case.
pub(super) fn key_of(word: &str) -> String {
    let base = IRREGULAR.iter().find(|(form, _)| *form == word).map_or(word, |(_, base)| *base);
    let stem = single_end(word_stem(base));
    GROUPS.get(&stem).cloned().unwrap_or(stem)
}

/// A stem without the second of two equal letters at its end: "adding" has one `d`, and "add" has two.
fn single_end(mut stem: String) -> String {
    let mut ends = stem.chars().rev();
    if let (Some(last), Some(other), Some(_)) = (ends.next(), ends.next(), ends.next())
        && last == other
        && "bdfgmnprt".contains(last)
    {
        stem.pop();
    }
    stem
}

/// Runs of letters and digits. A number keeps the marks inside it, a word its apostrophe.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let is_number = start.is_some_and(|from: usize| text[from..].starts_with(char::is_numeric));
        let is_inner = match c {
            '\'' | '’' => next.is_some_and(char::is_alphabetic),
            '.' | ',' | ':' => is_number && next.is_some_and(char::is_numeric),
            _ => false,
        };
        if c.is_alphanumeric() || (is_inner && start.is_some()) {
            start.get_or_insert(at);
        } else if let Some(from) = start.take() {
            found.push(from..at);
        }
    }
    found.extend(start.map(|from| from..text.len()));
    found
}

/// The parts of an identifier such as `readConfig`.
pub(super) fn parts_of_name(token: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut last = None;
    for c in token.chars() {
        if last.is_some_and(char::is_lowercase) && c.is_uppercase() {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.extend(c.to_lowercase());
        }
        last = Some(c);
    }
    if parts.len() > 1 { parts } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_key() {
        for (one, other) in [
            ("kept", "stored"),
            ("ran", "running"),
            ("refused", "turned"),
            ("ms", "milliseconds"),
            ("Deleted", "erases"),
            ("two", "2"),
            ("5,000", "5000"),
            ("depot's", "depots"),
        ] {
            assert_eq!(words(one)[0].key, words(other)[0].key, "{one} {other}");
        }
    }

    #[test]
    fn a_text_falls_into_words() {
        let texts: Vec<String> = words("At 23:00, `hooks.deadline_ms` isn't 5,000; v1.2 of ²00.")
            .into_iter()
            .map(|word| word.text)
            .collect();
        assert_eq!(
            texts,
            ["at", "23:00", "hooks", "deadline", "ms", "isn't", "5,000", "v1", "2", "of", "²00"]
        );
        assert_eq!(parts_of_name("readConfig"), ["read", "config"]);
        assert!(says_something("the queue") && !says_something("and it is so."));
    }
}
