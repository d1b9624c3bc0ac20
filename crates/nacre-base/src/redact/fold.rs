//! Copies text with JSON escapes of ASCII characters decoded and terminal sequences removed.
//!
//! The copy is searched for secrets in addition to the original. Findings are mapped back to the
//! original text, so everything outside them stays unchanged.

use std::ops::Range;

const MAX_SEQUENCE: usize = 32;

/// Only text that contains one of these strings is folded. They are searched for together with the
/// other anchors.
pub(super) const TRIGGERS: [&str; 2] = ["\\u00", "\x1b"];

/// A piece of the original text that differs in the folded text.
#[derive(Clone, Copy, Debug)]
struct Unit {
    /// Offset in the folded text.
    at: usize,
    /// Length in the folded text: one byte, or 0 if the piece is removed.
    len: usize,
    /// Offset in the original text.
    start: usize,
    end: usize,
}

#[derive(Default)]
pub(super) struct Folded {
    pub(super) text: String,
    units: Vec<Unit>,
}

impl Folded {
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

    pub(super) fn spots(&self, parts: &[Range<usize>]) -> Vec<usize> {
        let is_in = |unit: &&Unit| {
            let next = parts.partition_point(|part| part.end < unit.start);
            parts.get(next).is_some_and(|part| part.start <= unit.end)
        };
        self.units.iter().filter(is_in).map(|unit| unit.at).collect()
    }

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

/// Decodes the JSON escape at the start of `bytes`, at any nesting depth. Returns the ASCII
/// character and the escape's length. Quotes and backslashes are not decoded, because they are part
/// of the document's syntax.
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
