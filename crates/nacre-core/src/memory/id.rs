//! A memory's name for life: `YYYYMMDD-<slug>`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Longer than any id that is minted: a slug of 60, its date and a number.
const MAX_BYTES: usize = 96;

/// The day a memory was made and a slug of its first title; unique in its store, never changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MemoryId(String);

impl MemoryId {
    /// The id itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `YYYYMMDD`.
    pub fn date(&self) -> &str {
        &self.0[..8]
    }

    /// What follows the date.
    pub fn slug(&self) -> &str {
        &self.0[9..]
    }
}

/// A text that is no memory id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a memory id; one looks like `20261115-use-sqlite`", crate::base::ShownLine(.0))]
pub struct BadId(pub String);

impl FromStr for MemoryId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let is_id = text.len() <= MAX_BYTES
            && text.split_once('-').is_some_and(|(date, slug)| is_date(date) && is_slug(slug));
        if is_id {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadId(text.chars().take(MAX_BYTES).collect()))
        }
    }
}

fn is_date(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_slug(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
    };
    text.split('-').all(is_word)
}

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for MemoryId {
    type Error = BadId;

    fn try_from(text: String) -> Result<Self, BadId> {
        text.parse()
    }
}

impl From<MemoryId> for String {
    fn from(id: MemoryId) -> Self {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_are_ids() {
        let id: MemoryId = "20261115-use-sqlite".parse().unwrap();
        assert_eq!((id.date(), id.slug()), ("20261115", "use-sqlite"));
        for text in [
            "",
            "20261115",
            "20261115-",
            "2026-11-15-x",
            "20261115-X",
            "20261115-a--b",
            "../20261115-a",
        ] {
            assert!(text.parse::<MemoryId>().is_err(), "{text} passed");
        }
    }
}
