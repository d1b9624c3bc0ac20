//! `undo`: a run that puts back what another run changed, byte for byte.
//!
//! Every file must still be what that run made of it. Where a person or a later run changed one, nothing is taken
//! back, for half of a run undone is a state that nobody ever saw.

use std::time::Duration;

use jiff::Timestamp;
use nacre_core::memory::{MemoryError, PlannedChange, Store, UPKEEP_FILE};
use nacre_core::safefs::{FsError, Owner};

use super::maintain::Ledger;
use super::record::{RunRecord, UndoAction, UndoRecord, UndoVerb, read_record};
use super::run::{LOCAL_STATE, RunId, RunMode, UndoError, UndoPlan, pretty};

/// Counters are small; more is not ours to put back.
const MAX_STATE_BYTES: u64 = 16 << 20;

/// What was put back.
#[derive(Clone, Debug)]
pub struct Undone {
    /// The run that did it, which can itself be undone.
    pub run: RunId,
    pub of: RunId,
    pub paths: Vec<String>,
}

/// Puts back what the run `id` changed.
pub fn undo(
    store: &Store,
    id: &RunId,
    owner: &Owner,
    patience: Duration,
    now: Timestamp,
) -> Result<Undone, UndoError> {
    let plan = UndoPlan::read(store, id)?.unwrap_or_default();
    if plan.is_empty() {
        return Err(UndoError::Nothing(id.clone()));
    }
    let mut batch = store.begin(owner, patience)?;
    for change in &plan.changes() {
        if !is_counted_since(store, change)? {
            batch.take_back(change)?;
        }
    }
    if id.is_of(RunMode::Maintain) {
        let actions = match read_record(store, id)? {
            Some(RunRecord::Maintain(report)) => report.actions,
            Some(RunRecord::Sync(_) | RunRecord::Undo(_)) | None => Vec::new(),
        };
        let mut ledger = Ledger::read(store)?;
        ledger.refuse(&actions, now);
        let (path, bytes) = ledger.file()?;
        batch.put_file(path, bytes)?;
    }
    let run = RunId::new(RunMode::Undo, now, id.as_str());
    let planned = batch.plan()?;
    let is_put_back = |path: &&str| *path != UPKEEP_FILE;
    let paths = planned.iter().map(|change| change.path.as_str()).filter(is_put_back);
    let paths: Vec<String> = paths.map(str::to_owned).collect();
    let put_back =
        |path: &String| UndoAction { action: UndoVerb::PutBack, target: stem(path).to_owned() };
    let record = UndoRecord {
        run_id: run.clone(),
        mode: RunMode::Undo,
        of: id.clone(),
        finished_at: now.to_string(),
        actions: paths.iter().map(put_back).collect(),
        written_paths: paths.clone(),
    };
    let (path, bytes) = UndoPlan::of_maintenance(&planned).file(&run)?;
    batch.put_file(path, bytes)?;
    batch.put_file(run.folder()?.join(run.actions_file())?, pretty(&record))?;
    match batch.commit() {
        Ok(_) => Ok(Undone { run, of: id.clone(), paths }),
        Err(MemoryError::Fs(source @ FsError::Conflict { .. })) => {
            Err(UndoError::Changed { id: id.clone(), source })
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether counters went on since: those are this machine's, and no reason not to undo.
fn is_counted_since(store: &Store, change: &PlannedChange) -> Result<bool, UndoError> {
    if !change.path.as_str().starts_with(LOCAL_STATE) {
        return Ok(false);
    }
    Ok(store.scope().read_optional(&change.path, MAX_STATE_BYTES)? != change.after)
}

/// The memory that a path belongs to.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}
