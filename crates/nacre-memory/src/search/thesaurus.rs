//! A table of words with similar meanings, built into the program.
//!
//! `crates/nacre-lab/scripts/embedding/thesaurus.py` generates the table by finding the nearest
//! neighbors of each common word. A lookup is a binary search, because comparing word vectors for
//! each query would take longer than the search itself.

use super::segment::{u32_at, u64_at};

static SHIPPED: &[u8] = include_bytes!("../../assets/thesaurus.bin");

const MAGIC: &[u8] = b"NACRETHS";

/// The header's magic number, word count, entry count, text size in bytes, and a reserved number.
const HEADER_BYTES: usize = 24;

/// A word's index and its similarity from 0 to 255.
const ENTRY_BYTES: usize = 3;

const MIN_NEARNESS: f32 = 0.75;

pub fn near_words(word: &str) -> Vec<&'static str> {
    let near = Thesaurus::load_shipped().near(word);
    near.filter(|(_, nearness)| *nearness >= MIN_NEARNESS).map(|(word, _)| word).collect()
}

/// Returns words similar in meaning to `word`, nearest first, with their similarities.
pub fn neighbors(word: &str) -> impl Iterator<Item = (&'static str, f32)> {
    Thesaurus::load_shipped().near(word)
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Thesaurus<'a> {
    n_words: usize,
    word_starts: &'a [u8],
    entry_starts: &'a [u8],
    entries: &'a [u8],
    text: &'a [u8],
}

impl Thesaurus<'static> {
    pub(super) fn load_shipped() -> Self {
        Self::open(SHIPPED).unwrap_or(Self {
            n_words: 0,
            word_starts: &[],
            entry_starts: &[],
            entries: &[],
            text: &[],
        })
    }
}

impl<'a> Thesaurus<'a> {
    fn open(bytes: &'a [u8]) -> Option<Self> {
        if !bytes.starts_with(MAGIC) {
            return None;
        }
        let number = |idx: usize| usize::try_from(u32_at(bytes, MAGIC.len() + idx * 4)?).ok();
        let (n_words, n_entries, n_text) = (number(0)?, number(1)?, number(2)?);
        let mut at = HEADER_BYTES;
        let mut section = |len: usize| {
            let found = bytes.get(at..at.checked_add(len)?)?;
            at += len;
            Some(found)
        };
        let starts = n_words.checked_add(1)?.checked_mul(4)?;
        Some(Self {
            n_words,
            word_starts: section(starts)?,
            entry_starts: section(starts)?,
            entries: section(n_entries.checked_mul(ENTRY_BYTES)?)?,
            text: section(n_text)?,
        })
    }

    pub(super) fn near(self, word: &str) -> impl Iterator<Item = (&'a str, f32)> {
        let entries = self.find(word).and_then(|idx| {
            let (first, end) = self.range(self.entry_starts, idx)?;
            self.entries.get(first * ENTRY_BYTES..end * ENTRY_BYTES)
        });
        entries.unwrap_or_default().chunks_exact(ENTRY_BYTES).filter_map(move |entry| {
            let word = self.word(usize::from(u16::from_le_bytes([entry[0], entry[1]])))?;
            Some((word, f32::from(entry[2]) / 255.0))
        })
    }

    fn find(self, word: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.n_words);
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.word(middle)?.cmp(word) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    fn word(self, idx: usize) -> Option<&'a str> {
        let (first, end) = self.range(self.word_starts, idx)?;
        std::str::from_utf8(self.text.get(first..end)?).ok()
    }

    fn range(self, starts: &[u8], idx: usize) -> Option<(usize, usize)> {
        let both = u64_at(starts, idx.checked_mul(4)?)?;
        Some((usize::try_from(both & 0xffff_ffff).ok()?, usize::try_from(both >> 32).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_have_neighbours() {
        let thesaurus = Thesaurus::load_shipped();
        let near: Vec<&str> = thesaurus.near("database").map(|(word, _)| word).collect();
        assert!(near.contains(&"sql"), "{near:?}");
        assert_eq!(thesaurus.near("qwertzuiop").count(), 0);
        assert_eq!(thesaurus.near("").count(), 0);
    }

    #[test]
    fn a_damaged_table_is_none() {
        for len in [0, 8, 20, 24, 100, SHIPPED.len() - 1] {
            assert!(Thesaurus::open(&SHIPPED[..len]).is_none(), "{len}");
        }
    }
}
