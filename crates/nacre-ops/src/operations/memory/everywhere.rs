//! Finds memories of all registered projects: in the index that servers share, or store after store on one machine.

use std::collections::BTreeMap;

use nacre_api::wire::{
    FoundMemory, MemoryEntry, MemorySearchReport, MemorySearchRequest, WhyFound,
};
use nacre_core::memory::Trust;
use nacre_core::search::{
    LibraryOptions, MemoryOptions, Query, Readable, RecordHit, RecordIndex as _,
    place_of_shared_unit, snippet,
};

use super::wire::{broken, entry, found_memory, label};
use crate::error::OpError;
use crate::host::{Host, ScopedStore, search_stores};

/// More are not read for one answer.
const MAX_LIMIT: usize = 1000;

/// So many more than asked for are looked at: some of them are not shown.
const SPARE: usize = 20;

/// Searches the memories of every registered project.
pub(super) fn search(
    host: &Host,
    request: &MemorySearchRequest,
    (query, options): (&Query, &MemoryOptions),
) -> Result<MemorySearchReport, OpError> {
    let options = MemoryOptions { limit: options.limit.min(MAX_LIMIT), ..*options };
    let report = match host.shared_records()? {
        Some(records) => {
            let names = host.projects.iter().map(|project| project.name.as_str());
            let wanted = LibraryOptions {
                mode: options.mode,
                limit: options.limit + SPARE,
                now_ms: host.now().as_millisecond(),
            };
            let hits = records.search(query, &Readable::projects(names), wanted)?;
            from_hits(host, (query, &options), &hits)?
        }
        None => from_stores(host, query, &options)?,
    };
    Ok(MemorySearchReport { query: request.query.clone(), ..report })
}

/// What the shared index found, as the files say it now. What is gone, put away or an order of a stranger's is left out.
fn from_hits(
    host: &Host,
    (query, options): (&Query, &MemoryOptions),
    hits: &[RecordHit],
) -> Result<MemorySearchReport, OpError> {
    let mut stores: BTreeMap<&str, Option<ScopedStore>> = BTreeMap::new();
    let mut found = Vec::new();
    for hit in hits {
        let Some((name, at)) = place_of_shared_unit(&hit.unit) else { continue };
        let Some(project) = host.projects.iter().find(|project| project.name == name) else {
            continue;
        };
        // One that cannot be opened now is passed over.
        let opened = stores.entry(name).or_insert_with(|| host.store_at(&project.path).ok());
        let Some(scoped) = opened else { continue };
        let Ok(memory) = scoped.store.load(&at) else { continue };
        let trust = scoped.store.trust_of(&memory);
        let is_put_away = memory.is_archived() || memory.says_overturned();
        if trust == Trust::Quarantined || (is_put_away && !options.archived) {
            continue;
        }
        let why = WhyFound {
            terms: hit.terms.clone(),
            lexical: hit.score,
            similarity: hit.similarity,
            edges: Vec::new(),
        };
        found.push(FoundMemory {
            snippet: snippet(memory.document.body(), &query.text),
            memory: MemoryEntry { trust: label(trust), ..entry(&memory, scoped) },
            score: hit.score,
            why,
            history: Vec::new(),
            not_verified: Vec::new(),
        });
    }
    let total = found.len();
    found.truncate(options.limit);
    Ok(MemorySearchReport { query: String::new(), hits: found, total, broken: Vec::new() })
}

/// Each store by itself; the best of all of them first, and what came from elsewhere last.
fn from_stores(
    host: &Host,
    query: &Query,
    options: &MemoryOptions,
) -> Result<MemorySearchReport, OpError> {
    let (mut found, mut total, mut unreadable) = (Vec::new(), 0, Vec::new());
    for project in host.projects.iter() {
        let Ok(scoped) = host.store_at(&project.path) else { continue };
        let searchable = host.searchable(scoped, "memory search")?;
        let stores = std::slice::from_ref(&searchable);
        let of_store = search_stores(stores, query, options)?;
        total += of_store.total;
        found.extend(of_store.hits.iter().map(|hit| (hit.trust.waits(), found_memory(hit))));
        unreadable.extend(of_store.broken.iter().map(|(file, scoped)| broken(file, scoped)));
    }
    found.sort_by(|(waits, one), (other_waits, other)| {
        waits.cmp(other_waits).then(other.score.total_cmp(&one.score))
    });
    found.truncate(options.limit);
    let hits = found.into_iter().map(|(_, memory)| memory).collect();
    Ok(MemorySearchReport { query: String::new(), hits, total, broken: unreadable })
}
