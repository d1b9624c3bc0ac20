//! Shows what a run did and why, and what it took.

use nacre_api::wire::{
    ErrorCode, RunMode, RunOfChange, RunReport, RunShowReport, RunShowRequest, UndoAction,
    UndoRunReport, UndoVerb,
};
use nacre_core::memory::Store;
use nacre_engine::flows::change::{StoredChange, changes};
use nacre_engine::flows::record::{self, RunRecord, UndoRecord, read_metrics, read_record};
use nacre_engine::flows::run::{self, RunId, UndoError};

use super::maintenance::store_maintenance;
use super::metrics::run_metrics;
use super::session::session_run;
use crate::error::OpError;
use crate::host::Host;

pub fn show(host: &Host, request: &RunShowRequest) -> Result<RunShowReport, OpError> {
    let store = host.store_to_write(None)?.store;
    match find_runs(&store, &request.id)?.as_slice() {
        [run] => {
            let RunOfChange { id, report, metrics } = show_run(&store, run)?;
            Ok(RunShowReport { id, report, metrics, runs: Vec::new() })
        }
        runs => {
            let runs = runs.iter().map(|run| show_run(&store, run)).collect::<Result<_, _>>()?;
            Ok(RunShowReport { id: request.id.clone(), report: None, metrics: None, runs })
        }
    }
}

fn show_run(store: &Store, id: &RunId) -> Result<RunOfChange, OpError> {
    Ok(RunOfChange {
        id: id.to_string(),
        report: read_record(store, id)?.map(run_report),
        metrics: read_metrics(store, id)?.map(run_metrics),
    })
}

/// The one run that is named.
pub(super) fn find(store: &Store, text: &str) -> Result<RunId, OpError> {
    match find_runs(store, text)?.as_slice() {
        [only] => Ok(only.clone()),
        runs => {
            let n_runs = runs.len();
            let error = OpError::failed(format!("`{text}` is {n_runs} runs, one a session"));
            let error = OpError { code: ErrorCode::Ambiguous, ..error };
            Err(error.hint(format!("`nacre runs show {text}` shows each")))
        }
    }
}

/// The run that is named, or the runs of a change that is.
fn find_runs(store: &Store, text: &str) -> Result<Vec<RunId>, OpError> {
    let all = changes(store)?;
    let change = all.iter().find(|change| change.id == text);
    if let Some(change) = change.filter(|change| !change.runs.is_empty()) {
        return Ok(change.runs.clone());
    }
    match run::find(store, text) {
        // The start of the ids of all its runs names a change, too.
        Err(error @ UndoError::Ambiguous { .. }) => {
            let has_named =
                |change: &&StoredChange| change.runs.iter().any(|run| run.is_named(text));
            let named: Vec<&StoredChange> = all.iter().filter(has_named).collect();
            match named.as_slice() {
                [only] => Ok(only.runs.clone()),
                _ => Err(error.into()),
            }
        }
        found => Ok(vec![found?]),
    }
}

fn run_report(record: RunRecord) -> RunReport {
    match record {
        RunRecord::Sync(report) => RunReport::Sync(Box::new(session_run(*report))),
        RunRecord::Maintain(report) => RunReport::Maintain(Box::new(store_maintenance(*report))),
        RunRecord::Undo(record) => RunReport::Undo(undo_report(record)),
    }
}

fn undo_report(record: UndoRecord) -> UndoRunReport {
    let UndoRecord { run_id, mode: _, of, runs, finished_at, actions, written_paths } = record;
    UndoRunReport {
        run_id: run_id.into(),
        mode: RunMode::Undo,
        of,
        runs: runs.into_iter().map(Into::into).collect(),
        finished_at,
        actions: actions.into_iter().map(undo_action).collect(),
        written_paths,
    }
}

fn undo_action(action: record::UndoAction) -> UndoAction {
    let verb = match action.action {
        record::UndoVerb::PutBack => UndoVerb::PutBack,
    };
    UndoAction { action: verb, target: action.target }
}
