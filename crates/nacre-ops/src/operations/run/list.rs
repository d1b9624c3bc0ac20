//! Lists the runs of a project, newest first.

use nacre_api::wire::{RunCounts, RunEntry, RunListReport, RunListRequest, RunMode};
use nacre_core::memory::Store;
use nacre_engine::flows::record::{RunRecord, read_record};
use nacre_engine::flows::run::{self, RunId};

use super::maintenance::maintain_counts;
use super::session::{action_counts, run_mode};
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

pub fn list(
    host: &Host,
    request: &RunListRequest,
    events: &Events,
) -> Result<RunListReport, OpError> {
    let scoped = host.store_to_write(None)?;
    let runs = run::list(&scoped.store)?;
    let total = runs.len();
    let limit = match request.limit.unwrap_or(host.settings().memory.max_results) {
        0 => total,
        limit => limit,
    };
    let runs = runs.into_iter().take(limit).map(|id| {
        entry(&scoped.store, &id).unwrap_or_else(|error| {
            // One folder that is not ours hides no other.
            events.warning(error.message, None);
            RunEntry { id: id.to_string(), mode: None, counts: None, of: String::new() }
        })
    });
    Ok(RunListReport { runs: runs.collect(), total })
}

fn entry(store: &Store, id: &RunId) -> Result<RunEntry, OpError> {
    let (mode, counts, of) = match read_record(store, id)? {
        Some(RunRecord::Sync(report)) => {
            let counts = RunCounts::Sync(action_counts(report.counts));
            (Some(run_mode(report.mode)), Some(counts), report.trace_path)
        }
        Some(RunRecord::Maintain(report)) => {
            let counts = RunCounts::Maintain(maintain_counts(&report.counts));
            (Some(RunMode::Maintain), Some(counts), String::new())
        }
        Some(RunRecord::Undo(record)) => (Some(RunMode::Undo), None, record.of.to_string()),
        None => (None, None, String::new()),
    };
    Ok(RunEntry { id: id.to_string(), mode, counts, of })
}
