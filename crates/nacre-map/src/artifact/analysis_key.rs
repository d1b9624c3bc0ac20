//! What the analysis of a text is found by.

use xxhash_rust::xxh3::xxh3_64;

use super::model::FileHash;
use crate::languages::{Language, MAX_NAME_BYTES};

/// What an analysis is of: the bytes and how they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AnalysisKey(u64);

impl AnalysisKey {
    pub fn new(hash: FileHash, language: Language) -> Self {
        let name = language.name().as_bytes();
        let mut bytes = [0; 8 + MAX_NAME_BYTES];
        bytes[..8].copy_from_slice(&hash.0.to_le_bytes());
        bytes[8..][..name.len()].copy_from_slice(name);
        Self(xxh3_64(&bytes))
    }

    pub(super) fn number(self) -> u64 {
        self.0
    }
}
