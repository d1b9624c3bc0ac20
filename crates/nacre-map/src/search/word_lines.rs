//! Which lines of a text have the words of a query, and how much they are worth.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;

use super::lines::{TextLine, lines};
use super::query::CodeQuery;
use crate::words::{Word, each_identifier};

/// So much of a line is looked at: a longer one was made by a program.
const MAX_LINE_BYTES: usize = 4_096;

/// How many times as much a line is worth that has a word as it was typed.
const EXACT_WORTH: f64 = 2.0;

/// A line with words of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WordLine<'t> {
    pub(super) line: TextLine<'t>,
    pub(super) worth: f64,
}

/// The lines of a text that are worth more than half of its best, the best first.
pub(super) fn word_lines<'t>(
    text: &'t [u8],
    query: &CodeQuery,
    worth: &[f64],
) -> Vec<WordLine<'t>> {
    let asked: HashMap<Word, usize, RandomState> =
        query.question.asked.iter().enumerate().map(|(at, asked)| (asked.word, at)).collect();
    let token = query.token.as_ref().map(|token| memchr::memmem::Finder::new(token.as_bytes()));
    let mut found: Vec<WordLine<'t>> = Vec::new();
    for line in lines(text) {
        let bytes = &line.bytes[..line.bytes.len().min(MAX_LINE_BYTES)];
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
