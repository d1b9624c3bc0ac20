//! Lists memories, the project's first, the newest first.

use nacre_api::wire::{MemoryListReport, MemoryListRequest};
use nacre_core::memory::{Memory, Shelf};

use super::wire::{broken, core_type, entry};
use crate::error::OpError;
use crate::host::Host;

pub fn list(host: &Host, request: &MemoryListRequest) -> Result<MemoryListReport, OpError> {
    let MemoryListRequest { r#type, tag, archived, limit, scope } = request;
    let wanted_type = r#type.map(core_type);
    let shelf = if *archived { Shelf::Archived } else { Shelf::Active };
    let stores = host.stores_to_read(*scope)?;
    let mut found = Vec::new();
    let mut unreadable = Vec::new();
    for scoped in &stores {
        let listing = scoped.store.outlines(|at| {
            at.shelf == shelf && wanted_type.is_none_or(|wanted| at.memory_type == wanted)
        })?;
        let has_tag = |memory: &Memory| tag.as_ref().is_none_or(|tag| memory.tags.contains(tag));
        found.extend(listing.memories.into_iter().filter(has_tag).map(|memory| (memory, scoped)));
        unreadable.extend(listing.broken.iter().map(|file| broken(file, scoped)));
    }
    found.sort_by(|(a, of_a), (b, of_b)| {
        let newest = || b.updated.cmp(&a.updated).then_with(|| b.at.id.cmp(&a.at.id));
        of_a.scope.cmp(&of_b.scope).then_with(newest)
    });
    let total = found.len();
    match limit.unwrap_or(host.settings().memory.max_results) {
        0 => {}
        limit => found.truncate(limit),
    }
    let memories = found.iter().map(|(memory, scoped)| entry(memory, scoped)).collect();
    Ok(MemoryListReport { memories, total, broken: unreadable })
}
