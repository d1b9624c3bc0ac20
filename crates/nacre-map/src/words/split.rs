//! Splits texts into identifiers, and identifiers into the words that they are made of.
//!
//! Bytes, not characters: all that is not ASCII belongs to the word around it. `HTTPServer2` is `http`, `server` and `2`.

use super::Word;
use super::stem::stem;

/// A longer run of letters is data, not a word.
pub(super) const MAX_PART_BYTES: usize = 40;

/// What a byte is in an identifier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lower,
    Upper,
    Digit,
    /// `_` and `$`: part of identifiers, and of no word.
    Joint,
    Other,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' | 0x80.. => Kind::Lower,
            b'A'..=b'Z' => Kind::Upper,
            b'0'..=b'9' => Kind::Digit,
            b'_' | b'$' => Kind::Joint,
            _ => Kind::Other,
        };
        byte += 1;
    }
    kinds
};

fn kind(byte: u8) -> Kind {
    KINDS[usize::from(byte)]
}

/// The end of the identifier or number that begins at `start`; `start` itself where there is none.
pub(super) fn identifier_end(text: &[u8], start: usize) -> usize {
    let rest = &text[start..];
    let is_part = |byte: &u8| kind(*byte) != Kind::Other;
    start + rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len())
}

/// Hands out the words of one identifier, in the order in which they stand, as they are written.
pub fn each_part<'t>(identifier: &'t [u8], mut take: impl FnMut(&'t [u8])) {
    let mut at = 0;
    while let Some(first) = identifier.get(at) {
        let start = at;
        let first = kind(*first);
        at += 1;
        while identifier.get(at).is_some_and(|byte| kind(*byte) == first) {
            at += 1;
        }
        if matches!(first, Kind::Joint | Kind::Other) {
            continue;
        }
        let is_lower_next = identifier.get(at).is_some_and(|byte| kind(*byte) == Kind::Lower);
        if first == Kind::Upper && is_lower_next {
            // Of `HTTPServer` the last capital belongs to the word behind it.
            let word = at - 1;
            if start < word {
                take(&identifier[start..word]);
            }
            while identifier.get(at).is_some_and(|byte| kind(*byte) == Kind::Lower) {
                at += 1;
            }
            take(&identifier[word..at]);
        } else {
            take(&identifier[start..at]);
        }
    }
}

/// The identifiers and numbers of a text, as they are written.
pub fn identifiers(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            let end = identifier_end(text, start);
            at = end.max(start + 1);
            if start < end {
                return Some(&text[start..end]);
            }
        }
        None
    })
}

/// Hands out the words of a text: those of identifiers, and whole identifiers of several.
pub fn each_identifier(text: &[u8], take: impl FnMut(Word)) {
    each_identifier_by(text, &mut Vec::new(), take);
}

/// The same for many texts, in memory that is used again.
pub fn each_identifier_by(text: &[u8], whole: &mut Vec<u8>, mut take: impl FnMut(Word)) {
    let mut at = 0;
    while at < text.len() {
        let end = identifier_end(text, at);
        whole.clear();
        let mut n_parts = 0;
        each_part(&text[at..end], |part| {
            let start = whole.len();
            whole.extend(part.iter().map(u8::to_ascii_lowercase));
            n_parts += 1;
            take(Word::part(stem(&whole[start..])));
        });
        if 1 < n_parts {
            take(Word::whole(whole));
        }
        at = end.max(at + 1);
    }
}

/// The words of a text in lower case, each with its stem.
pub fn part_words(text: &str) -> Vec<(String, String)> {
    let mut words = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let end = identifier_end(bytes, at);
        each_part(&bytes[at..end], |part| {
            let word = String::from_utf8_lossy(part).to_ascii_lowercase();
            let stem = String::from_utf8_lossy(stem(word.as_bytes())).into_owned();
            words.push((word, stem));
        });
        at = end.max(at + 1);
    }
    words
}
