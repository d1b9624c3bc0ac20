//! A model's own vocabulary, for who wants to know exactly: the format that tiktoken keeps its ranks in.
//!
//! One line a token, base64 and rank. Words are cut as GPT-4's tokenizer cuts them, and merged by rank.

use std::collections::HashMap;

/// A larger file is no vocabulary.
const MAX_BYTES: usize = 32 << 20;

/// A longer piece is cut before it is merged: merging costs the square of its length.
const MAX_PIECE_BYTES: usize = 512;

/// The tokens that a model knows, by the order in which they are merged.
#[derive(Debug)]
pub struct Vocabulary {
    ranks: HashMap<Vec<u8>, u32>,
}

/// A file that holds no vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadVocabulary {
    #[error("It has {size} bytes, more than {MAX_BYTES}")]
    TooLarge { size: usize },
    #[error("Line {line} is no token in base64 with its rank")]
    Line { line: usize },
    #[error("It holds no token")]
    Empty,
}

impl Vocabulary {
    /// Reads the ranks of a `.tiktoken` file.
    pub fn read(text: &str) -> Result<Self, BadVocabulary> {
        if MAX_BYTES < text.len() {
            return Err(BadVocabulary::TooLarge { size: text.len() });
        }
        let mut ranks = HashMap::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
            let bad = BadVocabulary::Line { line: number + 1 };
            let (token, rank) = line.split_once(' ').ok_or(bad.clone())?;
            let (token, rank) = (base64(token).ok_or(bad.clone())?, rank.parse().map_err(|_| bad)?);
            ranks.insert(token, rank);
        }
        if ranks.is_empty() { Err(BadVocabulary::Empty) } else { Ok(Self { ranks }) }
    }

    /// Counts the tokens of a text.
    pub fn tokens(&self, text: &str) -> usize {
        let pieces = pieces(text).into_iter();
        pieces
            .flat_map(|piece| piece.as_bytes().chunks(MAX_PIECE_BYTES))
            .map(|piece| self.merged(piece))
            .sum()
    }

    /// How many tokens are left when no two of them are one.
    fn merged(&self, piece: &[u8]) -> usize {
        if self.ranks.contains_key(piece) {
            return 1;
        }
        let mut starts: Vec<usize> = (0..=piece.len()).collect();
        loop {
            let pairs = starts.windows(3).enumerate();
            let ranked = pairs.filter_map(|(at, pair)| {
                let rank = self.ranks.get(piece.get(pair[0]..pair[2])?)?;
                Some((*rank, at))
            });
            let Some((_, at)) = ranked.min() else { return starts.len() - 1 };
            starts.remove(at + 1);
        }
    }
}

/// Cuts a text into the pieces that are merged one by one.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(piece_len(rest).clamp(1, rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn run(text: &str, from: usize, is: impl Fn(char) -> bool) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    rest.find(|c: char| !is(c)).map_or(text.len(), |at| from + at)
}

/// `'s`, a word with one mark before it, up to three digits, marks with a space before and breaks behind, or white space.
fn piece_len(text: &str) -> usize {
    let mut chars = text.chars();
    let (Some(first), second) = (chars.next(), chars.next()) else { return 0 };
    let n_first = first.len_utf8();
    if first == '\'' {
        let ends = ["'re", "'ve", "'ll", "'s", "'t", "'m", "'d"];
        let found = ends
            .iter()
            .find(|end| text.get(..end.len()).is_some_and(|word| word.eq_ignore_ascii_case(end)));
        if let Some(end) = found {
            return end.len();
        }
    }
    let is_break = |c: char| matches!(c, '\r' | '\n');
    let is_mark = |c: char| !c.is_whitespace() && !c.is_alphanumeric();
    if first.is_alphabetic() {
        return run(text, 0, char::is_alphabetic);
    }
    if !is_break(first) && !first.is_numeric() && second.is_some_and(char::is_alphabetic) {
        return run(text, n_first, char::is_alphabetic);
    }
    if first.is_numeric() {
        return text.chars().take(3).take_while(|c| c.is_numeric()).map(char::len_utf8).sum();
    }
    let marks = if first == ' ' && second.is_some_and(is_mark) { n_first } else { 0 };
    if is_mark(first) || 0 < marks {
        return run(text, run(text, marks, is_mark), is_break);
    }
    spaces(text)
}

/// White space: up to its last line break, or all but the space that belongs to the next word.
fn spaces(text: &str) -> usize {
    let end = run(text, 0, char::is_whitespace);
    let blank = &text[..end];
    if let Some(at) = blank.rfind(['\r', '\n']) {
        return at + 1;
    }
    let last = blank.chars().next_back().map_or(0, char::len_utf8);
    if end == text.len() || end == last { end } else { end - last }
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let mut bits = 0_u32;
        for digit in group {
            bits = bits << 6 | u32::from(value(*digit)?);
        }
        bits <<= 6 * (4 - group.len());
        let whole = bits.to_be_bytes();
        bytes.extend(whole.get(1..group.len())?);
    }
    Some(bytes)
}
