//! Estimates an upper bound for the number of tokens in a text.
//!
//! All tokenizers split text into sequences of bytes, but in different places. A word in the
//! built-in vocabulary is estimated at half its number of letters, and other text at one token per
//! byte. For a page of prose, the estimate is about twice the count from `r50k`, `cl100k` or
//! `o200k`. Only isolated unusual words of three or four letters are underestimated, never an
//! entire line.

use super::vocabulary::Vocabulary;
use super::{Builtin, EmbedError};

/// Words that every tokenizer turns into a single token together with the preceding space.
const COMMON: &[&str] = &[
    "a", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "before",
    "but", "by", "can", "do", "each", "for", "from", "has", "have", "he", "how", "if", "in",
    "into", "is", "it", "its", "more", "must", "no", "not", "of", "on", "one", "only", "or",
    "other", "our", "out", "over", "same", "should", "so", "some", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "to", "two", "under", "up", "use",
    "used", "was", "we", "were", "what", "when", "where", "which", "while", "who", "why", "will",
    "with", "would", "you", "your",
];

/// A longer run of letters is not treated as a word.
const MAX_WORD: usize = 24;

#[derive(Clone, Debug)]
pub struct TokenCounter {
    known: Builtin,
}

impl TokenCounter {
    pub fn load_shipped() -> Result<Self, EmbedError> {
        Builtin::load_shipped().map(|known| Self { known })
    }

    /// Returns an upper bound for the number of tokens in `text`. The estimate for two lines is the
    /// sum of their estimates plus one.
    pub fn count(&self, text: &str) -> usize {
        let vocabulary = self.known.vocabulary();
        let mut tokens = 0;
        let mut rest = text;
        let mut is_after_blank = false;
        while let Some(c) = rest.chars().next() {
            let n_letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
            let (n_bytes, cost) = match n_letters {
                0 => (c.len_utf8(), cost_of_mark(c, &rest[c.len_utf8()..])),
                n => (n, cost_of_run(&vocabulary, &rest[..n], is_after_blank)),
            };
            tokens += cost;
            is_after_blank = c == ' ';
            rest = &rest[n_bytes..];
        }
        tokens
    }
}

/// A space before a word is part of the word's token. Any other character costs its length in
/// bytes.
fn cost_of_mark(c: char, rest: &str) -> usize {
    let joins = c == ' ' && rest.starts_with(|next: char| next.is_ascii_alphabetic());
    if joins { 0 } else { c.len_utf8() }
}

fn cost_of_run(vocabulary: &Vocabulary<'_>, run: &str, is_after_blank: bool) -> usize {
    let mut cost = 0;
    let mut is_first = is_after_blank;
    let mut rest = run;
    while !rest.is_empty() {
        let n_capitals = rest.bytes().take_while(u8::is_ascii_uppercase).count();
        let n_small = rest[n_capitals..].bytes().take_while(u8::is_ascii_lowercase).count();
        // In `HTTPServer`, the last capital starts the next word.
        let n = match (n_capitals, n_small) {
            (0, n) => n,
            (1, n) => 1 + n,
            (n, 0) => n,
            (n, _) => n - 1,
        };
        cost += cost_of_word(vocabulary, &rest[..n], is_first);
        is_first = false;
        rest = &rest[n..];
    }
    cost
}

fn cost_of_word(vocabulary: &Vocabulary<'_>, word: &str, is_after_blank: bool) -> usize {
    let is_shouted = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    if is_shouted || word.len() > MAX_WORD || word.len() < 3 && !is_after_blank {
        return word.len();
    }
    let lower = word.to_ascii_lowercase();
    if is_after_blank && COMMON.binary_search(&lower.as_str()).is_ok() {
        return 1;
    }
    match vocabulary.find(&lower) {
        Some(_) if word.len() > 2 => word.len().div_ceil(2),
        Some(_) | None => word.len(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Texts and the highest of their token counts in the three tokenizers.
    const COUNTED: &[(&str, usize)] = &[
        ("Use SQLite for the job queue, because one file is easy to back up.", 17),
        (
            "The integration tests need a fixed time zone; without it the report test fails after eleven.",
            18,
        ),
        ("Commit subjects are written in lower case, with the topic before a colon.", 16),
        ("Never start the daemon in the tests: it holds a lock that the next test waits for.", 19),
        ("We moved from polling to a file watcher, since polling missed quick changes.", 16),
        ("The person wants short answers and no emojis.", 11),
        ("Sessions are kept for thirty days and then removed by the nightly job.", 15),
        ("What was decided about retries: three attempts, with a growing wait between them.", 17),
        ("- Pin `reqwest` to 0.13 [20261115-pin-reqwest-to-0-13]", 27),
        ("[20260301-xqzjkv-htmlparser-2]", 17),
        ("XMLHTTPRequest parseTupleAndKeywords __init__ getElementById", 16),
        ("sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", 48),
        ("export RUST_LOG=debug && cargo test -p nacre-core --all-targets -- -D warnings", 26),
        ("Größe über naïve café façade 東京の天気 Привет мир", 32),
        ("🙂🙂 → … – “quoted” ½", 14),
        ("AAAAAAAAAAAAAAAAAAAAAAAA BBBBBBBBBB zzzzzzzz qqqq xkcd ietf", 22),
        ("https://example.com/a/b?c=d&e=%20#frag", 21),
        ("   indented\\twith\\ttabs    and   blanks", 18),
        ("1234567890 3.14159 2026-11-15T08:30:00Z v1.2.3-rc.4", 33),
        ("lysergic kabobs tiborvass nickelodeon hypertrophy quebec babylon", 23),
    ];

    #[test]
    fn common_words_are_sorted() {
        assert!(COMMON.is_sorted());
    }

    #[test]
    fn no_text_counts_less_than_real_tokenizers_need() {
        let counter = TokenCounter::load_shipped().unwrap();
        for (text, real) in COUNTED {
            let counted = counter.count(text);
            assert!(
                *real <= counted && counted <= text.len(),
                "{text}: has {real} tokens, but \
             {counted} were counted"
            );
        }
        let prose: Vec<_> = COUNTED.iter().take(8).collect();
        let real: usize = prose.iter().map(|(_, real)| real).sum();
        let counted: usize = prose.iter().map(|(text, _)| counter.count(text)).sum();
        assert!(counted <= real * 5 / 2, "prose has {real} tokens, but {counted} were counted");
    }

    proptest! {
        #[test]
        fn lines_add_up_and_no_count_is_above_the_bytes(one in "\\PC{0,80}", two in "\\PC{0,80}") {
            let counter = TokenCounter::load_shipped().unwrap();
            let (a, b) = (one.trim_end(), two.trim_end());
            let both = counter.count(&format!("{a}\n{b}"));
            prop_assert_eq!(both, counter.count(a) + 1 + counter.count(b));
            prop_assert!(both <= a.len() + b.len() + 1);
            prop_assert!(a.is_empty() || counter.count(a) > 0);
        }
    }
}
