//! The record of a run: what it did and what it took, read back as the types that were written.

use nacre_core::memory::Store;
use nacre_core::safefs::FsError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::maintain::{MaintainMetrics, MaintainReport};
use super::run::{MAX_ARTIFACT_BYTES, METRICS_FILE, RunId, RunMode};
use super::sync::{RunReport, SyncMetrics};

/// Of all runs together one command reads so much.
const MAX_ALL_BYTES: u64 = 32 << 20;

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
    /// The change that was taken back.
    pub of: String,
    /// Its runs in this store.
    #[serde(default)]
    pub runs: Vec<RunId>,
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
    RunReader::new(store).record(id)
}

/// Reads what run after run did, until so many bytes were read: run folders may come with a clone.
#[derive(Debug)]
pub struct RunReader<'a> {
    store: &'a Store,
    n_left: u64,
    n_unread: usize,
}

impl<'a> RunReader<'a> {
    pub fn new(store: &'a Store) -> Self {
        Self { store, n_left: MAX_ALL_BYTES, n_unread: 0 }
    }

    /// What the run `id` did; `None` where that is missing, was not written by this program, or enough was read before.
    pub fn record(&mut self, id: &RunId) -> Result<Option<RunRecord>, FsError> {
        if self.n_left == 0 {
            self.n_unread += 1;
            return Ok(None);
        }
        let bytes = bytes_of(self.store, id, id.actions_file())?;
        let Some(bytes) = bytes else { return Ok(None) };
        self.n_left = self.n_left.saturating_sub(bytes.len() as u64);
        Ok(if id.is_of(RunMode::Maintain) {
            parsed(&bytes).map(Box::new).map(RunRecord::Maintain)
        } else if id.is_of(RunMode::Undo) {
            parsed(&bytes).map(RunRecord::Undo)
        } else {
            parsed(&bytes).map(Box::new).map(RunRecord::Sync)
        })
    }

    /// How many runs were asked for when enough had been read.
    pub fn n_unread(&self) -> usize {
        self.n_unread
    }
}

/// What the run `id` took; `None` where that is missing or was not written by this program.
pub fn read_metrics(store: &Store, id: &RunId) -> Result<Option<RunMetrics>, FsError> {
    let Some(bytes) = bytes_of(store, id, METRICS_FILE)? else {
        return Ok(None);
    };
    Ok(if id.is_of(RunMode::Maintain) {
        parsed(&bytes).map(Box::new).map(RunMetrics::Maintain)
    } else {
        parsed(&bytes).map(Box::new).map(RunMetrics::Sync)
    })
}

pub(super) fn bytes_of(store: &Store, id: &RunId, name: &str) -> Result<Option<Vec<u8>>, FsError> {
    store.scope().read_optional(&id.folder()?.join(name)?, MAX_ARTIFACT_BYTES)
}

pub(super) fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests write their own runs")]

    use std::fs;

    use nacre_core::memory::Rules;
    use nacre_core::safefs::{Access, WriteScope};

    use super::super::run;
    use super::*;

    #[test]
    fn the_runs_of_one_command_are_bounded_in_sum() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..5 {
            let id = format!("undo-20260101-00000{n}-aaaaaaaa");
            let path = folder.path().join("workspace").join(&id);
            fs::create_dir_all(&path).unwrap();
            let text = format!(
                r#"{{"run_id":"{id}","mode":"undo","of":"{id}","finished_at":"","actions":[],"written_paths":[]}}"#
            );
            fs::write(path.join("memory_actions.json"), text).unwrap();
        }
        let scope = WriteScope::open(folder.path(), Access::Private).unwrap();
        let store = Store::new(scope, Rules::default());
        let read = |n_left: u64| {
            let mut reader = RunReader { store: &store, n_left, n_unread: 0 };
            let runs = run::list(&store).unwrap();
            let read = runs.iter().filter_map(|id| reader.record(id).unwrap()).count();
            (read, reader.n_unread())
        };
        assert_eq!(read(200), (2, 3), "each has more than 100 bytes");
        assert_eq!(read(MAX_ALL_BYTES), (5, 0));
    }
}
