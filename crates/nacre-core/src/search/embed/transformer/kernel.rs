//! The arithmetic of the transformer, for whatever vector unit the processor has.
//!
//! Everything is a product of rows with a panel: 16 columns of a matrix, one line of 16 numbers
//! after the other. A block of rows is multiplied with a panel while the sums stay in registers.
//! Weights are kept as 8-bit numbers, a quarter of the memory traffic, and widened a panel at a
//! time, by scales that hold for a few lines each.

use fearless_simd::{Level, Simd, dispatch, f32x16, prelude::*};

/// Columns of a panel.
pub(super) const LANES: usize = 16;

/// Lines of a panel that share their scales. With one scale a column, short texts lose a few
/// thousandths of their direction; with these, half of one.
pub(super) const GROUP: usize = 32;

/// Rows whose sums fit into the registers of every processor that matters.
const ROWS: usize = 6;

/// A line of a panel.
type Line = [f32; LANES];

/// The numbers of a block of rows at one depth, side by side.
type Side = [f32; ROWS];

/// Rows of numbers in a larger table.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) numbers: &'a [f32],
    /// From one row to the next.
    pub(super) stride: usize,
    /// Numbers of a row that count.
    pub(super) width: usize,
}

impl<'a> Rows<'a> {
    /// Rows that follow one another.
    pub(super) fn dense(numbers: &'a [f32], width: usize) -> Self {
        Self { numbers, stride: width, width }
    }

    /// The same rows, only the columns from `first` on.
    pub(super) fn columns(self, first: usize, width: usize) -> Self {
        Self { numbers: &self.numbers[first..], stride: self.stride, width }
    }

    fn row(&self, idx: usize) -> &'a [f32] {
        &self.numbers[idx * self.stride..][..self.width]
    }

    fn count(&self) -> usize {
        (self.numbers.len() + self.stride - self.width) / self.stride
    }
}

/// A matrix of 8-bit weights in panels, with a bias for each column.
#[derive(Clone, Copy)]
pub(super) struct Weights<'a> {
    pub(super) panels: &'a [u8],
    /// A line for each group of a panel's lines.
    pub(super) scales: &'a [f32],
    pub(super) biases: &'a [f32],
}

/// `x` times the weights, plus the biases, as dense rows.
pub(super) fn linear(level: Level, x: Rows<'_>, weights: Weights<'_>, out: &mut Vec<f32>) {
    out.clear();
    out.resize(x.count() * weights.biases.len(), 0.0);
    dispatch!(level, simd => linear_with(simd, x, weights, out));
}

#[inline(always)]
fn linear_with<S: Simd>(simd: S, x: Rows<'_>, weights: Weights<'_>, out: &mut [f32]) {
    let width = weights.biases.len();
    let mut panel: Vec<Line> = vec![[0.0; LANES]; x.width];
    let mut sides = Vec::new();
    interleave(x, &mut sides);
    let panels = weights.panels.chunks_exact(x.width * LANES);
    let scales = weights.scales.chunks_exact(x.width / GROUP * LANES);
    for (idx, (bytes, scales)) in panels.zip(scales).enumerate() {
        widen(bytes, scales, &mut panel);
        let columns = idx * LANES..(idx + 1) * LANES;
        let bias = f32x16::from_slice(simd, &weights.biases[columns.clone()]);
        multiply(
            simd,
            &sides,
            x.count(),
            &panel,
            #[inline(always)]
            |row, sum| {
                let place = &mut out[row * width..][columns.clone()];
                (sum + bias).store_slice(place);
            },
        );
    }
}

/// Writes 8-bit weights and their scales out as the numbers they stand for.
#[inline(always)]
fn widen(bytes: &[u8], scales: &[f32], panel: &mut [Line]) {
    let groups = panel.chunks_exact_mut(GROUP).zip(bytes.chunks_exact(GROUP * LANES));
    for ((lines, bytes), scales) in groups.zip(scales.as_chunks::<LANES>().0) {
        for (line, bytes) in lines.iter_mut().zip(bytes.as_chunks::<LANES>().0) {
            for ((number, byte), scale) in line.iter_mut().zip(bytes).zip(scales) {
                *number = f32::from(byte.cast_signed()) * scale;
            }
        }
    }
}

