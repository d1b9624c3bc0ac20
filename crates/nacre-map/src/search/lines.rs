//! The lines of a text, and those that a pattern matches.
//!
//! A line is what stands between line breaks, without a carriage return at its end, and a match lies in one line.

use super::pattern::Pattern;

/// So much of a line is matched; what is longer was made by a program.
pub(super) const MAX_LINE_BYTES: usize = 256 << 10;

/// So much of a text is searched before the clock is looked at.
const CHUNK_BYTES: usize = 64 << 10;

/// A line with its number, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextLine<'t> {
    pub(super) number: u32,
    pub(super) bytes: &'t [u8],
}

/// All lines of a text.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = TextLine<'_>> {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    (1..).zip(lines).map(|(number, line)| TextLine { number, bytes: bounded(line) })
}

/// A line without its end, as far as it is looked at.
fn bounded(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    &line[..line.len().min(MAX_LINE_BYTES)]
}

/// Hands out the lines that match; returns whether it came to the end before time was over.
pub(super) fn each_match<'t>(
    pattern: &Pattern,
    text: &'t [u8],
    is_over: &dyn Fn() -> bool,
    mut take: impl FnMut(TextLine<'t>),
) -> bool {
    let mut search = LineSearch { pattern, number: 1, take: &mut take };
    let mut rest = text;
    while !rest.is_empty() {
        if is_over() {
            return false;
        }
        let chunk = &rest[..chunk_end(rest)];
        search.chunk(chunk);
        rest = &rest[chunk.len()..];
    }
    true
}

/// The end of the line in which the first part of a text ends.
fn chunk_end(text: &[u8]) -> usize {
    let Some(behind) = text.get(CHUNK_BYTES..) else { return text.len() };
    memchr::memchr(b'\n', behind).map_or(text.len(), |at| CHUNK_BYTES + at + 1)
}

struct LineSearch<'s, 't> {
    pattern: &'s Pattern,
    /// Of the next line.
    number: u32,
    take: &'s mut dyn FnMut(TextLine<'t>),
}

impl<'t> LineSearch<'_, 't> {
    /// Searches some whole lines.
    fn chunk(&mut self, chunk: &'t [u8]) {
        let is_plain = memchr::memchr(b'\r', chunk).is_none() && chunk.len() <= MAX_LINE_BYTES;
        if self.pattern.is_of_lines && is_plain {
            self.leap(chunk);
        } else {
            self.step(chunk);
        }
    }

    /// Line by line.
    fn step(&mut self, chunk: &'t [u8]) {
        chunk.split_inclusive(|byte| *byte == b'\n').for_each(|line| self.match_line(line));
    }

    /// From match to match: the lines between them are only counted.
    fn leap(&mut self, chunk: &'t [u8]) {
        let mut rest = chunk;
        while let Some(found) = self.pattern.regex.find(rest) {
            let start = memchr::memrchr(b'\n', &rest[..found.start()]).map_or(0, |at| at + 1);
            let Some(line) = rest[start..].split_inclusive(|byte| *byte == b'\n').next() else {
                break;
            };
            self.skip(&rest[..start]);
            self.match_line(line);
            rest = &rest[start + line.len()..];
        }
        self.skip(rest);
    }

    fn skip(&mut self, lines: &[u8]) {
        let n_lines = memchr::memchr_iter(b'\n', lines).count();
        self.number = self.number.saturating_add(u32::try_from(n_lines).unwrap_or(u32::MAX));
    }

    fn match_line(&mut self, line: &'t [u8]) {
        let bytes = bounded(line);
        if self.pattern.regex.is_match(bytes) {
            (self.take)(TextLine { number: self.number, bytes });
        }
        self.number = self.number.saturating_add(1);
    }
}
