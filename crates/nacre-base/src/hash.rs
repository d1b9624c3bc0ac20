//! Hashes that identify file contents.
//!
//! BLAKE3 is used instead of a faster checksum because the hashes must withstand tampering: they
//! detect user edits and decide whether content is trusted.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The first 16 hex digits, which are enough to identify one of a user's own files.
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

#[derive(Debug, thiserror::Error)]
#[error("Not a content hash")]
pub struct ParseHashError;

impl FromStr for ContentHash {
    type Err = ParseHashError;

    fn from_str(text: &str) -> Result<Self, ParseHashError> {
        blake3::Hash::from_hex(text).map(|hash| Self(*hash.as_bytes())).map_err(|_| ParseHashError)
    }
}

nacre_types::text_in_json!(ContentHash);

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
