//! What the calls of one process share, so that the second is quicker than the first.
//!
//! A command has one call. A server has many a second: it opens the model once, keeps the indexes that it read, and looks at every
//! file of a store once a second at most, and ten times at its folders. What one of its own calls changed is found by the next;
//! what another process brought or took away, or a sync that is still running, a tenth of a second later; words that a person
//! edited in place a second later. What is shown is read anew in any case.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nacre_core::memory::KeptLedgers;
use nacre_core::search::{DueLook, KeptSnapshots};

use super::database::KeptDatabase;
use super::embedding::LocalModel;
use super::settings::UnderstoodSettings;

/// How long a look at every file holds.
const FILES_HOLD: Duration = Duration::from_secs(1);

/// How long a look at the folders holds.
const FOLDERS_HOLD: Duration = Duration::from_millis(100);

/// Shared by all calls that are opened with it.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    pub(super) model: Arc<LocalModel>,
    pub(super) settings: UnderstoodSettings,
    /// The connections to a database that is shared, opened when first used.
    pub(super) database: KeptDatabase,
    /// When each store was last looked at; nothing where every call looks.
    looks: Option<Arc<Mutex<BTreeMap<PathBuf, LastLook>>>>,
    /// How many calls changed something.
    n_changes: Arc<AtomicU64>,
    /// The indexes and ledgers that were read; nothing where a call reads its own.
    pub(super) snapshots: Option<Arc<KeptSnapshots>>,
    pub(super) ledgers: Option<Arc<KeptLedgers>>,
    /// What operations keep themselves; nothing where there is no second call.
    work: Option<Arc<Mutex<Vec<KeptWork>>>>,
}

/// Something that an operation keeps for the next call, by where it belongs.
type KeptWork = (PathBuf, Box<dyn Any + Send>);

/// So many of them are kept at most; the one that was not used for longest makes place.
const MAX_WORK: usize = 4;

/// When a store was looked at, by the age of the process.
#[derive(Clone, Copy, Debug)]
struct LastLook {
    files: Duration,
    folders: Duration,
    /// After so many changes.
    n_changes: u64,
}

impl Shared {
    /// For a process that answers many calls.
    pub fn for_server() -> Self {
        Self {
            model: Arc::default(),
            settings: UnderstoodSettings::default(),
            database: KeptDatabase::default(),
            looks: Some(Arc::default()),
            n_changes: Arc::default(),
            snapshots: Some(Arc::default()),
            ledgers: Some(Arc::default()),
            work: Some(Arc::default()),
        }
    }

    /// Whether there is a second call that something could be kept for.
    pub(crate) fn keeps_work(&self) -> bool {
        self.work.is_some()
    }

    /// Takes what was kept for `place`. Until it is put back, other calls do without.
    pub(crate) fn take_work<T: Send + 'static>(&self, place: &Path) -> Option<T> {
        let mut work = self.work.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let found = work.iter().position(|(of, kept)| of == place && kept.is::<T>())?;
        work.remove(found).1.downcast().ok().map(|kept| *kept)
    }

    pub(crate) fn keep_work<T: Send + 'static>(&self, place: &Path, kept: T) {
        let Some(work) = &self.work else { return };
        let mut work = work.lock().unwrap_or_else(PoisonError::into_inner);
        work.retain(|(of, other)| of != place || !other.is::<T>());
        if work.len() >= MAX_WORK {
            work.remove(0);
        }
        work.push((place.to_owned(), Box::new(kept)));
    }

    /// Notes that a call may have changed a store: the next one looks.
    pub fn note_change(&self) {
        self.n_changes.fetch_add(1, Ordering::Release);
    }

    /// What a call has to look at in the store at `path`; calls that come meanwhile rely on it. `now` is the age of the process.
    pub(super) fn due_look(&self, path: &Path, now: Duration) -> DueLook {
        let Some(looks) = &self.looks else { return DueLook::Files };
        let n_changes = self.n_changes.load(Ordering::Acquire);
        let mut looks = looks.lock().unwrap_or_else(PoisonError::into_inner);
        match looks.get_mut(path) {
            Some(last) if now.saturating_sub(last.files) < FILES_HOLD => {
                let is_recent = now.saturating_sub(last.folders) < FOLDERS_HOLD;
                if is_recent && last.n_changes == n_changes {
                    return DueLook::Nothing;
                }
                *last = LastLook { folders: now, n_changes, ..*last };
                DueLook::Folders
            }
            Some(_) | None => {
                looks.insert(path.to_owned(), LastLook { files: now, folders: now, n_changes });
                DueLook::Files
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_looks_now_and_then_and_after_its_own_changes_and_a_command_always() {
        let (store, at) = (Path::new("/a"), Duration::from_millis);
        let shared = Shared::for_server();
        let looks = |times: &[u64]| -> Vec<DueLook> {
            times.iter().map(|now| shared.due_look(store, at(*now))).collect()
        };
        assert_eq!(looks(&[0, 10, 99]), [DueLook::Files, DueLook::Nothing, DueLook::Nothing]);
        assert_eq!(looks(&[100, 199, 200]), [DueLook::Folders, DueLook::Nothing, DueLook::Folders]);
        shared.note_change();
        assert_eq!(looks(&[201, 202]), [DueLook::Folders, DueLook::Nothing]);
        assert_eq!(looks(&[1000, 1001]), [DueLook::Files, DueLook::Nothing]);
        assert_eq!(shared.due_look(Path::new("/b"), at(1001)), DueLook::Files);
        assert_eq!(Shared::default().due_look(store, at(0)), DueLook::Files);
        assert_eq!(Shared::default().due_look(store, at(1)), DueLook::Files);
    }

    #[test]
    fn what_is_kept_is_taken_by_one_and_only_so_much_of_it_is() {
        let (shared, a) = (Shared::for_server(), Path::new("/a"));
        shared.keep_work(a, 1_u32);
        assert_eq!((shared.take_work::<u8>(a), shared.take_work::<u32>(a)), (None, Some(1)));
        assert_eq!(shared.take_work::<u32>(a), None, "somebody has it");
        for n in 0..10_usize {
            shared.keep_work(Path::new(&format!("/{n}")), n);
        }
        let n_kept = (0..10).filter_map(|n| shared.take_work::<usize>(Path::new(&format!("/{n}"))));
        assert_eq!(n_kept.collect::<Vec<_>>(), [6, 7, 8, 9]);
        Shared::default().keep_work(a, 1_u32);
        assert!(!Shared::default().keeps_work());
    }
}
