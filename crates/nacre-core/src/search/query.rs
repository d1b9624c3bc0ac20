//! What a person typed, taken apart: words, exact phrases and filters.
//!
//! Any text is a query. What looks like a filter but names nothing that can be filtered by is plain text,
//! so that an error message with colons in it can be pasted as it is.

use jiff::Timestamp;

use super::record::{DESCRIBED, UNPROVEN};
use crate::base::parse_time;

/// More of a pasted page than this adds nothing.
const MAX_QUERY_BYTES: usize = 8192;

/// More phrases or filters than anybody types.
const MAX_CLAUSES: usize = 16;

/// Properties that a query can filter by.
const FACETS: &[&str] = &[
    "type", "tag", "agent", "file", "symbol", "status", "kind", "project", "session", "speaker",
    "id",
];

/// The property of that name: one to filter by, or one that only says how far a record is proven.
pub fn facet_name(name: &str) -> Option<&'static str> {
    FACETS.iter().copied().chain([UNPROVEN, DESCRIBED, SUPERSEDES]).find(|known| *known == name)
}

/// The property of a record that took the place of another one.
const SUPERSEDES: &str = "supersedes";

/// A question to an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Everything but the filters, phrases included: their words count too.
    pub text: String,
    /// Texts that must occur as they are, whatever their case.
    pub phrases: Vec<String>,
    /// Properties that a record must have; of several values for one name, any.
    pub facets: Vec<(String, String)>,
    pub after: Option<Timestamp>,
    pub before: Option<Timestamp>,
}

impl Query {
    /// Reads `words`, `"exact phrases"` and `name:value` filters. `now` is what `after:7d` counts from.
    pub fn parse(text: &str, now: Timestamp) -> Self {
        let mut query = Self::default();
        for token in tokens(cut(text)) {
            match token {
                Token::Phrase(phrase) => query.add_phrase(phrase),
                Token::Word(word) => {
                    if !query.take_filter(word, now) {
                        query.add_text(word);
                    }
                }
            }
        }
        query
    }

    /// A question in plain words, in which nothing is a filter.
    pub fn plain(text: &str) -> Self {
        Self { text: cut(text).to_owned(), ..Self::default() }
    }

    /// Adds a filter, as `name:value` would.
    pub fn with_facet(mut self, name: &str, value: &str) -> Self {
        self.facets.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
            && self.facets.is_empty()
            && self.after.is_none()
            && self.before.is_none()
    }

    /// Whether there are no words, only filters.
    pub fn is_filter_only(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Whether a text holds every quoted phrase, whatever the case and however lines break.
    pub fn holds_phrases(&self, text: &str) -> bool {
        let words =
            |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let text = if self.phrases.is_empty() { String::new() } else { words(text) };
        self.phrases.iter().all(|phrase| holds_whole(&text, &words(phrase)))
    }

    fn add_text(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(text);
    }

    fn add_phrase(&mut self, phrase: &str) {
        let phrase = phrase.trim();
        if phrase.is_empty() {
            return;
        }
        self.add_text(phrase);
        if self.phrases.len() < MAX_CLAUSES {
            self.phrases.push(phrase.to_lowercase());
        }
    }

    /// Takes `word` as a filter, where it is one.
    fn take_filter(&mut self, word: &str, now: Timestamp) -> bool {
        let Some((name, value)) = word.split_once(':') else { return false };
        let value = value.trim_matches('"');
        if value.is_empty() || self.facets.len() >= MAX_CLAUSES {
            return false;
        }
        match name {
            "after" | "since" => set_time(&mut self.after, value, now),
            "before" | "until" => set_time(&mut self.before, value, now),
            name if FACETS.contains(&name) => {
                self.facets.push((name.to_owned(), value.to_lowercase()));
                true
            }
            _ => false,
        }
    }
}

/// Whether `text` holds `phrase` and not only a piece of a longer word.
fn holds_whole(text: &str, phrase: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let cuts_first =
        |before: &str| is_word(before.chars().next_back()) && is_word(phrase.chars().next());
    let cuts_last =
        |after: &str| is_word(after.chars().next()) && is_word(phrase.chars().next_back());
    text.match_indices(phrase)
        .any(|(at, _)| !cuts_first(&text[..at]) && !cuts_last(&text[at + phrase.len()..]))
}

fn set_time(slot: &mut Option<Timestamp>, value: &str, now: Timestamp) -> bool {
    let time = parse_time(value, now);
    if time.is_some() {
        *slot = time;
    }
    time.is_some()
}

enum Token<'a> {
    Word(&'a str),
    Phrase(&'a str),
}

/// Splits at blanks and quotes; a quoted value of a filter stays with it.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            let inner = &rest[1..];
            let end = inner.find('"').unwrap_or(inner.len());
            found.push(Token::Phrase(&inner[..end]));
            rest = inner.get(end + 1..).unwrap_or_default().trim_start();
            continue;
        }
        let end = word_end(rest);
        found.push(Token::Word(&rest[..end]));
        rest = rest[end..].trim_start();
    }
    found
}

fn word_end(text: &str) -> usize {
    let end = text.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(text.len());
    let is_filter = text[..end].ends_with(':') && text[end..].starts_with('"');
    match text[end..].get(1..).and_then(|value| value.find('"')) {
        Some(len) if is_filter => end + len + 2,
        _ => end,
    }
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_QUERY_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn now() -> Timestamp {
        "2026-11-15T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn words_phrases_and_filters_are_told_apart() {
        let query =
            Query::parse(r#"why "one file" type:decision tag:"Two Words" after:2026-01"#, now());
        assert_eq!(query.text, "why one file");
        assert_eq!(query.phrases, ["one file"]);
        let facet = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(query.facets, [facet("type", "decision"), facet("tag", "two words")]);
        assert_eq!(query.after.unwrap().to_string(), "2026-01-01T00:00:00Z");
    }

    #[test]
    fn what_only_looks_like_a_filter_is_text() {
        for text in
            ["error: cannot open", "http://localhost:80", "tag:", "std::fs::read", "after:noon"]
        {
            let query = Query::parse(text, now());
            assert_eq!((query.text.as_str(), query.facets.len()), (text, 0));
        }
    }

    #[test]
    fn a_phrase_is_whole_words_however_lines_break() {
        let holds = |phrase: &str, text: &str| {
            Query::parse(&format!("\"{phrase}\""), now()).holds_phrases(text)
        };
        assert!(holds("one File", "Only one\n file."));
        assert!(!holds("one file", "one files"));
        assert!(holds("(x", "f(x)") && holds("c++", "in c++20"));
    }

    proptest! {
        #[test]
        fn any_text_is_a_query(text in r#"(\PC|["\n: ]|type:|after:){0,60}"#) {
            let query = Query::parse(&text, now());
            prop_assert!(query.phrases.len() <= MAX_CLAUSES && query.facets.len() <= MAX_CLAUSES);
        }
    }
}
