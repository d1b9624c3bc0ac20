//! Scores how well each row's words match the question, with BM25 over the row, its window and its
//! unit.
//!
//! Each score is divided by the score that a text would get if it contained every word of the
//! question many times. Scores are therefore between 0 and 1 and are comparable across indexes of
//! any size. A similar word counts as a partial match and never outweighs the exact word.

use super::question::Term;
use crate::search::record::FIELD_WEIGHTS;
use crate::search::segment::Counts;
use crate::search::snapshot::{Layout, Lengths, Snapshot};
use nacre_base::text::Bm25;

/// The `k1` parameter of BM25. It is low because the texts are short.
const K1: f32 = 0.9;

/// The weight of a similar word. This weight is multiplied by the word's similarity.
const VARIANT_SHARE: f32 = 0.5;

#[derive(Debug)]
pub(super) struct Lexical {
    pub(super) row: Vec<f32>,
    /// `None` if rows have no neighbors.
    wider: Option<Wider>,
    /// For each term, the rows that contain it, in ascending order.
    held: Vec<Vec<(usize, f32)>>,
}

/// For each row, how well its window and its unit match.
#[derive(Debug)]
struct Wider {
    window: Vec<f32>,
    unit: Vec<f32>,
    /// Each row's score, not counting similar words.
    plain: Vec<f32>,
}

/// The rows that contain a term or one of its variants.
struct TermRows {
    weight: f32,
    exact: WordRows,
    /// Variants, and how similar each one is to the term.
    variants: Vec<(f32, WordRows)>,
}

/// The rows that contain a word, each with its number of occurrences weighted by field.
struct WordRows {
    rows: Vec<(usize, f32)>,
    /// How many records in the corpus contain the word. Set only if the rows are candidates.
    n_in_corpus: Option<usize>,
}

impl WordRows {
    fn new(snapshot: &Snapshot, term: &str) -> Self {
        let weighted = |counts: Counts| -> f32 {
            counts.iter().zip(FIELD_WEIGHTS).map(|(count, weight)| f32::from(*count) * weight).sum()
        };
        let rows = snapshot.postings(term).map(|(row, counts)| (row, weighted(counts))).collect();
        Self { rows, n_in_corpus: snapshot.n_in_corpus(term) }
    }
}

impl Lexical {
    /// Scores all rows for the terms of a question. `length_share` is BM25's `b` parameter.
    pub(super) fn new(
        snapshot: &Snapshot,
        layout: &Layout,
        terms: &[Term],
        length_share: f32,
    ) -> Self {
        let found: Vec<TermRows> = terms.iter().map(|term| TermRows::new(snapshot, term)).collect();
        let mut rows = Scorer::new(&layout.rows, length_share);
        for found in &found {
            rows.add(found, |list| list.iter().copied());
        }
        let wider = layout.has_neighbors.then(|| Wider::new(layout, &found, length_share));
        let held = found.into_iter().map(|found| found.exact.rows).collect();
        Self { row: rows.finish(), wider, held }
    }

    pub(super) fn window(&self, row: usize) -> f32 {
        self.wider.as_ref().map_or(self.row[row], |wider| wider.window[row])
    }

    pub(super) fn unit(&self, row: usize) -> f32 {
        self.wider.as_ref().map_or(self.row[row], |wider| wider.unit[row])
    }

    /// Returns a row's score without similar words, or 0 if rows have no neighbors.
    pub(super) fn plain(&self, row: usize) -> f32 {
        self.wider.as_ref().map_or(0.0, |wider| wider.plain[row])
    }

    /// Returns the indexes of the question's terms that a row contains.
    pub(super) fn terms_of(&self, row: usize) -> impl Iterator<Item = usize> {
        let holds = move |list: &Vec<(usize, f32)>| {
            list.binary_search_by_key(&row, |(row, _)| *row).is_ok()
        };
        self.held.iter().enumerate().filter(move |(_, list)| holds(list)).map(|(idx, _)| idx)
    }
}

impl Wider {
    fn new(layout: &Layout, found: &[TermRows], length_share: f32) -> Self {
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

impl TermRows {
    fn new(snapshot: &Snapshot, term: &Term) -> Self {
        let variants = term.variants.iter();
        let variants = variants.map(|(variant, near)| (*near, WordRows::new(snapshot, variant)));
        Self {
            weight: term.weight,
            exact: WordRows::new(snapshot, &term.stem),
            variants: variants.filter(|(_, word)| !word.rows.is_empty()).collect(),
        }
    }
}

/// Maps occurrences in a row to the windows in which they count: the row's own and its neighbors'.
fn around(layout: &Layout, row: usize, n: f32) -> impl Iterator<Item = (usize, f32)> {
    let near = row.saturating_sub(1)..=row + 1;
    near.filter(move |other| layout.are_together(row, *other)).map(move |other| (other, n))
}

/// Computes the BM25 scores of texts numbered from 0.
struct Scorer<'a> {
    lengths: &'a Lengths,
    bm25: Bm25,
    scores: Vec<f32>,
    /// For each text, how often the current word occurs. Reset to zero between words.
    counts: Vec<f32>,
    /// For each text, the current term's best score so far. Reset to zero between terms.
    best: Vec<f32>,
    ideal: f32,
}

impl<'a> Scorer<'a> {
    fn new(lengths: &'a Lengths, length_share: f32) -> Self {
        let n = lengths.of.len();
        let zeros = || vec![0.0; n];
        let bm25 = Bm25 { k1: K1, b: length_share };
        Self { lengths, bm25, scores: zeros(), counts: zeros(), best: zeros(), ideal: 0.0 }
    }

    /// Adds a term. `texts` maps each occurrence in a row to the texts in which it counts.
    fn add<'f, I: Iterator<Item = (usize, f32)>>(
        &mut self,
        found: &'f TermRows,
        texts: impl Fn(&'f [(usize, f32)]) -> I,
    ) {
        let mut touched = Vec::new();
        let exact = self.gather(texts(&found.exact.rows));
        let idf = self.lengths.rarity(found.exact.n_in_corpus.unwrap_or(exact.len()));
        self.offer(&exact, idf, &mut touched);
        for (near, word) in &found.variants {
            let variant = self.gather(texts(&word.rows));
            let own = self.lengths.rarity(word.n_in_corpus.unwrap_or(variant.len()));
            self.offer(&variant, VARIANT_SHARE * near * own.min(idf), &mut touched);
        }
        self.take(found.weight, idf, touched);
    }

    fn add_exact(&mut self, found: &TermRows) {
        let idf = self.lengths.rarity(found.exact.n_in_corpus.unwrap_or(found.exact.rows.len()));
        let mut touched = Vec::new();
        self.offer(&found.exact.rows, idf, &mut touched);
        self.take(found.weight, idf, touched);
    }

    fn take(&mut self, weight: f32, idf: f32, touched: Vec<usize>) {
        self.ideal += weight * idf * (K1 + 1.0);
        for idx in touched {
            self.scores[idx] += weight * std::mem::take(&mut self.best[idx]);
        }
    }

    /// Adds up the occurrences in each text.
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
            let score = worth * self.bm25.saturation(*n, length);
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
