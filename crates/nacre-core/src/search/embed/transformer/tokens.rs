//! A text as the tokens of BERT without case: lower case, no accents, words, word pieces.

use crate::search::embed::chars::{
    is_ideograph, is_mark, is_punctuation, is_unseen, without_accents,
};
use crate::search::embed::pieces::{Known, Vocabulary};

/// A longer word is unknown as a whole.
const MAX_WORD_CHARS: usize = 100;

/// The tokens that are no words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Special {
    pub(super) begin: u32,
    pub(super) end: u32,
    pub(super) unknown: u32,
}

/// The text's tokens between those of begin and end, at most `max_tokens` in all.
pub(super) fn tokens(
    vocabulary: Vocabulary<'_>,
    special: Special,
    text: &str,
    max_tokens: usize,
) -> Vec<u32> {
    let mut tokens = vec![special.begin];
    let mut word = Word::default();
    for c in text.chars() {
        if tokens.len() >= max_tokens {
            break;
        }
        // The end of a word that was begun is marked by what cannot be part of one.
        if c.is_whitespace() || is_ideograph(c) || is_punctuation(c) {
            word.finish(vocabulary, special, &mut tokens);
            if !c.is_whitespace() {
                word.push(c);
                word.finish(vocabulary, special, &mut tokens);
            }
        } else if !is_unseen(c) && c != '\u{fffd}' {
            word.push(c);
        }
    }
    word.finish(vocabulary, special, &mut tokens);
    tokens.truncate(max_tokens.saturating_sub(1));
    tokens.push(special.end);
    tokens
}

/// The word that is being read.
#[derive(Default)]
struct Word {
    text: String,
    n_chars: usize,
}

impl Word {
    /// Adds a character as it is written without case and accents.
    fn push(&mut self, c: char) {
        if self.n_chars > MAX_WORD_CHARS {
            return;
        }
        if let Some(letters) = hangul_letters(c) {
            letters.into_iter().flatten().for_each(|letter| self.push_plain(letter));
            return;
        }
        for c in without_accents(c).to_lowercase() {
            self.push_plain(without_accents(c));
        }
    }

    fn push_plain(&mut self, c: char) {
        if !is_mark(c) {
            self.text.push(c);
            self.n_chars += 1;
        }
    }

    /// Adds the word's tokens and begins the next one.
    fn finish(&mut self, vocabulary: Vocabulary<'_>, special: Special, tokens: &mut Vec<u32>) {
        let is_long = self.n_chars > MAX_WORD_CHARS;
        if is_long || vocabulary.cut(&self.text, tokens) == Known::No {
            tokens.push(special.unknown);
        }
        self.text.clear();
        self.n_chars = 0;
    }
}

/// The letters that a Korean syllable is written with.
fn hangul_letters(c: char) -> Option<[Option<char>; 3]> {
    let idx = u32::from(c).checked_sub(0xAC00).filter(|idx| *idx < 11_172)?;
    let last = (idx % 28 != 0).then(|| char::from_u32(0x11A7 + idx % 28)).flatten();
    let first = char::from_u32(0x1100 + idx / 588);
    Some([first, char::from_u32(0x1161 + idx % 588 / 28), last])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::embed::pieces::testing::vocabulary;

    const SPECIAL: Special = Special { begin: 0, end: 1, unknown: 2 };

    fn names(text: &str, max_tokens: usize) -> String {
        let words = [
            "[CLS]", "[SEP]", "[UNK]", "cafe", "##s", ",", "記", "use", "и", "か", "ᄒ", "##ᅡ",
            "##ᆫ", "…",
        ];
        let (bytes, place) = vocabulary(&words);
        let vocabulary = Vocabulary::new(&bytes, &place);
        let tokens = tokens(vocabulary, SPECIAL, text, max_tokens);
        tokens.iter().map(|token| words[*token as usize]).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_lose_case_and_accents_and_are_cut() {
        let cases = [
            ("", "[CLS] [SEP]"),
            ("  \n", "[CLS] [SEP]"),
            ("Use CAFÉS,use…", "[CLS] use cafe ##s , use … [SEP]"),
            ("cafe\u{301}\u{200b}s", "[CLS] cafe ##s [SEP]"),
            ("use記use", "[CLS] use 記 use [SEP]"),
            ("й が 한", "[CLS] и か ᄒ ##ᅡ ##ᆫ [SEP]"),
            ("x use", "[CLS] [UNK] use [SEP]"),
            ("[CLS]", "[CLS] [UNK] [UNK] [UNK] [SEP]"),
        ];
        for (text, expected) in cases {
            assert_eq!(names(text, 256), expected, "{text:?}");
        }
        assert_eq!(names(&"s".repeat(101), 9), "[CLS] [UNK] [SEP]");
    }

    #[test]
    fn a_long_text_is_cut_to_its_beginning() {
        assert_eq!(names(&"use ".repeat(300), 5), "[CLS] use use use [SEP]");
        assert_eq!(names("cafes cafes", 4), "[CLS] cafe ##s [SEP]");
    }
}
