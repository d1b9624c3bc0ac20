//! `undo`: a run that puts back what another run changed, byte for byte.
//!
//! Every file must still be what that run made of it. Where a person or a later run changed one, nothing is taken
//! back, for half of a run undone is a state that nobody ever saw.

use std::time::Duration;

use jiff::Timestamp;
use nacre_core::memory::{MemoryError, Store};
use nacre_core::safefs::{FsError, Owner};
use serde_json::json;

use super::run::{RunId, RunMode, UndoError, UndoPlan, pretty};

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
        batch.take_back(change)?;
    }
    let run = RunId::new(RunMode::Undo, now, id.as_str());
    let planned = batch.plan()?;
    let paths: Vec<String> = planned.iter().map(|change| change.path.as_str().to_owned()).collect();
    let actions: Vec<_> =
        paths.iter().map(|path| json!({ "action": "put back", "target": stem(path) })).collect();
    let report = json!({
        "run_id": run, "mode": RunMode::Undo, "of": id, "finished_at": now.to_string(),
        "actions": actions, "written_paths": paths,
    });
    let (path, bytes) = UndoPlan::of(&planned).file(&run)?;
    batch.put_file(path, bytes)?;
    batch.put_file(run.folder()?.join("memory_actions.json")?, pretty(&report))?;
    match batch.commit() {
        Ok(_) => Ok(Undone { run, of: id.clone(), paths }),
        Err(MemoryError::Fs(source @ FsError::Conflict { .. })) => {
            Err(UndoError::Changed { id: id.clone(), source })
        }
        Err(error) => Err(error.into()),
    }
}

/// The memory that a path belongs to.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}
