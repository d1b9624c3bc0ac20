//! Shows what a run did and why, and what it took.

use nacre_api::wire::{
    RunMode, RunReport, RunShowReport, RunShowRequest, UndoAction, UndoRunReport, UndoVerb,
};
use nacre_engine::flows::record::{self, RunRecord, UndoRecord, read_metrics, read_record};
use nacre_engine::flows::run;

use super::maintenance::store_maintenance;
use super::metrics::run_metrics;
use super::session::session_run;
use crate::error::OpError;
use crate::host::Host;

pub fn show(host: &Host, request: &RunShowRequest) -> Result<RunShowReport, OpError> {
    let store = host.store_to_write(None)?.store;
    let id = run::find(&store, &request.id)?;
    Ok(RunShowReport {
        id: id.to_string(),
        report: read_record(&store, &id)?.map(run_report),
        metrics: read_metrics(&store, &id)?.map(run_metrics),
    })
}

fn run_report(record: RunRecord) -> RunReport {
    match record {
        RunRecord::Sync(report) => RunReport::Sync(Box::new(session_run(*report))),
        RunRecord::Maintain(report) => RunReport::Maintain(Box::new(store_maintenance(*report))),
        RunRecord::Undo(record) => RunReport::Undo(undo_report(record)),
    }
}

fn undo_report(record: UndoRecord) -> UndoRunReport {
    let UndoRecord { run_id, mode: _, of, finished_at, actions, written_paths } = record;
    UndoRunReport {
        run_id: run_id.into(),
        mode: RunMode::Undo,
        of: of.into(),
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
