//! Memories that were changed outside Nacre, and those that wait to be trusted.

use nacre_core::memory::{Edit, Located, Memory, Store, Trust};
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
    /// Records the level of memories that were changed outside Nacre: the user's edits keep theirs, others are foreign. Returns
    /// whether any was the user's. Best effort: what could not be settled waits.
    pub fn settle_edits(&self, scoped: &ScopedStore, files: &[Located]) -> bool {
        let store = &scoped.store;
        let read: Vec<Memory> = files.iter().filter_map(|at| store.load(at).ok()).collect();
        self.settle(store, read.iter().filter(|memory| is_changed(store, memory)))
    }

    /// Does the same for search results, and updates their levels.
    pub fn settle_found(&self, found: &mut [StoreHit<'_>]) {
        for same_store in found.chunk_by_mut(|one, other| std::ptr::eq(one.scoped, other.scoped)) {
            let Some(store) = same_store.first().map(|first| &first.scoped.store) else { continue };
            let foreign = same_store.iter().filter(|hit| hit.trust == Trust::Foreign);
            let memories = foreign.map(|hit| &hit.hit.memory);
            if self.settle(store, memories.filter(|memory| was_trusted_last(store, memory))) {
                for hit in same_store.iter_mut() {
                    hit.trust = store.trust_of(&hit.hit.memory);
                }
            }
        }
    }

    fn settle<'m>(&self, store: &Store, changed: impl Iterator<Item = &'m Memory>) -> bool {
        let git = self.git();
        let judge = |memory| Edit { memory, is_users: store.is_users_edit(&git, memory) };
        let edits: Vec<Edit<'_>> = changed.take(MAX_ASKED).map(judge).collect();
        enter(store, &edits, &self.owner("trust")).is_some()
            && edits.iter().any(|edit| edit.is_users)
    }

    /// Counts what waits in a store, after the person's own edits were taken for theirs.
    pub fn count_waiting(&self, scoped: &ScopedStore) -> Waiting {
        let (waiting, changed) = look(&scoped.store);
        let is_settled = !changed.is_empty() && self.settle_edits(scoped, &changed);
        if is_settled { look(&scoped.store).0 } else { waiting }
    }
}

/// Whether a memory was changed since it was trusted, and gives no order now.
fn is_changed(store: &Store, memory: &Memory) -> bool {
    was_trusted_last(store, memory) && store.trust_of(memory) == Trust::Foreign
}

fn was_trusted_last(store: &Store, memory: &Memory) -> bool {
    store.last_trust(&memory.at.id).is_some_and(|level| !level.waits())
}

fn enter(store: &Store, edits: &[Edit<'_>], owner: &Owner) -> Option<()> {
    if edits.is_empty() {
        return None;
    }
    let mut batch = store.begin(owner, std::time::Duration::ZERO).ok()?;
    for edit in edits {
        batch.settle_edit(edit);
    }
    batch.commit().ok().map(|_| ())
}

/// How many wait, and which of them were trusted once. Reads every file.
fn look(store: &Store) -> (Waiting, Vec<Located>) {
    let files = store.located().unwrap_or_default();
    let levels = store.map_all(&files, |memory| {
        let memory = memory.ok()?;
        let level = store.trust_of(&memory);
        let is_changed = level == Trust::Foreign && was_trusted_last(store, &memory);
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
