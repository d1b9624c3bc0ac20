//! Numbers about all rows that every question needs: whose neighbour is whose, and how long each is.
//!
//! Computed once for a snapshot and kept with it: a server that asks again pays nothing.

use std::ops::Range;

use super::corpus::Corpus;
use super::record::{Standing, Voice};
use super::segment::Row;
use super::weights;

/// Rows, their windows and their units, as far as lengths go.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// The unit of each row, numbered over all segments.
    pub(super) unit_of: Vec<u32>,
    /// Rows that are not dead.
    pub(super) is_live: Vec<bool>,
    /// Rows that are neither dead nor archived.
    pub(super) is_shown: Vec<bool>,
    pub(super) rows: Lengths,
    /// A row with the ones before and after it in its unit.
    pub(super) windows: Lengths,
    pub(super) units: Lengths,
    /// Whether any unit has more than one row; if none has, a row is its window and its unit.
    pub(super) has_neighbours: bool,
    /// Whether rows have neighbours and are known to be said by a person or an agent.
    pub(super) has_voices: bool,
}

/// What is asked of a row to measure it.
pub(super) struct LayoutRow {
    pub(super) row: Row,
    pub(super) is_live: bool,
}

/// Lengths of texts, in words, and their mean over those that count.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    pub(super) of: Vec<f32>,
    pub(super) mean: f32,
    pub(super) n_counted: usize,
}

impl Lengths {
    fn new(of: Vec<f32>, counts: impl Fn(usize) -> bool) -> Self {
        let counted = of.iter().enumerate().filter(|(idx, _)| counts(*idx));
        let (sum, n_counted) =
            counted.fold((0.0_f64, 0), |(sum, n), (_, length)| (sum + f64::from(*length), n + 1));
        let mean = if n_counted == 0 { 1.0 } else { (sum / n_counted as f64) as f32 };
        Self { of, mean: mean.max(1.0), n_counted }
    }

    fn measure(&mut self, n_counted: usize, mean: f32) {
        (self.n_counted, self.mean) = (n_counted, mean.max(1.0));
    }

    /// What a word is worth that stands in so many of the texts: the rarer, the more.
    pub(super) fn rarity(&self, n_holding: usize) -> f32 {
        let (n_texts, n_holding) = (self.n_counted as f32, n_holding as f32);
        (1.0 + (n_texts - n_holding + 0.5).max(0.0) / (n_holding + 0.5)).ln()
    }
}

impl Layout {
    /// Measures rows in their order, and the units that they stand in.
    pub(super) fn new(
        rows: impl Iterator<Item = LayoutRow>,
        units: impl Iterator<Item = Range<usize>>,
    ) -> Self {
        let mut layout = Self::default();
        let mut row_lengths = Vec::new();
        for LayoutRow { row, is_live } in rows {
            layout.is_live.push(is_live);
            layout.has_voices |= row.voice != Voice::None;
            layout.is_shown.push(is_live && row.standing != Standing::Archived);
            row_lengths.push(weights::length(&row.lengths));
        }
        let n_rows = row_lengths.len();
        layout.unit_of = vec![0; n_rows];
        let mut window_lengths = vec![0.0; n_rows];
        let mut unit_lengths = Vec::new();
        let mut is_unit_live = Vec::new();
        for (unit, rows) in units.enumerate() {
            layout.has_neighbours |= rows.len() > 1;
            unit_lengths.push(row_lengths[rows.clone()].iter().sum());
            is_unit_live.push(rows.clone().any(|row| layout.is_live[row]));
            for row in rows.clone() {
                layout.unit_of[row] = u32::try_from(unit).unwrap_or(u32::MAX);
                let first = row.saturating_sub(1).max(rows.start);
                let end = (row + 2).min(rows.end);
                window_lengths[row] = row_lengths[first..end].iter().sum();
            }
        }
        layout.has_voices &= layout.has_neighbours;
        layout.rows = Lengths::new(row_lengths, |row| layout.is_live[row]);
        layout.windows = Lengths::new(window_lengths, |row| layout.is_live[row]);
        layout.units = Lengths::new(unit_lengths, |unit| is_unit_live[unit]);
        layout
    }

    /// The same rows, measured by the corpus that they are candidates of.
    pub(super) fn within(mut self, corpus: &Corpus) -> Self {
        let n_records = corpus.n_records.max(self.rows.n_counted);
        let n_units = corpus.n_units.max(self.units.n_counted);
        let mean = corpus.mean_length.max(1.0);
        let units_a_record = n_units as f32 / n_records.max(1) as f32;
        self.rows.measure(n_records, mean);
        // A record stands in its own window and in those of its neighbours, which the first and the last of a unit lack.
        self.windows.measure(n_records, mean * (3.0 - 2.0 * units_a_record));
        self.units.measure(n_units, mean / units_a_record.max(f32::MIN_POSITIVE));
        self
    }

    /// Whether two rows stand in one unit.
    pub(super) fn are_together(&self, a: usize, b: usize) -> bool {
        self.unit_of.get(a).is_some_and(|unit| self.unit_of.get(b) == Some(unit))
    }
}
