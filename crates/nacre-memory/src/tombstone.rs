//! Tombstones for removed memories. They contain hashes but no text.
//!
//! A tombstone prevents later runs from adding a claim that the user removed. Tombstones are shared
//! through git, so a teammate's traces do not restore the claim either.

use serde::{Deserialize, Serialize};

use crate::prelude::*;

/// Contains one file per claim, named after the claim's hash, so that branches never conflict.
pub(super) const FOLDER: &str = "meta/tombstones";

#[derive(Serialize, Deserialize)]
struct Tombstone {
    version: u32,
    claim: ContentHash,
    title: ContentHash,
    forgotten: Timestamp,
}

pub(super) fn tombstone(memory: &Memory, now: Timestamp) -> Result<(RelPath, Vec<u8>), FsError> {
    let claim = claim_hash(&memory.title, memory.document.body());
    let stone =
        Tombstone { version: 1, claim, title: claim_hash(&memory.title, ""), forgotten: now };
    Ok((path(claim)?, render(&stone)))
}

pub(super) fn is_at(at: &RelPath, bytes: &[u8]) -> bool {
    let stone = serde_json::from_slice::<Tombstone>(bytes).ok();
    stone.and_then(|stone| path(stone.claim).ok()).is_some_and(|path| path == *at)
}

pub(super) fn path(claim: ContentHash) -> Result<RelPath, FsError> {
    RelPath::new(&format!("{FOLDER}/{}.json", claim.short()))
}

/// Returns a hash that identifies a claim, ignoring case, spacing and punctuation.
pub(super) fn claim_hash(title: &str, body: &str) -> ContentHash {
    let mut words = String::with_capacity(title.len() + body.len());
    for text in [title, body] {
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            words.extend(word.chars().flat_map(char::to_lowercase));
            words.push(' ');
        }
    }
    ContentHash::of(words.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_the_same_claim() {
        assert_eq!(
            claim_hash("Use SQLite", "It is one file.\n"),
            claim_hash("use  sqlite!", "it is ONE file")
        );
        assert_ne!(claim_hash("Use SQLite", ""), claim_hash("Use Redis", ""));
    }
}
