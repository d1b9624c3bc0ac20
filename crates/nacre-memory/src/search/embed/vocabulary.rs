//! A vocabulary that splits words into the longest pieces it contains.
//!
//! The hash table is part of the model file, so opening a model needs no setup. The file may be
//! damaged or malicious, so every number in it is checked.

use std::ops::Range;

/// The prefix of pieces that continue a word, as in WordPiece.
const CONTINUED: &[u8] = b"##";

#[derive(Clone, Debug, Default)]
pub(super) struct VocabularyPlace {
    pub(super) offsets: Range<usize>,
    pub(super) slots: Range<usize>,
    pub(super) text: Range<usize>,
}

/// Tokens and their hash table, as little-endian numbers in a borrowed file.
#[derive(Clone, Copy, Debug)]
pub(in crate::search) struct Vocabulary<'a> {
    /// The offset in `text` where each token starts, then the offset where the last one ends.
    offsets: &'a [u8],
    /// Each slot contains a token's index plus one, or 0 if it is empty. The number of slots is a
    /// power of two.
    slots: &'a [u8],
    text: &'a [u8],
}

impl<'a> Vocabulary<'a> {
    pub(super) fn new(bytes: &'a [u8], place: &VocabularyPlace) -> Self {
        let section = |range: &Range<usize>| bytes.get(range.clone()).unwrap_or_default();
        Self {
            offsets: section(&place.offsets),
            slots: section(&place.slots),
            text: section(&place.text),
        }
    }

    pub(super) fn token(&self, idx: u32) -> Option<&'a [u8]> {
        let idx = usize::try_from(idx).ok()?;
        let first = usize::try_from(number(self.offsets, idx)?).ok()?;
        let end = usize::try_from(number(self.offsets, idx + 1)?).ok()?;
        self.text.get(first..end)
    }

    pub(super) fn find(&self, token: &str) -> Option<u32> {
        self.probe(hash(HASH_START, token.as_bytes()), |known| known == token.as_bytes())
    }

    /// Adds the word's pieces to `pieces`, always taking the longest match. Adds nothing and
    /// returns `false` if some part of the word is not in the vocabulary.
    pub(super) fn cut(&self, word: &str, pieces: &mut Vec<u32>) -> bool {
        let n_before = pieces.len();
        let mut start = 0;
        while start < word.len() {
            let Some((piece, end)) = self.longest(word, start) else {
                pieces.truncate(n_before);
                return false;
            };
            pieces.push(piece);
            start = end;
        }
        true
    }

    fn longest(&self, word: &str, start: usize) -> Option<(u32, usize)> {
        let begun = if start == 0 { HASH_START } else { hash(HASH_START, CONTINUED) };
        let rest = &word[start..];
        // The hash is incremental, so one pass computes the hashes of all prefixes.
        let ends = rest.char_indices().scan(begun, |state, (at, c)| {
            let end = at + c.len_utf8();
            *state = hash(*state, &rest.as_bytes()[at..end]);
            Some((end, *state))
        });
        let ends: Vec<(usize, u64)> = ends.collect();
        ends.into_iter().rev().find_map(|(end, hashed)| {
            let piece = &rest.as_bytes()[..end];
            let found = match start {
                0 => self.probe(hashed, |known| known == piece),
                _ => self.probe(hashed, |known| known.strip_prefix(CONTINUED) == Some(piece)),
            };
            found.map(|idx| (idx, start + end))
        })
    }

    fn probe(&self, hashed: u64, is_it: impl Fn(&[u8]) -> bool) -> Option<u32> {
        let n_slots = self.slots.len() / 4;
        let mask = n_slots.checked_sub(1)?;
        let start = usize::try_from(hashed & mask as u64).ok()?;
        for step in 0..n_slots {
            let idx = number(self.slots, (start + step) & mask)?.checked_sub(1)?;
            if self.token(idx).is_some_and(&is_it) {
                return Some(idx);
            }
        }
        None
    }
}

const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

