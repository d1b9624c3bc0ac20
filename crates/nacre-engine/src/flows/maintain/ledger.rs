//! What maintenance remembers between its runs: whether anything changed, and what a person took back.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use nacre_core::base::ContentHash;
use nacre_core::memory::{MemoryError, MemoryId, Store, UPKEEP_FILE};
use nacre_core::safefs::{FsError, RelPath};
use serde::{Deserialize, Serialize};

use super::report::{MaintainAction, MaintainVerb};

/// A larger one is not ours.
const MAX_BYTES: u64 = 16 << 20;

/// Actions of one run that are remembered as taken back, and the longest name of one: the report of a run may be a
/// stranger's.
const MAX_REFUSED: usize = 20_000;
const MAX_KEY_BYTES: usize = 400;

const VERSION: u32 = 1;

/// The ledger of a store, local to this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::flows) struct Ledger {
    version: u32,
    /// What the last run found when it was done.
    #[serde(default)]
    last: Option<Last>,
    /// What a person undid, by its key: it is not done again.
    #[serde(default)]
    refused: BTreeSet<String>,
    /// Memories whose archiving or staling a person undid, and when: that confirms them.
    #[serde(default)]
    kept: BTreeMap<MemoryId, Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Last {
    fingerprint: ContentHash,
    at: Timestamp,
    /// When time alone changes something.
    next_change: Option<Timestamp>,
}

impl Ledger {
    /// Reads the ledger; one that is not ours is as good as none.
    pub(in crate::flows) fn read(store: &Store) -> Result<Self, MemoryError> {
        let bytes = store.scope().read_optional(&path()?, MAX_BYTES)?;
        let read = bytes.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        Ok(read
            .filter(|ledger| ledger.version == VERSION)
            .unwrap_or_else(|| Self { version: VERSION, ..Self::default() }))
    }

    /// Its file and what stands in it.
    pub(in crate::flows) fn file(&self) -> Result<(RelPath, Vec<u8>), FsError> {
        Ok((path()?, crate::flows::run::pretty(self)))
    }

    /// Whether a run would find what the last one left, at a time before anything ages.
    pub(super) fn is_settled(&self, fingerprint: ContentHash, now: Timestamp) -> bool {
        self.last.as_ref().is_some_and(|last| {
            let is_ahead = |change: Timestamp| now < change;
            last.fingerprint == fingerprint
                && last.at <= now
                && last.next_change.is_none_or(is_ahead)
        })
    }

    /// Says what this run left.
    pub(super) fn settle(
        &mut self,
        fingerprint: ContentHash,
        at: Timestamp,
        next_change: Option<Timestamp>,
    ) {
        self.last = Some(Last { fingerprint, at, next_change });
    }

    pub(super) fn is_refused(&self, key: &str) -> bool {
        self.refused.contains(key)
    }

    /// When a person took back that a memory was put away.
    pub(super) fn kept(&self, id: &MemoryId) -> Option<Timestamp> {
        self.kept.get(id).copied()
    }

    /// Remembers that a person took these actions back.
    pub(in crate::flows) fn refuse(&mut self, actions: &[MaintainAction], now: Timestamp) {
        self.last = None;
        for action in actions.iter().take(MAX_REFUSED) {
            self.refused
                .extend(Some(&action.key).filter(|key| key.len() <= MAX_KEY_BYTES).cloned());
            if matches!(action.action, MaintainVerb::Archive | MaintainVerb::Stale) {
                self.kept.insert(action.target.clone(), now);
            }
        }
    }
}

fn path() -> Result<RelPath, FsError> {
    RelPath::new(UPKEEP_FILE)
}
