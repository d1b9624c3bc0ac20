//! How well every row's words match the question's: BM25 over the row, its window and its unit.
//!
//! Each score is divided by what a text would get that holds every word of the question many times, so it
//! lies between 0 and 1 and means the same in an index of ten records and of a hundred thousand. A word
//! that means nearly the same counts in part, never more than the word itself.

use super::question::Term;
use crate::search::layout::{Layout, Lengths};
use crate::search::segment::Counts;
use crate::search::snapshot::Snapshot;
use crate::search::weights::FIELD_WEIGHTS;

/// How soon further occurrences stop to count: low, since texts are short.
const K1: f32 = 0.9;

/// What a word of nearly the same meaning is worth, times how near it is.
const VARIANT_SHARE: f32 = 0.5;

/// The scores of all rows.
#[derive(Debug)]
pub(super) struct Lexical {
    pub(super) row: Vec<f32>,
    /// Where rows have neighbours.
    wider: Option<Wider>,
    /// The rows that hold each term, ascending.
    held: Vec<Vec<(usize, f32)>>,
}

/// Scores beyond the row itself.
#[derive(Debug)]
struct Wider {
    window: Vec<f32>,
    /// Of the unit that a row stands in.
    unit: Vec<f32>,
    /// Of the row, by the words of the question alone.
    plain: Vec<f32>,
}

/// The rows that hold a term, and those that hold words like it.
struct RowScore {
    weight: f32,
    exact: Vec<(usize, f32)>,
    /// In how many records of the corpus it stands, where the rows are only candidates of it.
    n_holding: Option<usize>,
    variants: Vec<VariantScore>,
}

/// The rows that hold a word that means nearly the same.
struct VariantScore {
    near: f32,
    rows: Vec<(usize, f32)>,
    n_holding: Option<usize>,
}

impl Lexical {
    /// Scores all rows for the terms of a question. `length_share` tells how much longer texts are held back, from 0
    /// to 1.
    pub(super) fn new(
        snapshot: &Snapshot,
        layout: &Layout,
        terms: &[Term],
        length_share: f32,
    ) -> Self {
        let found: Vec<RowScore> = terms.iter().map(|term| RowScore::new(snapshot, term)).collect();
        let mut rows = Scorer::new(&layout.rows, length_share);
        for found in &found {
            rows.add(found, |list| list.iter().copied());
        }
        let wider = layout.has_neighbours.then(|| Wider::new(layout, &found, length_share));
        let held = found.into_iter().map(|found| found.exact).collect();
        Self { row: rows.finish(), wider, held }
    }

    /// The score of a row with its neighbours.
    pub(super) fn window(&self, row: usize) -> f32 {
        self.wider.as_ref().map_or(self.row[row], |wider| wider.window[row])
    }

    /// The score of the unit that a row stands in.
    pub(super) fn unit(&self, row: usize) -> f32 {
        self.wider.as_ref().map_or(self.row[row], |wider| wider.unit[row])
    }

    /// What a row gets by the words of the question alone; asked for where rows have neighbours.
    pub(super) fn plain(&self, row: usize) -> f32 {
        self.wider.as_ref().map_or(0.0, |wider| wider.plain[row])
    }

    /// Which of the question's terms a row holds, by their place in the question.
    pub(super) fn terms_of(&self, row: usize) -> impl Iterator<Item = usize> {
        let holds = move |list: &Vec<(usize, f32)>| {
            list.binary_search_by_key(&row, |(row, _)| *row).is_ok()
        };
        self.held.iter().enumerate().filter(move |(_, list)| holds(list)).map(|(idx, _)| idx)
    }
}

impl Wider {
    fn new(layout: &Layout, found: &[RowScore], length_share: f32) -> Self {
        let mut windows = Scorer::new(&layout.windows, length_share);
        let mut units = Scorer::new(&layout.units, length_share);
        let mut plain = Scorer::new(&layout.rows, length_share);
        for found in found {
            windows.add(found, |list| list.iter().flat_map(|(row, n)| around(layout, *row, *n)));
            units
                .add(found, |list| list.iter().map(|(row, n)| (layout.unit_of[*row] as usize, *n)));
            plain.add_exact(found);
        }
        let of_units = units.finish();
        let unit = layout.unit_of.iter().map(|unit| of_units[*unit as usize]).collect();
        Self { window: windows.finish(), unit, plain: plain.finish() }
    }
}