/// Writes rows as blocks of rows side by side, the last one filled up with zeros.
///
/// A block and a panel are then walked together from one end to the other, with nothing to check.
#[inline(always)]
fn interleave(x: Rows<'_>, sides: &mut Vec<Side>) {
    sides.clear();
    sides.resize(x.count().div_ceil(ROWS) * x.width, [0.0; ROWS]);
    for row in 0..x.count() {
        let block = &mut sides[row / ROWS * x.width..][..x.width];
        for (side, number) in block.iter_mut().zip(x.row(row)) {
            side[row % ROWS] = *number;
        }
    }
}

/// Each of `n_rows` interleaved rows times a panel; `store` is given every row's sums.
#[inline(always)]
fn multiply<S: Simd>(
    simd: S,
    sides: &[Side],
    n_rows: usize,
    panel: &[Line],
    mut store: impl FnMut(usize, f32x16<S>),
) {
    for (idx, block) in sides.chunks_exact(panel.len()).enumerate() {
        let mut sums = [f32x16::splat(simd, 0.0); ROWS];
        for (side, line) in block.iter().zip(panel) {
            let line = f32x16::from_slice(simd, line);
            for (sum, number) in sums.iter_mut().zip(side) {
                *sum = f32x16::splat(simd, *number).mul_add(line, *sum);
            }
        }
        for (row, sum) in (idx * ROWS..n_rows).zip(sums) {
            store(row, sum);
        }
    }
}

/// What one head sees: the query, key and value columns of a text's rows.
#[derive(Clone, Copy)]
pub(super) struct Head<'a> {
    pub(super) query: Rows<'a>,
    pub(super) key: Rows<'a>,
    pub(super) value: Rows<'a>,
}

/// Buffers of `attend` that are worth keeping.
#[derive(Default)]
pub(super) struct Scratch {
    panel: Vec<Line>,
    sides: Vec<Side>,
    scores: Vec<f32>,
}

/// Mixes the values by how well their keys answer the queries; writes to the columns of `out`.
pub(super) fn attend(
    level: Level,
    head: Head<'_>,
    scratch: &mut Scratch,
    out: &mut [f32],
    out_stride: usize,
) {
    dispatch!(level, simd => attend_with(simd, head, scratch, out, out_stride));
}

#[inline(always)]
fn attend_with<S: Simd>(
    simd: S,
    head: Head<'_>,
    scratch: &mut Scratch,
    out: &mut [f32],
    out_stride: usize,
) {
    let Scratch { panel, sides, scores } = scratch;
    let Head { query, key, value } = head;
    let n_rows = query.count();
    let stride = n_rows.next_multiple_of(LANES);
    scores.clear();
    scores.resize(n_rows * stride, 0.0);
    interleave(query, sides);
    for first in (0..n_rows).step_by(LANES) {
        panel.clear();
        panel.resize(key.width, [0.0; LANES]);
        for (lane, row) in (first..n_rows.min(first + LANES)).enumerate() {
            for (line, number) in panel.iter_mut().zip(key.row(row)) {
                line[lane] = *number;
            }
        }
        multiply(
            simd,
            sides,
            n_rows,
            panel,
            #[inline(always)]
            |row, sum| {
                sum.store_slice(&mut scores[row * stride + first..][..LANES]);
            },
        );
    }
    let scale = (query.width as f32).sqrt().recip();
    for row in scores.chunks_exact_mut(stride) {
        softmax(row, n_rows, scale);
    }
    interleave(Rows { numbers: scores, stride, width: n_rows }, sides);
    for first in (0..value.width).step_by(LANES) {
        panel.clear();
        panel.resize(n_rows, [0.0; LANES]);
        for (row, line) in panel.iter_mut().enumerate() {
            line.copy_from_slice(&value.row(row)[first..][..LANES]);
        }
        multiply(
            simd,
            sides,
            n_rows,
            panel,
            #[inline(always)]
            |row, sum| {
                sum.store_slice(&mut out[row * out_stride + first..][..LANES]);
            },
        );
    }
}

/// Turns the first `n_scores` of a row, times `scale`, into chances that add up to 1.
#[inline(always)]
fn softmax(row: &mut [f32], n_scores: usize, scale: f32) {
    row[n_scores..].fill(f32::NEG_INFINITY);
    let mut highest = [f32::NEG_INFINITY; LANES];
    for line in row.as_chunks::<LANES>().0 {
        for (highest, score) in highest.iter_mut().zip(line) {
            *highest = if *score > *highest { *score } else { *highest };
        }
    }
    let highest = highest.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let mut sums = [0.0; LANES];
    for line in row.as_chunks_mut::<LANES>().0 {
        for (sum, score) in sums.iter_mut().zip(line) {
            *score = exp((*score - highest) * scale);
            *sum += *score;
        }
    }
    let factor = sums.iter().sum::<f32>().recip();
    for score in row {
        *score *= factor;
    }
}

