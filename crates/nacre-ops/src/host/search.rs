//! Searches stores and determines the trust levels of the results.

use nacre_memory::recall::{GradedHit, lower_contradicted, order_hits};
use nacre_memory::search::{DueLook, KeptSnapshots, MemoryIndex, MemoryOptions, Query};
use nacre_memory::{Edit, Located, Memory, Trust, Unreadable};
use nacre_types::Scope;

use crate::prelude::*;

pub struct SearchableStore {
    pub scoped: ScopedStore,
    pub owner: Owner,
    now: Timestamp,
    /// The checks required before a search, depending on how recently other calls checked.
    due: DueLook,
    kept: Option<Arc<KeptSnapshots>>,
}

nacre_base::debug_only!(SearchableStore { scoped });

#[derive(Default)]
pub struct StoresFound<'s> {
    /// Best first.
    pub hits: Vec<GradedHit>,
    /// The number of hits before the limit was applied.
    pub total: usize,
    pub broken: Vec<(Unreadable, &'s ScopedStore)>,
}

impl Host {
    /// Returns the stores to search. `command` is recorded in lock files.
    pub fn searchable_stores(
        &self,
        scope: Option<Scope>,
        command: &str,
    ) -> Result<Vec<SearchableStore>> {
        let stores = self.stores_to_read(scope)?;
        Ok(stores.into_iter().map(|scoped| self.searchable(scoped, command)).collect())
    }

    /// Returns a store's index for a hook, which has a deadline.
    pub fn quick_index<'s>(&self, scoped: &'s ScopedStore) -> Result<MemoryIndex<'s>> {
        let (owner, kept) = (self.owner("hook"), self.shared.snapshots.as_ref());
        let (store, due) = (&scoped.store, DueLook::Folders);
        Ok(MemoryIndex::open_kept(store, &owner, self.now(), kept, due)?)
    }

    pub fn searchable(&self, scoped: ScopedStore, command: &str) -> SearchableStore {
        let age = (self.environment.uptime)();
        let due = self.shared.due_look(scoped.store.path(), age);
        let (owner, now) = (self.owner(command), self.now());
        let kept = self.shared.snapshots.clone();
        SearchableStore { scoped, owner, now, due, kept }
    }
}

impl SearchableStore {
    pub fn index(&self) -> Result<MemoryIndex<'_>> {
        let Self { scoped: ScopedStore { store, .. }, owner, now, due, kept } = self;
        let kept = kept.as_ref();
        Ok(MemoryIndex::open_kept(store, owner, *now, kept, *due)?)
    }

    pub fn index_watched(&self, watch: &mut dyn FnMut(usize, usize)) -> Result<MemoryIndex<'_>> {
        let Self { scoped, owner, now, .. } = self;
        Ok(MemoryIndex::open_watched(&scoped.store, owner, *now, watch)?)
    }
}

/// Number of extra hits to fetch, because some hits are merged.
const SPARE: usize = 20;

/// Searches all stores and returns the most relevant memories, up to `options.limit`.
pub fn search_stores<'s>(
    stores: &'s [SearchableStore],
    query: &Query,
    options: &MemoryOptions,
) -> Result<StoresFound<'s>> {
    let mut all = StoresFound::default();
    for (number, searchable) in stores.iter().enumerate() {
        let wanted = MemoryOptions { limit: options.limit.saturating_add(SPARE), ..*options };
        let found = searchable.index()?.offer(query, &wanted);
        let scoped = &searchable.scoped;
        all.total += found.total;
        let hits = found.hits.into_iter().map(|hit| GradedHit::new(hit, &scoped.store, number));
        all.hits.extend(hits);
        all.broken.extend(found.broken.into_iter().map(|file| (file, scoped)));
    }
    // Quarantined memories are shown only in the review.
    let n_found = all.hits.len();
    all.hits.retain(|found| found.trust != Trust::Quarantined);
    order_hits(&mut all.hits);
    all.total -= n_found - all.hits.len();
    lower_contradicted(&mut all.hits);
    all.hits.truncate(options.limit);
    Ok(all)
}

