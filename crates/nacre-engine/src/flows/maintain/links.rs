//! Links that lead nowhere: dropped; those to a memory that was merged lead to what says it now.

use std::collections::BTreeMap;

use nacre_core::memory::MemoryId;

use super::gather::{Collection, Held};

/// The links that a memory should have; `None` where they are right.
pub(super) fn mended(
    one: &Held,
    collection: &Collection,
    merged: &BTreeMap<MemoryId, MemoryId>,
) -> Option<Vec<MemoryId>> {
    let mut links: Vec<MemoryId> = Vec::new();
    for link in &one.memory.related {
        let to = heir(link, merged);
        let is_there = collection.known.contains(to) && to != one.id();
        if is_there && !links.contains(to) {
            links.push(to.clone());
        }
    }
    (links != one.memory.related).then_some(links)
}

/// What says now what `id` said; merges may follow each other.
fn heir<'a>(id: &'a MemoryId, merged: &'a BTreeMap<MemoryId, MemoryId>) -> &'a MemoryId {
    let mut heir = id;
    // No longer than there are merges, so that a ring that somebody wrote by hand ends.
    for _ in 0..merged.len() {
        let Some(next) = merged.get(heir) else { break };
        heir = next;
    }
    heir
}
