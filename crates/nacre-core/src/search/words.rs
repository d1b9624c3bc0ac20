//! Text into terms: words in lower case, without endings, without the words that say nothing.
//!
//! An identifier is indexed whole and by its parts, so that `readConfig`, `read_config` and "read config"
//! find each other. The same function serves records and questions; only so do they meet.

use std::cell::RefCell;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use rust_stemmers::{Algorithm, Stemmer};

/// Longer words are cut: nobody types them, and a hostile text must not fill the index.
const MAX_WORD_CHARS: usize = 40;

/// More words of one text than this add nothing.
const MAX_WORDS: usize = 20_000;

/// More terms of one question than this add nothing.
const MAX_QUESTION_TERMS: usize = 64;

/// Stems that one thread remembers; a language's everyday words fit.
const MAX_REMEMBERED: usize = 50_000;

/// What no word can start with marks a facet.
const FACET_MARK: u8 = 1;

/// Words that stand in most English sentences, sorted.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "above",
    "after",
    "again",
    "against",
    "ain",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "aren",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "cannot",
    "could",
    "couldn",
    "d",
    "did",
    "didn",
    "do",
    "does",
    "doesn",
    "doing",
    "don",
    "down",
    "during",
    "each",
    "few",
    "for",
    "from",
    "further",
    "had",
    "hadn",
    "has",
    "hasn",
    "have",
    "haven",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "isn",
    "it",
    "its",
    "itself",
    "just",
    "let",
    "ll",
    "m",
    "may",
    "me",
    "might",
    "more",
    "most",
    "must",
    "my",
    "myself",
    "no",
    "nor",
    "not",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "ought",
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "own",
    "re",
    "s",
    "same",
    "shall",
    "she",
    "should",
    "shouldn",
    "so",
    "some",
    "such",
    "t",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "upon",
    "us",
    "ve",
    "very",
    "was",
    "wasn",
    "we",
    "were",
    "weren",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "won",
    "would",
    "wouldn",
    "you",
    "your",
    "yours",
    "yourself",
    "yourselves",
];

/// Where the stop words with each first letter begin: nearly every word of every text is looked up.
const BY_LETTER: [u8; 27] = {
    let mut starts = [0; 27];
    let mut letter = 0;
    while letter < starts.len() {
        let mut idx = 0;
        while idx < STOP_WORDS.len() && STOP_WORDS[idx].as_bytes()[0] < b'a' + letter as u8 {
            idx += 1;
        }
        starts[letter] = idx as u8;
        letter += 1;
    }
    starts
};

thread_local! {
    static STEMS: RefCell<HashMap<String, String, RandomState>> = RefCell::default();
}

/// Hands every term of `text` to `take`.
pub(super) fn each_term(text: &str, mut take: impl FnMut(&str)) {
    let mut n_words = 0;
    each_word(text, |word| {
        n_words += 1;
        if n_words <= MAX_WORDS && !is_stop_word(word) {
            with_stem(word, &mut take);
        }
        n_words <= MAX_WORDS
    });
}

/// The terms of a question, each once, in their order.
pub(super) fn terms(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    each_term(text, |term| {
        if !found.iter().any(|known| known == term) {
            found.push(term.to_owned());
        }
    });
    found
}

