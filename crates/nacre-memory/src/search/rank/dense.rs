//! Scores each row's semantic similarity to the question with an exact scan of all vectors.
//!
//! The scan takes five milliseconds for 100,000 rows, so an approximate index would not save time.

use std::ops::Range;

use simsimd::SpatialSimilarity as _;

use super::Weights;
use crate::search::draft::quantize;
use crate::search::segment::Segment;
use crate::search::snapshot::{Layout, Snapshot};
use nacre_base::on_all_cores;

/// Number of rows in each piece of the scan. `PIECES_PER_THREAD` is the minimum number of pieces
/// per thread.
const ROWS_PER_PIECE: usize = 2048;
const PIECES_PER_THREAD: usize = 16;

/// Minimum range to assume when scaling values. In a small store, a tiny difference would otherwise
/// outweigh every other signal.
const MIN_SPREAD: f32 = 0.6;

/// The highest similarity that counts as unrelated. In a small store, or if the rows are only
/// candidates, all records may be similar to the question.
const UNRELATED: f32 = 0.0;

/// Cosine similarities to the question, from -1 to 1, or 0 if a row has no vector.
#[derive(Debug)]
pub(super) struct Dense {
    pub(super) row: Vec<f32>,
    rows: Spread,
    /// `None` if rows have no neighbors.
    wider: Option<Wider>,
}

/// For each row, how similar its window and its unit are.
#[derive(Debug)]
struct Wider {
    /// The mean similarity of the row and its neighbors.
    window: Vec<f32>,
    windows: Spread,
    /// The similarity of the unit's best row.
    unit: Vec<f32>,
    units: Spread,
}

impl Dense {
    pub(super) fn new(snapshot: &Snapshot, layout: &Layout, vector: &[f32]) -> Self {
        let row = similarities(snapshot, vector);
        let wider = layout.has_neighbors.then(|| {
            let (window, unit) = (windows(layout, &row), units(layout, &row));
            Wider { windows: Spread::of(&window), window, units: Spread::of(&unit), unit }
        });
        Self { rows: Spread::of(&row), row, wider }
    }

    pub(super) fn score(&self, row: usize, weights: &Weights) -> f32 {
        let own = self.rows.place(self.row[row]);
        let (window, unit) = match &self.wider {
            Some(wider) => {
                (wider.windows.place(wider.window[row]), wider.units.place(wider.unit[row]))
            }
            None => (own, own),
        };
        weights.similar_row * own + weights.similar_window * window + weights.similar_unit * unit
    }
}

#[derive(Clone, Copy, Debug)]
struct Spread {
    low: f32,
    high: f32,
}

impl Spread {
    fn of(values: &[f32]) -> Self {
        let low = values.iter().copied().fold(UNRELATED, f32::min);
        let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        Self { low, high }
    }

    /// Scales a value to between 0 and 1 by its position between the lowest and highest values.
    fn place(self, value: f32) -> f32 {
        (value - self.low) / (self.high - self.low).max(MIN_SPREAD)
    }
}

fn windows(layout: &Layout, rows: &[f32]) -> Vec<f32> {
    let mean = |row: usize| {
        let near =
            (row.saturating_sub(1)..=row + 1).filter(|other| layout.are_together(row, *other));
        let (sum, n) = near.fold((0.0, 0.0), |(sum, n), other| (sum + rows[other], n + 1.0));
        sum / f32::max(n, 1.0)
    };
    (0..rows.len()).map(mean).collect()
}

fn units(layout: &Layout, rows: &[f32]) -> Vec<f32> {
    let mut best = vec![f32::NEG_INFINITY; layout.units.of.len()];
    for (row, unit) in layout.unit_of.iter().enumerate() {
        let best = &mut best[*unit as usize];
        *best = best.max(rows[row]);
    }
    layout.unit_of.iter().map(|unit| best[*unit as usize]).collect()
}

/// Returns each row's cosine similarity to a vector. All values are 0 if the vectors are not
/// comparable.
pub(crate) fn similarities(snapshot: &Snapshot, vector: &[f32]) -> Vec<f32> {
    if vector.len() != snapshot.segment().dims {
        return vec![0.0; snapshot.n_rows()];
    }
    let (wanted, scale) = quantize(vector);
    let segment = snapshot.segment();
    let pieces: Vec<Range<usize>> = (0..segment.n_rows)
        .step_by(ROWS_PER_PIECE)
        .map(|first| first..(first + ROWS_PER_PIECE).min(segment.n_rows))
        .collect();
    on_all_cores(&pieces, PIECES_PER_THREAD, |pieces| {
        pieces.iter().flat_map(|rows| scan(segment, rows.clone(), &wanted, scale)).collect()
    })
}

fn scan(
    segment: &Segment,
    rows: Range<usize>,
    wanted: &[i8],
    scale: f32,
) -> impl Iterator<Item = f32> {
    let dims = segment.dims.max(1);
    let vectors = segment.vectors().get(rows.start * dims..rows.end * dims).unwrap_or_default();
    vectors.chunks_exact(dims).zip(rows).map(move |(vector, row)| {
        let dot = i8::dot(vector, wanted).unwrap_or(0.0);
        dot as f32 * scale * segment.scale(row)
    })
}