fn hash(state: u64, bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(state, |state, byte| (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

pub(super) fn number(section: &[u8], idx: usize) -> Option<u32> {
    let at = idx.checked_mul(4)?;
    let bytes = section.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
pub(super) fn write<'t>(tokens: impl ExactSizeIterator<Item = &'t str>) -> Written {
    let n_slots = (tokens.len() * 3).div_ceil(2).next_power_of_two();
    let mut written = Written { offsets: Vec::new(), slots: vec![0; n_slots], text: Vec::new() };
    for (token, idx) in tokens.zip(1_u32..) {
        written.offsets.push(u32::try_from(written.text.len()).unwrap_or(u32::MAX));
        written.text.extend_from_slice(token.as_bytes());
        let mut slot = hash(HASH_START, token.as_bytes()) as usize & (n_slots - 1);
        while written.slots[slot] != 0 {
            slot = (slot + 1) & (n_slots - 1);
        }
        written.slots[slot] = idx;
    }
    written.offsets.push(u32::try_from(written.text.len()).unwrap_or(u32::MAX));
    written
}

#[cfg(test)]
#[derive(Debug)]
pub(super) struct Written {
    pub(super) offsets: Vec<u32>,
    pub(super) slots: Vec<u32>,
    pub(super) text: Vec<u8>,
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    pub(in crate::search::embed) fn vocabulary(tokens: &[&str]) -> (Vec<u8>, VocabularyPlace) {
        let written = write(tokens.iter().copied());
        let numbers = written.offsets.iter().chain(&written.slots);
        let mut bytes: Vec<u8> = numbers.flat_map(|number| number.to_le_bytes()).collect();
        bytes.extend_from_slice(&written.text);
        let slots = 4 * written.offsets.len();
        let text = slots + 4 * written.slots.len();
        let place =
            VocabularyPlace { offsets: 0..slots, slots: slots..text, text: text..bytes.len() };
        (bytes, place)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::testing::vocabulary;
    use super::*;

    fn cut(word: &str) -> Option<Vec<u32>> {
        let (bytes, place) = vocabulary(&["un", "##aff", "##able", "##a", "é", "##é", "unaff"]);
        let mut pieces = vec![99];
        let known = Vocabulary::new(&bytes, &place).cut(word, &mut pieces);
        assert_eq!(pieces.remove(0), 99);
        known.then_some(pieces)
    }

    #[test]
    fn a_word_is_cut_into_its_longest_pieces() {
        assert_eq!(cut("un"), Some(vec![0]));
        assert_eq!(cut("unaffable"), Some(vec![6, 2]));
        assert_eq!(cut("unaaff"), Some(vec![0, 3, 1]));
        assert_eq!(cut("éé"), Some(vec![4, 5]));
        assert_eq!(cut("unx"), None);
        assert_eq!(cut("able"), None);
        assert_eq!(cut("##able"), Some(vec![2]), "a word that equals a token matches it");
        assert_eq!(cut(""), Some(vec![]));
    }

    proptest! {
        #[test]
        fn every_token_is_found_and_no_other(
            tokens in proptest::collection::btree_set("[a-zé#]{1,6}", 1..60),
            other in "[a-zé#]{1,6}",
        ) {
            let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
            let (bytes, place) = vocabulary(&tokens);
            let vocabulary = Vocabulary::new(&bytes, &place);
            for (token, idx) in tokens.iter().zip(0..) {
                prop_assert_eq!(vocabulary.find(token), Some(idx));
                prop_assert_eq!(vocabulary.token(idx), Some(token.as_bytes()));
            }
            prop_assert_eq!(vocabulary.find(&other).is_some(), tokens.contains(&other.as_str()));
        }

        #[test]
        fn damaged_sections_are_no_danger(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            cuts in proptest::array::uniform2(0_usize..220),
            word in "\\PC{0,12}",
        ) {
            let place = VocabularyPlace {
                offsets: 0..cuts[0],
                slots: cuts[0]..cuts[1].max(cuts[0]),
                text: cuts[1].max(cuts[0])..bytes.len().max(cuts[1]).max(cuts[0]),
            };
            let vocabulary = Vocabulary::new(&bytes, &place);
            let mut pieces = Vec::new();
            vocabulary.cut(&word, &mut pieces);
            prop_assert!(pieces.len() <= word.len());
        }
    }
}