/// The terms of a question with the words they come from, each term once.
pub(super) fn terms_with_words(text: &str) -> Vec<(String, String)> {
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

/// Whether a word in lower case stands in most sentences and says nothing.
pub fn is_stop_word(word: &str) -> bool {
    let letter = match word.as_bytes().first() {
        Some(letter) if letter.is_ascii_lowercase() => usize::from(letter - b'a'),
        Some(_) | None => return false,
    };
    let (from, to) = (usize::from(BY_LETTER[letter]), usize::from(BY_LETTER[letter + 1]));
    STOP_WORDS[from..to].contains(&word)
}

/// The stem of a word in lower case.
pub fn stem(word: &str) -> String {
    let mut stem = String::new();
    with_stem(word, &mut |found: &str| found.clone_into(&mut stem));
    stem
}

/// How many different words both texts hold, whatever their endings; words that say nothing do not count.
pub fn shared(one: &str, other: &str) -> usize {
    let mut held: std::collections::HashSet<String> = std::collections::HashSet::new();
    each_term(one, |term| {
        held.insert(term.to_owned());
    });
    let mut n_shared = 0;
    each_term(other, |term| n_shared += usize::from(held.remove(term)));
    n_shared
}

/// The term under which a property of a record is indexed.
pub(super) fn facet(name: &str, value: &str) -> Vec<u8> {
    let mut term = vec![FACET_MARK];
    term.extend(name.as_bytes());
    term.push(b'=');
    term.extend(value.to_lowercase().as_bytes());
    term
}

/// Hands every word in lower case to `take` until it has enough: runs of letters and digits, and the
/// parts of those that are identifiers.
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
        if is_identifier(run) && !each_part(run, &mut lower, &mut take) {
            return;
        }
    }
}

/// Hands the parts of an identifier on; `false` when there was enough.
fn each_part(run: &str, lower: &mut String, take: &mut impl FnMut(&str) -> bool) -> bool {
    let mut start = 0;
    let mut last: Option<char> = None;
    let ends = run.char_indices().filter_map(|(at, c)| {
        let is_border = last.is_some_and(|last| is_border(last, c));
        last = Some(c);
        is_border.then_some(at)
    });
    let ends: Vec<usize> = ends.chain([run.len()]).collect();
    for end in ends {
        let part = run[start..end].trim_matches('_');
        start = end;
        if part.is_empty() {
            continue;
        }
        fold(part, lower);
        if !take(lower) {
            return false;
        }
    }
    true
}

fn is_border(last: char, c: char) -> bool {
    c == '_'
        || (last.is_lowercase() && c.is_uppercase())
        || (last.is_alphabetic() && c.is_ascii_digit())
        || (last.is_ascii_digit() && c.is_alphabetic())
}

fn is_identifier(run: &str) -> bool {
    let mut chars = run.chars();
    let Some(mut last) = chars.next() else { return false };
    chars.any(|c| is_border(std::mem::replace(&mut last, c), c))
}

/// Lower case without accents, cut to a sane length.
fn fold(word: &str, lower: &mut String) {
    lower.clear();
    if word.is_ascii() {
        lower.push_str(&word[..word.len().min(MAX_WORD_CHARS)]);
        lower.make_ascii_lowercase();
        return;
    }
    for c in word.chars().take(MAX_WORD_CHARS) {
        match c {
            // Latin letters with accents; other scripts keep their own letters.
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
        if stems.len() < MAX_REMEMBERED {
            stems.insert(word.to_owned(), stem);
        }
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(STOP_WORDS.iter().all(|word| is_stop_word(word)));
        assert!(!["", "queue", "zebra", "Über", "the2", "_"].iter().any(|word| is_stop_word(word)));
    }

    #[test]
    fn words_lose_case_endings_and_accents() {
        assert_eq!(terms("The queues were Migrating to Café"), ["queue", "migrat", "cafe"]);
    }

    #[test]
    fn an_identifier_meets_its_words() {
        assert_eq!(terms("readConfig"), ["readconfig", "read", "config"]);
        assert_eq!(terms("read_config()"), ["read_config", "read", "config"]);
        assert_eq!(terms("sha256"), ["sha256", "sha", "256"]);
        assert_eq!(terms("HTTP"), ["http"]);
    }

    #[test]
    fn texts_share_words_whatever_their_endings() {
        assert_eq!(shared("The queues are in SQLite", "one queue for SQLite queues"), 2);
        assert_eq!(shared("The one of the", "of one the"), shared("one", "one"));
        assert_eq!(shared("", "queue"), 0);
    }

    #[test]
    fn a_facet_is_no_word() {
        assert_eq!(facet("tag", "Auth"), b"\x01tag=auth");
    }

    proptest! {
        #[test]
        fn any_text_has_terms_that_are_bounded(text in "\\PC{0,400}") {
            each_term(&text, |term| assert!(!term.is_empty() && term.chars().count() <= 3 * MAX_WORD_CHARS));
        }
    }
}
