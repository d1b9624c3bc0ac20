//! Lists memories, the project's first, the newest first, or as they are asked for.

use std::cmp::Ordering;

use nacre_api::wire::{MemoryListReport, MemoryListRequest, MemorySort};
use nacre_core::memory::{Memory, MemoryType, StoreArea};

use super::wire::{broken, core_type, entry, learning_kind};
use crate::error::OpError;
use crate::host::Host;

pub fn list(host: &Host, request: &MemoryListRequest) -> Result<MemoryListReport, OpError> {
    let MemoryListRequest { r#type, kind, status, tag, archived, all, .. } = request;
    let MemoryListRequest { sort, offset, limit, scope, .. } = request;
    let wanted_type = r#type.map(core_type);
    let area = if *archived { StoreArea::Archived } else { StoreArea::Active };
    let stores = host.stores_to_read(*scope)?;
    let mut found = Vec::new();
    let mut unreadable = Vec::new();
    for scoped in &stores {
        let listing = scoped.store.outlines(|at| {
            at.area == area && wanted_type.is_none_or(|wanted| at.memory_type == wanted)
        })?;
        let is_asked_for = |memory: &Memory| {
            let has_tag = tag.as_ref().is_none_or(|tag| memory.tags.contains(tag));
            let has_kind = kind.is_none_or(|kind| memory.kind.map(learning_kind) == Some(kind));
            let has_status = status.is_none_or(|status| memory.status.as_str() == status.as_str());
            has_tag && has_kind && has_status
        };
        let asked_for = listing.memories.into_iter().filter(is_asked_for);
        found.extend(asked_for.map(|memory| (memory, scoped)));
        unreadable.extend(listing.broken.iter().map(|file| broken(file, scoped)));
    }
    let n_found = found.len();
    if !all && wanted_type.is_none() {
        found.retain(|(memory, _)| memory.at.memory_type != MemoryType::Summary);
    }
    let hidden_summaries = Some(n_found - found.len()).filter(|n_hidden| *n_hidden > 0);
    found.sort_by(|(a, of_a), (b, of_b)| {
        let newest = || b.updated.cmp(&a.updated).then_with(|| b.at.id.cmp(&a.at.id));
        let usual = || of_a.scope.cmp(&of_b.scope).then_with(newest);
        sort.map_or(Ordering::Equal, |sort| compare(a, b, sort)).then_with(usual)
    });
    let total = found.len();
    found.drain(..total.min(*offset));
    match limit.unwrap_or(host.settings().memory.max_results) {
        0 => {}
        limit => found.truncate(limit),
    }
    let memories = found.iter().map(|(memory, scoped)| entry(memory, scoped)).collect();
    Ok(MemoryListReport { memories, total, hidden_summaries, broken: unreadable })
}

/// Which of two memories comes first.
fn compare(a: &Memory, b: &Memory, sort: MemorySort) -> Ordering {
    let title = |memory: &Memory| Some(memory.title.to_lowercase());
    match sort {
        MemorySort::Updated => ascending(a.updated, b.updated),
        MemorySort::UpdatedDescending => descending(a.updated, b.updated),
        MemorySort::Created => ascending(a.created, b.created),
        MemorySort::CreatedDescending => descending(a.created, b.created),
        MemorySort::Title => ascending(title(a), title(b)),
        MemorySort::TitleDescending => descending(title(a), title(b)),
        MemorySort::Confidence => ascending(a.confidence, b.confidence),
        MemorySort::ConfidenceDescending => descending(a.confidence, b.confidence),
    }
}

/// What is missing comes last.
fn ascending<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// What is missing comes last here, too.
fn descending<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => b.partial_cmp(&a).unwrap_or(Ordering::Equal),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}
