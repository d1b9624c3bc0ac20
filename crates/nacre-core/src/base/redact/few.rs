//! Finds the words of the automaton in a text that is not worth its table.
//!
//! The table takes milliseconds to make and a process that shows one line would pay for it. Here the words are a sorted list,
//! found by their first two bytes at every place of the text: a hundred times less to make, and ten times slower to use.

use std::cmp::Reverse;
use std::ops::Range;

use super::automaton::{Hit, classes};

/// The same words with the same numbers.
pub(super) struct FewWords {
    classes: [u8; 256],
    n_classes: usize,
    /// All words in classes of bytes, one behind the other, in the order of `words`.
    letters: Vec<u8>,
    /// Sorted by their letters.
    words: Vec<Word>,
    /// Where the words begin that have the same two first letters; a word of one has none of all for its second.
    starts: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Word {
    number: u16,
    start: u32,
    length: u16,
}

impl FewWords {
    pub(super) fn new(words: &[&str]) -> Self {
        let (classes, n_classes) = classes(words);
        let mut letters = Vec::new();
        let mut list = Vec::with_capacity(words.len());
        for (number, word) in words.iter().enumerate() {
            let start = letters.len() as u32;
            letters.extend(word.bytes().map(|byte| classes[usize::from(byte)]));
            list.push(Word { number: number as u16, start, length: word.len() as u16 });
        }
        let mut few = Self { classes, n_classes, letters, words: Vec::new(), starts: Vec::new() };
        list.sort_unstable_by(|a, b| few.letters(a).cmp(few.letters(b)));
        few.starts = vec![0; n_classes * n_classes + 1];
        for word in &list {
            let pair = few.pair(few.letters(word));
            few.starts[pair + 1] += 1;
        }
        for pair in 0..n_classes * n_classes {
            few.starts[pair + 1] += few.starts[pair];
        }
        few.words = list;
        few
    }

    fn letters(&self, word: &Word) -> &[u8] {
        &self.letters[word.start as usize..][..usize::from(word.length)]
    }

    /// The number of the two first letters.
    fn pair(&self, letters: &[u8]) -> usize {
        let letter = |at: usize| letters.get(at).copied().map_or(0, usize::from);
        letter(0) * self.n_classes + letter(1)
    }

    /// The words that a text begins with: those of one letter, and those with the same two.
    fn beginning<'a>(&'a self, letters: &'a [u8]) -> impl Iterator<Item = &'a Word> {
        let pair = self.pair(letters);
        let alone = pair - pair % self.n_classes;
        let with =
            |pair: usize| &self.words[self.starts[pair] as usize..self.starts[pair + 1] as usize];
        let longer: &[Word] = if pair == alone { &[] } else { with(pair) };
        // The first class is that of all bytes that no word has.
        let is_any = letters.first().is_some_and(|letter| *letter != 0);
        let found = with(alone).iter().chain(longer).filter(move |_| is_any);
        found.filter(|word| letters.starts_with(self.letters(word)))
    }

    /// Hands every place of `part` where words end to `each`, in order. Returns whether all of it is ASCII.
    pub(super) fn each_hit(
        &self,
        text: &[u8],
        part: &Range<usize>,
        mut each: impl FnMut(Hit<'_>),
    ) -> bool {
        let part = part.start.min(text.len())..part.end.min(text.len());
        let text = &text[part.clone()];
        let letters: Vec<u8> = text.iter().map(|byte| self.classes[usize::from(*byte)]).collect();
        let mut hits: Vec<(usize, Reverse<u16>, u16)> = Vec::new();
        for at in 0..letters.len() {
            hits.extend(self.beginning(&letters[at..]).map(|word| {
                let end = part.start + at + usize::from(word.length);
                (end, Reverse(word.length), word.number)
            }));
        }
        hits.sort_unstable();
        for same in hits.chunk_by(|a, b| a.0 == b.0) {
            let words: Vec<u16> = same.iter().map(|(_, _, number)| *number).collect();
            each(Hit { end: same[0].0, words: &words });
        }
        text.is_ascii()
    }
}
