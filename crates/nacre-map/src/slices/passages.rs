//! Which lines of a text speak of a question.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use crate::words::{Kin, Question, Word, each_identifier, identifiers};

/// How much a word counts that stands for one of the question.
const WIDENED_WEIGHT: f64 = 0.5;

/// What each line of a text has of a question, by places in it; only lines that have something.
#[derive(Debug)]
pub(super) struct Passages<'q> {
    question: &'q Question,
    lines: Vec<(u32, Vec<usize>)>,
    /// What all lines have.
    total: f64,
}

impl<'q> Passages<'q> {
    pub(super) fn of(text: &str, question: &'q Question) -> Self {
        let mut lines: Vec<(u32, Vec<usize>)> = Vec::new();
        // A text says most of its identifiers again and again.
        let mut known: HashMap<&[u8], Vec<usize>, RandomState> = HashMap::default();
        for (number, line) in (1..).zip(text.lines()) {
            let mut found = Vec::new();
            for identifier in identifiers(line.as_bytes()) {
                let places = known.entry(identifier).or_insert_with(|| {
                    let mut places = Vec::new();
                    each_identifier(identifier, |word: Word| places.extend(question.find(word)));
                    places
                });
                found.extend_from_slice(places);
            }
            lines.extend((!found.is_empty()).then_some((number, found)));
        }
        let total = worth(question, &lines);
        Self { question, lines, total }
    }

    /// How much of what the whole text has of the question stands in some lines, counted from 1.
    pub(super) fn share(&self, first: u32, last: u32) -> f64 {
        let from = self.lines.partition_point(|(line, _)| *line < first);
        let to = self.lines.partition_point(|(line, _)| *line <= last);
        let inside = self.lines.get(from..to).unwrap_or_default();
        if 0.0 < self.total { worth(self.question, inside) / self.total } else { 0.0 }
    }
}

/// What lines have of a question: each of its words once, by the best that stands for it.
fn worth(question: &Question, lines: &[(u32, Vec<usize>)]) -> f64 {
    let mut said: BTreeMap<usize, f64> = BTreeMap::new();
    for place in lines.iter().flat_map(|(_, found)| found) {
        let asked = &question.asked[*place];
        let kin = if asked.kin == Kin::Said { 1.0 } else { WIDENED_WEIGHT };
        let most = said.entry(asked.said).or_default();
        *most = most.max(kin * asked.weight);
    }
    said.values().sum()
}
