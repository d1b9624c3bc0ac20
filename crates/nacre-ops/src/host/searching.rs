//! The memories of several stores, searched one store after the other: the project's first, a person's own fill up.
//!
//! Every operation that searches memories opens their indexes here, under the settings of each store.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use nacre_api::wire::Scope;
use nacre_core::config::EmbeddingChoice;
use nacre_core::memory::{Trust, Unreadable};
use nacre_core::safefs::Owner;
use nacre_core::search::{
    Builtin, DueLook, Embedder, KeptSnapshots, MemoryHit, MemoryIndex, MemoryOptions, Query,
};

use super::{Host, ScopedStore};
use crate::error::OpError;

/// A store with the model that its texts are compared by.
pub struct SearchableStore {
    pub scoped: ScopedStore,
    pub embedder: Arc<dyn Embedder>,
    pub owner: Owner,
    now: Timestamp,
    /// What no other call looked at a moment ago.
    due: DueLook,
    /// Where a process with many calls keeps the indexes it read.
    kept: Option<Arc<KeptSnapshots>>,
}

impl fmt::Debug for SearchableStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchableStore").field("scoped", &self.scoped).finish_non_exhaustive()
    }
}

/// A memory that was found, how far it is trusted, and where it lies.
pub struct StoreHit<'s> {
    pub hit: MemoryHit,
    pub trust: Trust,
    pub scoped: &'s ScopedStore,
}

/// What a search over several stores found.
pub struct StoresFound<'s> {
    /// In the order of the stores; of each store the best first.
    pub hits: Vec<StoreHit<'s>>,
    /// How many there are, within the limit or not.
    pub total: usize,
    pub broken: Vec<(Unreadable, &'s ScopedStore)>,
}

impl Host {
    /// The stores to read, ready to be searched by `command`.
    pub fn searchable_stores(
        &self,
        scope: Option<Scope>,
        command: &str,
    ) -> Result<Vec<SearchableStore>, OpError> {
        let stores = self.stores_to_read(scope)?;
        stores.into_iter().map(|scoped| self.searchable(scoped, command)).collect()
    }

    /// The index of a store for a hook, which must not wait. No service is asked: what it made is searched by words.
    pub fn quick_index<'s>(
        &self,
        scoped: &'s ScopedStore,
        model: &'s Builtin,
    ) -> Result<MemoryIndex<'s>, OpError> {
        let (store, owner, now) = (&scoped.store, self.owner("hook"), self.now());
        Ok(match (scoped.settings.search.embedding, &self.shared.snapshots) {
            (EmbeddingChoice::Endpoint, _) => MemoryIndex::open_as_stored(store, model, now)?,
            (EmbeddingChoice::Builtin, None) => {
                MemoryIndex::open_quickly(store, model, &owner, now)?
            }
            // The same look as without a server, at what was read before.
            (EmbeddingChoice::Builtin, Some(kept)) => {
                let due = (kept, DueLook::Folders);
                MemoryIndex::open_kept(store, model, &owner, now, due)?
            }
        })
    }

    /// One store, ready to be searched by `command`.
    pub fn searchable(
        &self,
        scoped: ScopedStore,
        command: &str,
    ) -> Result<SearchableStore, OpError> {
        let embedder = self.embedder(&scoped.settings)?;
        let age = (self.environment.uptime)();
        let due = self.shared.due_look(scoped.store.path(), age);
        let (owner, now) = (self.owner(command), self.now());
        let kept = self.shared.snapshots.clone();
        Ok(SearchableStore { scoped, embedder, owner, now, due, kept })
    }
}

impl SearchableStore {
    /// The index of its memories, brought up to date.
    pub fn index(&self) -> Result<MemoryIndex<'_>, OpError> {
        let Self { scoped: ScopedStore { store, .. }, embedder, owner, now, .. } = self;
        Ok(match &self.kept {
            Some(kept) => {
                MemoryIndex::open_kept(store, &**embedder, owner, *now, (kept, self.due))?
            }
            None => MemoryIndex::open(store, &**embedder, owner, *now)?,
        })
    }

    /// The same, told as it goes.
    pub fn index_watched(
        &self,
        watch: &mut dyn FnMut(usize, usize),
    ) -> Result<MemoryIndex<'_>, OpError> {
        let Self { scoped, embedder, owner, now, .. } = self;
        Ok(MemoryIndex::open_watched(&scoped.store, &**embedder, owner, *now, watch)?)
    }
}

/// Searches store after store for a reader, until `options.limit` memories are found.
pub fn search_stores<'s>(
    stores: &'s [SearchableStore],
    query: &Query,
    options: &MemoryOptions,
) -> Result<StoresFound<'s>, OpError> {
    let mut all = StoresFound { hits: Vec::new(), total: 0, broken: Vec::new() };
    for searchable in stores {
        let limit = options.limit.saturating_sub(all.hits.len());
        let found = searchable.index()?.offer(query, &MemoryOptions { limit, ..*options })?;
        let scoped = &searchable.scoped;
        // What gives an order that the person did not give is for the review alone.
        let n_found = found.hits.len();
        let mut hits: Vec<StoreHit<'s>> = found
            .hits
            .into_iter()
            .map(|hit| StoreHit { trust: scoped.store.trust_of(&hit.memory), hit, scoped })
            .filter(|found| found.trust != Trust::Quarantined)
            .collect();
        hits.sort_by_key(|found| found.trust.waits());
        all.total += found.total - (n_found - hits.len());
        all.hits.extend(hits);
        all.broken.extend(found.broken.into_iter().map(|file| (file, scoped)));
    }
    Ok(all)
}
