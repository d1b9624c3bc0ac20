//! How near every row's meaning is to the question's: an exact scan of all vectors.
//!
//! A flat matrix of bytes is read faster than any tree at the sizes a memory has: five milliseconds for a
//! hundred thousand rows. Nothing is approximate, so nothing is missed.

use std::ops::Range;

use simsimd::SpatialSimilarity as _;

use super::Weights;
use crate::base::on_all_cores;
use crate::search::layout::Layout;
use crate::search::segment::{Segment, quantise};
use crate::search::snapshot::Snapshot;

/// Rows that are scanned at once, and how many of such pieces are worth a thread.
const ROWS_PER_PIECE: usize = 2048;
const PIECES_PER_THREAD: usize = 16;

/// Values that lie closer together than this are not spread out: in a small store a hair's breadth would
/// outweigh every other signal.
const MIN_SPREAD: f32 = 0.6;

/// How near a record is that has nothing to do with the question. Candidates are all nearer, so it is not seen in them where they are not
/// all records.
const UNRELATED: f32 = 0.0;

/// Cosines with the question, from -1 to 1; 0 where there is no vector.
#[derive(Debug)]
pub(super) struct Dense {
    pub(super) row: Vec<f32>,
    rows: Spread,
    /// Where rows have neighbours.
    wider: Option<Wider>,
}

/// Similarities beyond the row itself.
#[derive(Debug)]
struct Wider {
    /// Over a row and its neighbours.
    window: Vec<f32>,
    windows: Spread,
    /// The best row of the unit that a row stands in.
    unit: Vec<f32>,
    units: Spread,
}

impl Dense {
    pub(super) fn new(snapshot: &Snapshot, layout: &Layout, vector: &[f32]) -> Self {
        let row = similarities(snapshot, vector);
        let is_part = snapshot.corpus().is_some_and(|all| snapshot.n_rows() < all.n_records);
        let lowest = if is_part { UNRELATED } else { f32::INFINITY };
        let wider = layout.has_neighbours.then(|| {
            let (window, unit) = (windows(layout, &row), units(layout, &row));
            let (windows, units) = (Spread::of(&window, lowest), Spread::of(&unit, lowest));
            Wider { windows, window, units, unit }
        });
        Self { rows: Spread::of(&row, lowest), row, wider }
    }

    /// What a row gets for its meaning.
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

/// Where the values of a signal lie.
#[derive(Clone, Copy, Debug)]
struct Spread {
    low: f32,
    high: f32,
}

impl Spread {
    /// The values lie at least as low as `lowest`.
    fn of(values: &[f32], lowest: f32) -> Self {
        let low = values.iter().copied().fold(lowest, f32::min);
        let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        Self { low, high }
    }

    /// A value's place between the lowest and the highest, from 0 to 1.
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

/// The cosine of every row with a vector; 0 where there is none to compare.
pub(in crate::search) fn similarities(snapshot: &Snapshot, vector: &[f32]) -> Vec<f32> {
    if vector.len() != snapshot.dims() {
        return vec![0.0; snapshot.n_rows()];
    }
    let (wanted, scale) = quantise(vector);
    let mut all = Vec::with_capacity(snapshot.n_rows());
    for segment in snapshot.segments() {
        let pieces: Vec<Range<usize>> = (0..segment.n_rows())
            .step_by(ROWS_PER_PIECE)
            .map(|first| first..(first + ROWS_PER_PIECE).min(segment.n_rows()))
            .collect();
        all.extend(on_all_cores(&pieces, PIECES_PER_THREAD, |pieces| {
            pieces.iter().flat_map(|rows| scan(segment, rows.clone(), &wanted, scale)).collect()
        }));
    }
    all
}

fn scan(
    segment: &Segment,
    rows: Range<usize>,
    wanted: &[i8],
    scale: f32,
) -> impl Iterator<Item = f32> {
    let dims = segment.dims().max(1);
    let vectors = segment.vectors().get(rows.start * dims..rows.end * dims).unwrap_or_default();
    vectors.chunks_exact(dims).zip(rows).map(move |(vector, row)| {
        let dot = i8::dot(vector, wanted).unwrap_or(0.0);
        dot as f32 * scale * segment.scale(row)
    })
}
