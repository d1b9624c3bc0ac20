//! Splits text into terms for search, ranking and comparison. Terms are lower-case stems without
//! accents; stop words are omitted.
//!
//! An identifier produces one term for the full name and one for each part, so `readConfig`,
//! `read_config` and "read config" match each other. Stored text and queries must be split by the
//! same functions; otherwise, they would not match.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use rust_stemmers::{Algorithm, Stemmer};

/// Returns the text on one line, with every run of white space replaced by one space.
pub fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Longer words are truncated, so that malicious input cannot bloat an index.
const MAX_WORD_CHARS: usize = 40;

const MAX_WORDS: usize = 20_000;

const MAX_QUESTION_TERMS: usize = 64;

/// Enough for the common words of one language.
const MAX_CACHED_STEMS: usize = 50_000;

/// Words that occur in most English sentences. Contractions are split at the apostrophe.
const STOP_WORDS: &str = include_str!("text/stop_words.txt");

static STOP_WORD_SET: LazyLock<WordSet> = LazyLock::new(|| word_set(STOP_WORDS));

thread_local! {
    static STEMS: RefCell<HashMap<String, String, RandomState>> = RefCell::default();
}

pub type WordSet = HashSet<&'static str, RandomState>;

pub fn word_set(list: &'static str) -> WordSet {
    list.split_whitespace().collect()
}

/// Returns whether `word` is in `list`, which is separated by white space.
pub fn is_listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

pub fn is_stop_word(word: &str) -> bool {
    STOP_WORD_SET.contains(word)
}

pub fn stem(word: &str) -> String {
    let mut found = String::new();
    with_stem(word, &mut |stem: &str| found.push_str(stem));
    found
}

pub fn each_term(text: &str, mut take: impl FnMut(&str)) {
    let mut n_words = 0;
    each_word(text, |word| {
        n_words += 1;
        if n_words <= MAX_WORDS && !is_stop_word(word) {
            with_stem(word, &mut take);
        }
        n_words <= MAX_WORDS
    });
}

pub fn terms(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    each_term(text, |term| {
        if !found.iter().any(|known| known == term) {
            found.push(term.to_owned());
        }
    });
    found
}

/// Returns a query's distinct terms in order, each with the word it was derived from.
pub fn terms_with_words(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    each_word(text, |word| {
        if !is_stop_word(word) {
            with_stem(word, &mut |stem: &str| {
                if !found.iter().any(|(known, _)| known == stem) {
                    found.push((stem.to_owned(), word.to_owned()));
                }
            });
        }
        found.len() < MAX_QUESTION_TERMS
    });
    found
}

pub fn n_shared_terms(one: &str, other: &str) -> usize {
    let mut known: HashSet<String, RandomState> = HashSet::default();
    each_term(one, |term| {
        known.insert(term.to_owned());
    });
    let mut n_shared = 0;
    each_term(other, |term| n_shared += usize::from(known.remove(term)));
    n_shared
}

/// Returns the text on one line, cut to at most `max` bytes at the end of a word or clause.
pub fn shorten(text: &str, max: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // The line is already long enough.
        if max < line.len() {
            break;
        }
    }
    if line.len() <= max {
        return line;
    }
    let head = &line[..line.floor_char_boundary(max)];
    let end = head
        .rfind([',', ';', ':'])
        .filter(|end| *end > max / 2)
        .or_else(|| head.rfind(' '))
        .unwrap_or(head.len());
    format!("{}…", head[..end].trim_end_matches([',', ';', ':', ' ', '-']))
}

/// Returns the BM25 inverse document frequency of a term that occurs in `n_holding` of `n_texts`
/// texts.
pub fn inverse_frequency(n_texts: f32, n_holding: f32) -> f32 {
    (1.0 + (n_texts - n_holding + 0.5).max(0.0) / (n_holding + 0.5)).ln()
}

#[derive(Clone, Copy, Debug)]
pub struct Bm25 {
    /// Saturation: how quickly additional occurrences of a term stop increasing the score.
    pub k1: f32,
    /// Length normalization, from 0 (none) to 1 (full).
    pub b: f32,
}

