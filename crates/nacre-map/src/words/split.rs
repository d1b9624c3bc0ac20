//! Splits source code and prose into identifiers, and identifiers into words.
//!
//! Works on bytes: non-ASCII bytes belong to the surrounding word. `HTTPServer2` is split into
//! `http`, `server` and `2`.

use super::WordHash;

/// Longer runs of letters are treated as data.
pub(super) const MAX_PART_BYTES: usize = 40;

#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteKind {
    Lower,
    Upper,
    Digit,
    /// `_` and `$`, which are part of identifiers but not of words.
    Joint,
    Other,
}

fn kind(byte: u8) -> ByteKind {
    match byte {
        b'a'..=b'z' | 0x80.. => ByteKind::Lower,
        b'A'..=b'Z' => ByteKind::Upper,
        b'0'..=b'9' => ByteKind::Digit,
        b'_' | b'$' => ByteKind::Joint,
        _ => ByteKind::Other,
    }
}

/// Returns the end of the identifier or number at `start`, or `start` if there is none.
pub(super) fn identifier_end(text: &[u8], start: usize) -> usize {
    let rest = &text[start..];
    let is_part = |byte: &u8| kind(*byte) != ByteKind::Other;
    start + rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len())
}

/// Visits the words in an identifier in order, preserving case.
pub fn each_part<'t>(identifier: &'t [u8], mut take: impl FnMut(&'t [u8])) {
    let mut at = 0;
    while let Some(first) = identifier.get(at) {
        let start = at;
        let first = kind(*first);
        at += 1;
        while identifier.get(at).is_some_and(|byte| kind(*byte) == first) {
            at += 1;
        }
        if matches!(first, ByteKind::Joint | ByteKind::Other) {
            continue;
        }
        let is_lower_next = identifier.get(at).is_some_and(|byte| kind(*byte) == ByteKind::Lower);
        if first == ByteKind::Upper && is_lower_next {
            // In `HTTPServer`, the last capital of the run belongs to the next word.
            let word = at - 1;
            if start < word {
                take(&identifier[start..word]);
            }
            while identifier.get(at).is_some_and(|byte| kind(*byte) == ByteKind::Lower) {
                at += 1;
            }
            take(&identifier[word..at]);
        } else {
            take(&identifier[start..at]);
        }
    }
}

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

/// Visits each identifier's words, and the whole identifier if it has several words.
pub fn each_identifier(text: &[u8], mut take: impl FnMut(WordHash)) {
    for identifier in identifiers(text) {
        let (mut whole, mut n_parts) = (Vec::with_capacity(identifier.len()), 0);
        each_part(identifier, |part| {
            let start = whole.len();
            whole.extend(part.iter().map(u8::to_ascii_lowercase));
            n_parts += 1;
            take(WordHash::part(stem(&whole[start..])));
        });
        if 1 < n_parts {
            take(WordHash::whole(&whole));
        }
    }
}

/// Returns the words in a string in lower case, each with its stem.
pub fn part_words(text: &str) -> Vec<(String, String)> {
    let mut words = Vec::new();
    for identifier in identifiers(text.as_bytes()) {
        each_part(identifier, |part| {
            let word = String::from_utf8_lossy(part).to_ascii_lowercase();
            let stem = String::from_utf8_lossy(stem(word.as_bytes())).into_owned();
            words.push((word, stem));
        });
    }
    words
}

const ENDINGS: &[&[u8]] = &[b"ingly", b"ings", b"ing", b"ers", b"er", b"ies", b"ed", b"es", b"s"];

/// Minimum length of a stem. Too many words would share a shorter stem.
const MIN_STEM_BYTES: usize = 4;

/// Returns a lower-case word's stem: `parses`, `parsing` and `parser` have the same stem. No
/// dictionary is used, because names in code are not always English.
pub fn stem(word: &[u8]) -> &[u8] {
    let may_end = matches!(word.last(), Some(b'y' | b's' | b'g' | b'r' | b'd' | b'e'));
    if !may_end {
        return word;
    }
    let stems = ENDINGS.iter().filter_map(|ending| word.strip_suffix(*ending));
    let stem = stems.into_iter().find(|stem| MIN_STEM_BYTES <= stem.len()).unwrap_or(word);
    let n_silent = stem.iter().rev().take_while(|byte| **byte == b'e').count();
    if n_silent < stem.len() { &stem[..stem.len() - n_silent] } else { word }
}
