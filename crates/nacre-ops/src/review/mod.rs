//! Lists candidates for review and applies the user's decisions.

#[cfg(test)]
mod tests;

use nacre_memory::{Actor, Located, Memory, MemoryType, StoreArea, Trust, hazards_of};
use nacre_types::{
    MemoryChange, MemoryChangesReport, MemoryIdsRequest, ReviewCandidate, ReviewDecideRequest,
    ReviewDecision, ReviewListReport, ReviewListRequest, StoreScope,
};

use crate::memory::{change_each, label_entry, to_broken_file};
use crate::prelude::*;

pub fn accept(
    host: &Host,
    request: &MemoryIdsRequest,
    supersedes: Option<&str>,
    events: &Events,
) -> Result<MemoryChangesReport> {
    if supersedes.is_some() && request.ids.len() > 1 {
        return Err(OpError::usage("`--supersedes` can only be used with one candidate")
            .hint("Accept the other candidates in a separate command"));
    }
    change_each(host, request, events, MemoryChange::Accepted, "review accept", &|_, batch, id| {
        Ok(batch.accept(id, supersedes, host.now())?)
    })
}

pub fn decide(
    host: &Host,
    request: &ReviewDecideRequest,
    events: &Events,
) -> Result<MemoryChangesReport> {
    let ReviewDecideRequest { ids, decision, supersedes, scope } = request.clone();
    let request = MemoryIdsRequest { ids, scope };
    match decision {
        ReviewDecision::Accept => accept(host, &request, supersedes.as_deref(), events),
        ReviewDecision::Reject if supersedes.is_some() => {
            Err(OpError::usage("`supersedes` can only be used with `accept`")
                .hint("A rejected memory cannot supersede another memory"))
        }
        ReviewDecision::Reject => reject(host, &request, events),
    }
}

/// Lists the candidates and records that the owner has seen them. `accept` rejects memories that
/// have changed since then.
pub fn list(host: &Host, request: &ReviewListRequest) -> Result<ReviewListReport> {
    list_with(host, request, host.actor == Actor::Owner)
}

pub fn waiting(host: &Host, request: &ReviewListRequest) -> Result<ReviewListReport> {
    list_with(host, request, false)
}

fn note_shown(host: &Host, scoped: &ScopedStore, shown: &[&Memory]) -> Result<()> {
    let mut batch = scoped.store.begin(&host.owner("review"), host.settings().lock.wait)?;
    shown.iter().try_for_each(|memory| batch.note_shown(memory))?;
    batch.commit()?;
    Ok(())
}

fn list_with(
    host: &Host,
    request: &ReviewListRequest,
    notes_shown: bool,
) -> Result<ReviewListReport> {
    let ReviewListRequest { limit, scope, all_projects } = request;
    let stores = match all_projects {
        true => {
            // A store that cannot be opened is skipped.
            let projects = host.projects.iter();
            let opened = projects.filter_map(|project| host.store_at(&project.path).ok());
            opened.chain(host.global_store()?).collect()
        }
        false => host.stores_to_read(*scope)?,
    };
    let project_of = |scoped: &ScopedStore| {
        let root = scoped.store.path().parent().filter(|_| scoped.scope == StoreScope::Project);
        root.filter(|_| *all_projects).map(|root| host.name_of(root))
    };
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    for scoped in &stores {
        let listing = scoped
            .store
            .list(|at| at.area == StoreArea::Active && at.memory_type != MemoryType::Summary)?;
        let waiting = listing.memories.into_iter().filter(Memory::is_candidate);
        found.extend(waiting.map(|memory| (memory, scoped)));
        unreadable.extend(listing.broken.iter().map(|file| to_broken_file(file, scoped)));
    }
    found.sort_by(|(a, _), (b, _)| b.created.cmp(&a.created).then_with(|| b.at.id.cmp(&a.at.id)));
    let total = found.len();
    found.truncate(host.max_results(*limit));
    for scoped in &stores {
        let here = found.iter().filter(|(_, of)| std::ptr::eq(*of, scoped));
        let here: Vec<&Memory> = here.map(|(memory, _)| memory).collect();
        let files: Vec<Located> = here.iter().map(|memory| memory.at.clone()).collect();
        host.settle_edits(scoped, &files);
        if notes_shown {
            // If recording fails, the memories simply count as unseen.
            let _ = note_shown(host, scoped, &here);
        }
    }
    let labeled = found.iter().map(|(memory, scoped)| ReviewCandidate {
        project: project_of(scoped),
        ..candidate(memory, scoped)
    });
    let candidates = labeled.collect();
    Ok(ReviewListReport { candidates, total, broken: unreadable })
}

fn candidate(memory: &Memory, scoped: &ScopedStore) -> ReviewCandidate {
    // Unreadable evidence is ignored here and reported by `doctor`.
    let evidence = scoped.store.evidence(&memory.at.id).ok().flatten();
    let quotes = evidence.map(|evidence| evidence.quotes).unwrap_or_default();
    let is_quarantined = scoped.store.trust_of(memory) == Trust::Quarantined;
    let found = is_quarantined.then(|| hazards_of(&memory.title, memory.document.body()));
    ReviewCandidate {
        memory: label_entry(memory, scoped),
        project: None,
        body: memory.document.body().trim().to_owned(),
        quotes,
        reason: found.unwrap_or_default().first().map(|hazard| hazard.kind.as_str().to_owned()),
    }
}

pub fn reject(
    host: &Host,
    request: &MemoryIdsRequest,
    events: &Events,
) -> Result<MemoryChangesReport> {
    change_each(host, request, events, MemoryChange::Rejected, "review reject", &|_, batch, id| {
        Ok(batch.reject(id, host.now())?)
    })
}