const MAX_ASKED: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UntrustedCounts {
    pub foreign: usize,
    pub quarantined: usize,
}

impl Host {
    /// Updates the trust levels of memories that were changed outside Nacre. A memory edited by the
    /// user keeps its level, and any other change counts as untrusted. Returns whether the user
    /// edited any of the memories. Errors are ignored, because the next call tries again.
    pub fn settle_edits(&self, scoped: &ScopedStore, files: &[Located]) -> bool {
        let store = &scoped.store;
        let read: Vec<Memory> = files.iter().filter_map(|at| store.load(at).ok()).collect();
        self.settle(store, read.iter().filter(|memory| store.is_changed(memory)))
    }

    /// Like `settle_edits`, but for search results. Also updates their levels.
    pub fn settle_found(&self, stores: &[SearchableStore], found: &mut [GradedHit]) {
        for (number, searchable) in stores.iter().enumerate() {
            let store = &searchable.scoped.store;
            let here = |hit: &&GradedHit| hit.store == number && hit.trust == Trust::Foreign;
            let memories = found.iter().filter(here).map(|found| &found.hit.memory);
            if self.settle(store, memories.filter(|memory| store.is_changed(memory))) {
                for found in found.iter_mut().filter(|found| found.store == number) {
                    found.trust = store.trust_of(&found.hit.memory);
                }
            }
        }
    }

    fn settle<'m>(&self, store: &Store, changed: impl Iterator<Item = &'m Memory>) -> bool {
        let git = self.git();
        let judge = |memory| Edit { memory, is_users: store.is_users_edit(&git, memory) };
        let edits: Vec<Edit<'_>> = changed.take(MAX_ASKED).map(judge).collect();
        if edits.is_empty() {
            return false;
        }
        let Ok(mut batch) = store.begin(&self.owner("trust"), Duration::ZERO) else { return false };
        edits.iter().for_each(|edit| batch.settle_edit(edit));
        batch.commit().is_ok() && edits.iter().any(|edit| edit.is_users)
    }

    /// Counts the untrusted memories in a store, after recording the user's own edits as trusted.
    pub fn count_waiting(&self, scoped: &ScopedStore) -> UntrustedCounts {
        let levels = self.levels(scoped, &scoped.store.locate_all().unwrap_or_default());
        let count = |trust| levels.iter().filter(|level| **level == Some(trust)).count();
        UntrustedCounts { foreign: count(Trust::Foreign), quarantined: count(Trust::Quarantined) }
    }

    /// Returns the trust levels of the memories in these files, after recording the user's own
    /// edits as trusted. Returns `None` for each file that cannot be read.
    pub fn levels(&self, scoped: &ScopedStore, files: &[Located]) -> Vec<Option<Trust>> {
        let store = &scoped.store;
        let look = || {
            store.map_all(files, |memory| {
                let memory = memory.ok()?;
                let level = store.trust_of(&memory);
                Some((level, level == Trust::Foreign && store.is_changed(&memory)))
            })
        };
        let mut found = look();
        let pairs = files.iter().zip(&found);
        let changed = pairs.filter(|(_, of)| of.is_some_and(|(_, is_changed)| is_changed));
        let changed: Vec<Located> = changed.map(|(at, _)| at.clone()).collect();
        if !changed.is_empty() && self.settle_edits(scoped, &changed) {
            found = look();
        }
        found.into_iter().map(|of| Some(of?.0)).collect()
    }
}

/// Lock timeout. It is short, because recording must not delay a response.
const PATIENCE: Duration = Duration::from_millis(500);

/// Records in the local state that memories were offered. Errors are ignored, because a later offer
/// will be recorded instead.
pub fn note_offered(store: &Store, owner: &Owner, ids: &[MemoryId], now: Timestamp) {
    if store.never_offered(ids).is_empty() {
        return;
    }
    let _ = store.begin(owner, PATIENCE).and_then(|mut batch| {
        batch.offer(ids, now)?;
        batch.commit()
    });
}
