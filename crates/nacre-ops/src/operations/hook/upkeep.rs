//! What hooks leave to a process in the background, and when it was last started.

use jiff::Timestamp;
use nacre_api::wire::{HookUpkeepReport, HookUpkeepRequest};
use nacre_core::memory::MemoryId;
use nacre_core::safefs::{Access, RelPath, WriteScope};
use serde::{Deserialize, Serialize};

use super::session::{HOOKS_FOLDER, all_told, folder, prune};
use crate::error::OpError;
use crate::host::{Host, SearchableStore, note_offered};

/// The file of the stamp; no notes of a session are named so.
const STAMP_FILE: &str = "sync.stamp";
const MAX_BYTES: u64 = 4096;

/// Each sync that fails doubles the time to the next one, up to so many times.
const MAX_DOUBLINGS: u32 = 5;
const FIRST_BACK_OFF: i64 = 120;

/// How often the index is looked at until nothing is left to take in.
const MAX_LOOKS: usize = 30;

/// When a sync was last started, and how many failed since one did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Stamp {
    pub(super) at: Timestamp,
    n_failed: u32,
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

    pub(super) fn save(self, host: &Host) -> Result<(), OpError> {
        let text = serde_json::to_vec(&self).map_err(std::io::Error::other)?;
        Ok(folder(host)?.put_output(&RelPath::new(STAMP_FILE)?, &text, &host.owner("hook"))?)
    }

    /// The stamp of one that starts now.
    pub(super) fn started(self, now: Timestamp) -> Self {
        Self { at: now, ..self }
    }

    /// How long to wait after syncs that failed.
    pub(super) fn back_off_seconds(self) -> i64 {
        match self.n_failed.min(MAX_DOUBLINGS) {
            0 => 0,
            n_failed => FIRST_BACK_OFF << n_failed,
        }
    }
}

/// Notes how a sync ended that a hook had started.
pub fn note_sync(host: &Host, is_done: bool) -> Result<(), OpError> {
    let stamp = Stamp::read(host);
    let n_failed = if is_done { 0 } else { stamp.n_failed.saturating_add(1) };
    Stamp { n_failed, ..stamp }.save(host)
}

/// Brings the indexes up to date and notes which memories were offered: both take time that nobody waits for here.
pub fn upkeep(host: &Host, _request: &HookUpkeepRequest) -> Result<HookUpkeepReport, OpError> {
    let mut indexed = 0;
    for searchable in host.searchable_stores(None, "hook")? {
        indexed += refresh_index(host, &searchable)?;
    }
    Ok(HookUpkeepReport { indexed })
}

/// The same for one store; returns how many records its index has.
pub(crate) fn refresh_index(host: &Host, searchable: &SearchableStore) -> Result<usize, OpError> {
    let told: Vec<MemoryId> = all_told(host).iter().filter_map(|id| id.parse().ok()).collect();
    let store = &searchable.scoped.store;
    let mut indexed = 0;
    for _ in 0..MAX_LOOKS {
        let index = searchable.index()?;
        if index.n_postponed() == 0 {
            indexed = index.snapshot().n_records();
            break;
        }
    }
    let held = told.iter().filter(|id| store.places(id).is_ok_and(|places| !places.is_empty()));
    let held: Vec<MemoryId> = held.cloned().collect();
    note_offered(store, &searchable.owner, &held, host.now());
    Ok(indexed)
}

/// Removes the notes of old sessions when there are too many.
pub(crate) fn prune_sessions(host: &Host) -> Result<(), OpError> {
    let folder = folder(host)?;
    let writer = folder.lock(&host.owner("hook"), host.settings().lock.wait)?;
    prune(&writer)
}