/// Adds `more` to each row, then moves and scales it to mean 0 and deviation 1, gain and bias aside.
pub(super) fn add_and_normalize(
    level: Level,
    rows: &mut [f32],
    more: &[f32],
    gain: &[f32],
    bias: &[f32],
) {
    dispatch!(level, _simd => add_and_normalize_with(rows, more, gain, bias));
}

#[inline(always)]
fn add_and_normalize_with(rows: &mut [f32], more: &[f32], gain: &[f32], bias: &[f32]) {
    let width = gain.len();
    for (row, more) in rows.chunks_exact_mut(width).zip(more.chunks_exact(width)) {
        for (number, more) in row.iter_mut().zip(more) {
            *number += more;
        }
        normalize_row(row, gain, bias);
    }
}

#[inline(always)]
fn normalize_row(row: &mut [f32], gain: &[f32], bias: &[f32]) {
    const EPSILON: f32 = 1e-12;
    let share = (row.len() as f32).recip();
    let mean = lane_sum(row, |number| number) * share;
    let variance = lane_sum(row, |number| (number - mean) * (number - mean)) * share;
    let factor = (variance + EPSILON).sqrt().recip();
    for ((number, gain), bias) in row.iter_mut().zip(gain).zip(bias) {
        *number = (*number - mean) * factor * gain + bias;
    }
}

/// The sum of a row whose length is a multiple of the lanes, in an order that vectors can follow.
#[inline(always)]
fn lane_sum(row: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0; LANES];
    for line in row.as_chunks::<LANES>().0 {
        for (sum, number) in sums.iter_mut().zip(line) {
            *sum += of(*number);
        }
    }
    sums.iter().sum()
}

/// The activation between the two halves of a layer: each number times the chance that a normal
/// variable is below it.
pub(super) fn gelu(level: Level, numbers: &mut [f32]) {
    dispatch!(level, _simd => gelu_with(numbers));
}

#[inline(always)]
fn gelu_with(numbers: &mut [f32]) {
    for number in numbers {
        *number *= 0.5 + 0.5 * erf(*number * std::f32::consts::FRAC_1_SQRT_2);
    }
}

/// The error function, within 2e-7 (Abramowitz and Stegun, 7.1.26).
#[inline(always)]
fn erf(x: f32) -> f32 {
    let size = x.abs();
    let t = (1.0 + 0.327_591_1 * size).recip();
    let poly = ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_7) * t - 0.284_496_74) * t
        + 0.254_829_6)
        * t;
    (1.0 - poly * exp(-size * size)).copysign(x)
}

/// e to the power of `x`, within 2e-7 of its value, without a branch or a call; 0 far below 0.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// Added and taken away again, it leaves the nearest whole number.
    const ROUND: f32 = 12_582_912.0;
    let x = if x > -87.0 { x } else { -87.0 };
    let x = if x < 88.0 { x } else { 88.0 };
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let whole = rounded - ROUND;
    let rest = x - whole * 0.693_359_4 + whole * 2.121_944_4e-4;
    let poly = 1.0
        + rest
            * (1.0
                + rest
                    * (0.5
                        + rest
                            * (0.166_666_67
                                + rest
                                    * (0.041_666_668
                                        + rest * (0.008_333_334 + rest * 0.001_388_9)))));
    // The whole number stands in the lowest bits; shifted up, it is a power of two.
    poly * f32::from_bits(rounded.to_bits().wrapping_add(127) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_and_erf_are_close() {
        for idx in -8800..=8700 {
            let x = idx as f32 / 100.0;
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) - exact).abs() <= exact * 3e-7 + 2e-38, "{x}");
        }
        let known = [(0.0, 0.0), (0.5, 0.520_499_9), (-1.0, -0.842_700_8), (3.0, 0.999_977_9)];
        for (x, expected) in known {
            assert!((erf(x) - expected).abs() < 4e-7, "{x}: {}", erf(x));
        }
        assert_eq!(exp(f32::NEG_INFINITY), exp(-87.0));
    }

    #[test]
    fn chances_add_up() {
        let mut row: Vec<f32> = (0..32).map(|idx| idx as f32).collect();
        softmax(&mut row, 20, 0.5);
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(row[20..].iter().all(|chance| *chance < 1e-30));
        assert!((row[19] / row[18] - 0.5_f32.exp()).abs() < 1e-5);
    }
}
