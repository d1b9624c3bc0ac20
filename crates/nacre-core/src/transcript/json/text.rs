//! Strings of JSON, decoded only as far as they are wanted.
//!
//! Of most strings only the two ends are kept, so nothing is decoded before somebody says how much
//! of it; and whatever stands where an escape should be is kept rather than refused.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

use super::super::event::{Bounds, CUT_SLACK, back, cut_word_end, cut_word_start, front};

/// A string of JSON, or one that needs no decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in super::super) struct Text<'a> {
    raw: &'a str,
    /// `raw` is as written in JSON; otherwise it is the string itself.
    is_written: bool,
}

impl<'a> Text<'a> {
    /// A string as it stands between its quotes.
    pub(in super::super) fn written(raw: &'a str) -> Self {
        Self { raw, is_written: true }
    }

    /// A text that is not in JSON.
    pub(in super::super) fn plain(text: &'a str) -> Self {
        Self { raw: text, is_written: false }
    }

    pub(in super::super) fn is_empty(self) -> bool {
        self.raw.is_empty()
    }

    /// The whole string.
    pub(in super::super) fn decode(self) -> Cow<'a, str> {
        if self.is_written { decode(self.raw) } else { Cow::Borrowed(self.raw) }
    }

    /// Whether the string is `word`, which must need no escape.
    pub(in super::super) fn is(self, word: &str) -> bool {
        self.raw == word
    }

    /// The string as written, for comparison with words that need no escape.
    pub(in super::super) fn raw(self) -> &'a str {
        self.raw
    }

    /// The first `length` bytes of the string, or some more; all of a shorter one.
    pub(in super::super) fn opening(self, length: usize) -> Cow<'a, str> {
        // One byte takes at most six as written, seldom more than two; and twice six may have to be
        // left out at the end.
        for room in [length * 2 + 12, length * 6 + 12] {
            if !self.is_written || self.raw.len() <= room {
                return self.decode();
            }
            let first = front(self.raw, room);
            let text = decode(&first[..whole_escapes(first)]);
            if length <= text.len() {
                return text;
            }
        }
        self.decode()
    }

    /// Whether the string may begin with one of `words`, told without decoding it.
    pub(in super::super) fn may_open_with(self, words: &[&str]) -> bool {
        let raw = self.raw.as_bytes();
        words.iter().any(|word| {
            let n_same = raw.iter().zip(word.as_bytes()).take_while(|(a, b)| a == b).count();
            n_same == word.len() || raw.get(n_same) == Some(&b'\\')
        })
    }

    /// The string as it stands, for an event whose text nobody wants.
    pub(in super::super) fn unread(self) -> Ends<'a> {
        Ends { head: Cow::Borrowed(self.raw), tail: Cow::Borrowed(""), full_bytes: self.raw.len() }
    }

    /// The two ends of a string that is longer than `bounds`; else all of it as the head.
    pub(in super::super) fn ends(self, bounds: Bounds) -> Ends<'a> {
        // Redaction looks past the cuts.
        let (head_room, tail_room) = (bounds.head + CUT_SLACK, bounds.tail + CUT_SLACK);
        let is_short = self.raw.len() <= head_room + tail_room;
        if !self.is_written || is_short || decoded_length_is_within(self.raw, bounds) {
            let head = self.decode();
            return Ends { full_bytes: head.len(), head, tail: Cow::Borrowed("") };
        }
        let first = front(self.raw, head_room);
        let first = &first[..whole_escapes(first)];
        let last = back(self.raw, tail_room);
        let last = &last[escape_start(last)..];
        let (mut head, mut tail) = (decode(first), decode(last));
        // Half a secret would not be known as one.
        head = shortened(head, |text| 0..cut_word_start(text));
        tail = shortened(tail, |text| cut_word_end(text)..text.len());
        Ends { head, tail, full_bytes: decoded_length(self.raw) }
    }
}

fn shortened<'a>(text: Cow<'a, str>, kept: impl Fn(&str) -> Range<usize>) -> Cow<'a, str> {
    let kept = kept(&text);
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[kept]),
        Cow::Owned(text) if kept.len() == text.len() => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(text[kept].to_owned()),
    }
}

/// Whether a long string gets so short by decoding that nothing need be cut.
fn decoded_length_is_within(raw: &str, bounds: Bounds) -> bool {
    let kept = bounds.head + bounds.tail;
    // One byte takes at most six as written.
    raw.len() <= kept * 6 && decoded_length(raw) <= kept
}

/// The kept ends of a string; an empty `tail` means that `head` is all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Ends<'a> {
    pub(in super::super) head: Cow<'a, str>,
    pub(in super::super) tail: Cow<'a, str>,
    pub(in super::super) full_bytes: usize,
}

/// How much of `raw`, which begins outside of an escape, can be decoded without splitting one at its end.
fn whole_escapes(raw: &str) -> usize {
    let bytes = raw.as_bytes();
    // Two pairs of surrogates: whatever begins earlier is whole, and so is a pair that ends here.
    let window = bytes.len().saturating_sub(2 * LONGEST_ESCAPE);
    let n_before = bytes[..window].iter().rev().take_while(|byte| **byte == b'\\').count();
    // After an odd number of backslashes the next byte belongs to the last of them.
    let mut at = window + n_before % 2;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr(b'\\', rest)) {
        at += found;
        match Escape::read(&bytes[at..]) {
            Some(escape) if at + escape.longest() < bytes.len() => at += escape.length,
            Some(_) | None => return at,
        }
    }
    bytes.len()
}

