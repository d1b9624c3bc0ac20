//! The text as a reader sees it: JSON escapes of ASCII resolved, and terminal sequences left out.
//!
//! Secrets are looked for in this copy as well. What is found there is replaced in the text as it came, so that the
//! rest of the text stays as it was.

use std::ops::Range;

/// A longer terminal sequence is not followed.
const MAX_SEQUENCE: usize = 32;

/// What a text that has to be folded contains. The engine looks for these with its other anchors.
pub(super) const TRIGGERS: [&str; 2] = ["\\u00", "\x1b"];

/// A piece of the text that is read as something else.
#[derive(Clone, Copy, Debug)]
struct Unit {
    /// Where it is in the folded text.
    at: usize,
    /// Its length in the folded text: one byte, or nothing.
    len: usize,
    /// Where it is in the text as it came.
    start: usize,
    end: usize,
}

/// A folded text that remembers where every byte came from.
#[derive(Default)]
pub(super) struct Folded {
    pub(super) text: String,
    units: Vec<Unit>,
}

impl Folded {
    /// Folds `text`; returns nothing if it reads as it is written.
    pub(super) fn new(text: &str) -> Option<Self> {
        let mut folded = Self::default();
        let (mut done, mut pos) = (0, 0);
        let bytes = text.as_bytes();
        while let Some(at) = memchr::memchr2(b'\\', 0x1b, &bytes[pos..]) {
            let start = pos + at;
            let Some((byte, len)) = escape(&bytes[start..]) else {
                pos = start + bytes[start..].iter().take_while(|byte| **byte == b'\\').count();
                continue;
            };
            let is_terminal = byte == 0x1b;
            pos = start + len + if is_terminal { sequence_len(&bytes[start + len..]) } else { 0 };
            folded.text.push_str(&text[done..start]);
            let unit =
                Unit { at: folded.text.len(), len: usize::from(!is_terminal), start, end: pos };
            folded.units.push(unit);
            folded.text.extend((!is_terminal).then_some(char::from(byte)));
            done = pos;
        }
        folded.text.push_str(&text[done..]);
        (!folded.units.is_empty()).then_some(folded)
    }

    /// Returns the places of the folded text that are read otherwise, of those that came from `parts`.
    pub(super) fn spots(&self, parts: &[Range<usize>]) -> Vec<usize> {
        let is_in = |unit: &&Unit| {
            let next = parts.partition_point(|part| part.end < unit.start);
            parts.get(next).is_some_and(|part| part.start <= unit.end)
        };
        self.units.iter().filter(is_in).map(|unit| unit.at).collect()
    }

    /// Returns where `range` of the folded text came from.
    pub(super) fn origin(&self, range: Range<usize>) -> Range<usize> {
        let start = self.byte_origin(range.start).start;
        let end = range.end.checked_sub(1).map_or(start, |last| self.byte_origin(last).end);
        start..end.max(start)
    }

    fn byte_origin(&self, pos: usize) -> Range<usize> {
        let next = self.units.partition_point(|unit| unit.at + unit.len <= pos);
        if let Some(unit) = self.units.get(next).filter(|unit| unit.at == pos) {
            return unit.start..unit.end;
        }
        let start = match next.checked_sub(1).and_then(|before| self.units.get(before)) {
            Some(unit) => unit.end + (pos - unit.at - unit.len),
            None => pos,
        };
        start..start + 1
    }
}

/// Returns the character of ASCII that is escaped at the beginning of `bytes`, at any depth of JSON, and the length of
/// the escape. Quotes and backslashes stay escaped: they belong to the document.
fn escape(bytes: &[u8]) -> Option<(u8, usize)> {
    if bytes.first() == Some(&0x1b) {
        return Some((0x1b, 1));
    }
    let n_slashes = bytes.iter().take_while(|byte| **byte == b'\\').count();
    let digits = bytes.get(n_slashes..)?.strip_prefix(b"u00")?.get(..2)?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    let byte = u8::from_str_radix(str::from_utf8(digits).ok().filter(|_| is_hex)?, 16).ok()?;
    let is_plain = (byte.is_ascii_graphic() || byte == b' ') && !b"\"'`\\".contains(&byte);
    (is_plain || byte == 0x1b).then_some((byte, n_slashes + 5))
}

/// Returns the length of what follows an escape character and goes to the terminal.
fn sequence_len(rest: &[u8]) -> usize {
    match rest {
        [b'[', tail @ ..] => {
            let is_parameter = |byte: &&u8| (0x20..0x40).contains(*byte);
            let n = tail.iter().take(MAX_SEQUENCE).take_while(is_parameter).count();
            let is_whole = tail.get(n).is_some_and(|byte| (0x40..0x7f).contains(byte));
            if is_whole { n + 2 } else { 0 }
        }
        [b'(' | b')', set, ..] if set.is_ascii_alphanumeric() => 2,
        _ => 0,
    }
}
