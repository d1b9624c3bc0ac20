//! Snapshots that are kept between the questions of one process, so that a server opens an index once and not for every question.
//!
//! A kept snapshot is used as long as the manifest on disk is the one that it was read under, by its bytes and by its stamp: every
//! change replaces that file, so whoever made it, in this process or another, is noticed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::answers::KeptAnswers;
use super::snapshot::Snapshot;
use crate::safefs::FileStamp;

/// So many indexes are kept at most; the one that was not used for longest makes place.
const MAX_KEPT: usize = 16;

/// The snapshots that a process keeps.
#[derive(Debug, Default)]
pub struct KeptSnapshots {
    /// The latest used last.
    entries: Mutex<Vec<Kept>>,
}

#[derive(Debug)]
struct Kept {
    path: PathBuf,
    state: IndexState,
    snapshot: Arc<Snapshot>,
    answers: Arc<KeptAnswers>,
}

/// What is on the disk under a snapshot. The numbers of segments begin anew in an index that was built anew, so the bytes of its
/// manifest alone do not tell it from the one before.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct IndexState {
    pub(super) manifest: Vec<u8>,
    pub(super) stamp: Option<FileStamp>,
}

impl KeptSnapshots {
    /// The snapshot of the index at `path`, if it was read in this state.
    pub(super) fn get(&self, path: &Path, state: &IndexState) -> Option<Arc<Snapshot>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let found = entries.iter().position(|kept| kept.path == path)?;
        let kept = entries.remove(found);
        if kept.state != *state {
            return None;
        }
        let snapshot = Arc::clone(&kept.snapshot);
        entries.push(kept);
        Some(snapshot)
    }

    pub(super) fn keep(&self, path: &Path, state: IndexState, snapshot: &Arc<Snapshot>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|kept| kept.path != path);
        if entries.len() >= MAX_KEPT {
            entries.remove(0);
        }
        let (path, snapshot) = (path.to_owned(), Arc::clone(snapshot));
        entries.push(Kept { path, state, snapshot, answers: Arc::default() });
    }

    /// Where the orders are kept that were found in a snapshot; `None` if it is not kept itself.
    pub(super) fn answers_of(&self, snapshot: &Arc<Snapshot>) -> Option<Arc<KeptAnswers>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = entries.iter().find(|kept| Arc::ptr_eq(&kept.snapshot, snapshot))?;
        Some(Arc::clone(&kept.answers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(manifest: &[u8], size: u64) -> IndexState {
        let stamp = Some(FileStamp { size, inode: 1, modified: 2, changed: 3 });
        IndexState { manifest: manifest.to_vec(), stamp }
    }

    #[test]
    fn a_snapshot_is_kept_for_its_own_state_and_only_so_many_are() {
        let kept = KeptSnapshots::default();
        let (a, snapshot) = (Path::new("/a"), Arc::new(Snapshot::default()));
        for other in [state(b"two", 1), state(b"one", 2)] {
            kept.keep(a, state(b"one", 1), &snapshot);
            let found = kept.get(a, &state(b"one", 1));
            assert!(found.is_some_and(|found| Arc::ptr_eq(&found, &snapshot)));
            assert!(kept.get(Path::new("/b"), &state(b"one", 1)).is_none());
            assert!(kept.get(a, &other).is_none(), "{other:?}");
            assert!(kept.get(a, &state(b"one", 1)).is_none(), "what is outdated is let go");
        }
        kept.keep(a, state(b"one", 1), &snapshot);
        for number in 0..MAX_KEPT {
            kept.keep(Path::new(&format!("/{number}")), state(b"", 0), &snapshot);
        }
        assert!(kept.get(a, &state(b"one", 1)).is_none());
        assert!(kept.get(Path::new("/0"), &state(b"", 0)).is_some());
    }
}