/// Where the first character starts in a `raw` that may begin inside an escape.
fn escape_start(raw: &str) -> usize {
    // Past a run of backslashes and what could be the rest of a `\uXXXX`, all is plain again.
    let bytes = raw.as_bytes();
    let mut at = 0;
    while at < bytes.len().min(6) || bytes.get(at.wrapping_sub(1)) == Some(&b'\\') {
        at += 1;
    }
    raw.ceil_char_boundary(at.min(raw.len()))
}

pub(super) fn decode(raw: &str) -> Cow<'_, str> {
    let bytes = raw.as_bytes();
    let Some(first) = memchr(b'\\', bytes) else { return Cow::Borrowed(raw) };
    // Escapes are dense, so words are copied whole and written over from where an escape starts.
    let mut text = vec![0; bytes.len() + WORD];
    text[..first].copy_from_slice(&bytes[..first]);
    let (mut at, mut end) = (first, first);
    while let Some(word) = bytes[at..].first_chunk::<WORD>() {
        text[end..end + WORD].copy_from_slice(word);
        let length = find_in_word(word, b'\\').unwrap_or(WORD);
        at += length;
        end += length;
        if length < WORD {
            let (read, written) = decode_escape(&bytes[at..], &mut text[end..]);
            at += read;
            end += written;
        }
    }
    while let Some(byte) = bytes.get(at) {
        let (read, written) = match byte {
            b'\\' => decode_escape(&bytes[at..], &mut text[end..]),
            _ => {
                text[end] = *byte;
                (1, 1)
            }
        };
        at += read;
        end += written;
    }
    text.truncate(end);
    // Whole characters went in, so this never has to replace anything.
    Cow::Owned(match String::from_utf8(text) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// Decodes the escape at the start of `bytes` into `text`; returns how much was read and written.
#[inline]
fn decode_escape(bytes: &[u8], text: &mut [u8]) -> (usize, usize) {
    let simple = bytes.get(1).map_or(0, |byte| SIMPLE_ESCAPES[usize::from(*byte)]);
    if simple != 0 {
        text[0] = simple;
        return (2, 1);
    }
    match Escape::read(bytes) {
        Some(escape) => (escape.length, escape.character.encode_utf8(text).len()),
        // No escape of JSON: kept as it is, for the line is worth more than the rule.
        None => {
            text[0] = b'\\';
            (1, 1)
        }
    }
}

/// What the escapes of one letter stand for; 0 for all others.
const SIMPLE_ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'/' as usize] = b'/';
    table[b'b' as usize] = 8;
    table[b'f' as usize] = 12;
    table[b'n' as usize] = b'\n';
    table[b'r' as usize] = b'\r';
    table[b't' as usize] = b'\t';
    table
};

const WORD: usize = 8;

/// Where `byte` first stands in a word, by arithmetic on all of it at once.
#[inline]
fn find_in_word(word: &[u8; WORD], byte: u8) -> Option<usize> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zeros = u64::from_le_bytes(*word) ^ (LOW * u64::from(byte));
    let found = zeros.wrapping_sub(LOW) & !zeros & HIGH;
    (found != 0).then(|| found.trailing_zeros() as usize / 8)
}

/// The size of `raw` once decoded.
fn decoded_length(raw: &str) -> usize {
    let bytes = raw.as_bytes();
    let mut length = raw.len();
    let mut at = 0;
    while let Some(found) = memchr(b'\\', &bytes[at..]) {
        at += found;
        match Escape::read(&bytes[at..]) {
            Some(escape) => {
                length -= escape.length - escape.character.len_utf8();
                at += escape.length;
            }
            None => at += 1,
        }
    }
    length
}

/// A pair of surrogates, as written.
const LONGEST_ESCAPE: usize = 12;

/// One escape sequence of a JSON string.
struct Escape {
    character: char,
    /// Bytes as written.
    length: usize,
}

impl Escape {
    /// Its length, or that of the pair which half a pair of surrogates may become.
    fn longest(&self) -> usize {
        if self.character == char::REPLACEMENT_CHARACTER { LONGEST_ESCAPE } else { self.length }
    }

    /// Reads the escape at the start of `bytes`; an unpaired surrogate becomes U+FFFD.
    #[inline]
    fn read(bytes: &[u8]) -> Option<Self> {
        match bytes.get(1)? {
            b'u' => Self::read_unicode(bytes),
            letter => match SIMPLE_ESCAPES[usize::from(*letter)] {
                0 => None,
                simple => Some(Self { character: char::from(simple), length: 2 }),
            },
        }
    }

    fn read_unicode(bytes: &[u8]) -> Option<Self> {
        let unit = hex4(bytes.get(2..6)?)?;
        if let Some(character) = char::from_u32(unit) {
            return Some(Self { character, length: 6 });
        }
        let low = match bytes.get(6..8) {
            Some(b"\\u") => bytes.get(8..12).and_then(hex4),
            Some(_) | None => None,
        };
        match (unit, low) {
            (0xD800..0xDC00, Some(low @ 0xDC00..0xE000)) => {
                let point = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                Some(Self { character: char::from_u32(point)?, length: 12 })
            }
            _ => Some(Self { character: char::REPLACEMENT_CHARACTER, length: 6 }),
        }
    }
}

fn hex4(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| Some(value * 16 + (*digit as char).to_digit(16)?))
}