impl Bm25 {
    /// Returns the factor for a term that occurs `n` times in a text. `relative_length` is the text
    /// length divided by the mean length.
    pub fn saturation(self, n: f32, relative_length: f32) -> f32 {
        n * (self.k1 + 1.0) / (n + self.k1 * (1.0 - self.b + self.b * relative_length))
    }
}

/// Calls `take` with each word in lower case until it returns `false`. Words are runs of letters
/// and digits, and the parts of identifiers.
fn each_word(text: &str, mut take: impl FnMut(&str) -> bool) {
    let mut lower = String::new();
    for run in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let run = run.trim_matches('_');
        if run.is_empty() {
            continue;
        }
        fold(run, &mut lower);
        if !take(&lower) {
            return;
        }
        let borders: Vec<usize> = run
            .char_indices()
            .zip(run.chars().skip(1))
            .filter(|((_, last), next)| is_border(*last, *next))
            .map(|((at, last), _)| at + last.len_utf8())
            .collect();
        if borders.is_empty() {
            continue;
        }
        let mut start = 0;
        for end in borders.into_iter().chain([run.len()]) {
            let part = run[start..end].trim_matches('_');
            start = end;
            if part.is_empty() {
                continue;
            }
            fold(part, &mut lower);
            if !take(&lower) {
                return;
            }
        }
    }
}

fn is_border(last: char, next: char) -> bool {
    next == '_'
        || (last.is_lowercase() && next.is_uppercase())
        || (last.is_alphabetic() && next.is_ascii_digit())
        || (last.is_ascii_digit() && next.is_alphabetic())
}

fn fold(word: &str, lower: &mut String) {
    lower.clear();
    for c in word.chars().take(MAX_WORD_CHARS) {
        match c {
            // Remove accents only from Latin letters. In other scripts, marks distinguish letters.
            '\u{c0}'..='\u{24f}' => lower.push_str(deunicode::deunicode_char(c).unwrap_or("")),
            c => lower.extend(c.to_lowercase()),
        }
    }
    lower.make_ascii_lowercase();
}

fn with_stem(word: &str, take: &mut impl FnMut(&str)) {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return take(word);
    }
    STEMS.with_borrow_mut(|stems| {
        if let Some(stem) = stems.get(word) {
            return take(stem);
        }
        let stem = Stemmer::create(Algorithm::English).stem(word).into_owned();
        take(&stem);
        if stems.len() < MAX_CACHED_STEMS {
            stems.insert(word.to_owned(), stem);
        }
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stop_words_have_no_terms() {
        assert!(is_stop_word("the") && is_stop_word("yourselves"));
        assert!(!["", "queue", "zebra", "Über", "the2", "_"].iter().any(|word| is_stop_word(word)));
    }

    #[test]
    fn words_lose_case_endings_and_accents() {
        assert_eq!(terms("The queues were Migrating to Café"), ["queue", "migrat", "cafe"]);
    }

    #[test]
    fn an_identifier_matches_its_words() {
        assert_eq!(terms("readConfig"), ["readconfig", "read", "config"]);
        assert_eq!(terms("read_config()"), ["read_config", "read", "config"]);
        assert_eq!(terms("sha256"), ["sha256", "sha", "256"]);
        assert_eq!(terms("HTTP"), ["http"]);
    }

    #[test]
    fn texts_share_terms_whatever_their_endings() {
        assert_eq!(n_shared_terms("The queues are in SQLite", "one queue for SQLite queues"), 2);
        assert_eq!(n_shared_terms("The one of the", "of one the"), n_shared_terms("one", "one"));
        assert_eq!(n_shared_terms("", "queue"), 0);
    }

    proptest! {
        #[test]
        fn terms_of_any_text_are_bounded(text in "\\PC{0,400}") {
            each_term(&text, |term| {
                assert!(!term.is_empty() && term.chars().count() <= 3 * MAX_WORD_CHARS);
            });
        }
    }
}
