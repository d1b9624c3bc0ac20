//! An API key that can be sent to a server but not displayed.
//!
//! Servers quote the key in their errors, so this type has a method that redacts the key from a
//! given text. The method removes every fragment of the key, because a quoted key may be escaped or
//! truncated.

use std::fmt;
use std::sync::Arc;

const BLOT: &str = "[key]";

/// Minimum length of a key fragment that is removed. Shorter fragments may be only the public
/// prefix of a key.
const PIECE: usize = 8;

#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Trims the key. Returns `None` if it is empty.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(Arc::from(text)))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    pub(super) fn bearer(&self) -> (&'static str, String) {
        ("authorization", format!("Bearer {}", self.expose()))
    }

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

    /// Returns the byte length of the longest key fragment at the start of the text. The fragment
    /// ends on a character boundary.
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
