//! Does background work on behalf of hooks, and records when a sync last started.

use jiff::Timestamp;
use nacre_base::fs::{Access, RelPath, WriteScope};
use nacre_memory::MemoryId;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::hook_notes::{HOOKS_FOLDER, all_told, folder, prune};
use crate::host::{Host, SearchableStore, note_offered};

/// Session notes have a different extension, so the names cannot collide.
const STAMP_FILE: &str = "sync.stamp";
const MAX_BYTES: u64 = 4096;

/// Maximum number of times that the delay is doubled after failed syncs.
const MAX_DOUBLINGS: u32 = 5;
const FIRST_BACK_OFF: i64 = 120;

/// Maximum number of scans before giving up on indexing all changes.
const MAX_LOOKS: usize = 30;

/// The time when a sync was last started, and the number of failed syncs since the last successful
/// one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Stamp {
    pub(super) at: Timestamp,
    pub(super) n_failed: u32,
}

impl Stamp {
    pub(super) fn read(host: &Host) -> Self {
        let read = || {
            let folder =
                WriteScope::open_inside(host.home().ok()?, HOOKS_FOLDER, Access::Private).ok()?;
            let bytes = folder.read(&RelPath::new(STAMP_FILE).ok()?, MAX_BYTES).ok()?;
            serde_json::from_slice(&bytes).ok()
        };
        read().unwrap_or_default()
    }

    pub(super) fn save(self, host: &Host) -> Result<()> {
        let text = serde_json::to_vec(&self).map_err(std::io::Error::other)?;
        Ok(folder(host)?.put_output(&RelPath::new(STAMP_FILE)?, &text, &host.owner("hook"))?)
    }

    /// Returns the minimum delay after failed syncs, in seconds.
    pub(super) fn back_off_seconds(self) -> i64 {
        match self.n_failed.min(MAX_DOUBLINGS) {
            0 => 0,
            n_failed => FIRST_BACK_OFF << n_failed,
        }
    }
}

/// Records the result of a sync started by a hook.
pub fn note_sync(host: &Host, is_done: bool) -> Result<()> {
    let stamp = Stamp::read(host);
    let n_failed = if is_done { 0 } else { stamp.n_failed.saturating_add(1) };
    Stamp { n_failed, ..stamp }.save(host)
}

/// Updates the indexes and records which memories were offered.
pub fn upkeep(host: &Host) -> Result<()> {
    for searchable in host.searchable_stores(None, "hook")? {
        refresh_index(host, &searchable)?;
    }
    Ok(())
}

/// Like `upkeep`, but for one store. Returns the number of records in its index.
pub(crate) fn refresh_index(host: &Host, searchable: &SearchableStore) -> Result<usize> {
    let told: Vec<MemoryId> = all_told(host).iter().filter_map(|id| id.parse().ok()).collect();
    let store = &searchable.scoped.store;
    let mut indexed = 0;
    for _ in 0..MAX_LOOKS {
        let index = searchable.index()?;
        if index.n_postponed() == 0 {
            indexed = index.n_records();
            break;
        }
    }
    let held = told.iter().filter(|id| store.places(id).is_ok_and(|places| !places.is_empty()));
    let held: Vec<MemoryId> = held.cloned().collect();
    note_offered(store, &searchable.owner, &held, host.now());
    Ok(indexed)
}

/// Removes the notes of old sessions if there are too many.
pub(crate) fn prune_sessions(host: &Host) -> Result<()> {
    let folder = folder(host)?;
    let writer = folder.lock(&host.owner("hook"), host.settings().lock.wait)?;
    prune(&writer)
}