impl RowScore {
    fn new(snapshot: &Snapshot, term: &Term) -> Self {
        let rows = |term: &str| -> Vec<(usize, f32)> {
            snapshot
                .postings(term.as_bytes())
                .map(|(row, counts)| (row, weighted(counts)))
                .collect()
        };
        let variants = term.variants.iter().map(|(variant, near)| VariantScore {
            near: *near,
            rows: rows(variant),
            n_holding: snapshot.n_in_corpus(variant),
        });
        Self {
            weight: term.weight,
            exact: rows(&term.stem),
            n_holding: snapshot.n_in_corpus(&term.stem),
            variants: variants.filter(|variant| !variant.rows.is_empty()).collect(),
        }
    }
}

/// A row's occurrences count for its neighbours' windows too.
fn around(layout: &Layout, row: usize, n: f32) -> impl Iterator<Item = (usize, f32)> {
    let near = row.saturating_sub(1)..=row + 1;
    near.filter(move |other| layout.are_together(row, *other)).map(move |other| (other, n))
}

fn weighted(counts: Counts) -> f32 {
    counts.iter().zip(FIELD_WEIGHTS).map(|(count, weight)| f32::from(*count) * weight).sum()
}

/// Sums up BM25 for texts that are numbered from 0.
struct Scorer<'a> {
    lengths: &'a Lengths,
    /// The `b` of BM25.
    length_share: f32,
    scores: Vec<f32>,
    /// Occurrences of the word at hand; zero between words.
    counts: Vec<f32>,
    /// The best that the term at hand gave so far; zero between terms.
    best: Vec<f32>,
    ideal: f32,
}

impl<'a> Scorer<'a> {
    fn new(lengths: &'a Lengths, length_share: f32) -> Self {
        let n = lengths.of.len();
        let zeros = || vec![0.0; n];
        Self { lengths, length_share, scores: zeros(), counts: zeros(), best: zeros(), ideal: 0.0 }
    }

    /// Adds a term; `texts` tells in which of the numbered texts a row's occurrences count.
    fn add<'f, I: Iterator<Item = (usize, f32)>>(
        &mut self,
        found: &'f RowScore,
        texts: impl Fn(&'f [(usize, f32)]) -> I,
    ) {
        let mut touched = Vec::new();
        let exact = self.gather(texts(&found.exact));
        let idf = self.lengths.rarity(found.n_holding.unwrap_or(exact.len()));
        self.offer(&exact, idf, &mut touched);
        for VariantScore { near, rows, n_holding } in &found.variants {
            let variant = self.gather(texts(rows));
            let own = self.lengths.rarity(n_holding.unwrap_or(variant.len()));
            self.offer(&variant, VARIANT_SHARE * near * own.min(idf), &mut touched);
        }
        self.take(found.weight, idf, touched);
    }

    /// Adds a term without the words that are like it.
    fn add_exact(&mut self, found: &RowScore) {
        let idf = self.lengths.rarity(found.n_holding.unwrap_or(found.exact.len()));
        let mut touched = Vec::new();
        self.offer(&found.exact, idf, &mut touched);
        self.take(found.weight, idf, touched);
    }

    fn take(&mut self, weight: f32, idf: f32, touched: Vec<usize>) {
        self.ideal += weight * idf * (K1 + 1.0);
        for idx in touched {
            self.scores[idx] += weight * std::mem::take(&mut self.best[idx]);
        }
    }

    /// Sums up occurrences a text.
    fn gather(&mut self, found: impl Iterator<Item = (usize, f32)>) -> Vec<(usize, f32)> {
        let mut touched = Vec::new();
        for (idx, n) in found {
            if self.counts[idx] == 0.0 {
                touched.push(idx);
            }
            self.counts[idx] += n;
        }
        touched.into_iter().map(|idx| (idx, std::mem::take(&mut self.counts[idx]))).collect()
    }

    fn offer(&mut self, found: &[(usize, f32)], worth: f32, touched: &mut Vec<usize>) {
        for (idx, n) in found {
            let length = self.lengths.of[*idx] / self.lengths.mean;
            let norm = 1.0 - self.length_share + self.length_share * length;
            let score = worth * n * (K1 + 1.0) / (n + K1 * norm);
            if self.best[*idx] == 0.0 {
                touched.push(*idx);
            }
            self.best[*idx] = self.best[*idx].max(score);
        }
    }

    fn finish(mut self) -> Vec<f32> {
        if self.ideal > 0.0 {
            self.scores.iter_mut().for_each(|score| *score /= self.ideal);
        }
        self.scores
    }
}
