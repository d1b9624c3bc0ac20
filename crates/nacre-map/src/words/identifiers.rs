//! The different identifiers of one text, and how often it has each.
//!
//! A text says most of its identifiers again and again. So they are counted as they stand, and only the different ones are split
//! into words.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;

use super::defined::Keyword;

/// The fewest places of a table.
const MIN_PLACES: usize = 256;

/// A text has about one different identifier for so many bytes, or fewer.
const BYTES_PER_PLACE: usize = 16;

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// An identifier of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identifier {
    /// Where it stands first.
    start: usize,
    end: usize,
    hash: u64,
    pub(super) n_all: u32,
    pub(super) n_defined: u32,
    pub(super) keyword: Keyword,
}

impl Identifier {
    pub(super) fn text<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start..self.end]
    }
}

/// The identifiers of a text in the order in which each stands first, in memory that is used again.
#[derive(Debug)]
pub(super) struct Identifiers {
    all: Vec<Identifier>,
    /// A table by hash of places in `all`, from 1; 0 where there is none.
    places: Vec<u32>,
    /// Nobody who writes a text knows it, so no text can be made whose identifiers all meet at one place.
    seed: u64,
}

impl Default for Identifiers {
    fn default() -> Self {
        let seed = RandomState::default().hash_one(0_u8);
        Self { all: Vec::new(), places: Vec::new(), seed }
    }
}

impl Identifiers {
    /// Begins with a text of so many bytes.
    pub(super) fn begin(&mut self, n_bytes: usize) {
        let n_places = (n_bytes / BYTES_PER_PLACE).next_power_of_two().max(MIN_PLACES);
        self.all.clear();
        self.places.clear();
        self.places.resize(n_places, 0);
    }

    /// Finds the identifier at a place of the text, or adds it.
    pub(super) fn find(&mut self, text: &[u8], start: usize, end: usize) -> &mut Identifier {
        let hash = hash_of(self.seed, text, start, end);
        let last = self.places.len() - 1;
        let mut at = slot(hash, last);
        while let Some(known) = (self.places[at] as usize).checked_sub(1) {
            let one = &self.all[known];
            if one.hash == hash && one.text(text) == &text[start..end] {
                return &mut self.all[known];
            }
            at = (at + 1) & last;
        }
        let keyword = Keyword::of(&text[start..end]);
        self.all.push(Identifier { start, end, hash, n_all: 0, n_defined: 0, keyword });
        let new = self.all.len();
        self.places[at] = u32::try_from(new).unwrap_or(u32::MAX);
        if self.places.len() < new * 2 {
            self.grow();
        }
        &mut self.all[new - 1]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Identifier> {
        self.all.iter()
    }

    fn grow(&mut self) {
        let n_places = self.places.len() * 2;
        self.places.clear();
        self.places.resize(n_places, 0);
        let last = n_places - 1;
        for (idx, one) in (1..).zip(&self.all) {
            let mut at = slot(one.hash, last);
            while self.places[at] != 0 {
                at = (at + 1) & last;
            }
            self.places[at] = idx;
        }
    }
}

fn slot(hash: u64, last: usize) -> usize {
    usize::try_from(hash >> 32).unwrap_or_default() & last
}

/// Eight bytes at once; what stands behind the end does not count.
fn hash_of(seed: u64, text: &[u8], start: usize, end: usize) -> u64 {
    let mut hash = seed ^ (end - start) as u64;
    let mut at = start;
    while at < end {
        let n_bytes = (end - at).min(8);
        let eight = match text[at..].first_chunk::<8>() {
            Some(eight) => u64::from_le_bytes(*eight),
            None => {
                let mut eight = [0; 8];
                eight[..n_bytes].copy_from_slice(&text[at..at + n_bytes]);
                u64::from_le_bytes(eight)
            }
        };
        let kept = eight & (u64::MAX >> (64 - 8 * n_bytes));
        hash = (hash ^ kept).wrapping_mul(MULTIPLIER);
        hash ^= hash >> 29;
        at += 8;
    }
    hash
}
