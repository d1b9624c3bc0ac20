//! The words of texts: how code is split into words, what is counted of a text, what a question asks for, and what a pattern can be
//! ruled out by.
//!
//! A word is kept as a hash of 32 bits, and what is counted depends on the bytes alone. So the words of a text can be kept by its
//! content, and however an index was brought up to date, it says what one built from nothing says.

mod alike;
mod bag;
mod defined;
mod forms;
mod frame;
mod identifiers;
mod question;
mod split;
mod stem;
#[cfg(test)]
mod tests;
mod trigrams;
mod word_set;

pub use bag::{Bag, BagMaker, Counts, WORDS_FORMAT, is_text};
pub use question::{Asked, Kin, Question};
pub use split::{each_identifier, each_identifier_by, each_part, identifiers, part_words};
pub use stem::stem;
pub use trigrams::{Trigram, Trigrams};
pub use word_set::WordSet;

/// A word, known by its hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Word(pub u32);

/// Tells whole identifiers from the words that they are made of.
const WHOLE_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

const PART_SEED: u64 = 0xcbf2_9ce4_8422_2325;

impl Word {
    /// A word of an identifier, in lower case and without its ending.
    pub fn part(stem: &[u8]) -> Self {
        Self::of(PART_SEED, stem)
    }

    /// A whole identifier of several words: they stand behind one another, in lower case.
    pub fn whole(joined: &[u8]) -> Self {
        Self::of(WHOLE_SEED, joined)
    }

    /// FNV-1a: words are short, and most of them are.
    fn of(seed: u64, bytes: &[u8]) -> Self {
        let mut hash = seed;
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let hash = hash ^ (hash >> 32);
        Self((hash & 0xffff_ffff) as u32)
    }
}
