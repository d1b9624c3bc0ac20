//! Lists the memories that wait for a person's word, the newest first, each with its quotes.

use nacre_api::wire::{ReviewCandidate, ReviewListReport, ReviewListRequest};
use nacre_core::memory::{Located, Memory, MemoryType, StoreArea, Trust, hazards_of};

use crate::error::OpError;
use crate::host::{Host, ScopedStore};
use crate::operations::memory::{broken, labelled, quote};

pub fn list(host: &Host, request: &ReviewListRequest) -> Result<ReviewListReport, OpError> {
    let ReviewListRequest { limit, scope } = request;
    let stores = host.stores_to_read(*scope)?;
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    for scoped in &stores {
        let listing = scoped
            .store
            .list(|at| at.area == StoreArea::Active && at.memory_type != MemoryType::Summary)?;
        let waiting = listing.memories.into_iter().filter(Memory::is_candidate);
        found.extend(waiting.map(|memory| (memory, scoped)));
        unreadable.extend(listing.broken.iter().map(|file| broken(file, scoped)));
    }
    found.sort_by(|(a, _), (b, _)| b.created.cmp(&a.created).then_with(|| b.at.id.cmp(&a.at.id)));
    let total = found.len();
    match limit.unwrap_or(host.settings().memory.max_results) {
        0 => {}
        limit => found.truncate(limit),
    }
    for scoped in &stores {
        let here = found.iter().filter(|(_, of)| std::ptr::eq(*of, scoped));
        let files: Vec<Located> = here.map(|(memory, _)| memory.at.clone()).collect();
        host.settle_edits(scoped, &files);
    }
    let candidates = found.iter().map(|(memory, scoped)| candidate(memory, scoped)).collect();
    Ok(ReviewListReport { candidates, total, broken: unreadable })
}

fn candidate(memory: &Memory, scoped: &ScopedStore) -> ReviewCandidate {
    // A sidecar that cannot be read is `doctor`'s to report.
    let evidence = scoped.store.evidence(&memory.at.id).ok().flatten();
    let quotes = evidence.map(|evidence| evidence.quotes).unwrap_or_default();
    let is_quarantined = scoped.store.trust_of(memory) == Trust::Quarantined;
    let found = match is_quarantined {
        true => hazards_of(&memory.title, memory.document.body(), &quotes),
        false => Vec::new(),
    };
    ReviewCandidate {
        memory: labelled(memory, scoped),
        body: memory.document.body().trim().to_owned(),
        quotes: quotes.into_iter().map(quote).collect(),
        reason: found.first().map(|hazard| hazard.kind.as_str().to_owned()),
    }
}
