//! The record of a run: what it did and what it took, read back as the types that were written.

use nacre_core::memory::Store;
use nacre_core::safefs::FsError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::maintain::{MaintainMetrics, MaintainReport};
use super::run::{MAX_ARTIFACT_BYTES, METRICS_FILE, RunId, RunMode};
use super::sync::{RunReport, SyncMetrics};

/// What a run did.
#[derive(Clone, Debug)]
pub enum RunRecord {
    Sync(Box<RunReport>),
    Maintain(Box<MaintainReport>),
    Undo(UndoRecord),
}

/// What a run took. An undo measures nothing.
#[derive(Clone, Debug)]
pub enum RunMetrics {
    Sync(Box<SyncMetrics>),
    Maintain(Box<MaintainMetrics>),
}

/// What an undo did: its `memory_actions.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UndoRecord {
    pub run_id: RunId,
    pub mode: RunMode,
    /// The run that was taken back.
    pub of: RunId,
    pub finished_at: String,
    pub actions: Vec<UndoAction>,
    pub written_paths: Vec<String>,
}

/// A file that was put back.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UndoAction {
    pub action: UndoVerb,
    /// The memory that the file belongs to.
    pub target: String,
}

/// What an undo does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UndoVerb {
    #[serde(rename = "put back")]
    PutBack,
}

/// What the run `id` did; `None` where that is missing or was not written by this program.
pub fn read_record(store: &Store, id: &RunId) -> Result<Option<RunRecord>, FsError> {
    read_record_within(store, id, MAX_ARTIFACT_BYTES)
}

/// The same where its file has at most `limit` bytes.
pub fn read_record_within(
    store: &Store,
    id: &RunId,
    limit: u64,
) -> Result<Option<RunRecord>, FsError> {
    let Some(bytes) = bytes_of(store, id, id.actions_file(), limit)? else { return Ok(None) };
    Ok(if id.is_of(RunMode::Maintain) {
        parsed(&bytes).map(Box::new).map(RunRecord::Maintain)
    } else if id.is_of(RunMode::Undo) {
        parsed(&bytes).map(RunRecord::Undo)
    } else {
        parsed(&bytes).map(Box::new).map(RunRecord::Sync)
    })
}

/// What the run `id` took; `None` where that is missing or was not written by this program.
pub fn read_metrics(store: &Store, id: &RunId) -> Result<Option<RunMetrics>, FsError> {
    let Some(bytes) = bytes_of(store, id, METRICS_FILE, MAX_ARTIFACT_BYTES)? else {
        return Ok(None);
    };
    Ok(if id.is_of(RunMode::Maintain) {
        parsed(&bytes).map(Box::new).map(RunMetrics::Maintain)
    } else {
        parsed(&bytes).map(Box::new).map(RunMetrics::Sync)
    })
}

fn bytes_of(store: &Store, id: &RunId, name: &str, limit: u64) -> Result<Option<Vec<u8>>, FsError> {
    store.scope().read_optional(&id.folder()?.join(name)?, limit)
}

fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}
