//! Lists the runs of a project, newest first.

use nacre_api::wire::{RunCounts, RunEntry, RunListReport, RunListRequest, RunMode};
use nacre_engine::flows::change::{StoredChange, changes, ordered_runs};
use nacre_engine::flows::record::{RunReader, RunRecord};
use nacre_engine::flows::run::RunId;

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
    let runs = ordered_runs(&scoped.store)?;
    let total = runs.len();
    let limit = match request.limit.unwrap_or(host.settings().memory.max_results) {
        0 => total,
        limit => limit,
    };
    let mut reader = RunReader::new(&scoped.store);
    let changes = changes(&scoped.store)?;
    let runs = runs.into_iter().take(limit).map(|id| {
        entry(&mut reader, &changes, &id).unwrap_or_else(|error| {
            // One folder that is not ours hides no other.
            events.warning(error.message, None);
            RunEntry { id: id.to_string(), mode: None, counts: None, of: String::new() }
        })
    });
    let runs = runs.collect();
    if reader.n_unread() != 0 {
        let message = format!("What {} older runs did was not read", reader.n_unread());
        events.warning(message, Some("nacre runs show RUN"));
    }
    Ok(RunListReport { runs, total })
}

fn entry(
    reader: &mut RunReader<'_>,
    changes: &[StoredChange],
    id: &RunId,
) -> Result<RunEntry, OpError> {
    let (mode, counts, of) = match reader.record(id)? {
        Some(RunRecord::Sync(report)) => {
            let counts = RunCounts::Sync(action_counts(report.counts));
            (Some(run_mode(report.mode)), Some(counts), report.trace_path)
        }
        Some(RunRecord::Maintain(report)) => {
            let counts = RunCounts::Maintain(maintain_counts(&report.counts));
            (Some(RunMode::Maintain), Some(counts), String::new())
        }
        Some(RunRecord::Undo(record)) => (Some(RunMode::Undo), None, record.of),
        None => (None, None, command(changes, id)),
    };
    Ok(RunEntry { id: id.to_string(), mode, counts, of })
}

/// What was typed, for a person's own change, which leaves no report.
fn command(changes: &[StoredChange], id: &RunId) -> String {
    let change = changes.iter().find(|change| change.is_own && change.runs.contains(id));
    change.map(|change| change.command.clone()).unwrap_or_default()
}
