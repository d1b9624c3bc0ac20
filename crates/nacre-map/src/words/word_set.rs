//! Some words that are looked for in many texts.
//!
//! A text has hundreds of words and hardly one that is asked for. So most are turned away by one bit, and how many are asked for
//! costs nothing.

use foldhash::fast::RandomState;
use std::collections::HashMap;

use super::Word;

/// Bits of a hash that the filter goes by: 8 KB, which stay in the fastest cache.
const FILTER_BITS: u32 = 16;

/// Words with their places.
#[derive(Clone, Debug, PartialEq)]
pub struct WordSet {
    filter: Vec<u64>,
    places: HashMap<Word, usize, RandomState>,
}

impl Default for WordSet {
    fn default() -> Self {
        Self { filter: vec![0; 1 << (FILTER_BITS - 6)], places: HashMap::default() }
    }
}

impl WordSet {
    /// Adds a word with its place, unless it is there.
    pub(super) fn insert(&mut self, word: Word, place: usize) -> bool {
        let (at, bit) = slot(word);
        self.filter[at] |= bit;
        match self.places.entry(word) {
            std::collections::hash_map::Entry::Occupied(_) => false,
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(place);
                true
            }
        }
    }

    /// False for nearly all words that are not in it.
    pub(super) fn may_have(&self, word: Word) -> bool {
        let (at, bit) = slot(word);
        self.filter[at] & bit != 0
    }

    /// The place of a word.
    pub fn find(&self, word: Word) -> Option<usize> {
        self.may_have(word).then(|| self.places.get(&word).copied()).flatten()
    }
}

fn slot(word: Word) -> (usize, u64) {
    let bits = word.0 >> (32 - FILTER_BITS);
    ((bits >> 6) as usize, 1 << (bits & 63))
}
