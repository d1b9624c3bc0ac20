//! A key that can be sent but not shown.
//!
//! Servers like to quote the key back in their errors, so the secret also knows how to blot itself out of a text. It
//! looks for pieces of itself, because what is quoted may be escaped or cut short.

use std::fmt;
use std::sync::Arc;

/// What stands in a text in the place of a key.
const BLOT: &str = "[key]";

/// A piece of a key this long is worth hiding; the first letters of keys are public.
const PIECE: usize = 8;

/// An API key. Neither `Debug` nor `Display` shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Takes a key as a person set it; white space around it is no part of it, and an empty one is none.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(Arc::from(text)))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The header by which most services take a key.
    pub(super) fn bearer(&self) -> (&'static str, String) {
        ("authorization", format!("Bearer {}", self.expose()))
    }

    /// Returns the text with every piece of the key blotted out.
    pub(super) fn scrub(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = self.longest_piece_at(rest);
            if PIECE.min(self.0.len()) <= length {
                out.push_str(BLOT);
                rest = rest.get(length..).unwrap_or_default();
            } else {
                out.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
            }
        }
        out
    }

    /// Returns how many bytes of the text are also a piece of the key, in whole characters.
    fn longest_piece_at(&self, text: &str) -> usize {
        let shared = |from: usize| -> usize {
            let tail = self.0.get(from..).unwrap_or_default();
            let same = tail.chars().zip(text.chars()).take_while(|(one, other)| one == other);
            same.map(|(c, _)| c.len_utf8()).sum()
        };
        (0..self.0.len()).map(shared).max().unwrap_or(0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret([key])")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(BLOT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_trimmed_and_never_shown() {
        let secret = Secret::new("  sk-live-123456 \n").unwrap();
        assert_eq!(secret.expose(), "sk-live-123456");
        assert_eq!(format!("{secret:?} {secret}"), "Secret([key]) [key]");
        assert_eq!(secret.scrub("bad key sk-live-123456!"), "bad key [key]!");
        assert_eq!(secret.scrub("sk-live-1234 sk-l é"), "[key] sk-l é");
        assert_eq!(Secret::new("ab\"cdefghij").unwrap().scrub(r#"ab\"cdefghij"#), "ab\\[key]");
        assert_eq!(Secret::new("abc").unwrap().scrub("ab abc"), "ab [key]");
        assert_eq!(Secret::new(" \n"), None);
    }
}
