//! Splits files into words and counts them, and extracts a question's words and a file's trigrams.
//!
//! Words are stored as 32-bit hashes. Counts depend only on a file's bytes, so they can be keyed by
//! content, and an updated index is identical to a newly built one.

mod bag;
mod question;
mod split;
mod synonyms;
#[cfg(test)]
mod tests;
mod trigrams;

pub use bag::{Bag, Counts, WORDS_FORMAT, is_text, render_bag};
pub use question::{Asked, Kin, TaskQuery};
pub use split::{each_identifier, each_part, identifiers, part_words, stem};
pub use trigrams::{Trigram, Trigrams};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WordHash(pub u32);

/// Prevents whole identifiers from having the same hashes as single words.
const WHOLE_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

const PART_SEED: u64 = 0xcbf2_9ce4_8422_2325;

impl WordHash {
    /// Hashes one word of an identifier. `stem` must be lower-case.
    pub fn part(stem: &[u8]) -> Self {
        Self::of(PART_SEED, stem)
    }

    /// Hashes a whole identifier that consists of several words. `joined` contains the words in
    /// lower case.
    pub fn whole(joined: &[u8]) -> Self {
        Self::of(WHOLE_SEED, joined)
    }

    /// Computes an FNV-1a hash, which is fast for short words.
    fn of(seed: u64, bytes: &[u8]) -> Self {
        let mut hash = seed;
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let hash = hash ^ (hash >> 32);
        Self((hash & 0xffff_ffff) as u32)
    }
}
