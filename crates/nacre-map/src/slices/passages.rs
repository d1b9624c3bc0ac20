//! Which lines of a text speak of a question.

use std::collections::BTreeSet;

use crate::words::{Question, Word, each_identifier};

/// What each line of a text has of a question, by places in it.
#[derive(Debug)]
pub(super) struct Passages {
    lines: Vec<Vec<usize>>,
    weights: Vec<f64>,
}

impl Passages {
    pub(super) fn of(text: &str, question: &Question) -> Self {
        let found = |line: &str| {
            let mut found = Vec::new();
            each_identifier(line.as_bytes(), |word: Word| found.extend(question.find(word)));
            found
        };
        let weights = question.asked.iter().map(|asked| asked.weight).collect();
        Self { lines: text.lines().map(found).collect(), weights }
    }

    /// How much of what the whole text has of the question stands in some lines, counted from 1.
    pub(super) fn share(&self, first: u32, last: u32) -> f64 {
        let total = self.worth(&self.lines);
        let (first, last) = (first.saturating_sub(1) as usize, last as usize);
        let inside = self.lines.get(first..last.min(self.lines.len())).unwrap_or_default();
        if 0.0 < total { self.worth(inside) / total } else { 0.0 }
    }

    fn worth(&self, lines: &[Vec<usize>]) -> f64 {
        let found: BTreeSet<usize> = lines.iter().flatten().copied().collect();
        found.iter().map(|place| self.weights[*place]).sum()
    }
}
