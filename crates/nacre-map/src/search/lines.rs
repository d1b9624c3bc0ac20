//! Finds the lines that match a pattern or contain words from a query.
//!
//! Lines end with `\n` or `\r\n`, and a match never spans several lines.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;

use super::pattern::Pattern;
use super::query::CodeQuery;
use crate::words::{WordHash, each_identifier};

/// Only this many bytes of each line are searched.
pub(super) const MAX_LINE_BYTES: usize = 256 << 10;

/// Number of bytes to search between deadline checks.
const CHUNK_BYTES: usize = 64 << 10;

/// A line with its 1-based number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextLine<'t> {
    pub(super) number: u32,
    pub(super) bytes: &'t [u8],
}

pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = TextLine<'_>> {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    (1..).zip(lines).map(|(number, line)| TextLine { number, bytes: truncate_line(line) })
}

/// Returns a line without its line break, truncated to `MAX_LINE_BYTES`.
fn truncate_line(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    &line[..line.len().min(MAX_LINE_BYTES)]
}

/// Visits the matching lines. Returns false if the deadline passed before the end of the file.
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

fn chunk_end(text: &[u8]) -> usize {
    let Some(behind) = text.get(CHUNK_BYTES..) else { return text.len() };
    memchr::memchr(b'\n', behind).map_or(text.len(), |at| CHUNK_BYTES + at + 1)
}

struct LineSearch<'s, 't> {
    pattern: &'s Pattern,
    number: u32,
    take: &'s mut dyn FnMut(TextLine<'t>),
}

impl<'t> LineSearch<'_, 't> {
    fn chunk(&mut self, chunk: &'t [u8]) {
        let is_plain = memchr::memchr(b'\r', chunk).is_none() && chunk.len() <= MAX_LINE_BYTES;
        if self.pattern.is_of_lines && is_plain {
            self.leap(chunk);
        } else {
            self.step(chunk);
        }
    }

    /// Matches each line separately.
    fn step(&mut self, chunk: &'t [u8]) {
        chunk.split_inclusive(|byte| *byte == b'\n').for_each(|line| self.match_line(line));
    }

    /// Searches the whole chunk at once. Lines between matches are only counted.
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
        let bytes = truncate_line(line);
        if self.pattern.regex.is_match(bytes) {
            (self.take)(TextLine { number: self.number, bytes });
        }
        self.number = self.number.saturating_add(1);
    }
}

const MAX_WORDS_BYTES: usize = 4_096;

/// Factor for the weight of a line that contains a word exactly as typed.
const EXACT_WORTH: f64 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WordLine<'t> {
    pub(super) line: TextLine<'t>,
    pub(super) worth: f64,
}

/// Returns the lines whose weight is more than half that of the best line, best first.
pub(super) fn word_lines<'t>(
    text: &'t [u8],
    query: &CodeQuery,
    worth: &[f64],
) -> Vec<WordLine<'t>> {
    let asked: HashMap<WordHash, usize, RandomState> =
        query.question.asked.iter().enumerate().map(|(at, asked)| (asked.word, at)).collect();
    let token = query.token.as_ref().map(|token| memchr::memmem::Finder::new(token.as_bytes()));
    let mut found: Vec<WordLine<'t>> = Vec::new();
    for line in lines(text) {
        let bytes = &line.bytes[..line.bytes.len().min(MAX_WORDS_BYTES)];
        let mut places: BTreeSet<usize> = BTreeSet::new();
        each_identifier(bytes, |word| places.extend(asked.get(&word)));
        let sum: f64 = places.iter().filter_map(|place| worth.get(*place)).sum();
        if sum <= 0.0 {
            continue;
        }
        let is_exact =
            token.as_ref().is_some_and(|token| token.find(&bytes.to_ascii_lowercase()).is_some());
        let worth = if is_exact { EXACT_WORTH * sum } else { sum };
        found.push(WordLine { line, worth });
    }
    let most = found.iter().map(|line| line.worth).fold(0.0, f64::max);
    found.retain(|line| most < 2.0 * line.worth);
    found.sort_by(|one, other| {
        other.worth.total_cmp(&one.worth).then(one.line.number.cmp(&other.line.number))
    });
    found
}
