//! Which known word a person may have meant.
//!
//! The threshold lets one wrong letter of four pass, and not two of five: a wrong guess costs more than none.

const LIKE: f64 = 0.7;

/// Names longer than this are nobody's slip of the finger, and comparing them takes time.
const MAX_BYTES: usize = 80;

/// Returns how alike two words are, from 0 to 1; case and `-` for `_` count as equal.
pub(super) fn likeness(word: &str, known: &str) -> f64 {
    if word.is_empty() || MAX_BYTES < word.len() {
        return 0.0;
    }
    strsim::normalized_damerau_levenshtein(&plain(word), &plain(known))
}

/// Returns whether `word` may be a slip for `known`.
pub(super) fn is_like(word: &str, known: &str) -> bool {
    LIKE <= likeness(word, known)
}

/// Returns the known word most like `word`, if any is.
pub(super) fn among<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .filter(|known| is_like(word, known))
        .max_by(|a, b| likeness(word, a).total_cmp(&likeness(word, b)))
}

fn plain(word: &str) -> String {
    word.to_lowercase().replace('-', "_")
}
