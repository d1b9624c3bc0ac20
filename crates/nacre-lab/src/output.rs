//! Output helpers: aligned tables and latency statistics.

use serde::Serialize;

use crate::AnyError;

pub(crate) fn json(value: &impl Serialize) -> Result<(), AnyError> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}

pub(crate) fn table(rows: &[Vec<String>]) {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| {
        rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..n_columns).map(|at| width(at).unwrap_or(0)).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}

pub(crate) fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).into()
}

/// Median and tail latency of calls, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Latency {
    pub(crate) p50: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
}

impl Latency {
    pub(crate) fn of(mut times: Vec<std::time::Duration>) -> Self {
        times.sort_unstable();
        let at = |share: usize| {
            let idx = (times.len() * share / 100).min(times.len().saturating_sub(1));
            times.get(idx).copied().unwrap_or_default().as_secs_f64() * 1000.0
        };
        Self { p50: at(50), p95: at(95), p99: at(99) }
    }
}
