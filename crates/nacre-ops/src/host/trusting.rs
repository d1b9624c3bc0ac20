//! What came from elsewhere, and edits that the person made with other means than Nacre.

use nacre_core::memory::{Located, Memory, MemoryId, Store, Trust};
use nacre_core::safefs::Owner;

use super::{Host, ScopedStore, StoreHit};

/// Changed files that git is asked about by one command.
const MAX_ASKED: usize = 64;

/// How many memories of a store wait for the person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    pub foreign: usize,
    pub quarantined: usize,
}

impl Host {
    /// Keeps the level of memories that the person changed on this machine by other means than Nacre; tells whether any was. Best
    /// effort: what could not be settled waits.
    pub fn settle_edits(&self, scoped: &ScopedStore, files: &[Located]) -> bool {
        let store = &scoped.store;
        let read: Vec<Memory> = files.iter().filter_map(|at| store.load(at).ok()).collect();
        let edited = read.iter().filter_map(|memory| Some((memory, kept_level(store, memory)?)));
        !self.keep_levels(store, edited.take(MAX_ASKED).collect()).is_empty()
    }

    /// The same for what was found: the levels that hold now are entered there.
    pub fn settle_found(&self, found: &mut [StoreHit<'_>]) {
        for same_store in found.chunk_by_mut(|one, other| std::ptr::eq(one.scoped, other.scoped)) {
            let Some(store) = same_store.first().map(|first| &first.scoped.store) else { continue };
            let foreign = same_store.iter().filter(|hit| hit.trust == Trust::Foreign);
            let edited = foreign.filter_map(|StoreHit { hit, .. }| {
                Some((&hit.memory, level_before(store, &hit.memory)?))
            });
            let kept = self.keep_levels(store, edited.take(MAX_ASKED).collect());
            for hit in same_store {
                if let Some((_, level)) = kept.iter().find(|(id, _)| *id == hit.hit.memory.at.id) {
                    hit.trust = *level;
                }
            }
        }
    }

    /// Enters these levels for those of the memories that were changed here; tells which.
    fn keep_levels(&self, store: &Store, edited: Vec<(&Memory, Trust)>) -> Vec<(MemoryId, Trust)> {
        let is_here =
            |(memory, _): &(&Memory, Trust)| store.is_changed_here(&self.git(), &memory.at);
        let edited: Vec<(&Memory, Trust)> = edited.into_iter().filter(is_here).collect();
        if edited.is_empty() || enter(store, &edited, &self.owner("trust")).is_none() {
            return Vec::new();
        }
        edited.into_iter().map(|(memory, level)| (memory.at.id.clone(), level)).collect()
    }

    /// Counts what waits in a store, after the person's own edits were taken for theirs.
    pub fn count_waiting(&self, scoped: &ScopedStore) -> Waiting {
        let (waiting, changed) = look(&scoped.store);
        let is_settled = !changed.is_empty() && self.settle_edits(scoped, &changed);
        if is_settled { look(&scoped.store).0 } else { waiting }
    }
}

/// The level that a changed memory would keep; `None` where it has not changed, was not trusted, or gives an order now.
fn kept_level(store: &Store, memory: &Memory) -> Option<Trust> {
    let before = level_before(store, memory)?;
    (store.trust_of(memory) == Trust::Foreign).then_some(before)
}

/// The level that a memory had when it was trusted last.
fn level_before(store: &Store, memory: &Memory) -> Option<Trust> {
    store.trust_before(&memory.at.id).filter(|level| !level.waits())
}

fn enter(store: &Store, edited: &[(&Memory, Trust)], owner: &Owner) -> Option<()> {
    let mut batch = store.begin(owner, std::time::Duration::ZERO).ok()?;
    for (memory, level) in edited {
        batch.keep(memory, *level);
    }
    batch.commit().ok().map(|_| ())
}

/// How many wait, and which of them were trusted once. Reads every file.
fn look(store: &Store) -> (Waiting, Vec<Located>) {
    let files = store.located().unwrap_or_default();
    let levels = store.map_all(&files, |memory| {
        let memory = memory.ok()?;
        let level = store.trust_of(&memory);
        let is_changed = level == Trust::Foreign && level_before(store, &memory).is_some();
        Some((level, is_changed))
    });
    let (mut waiting, mut changed) = (Waiting::default(), Vec::new());
    for (at, (level, is_changed)) in files.iter().zip(levels).filter_map(|(at, of)| Some((at, of?)))
    {
        match level {
            Trust::Foreign => waiting.foreign += 1,
            Trust::Quarantined => waiting.quarantined += 1,
            Trust::Derived | Trust::Assistant | Trust::User | Trust::Human => {}
        }
        if is_changed {
            changed.push(at.clone());
        }
    }
    (waiting, changed)
}
