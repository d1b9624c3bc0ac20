//! What can be counted over many tasks: how tools and models fared.

use std::collections::BTreeMap;

use super::db::State;
use super::error::StateError;
use super::row::count;

/// How one tool fared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolStats {
    pub tool: String,
    pub calls: u64,
    pub p50_us: u64,
    pub p95_us: u64,
    /// Failed calls by their fault.
    pub errors: BTreeMap<String, u64>,
    pub cache_hits: u64,
    pub bytes_out: u64,
    /// What of it models were shown.
    pub shown_bytes: u64,
}

/// How one model fared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelStats {
    pub model: String,
    pub calls: u64,
    pub input: u64,
    pub cached: u64,
    pub output: u64,
    /// In billionths of a dollar; `None` where one of the calls has no known price.
    pub cost_nano: Option<u64>,
}

impl State {
    /// The tools that were called, by name.
    pub fn tool_stats(&self) -> Result<Vec<ToolStats>, StateError> {
        self.read(|connection| {
            let mut rows = connection.prepare_cached(
                "SELECT tool, duration, fault, cache, bytes_out, shown FROM tool_call ORDER BY tool, duration",
            )?;
            let mut rows = rows.query([])?;
            let mut all: Vec<ToolStats> = Vec::new();
            let mut durations: Vec<u64> = Vec::new();
            while let Some(row) = rows.next()? {
                let tool: String = row.get(0)?;
                if all.last().is_none_or(|stats| stats.tool != tool) {
                    finish(all.last_mut(), &mut durations);
                    all.push(ToolStats { tool, ..ToolStats::default() });
                }
                let Some(stats) = all.last_mut() else { continue };
                durations.push(count(row, 1)?);
                stats.calls += 1;
                if let Some(fault) = row.get::<_, Option<String>>(2)? {
                    *stats.errors.entry(fault).or_default() += 1;
                }
                stats.cache_hits += u64::from(row.get::<_, String>(3)? == "hit");
                stats.bytes_out = stats.bytes_out.saturating_add(count(row, 4)?);
                stats.shown_bytes = stats.shown_bytes.saturating_add(count(row, 5)?);
            }
            finish(all.last_mut(), &mut durations);
            Ok(all)
        })
    }

    /// The models that were called, by name.
    pub fn model_stats(&self) -> Result<Vec<ModelStats>, StateError> {
        self.read(|connection| {
            let mut rows = connection.prepare_cached(
                // A server may claim any number, and a sum of whole numbers that are too large is an error.
                "SELECT model, count(*), cast(min(total(input), 9e18) AS INTEGER),
                   cast(min(total(cache_read), 9e18) AS INTEGER), cast(min(total(output), 9e18) AS INTEGER),
                   CASE WHEN count(cost) = count(*) THEN cast(min(total(cost), 9e18) AS INTEGER) END
                 FROM model_call GROUP BY model ORDER BY model",
            )?;
            let stats = rows.query_map([], |row| {
                Ok(ModelStats {
                    model: row.get(0)?,
                    calls: count(row, 1)?,
                    input: count(row, 2)?,
                    cached: count(row, 3)?,
                    output: count(row, 4)?,
                    cost_nano: row.get::<_, Option<i64>>(5)?.map(i64::unsigned_abs),
                })
            })?;
            Ok(stats.collect::<Result<_, _>>()?)
        })
    }
}

fn finish(stats: Option<&mut ToolStats>, durations: &mut Vec<u64>) {
    if let Some(stats) = stats {
        stats.p50_us = percentile(durations, 50);
        stats.p95_us = percentile(durations, 95);
    }
    durations.clear();
}

/// The smallest value that at least `percent` of a hundred of the sorted values do not exceed.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let hundred: Vec<u64> = (1..=100).collect();
        for (sorted, p50, p95) in [
            (&hundred[..], 50, 95),
            (&[7][..], 7, 7),
            (&[1, 9][..], 1, 9),
            (&[][..], 0, 0),
            (&[1, 2, 3][..], 2, 3),
        ] {
            assert_eq!((percentile(sorted, 50), percentile(sorted, 95)), (p50, p95), "{sorted:?}");
        }
    }
}
