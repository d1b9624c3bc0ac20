//! The identity of a file's bytes.
//!
//! BLAKE3 rather than a faster checksum: a change set decides by this hash whether a person's edit
//! would be lost, and a trust ledger will decide by it what may be injected.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The BLAKE3 hash of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Hashes `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The first 16 hex digits: enough to name a thing among a person's own files.
    pub fn short(&self) -> String {
        self.to_string()[..16].to_owned()
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

/// A text that is not 64 hex digits.
#[derive(Debug, thiserror::Error)]
#[error("Not a content hash")]
pub struct ParseHashError;

impl FromStr for ContentHash {
    type Err = ParseHashError;

    fn from_str(text: &str) -> Result<Self, ParseHashError> {
        blake3::Hash::from_hex(text).map(|hash| Self(*hash.as_bytes())).map_err(|_| ParseHashError)
    }
}

impl TryFrom<String> for ContentHash {
    type Error = ParseHashError;

    fn try_from(text: String) -> Result<Self, ParseHashError> {
        text.parse()
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> Self {
        hash.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_survives_its_text_form() {
        let hash = ContentHash::of(b"pearl");
        assert_eq!(hash.to_string().parse::<ContentHash>().unwrap(), hash);
        assert_ne!(hash, ContentHash::of(b"pearls"));
        assert!("xyz".parse::<ContentHash>().is_err());
    }
}
