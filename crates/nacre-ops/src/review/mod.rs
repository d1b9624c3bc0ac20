//! Lists candidates for review and applies the user's decisions.

#[cfg(test)]
mod tests;

use nacre_memory::{Actor, IMPORTED, Located, Memory, MemoryType, StoreArea, Trust, hazards_of};
use nacre_types::{
    MemoryChange, MemoryChangesReport, MemoryEntry, MemoryIdsRequest, ReviewCandidate,
    ReviewDecideRequest, ReviewDecision, ReviewListReport, ReviewListRequest, Scope, StoreScope,
};

use crate::memory::{change_each, label_entry, to_broken_file};
use crate::prelude::*;

/// Minimum number of statements from one file that are reviewed together, and how many titles to
/// show of them.
const MIN_TOGETHER: usize = 6;
const MAX_TITLES: usize = 5;

pub fn decide(
    host: &Host,
    request: &ReviewDecideRequest,
    events: &Events,
) -> Result<MemoryChangesReport> {
    let ReviewDecideRequest { ids, decision, supersedes, scope } = request;
    if supersedes.is_some() && *decision == ReviewDecision::Reject {
        return Err(OpError::usage("`supersedes` can only be used with `accept`")
            .hint("A rejected memory cannot supersede another memory"));
    }
    let request = &MemoryIdsRequest { ids: expand_files(host, ids, *scope)?, scope: *scope };
    if supersedes.is_some() && request.ids.len() > 1 {
        return Err(OpError::usage("`--supersedes` can only be used with one candidate")
            .hint("Accept the other candidates in a separate command"));
    }
    let (older, now) = (supersedes.as_deref(), host.now());
    match decision {
        ReviewDecision::Accept => {
            let done = MemoryChange::Accepted;
            change_each(host, request, events, done, "review accept", &|_, batch, id| {
                Ok(batch.accept(id, older, now)?)
            })
        }
        ReviewDecision::Reject => {
            let done = MemoryChange::Rejected;
            change_each(host, request, events, done, "review reject", &|_, batch, id| {
                Ok(batch.reject(id, now)?)
            })
        }
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
    let ReviewListRequest { limit, file, scope, all_projects } = request;
    let stores = if *all_projects {
        // A store that cannot be opened is skipped.
        let projects = host.projects.iter();
        let opened = projects.filter_map(|project| host.store_at(&project.path).ok());
        opened.chain(host.global_store()?).collect()
    } else {
        host.stores_to_read(*scope)?
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
    found.retain(|(memory, _)| file.is_none() || memory.imported_from() == file.as_deref());
    // Imported statements come last, because they are reviewed by file.
    found.sort_by(|(a, a_scoped), (b, b_scoped)| {
        let label =
            |memory, scoped| label_of(memory, scoped).map(|file| (file, scoped.store.path()));
        let by_file = label(a, a_scoped).cmp(&label(b, b_scoped));
        by_file.then_with(|| b.created.cmp(&a.created)).then_with(|| b.at.id.cmp(&a.at.id))
    });
    let same_file = |a: &(Memory, &ScopedStore), b: &(Memory, &ScopedStore)| {
        let label = label_of(&a.0, a.1).filter(|_| file.is_none() && std::ptr::eq(a.1, b.1));
        label.is_some() && label == label_of(&b.0, b.1)
    };
    let together = |len: usize| if len < MIN_TOGETHER { 1 } else { len };
    let groups = found.chunk_by(same_file).flat_map(|all| all.chunks(together(all.len())));
    let mut groups: Vec<&[(Memory, &ScopedStore)]> = groups.collect();
    let total = groups.len();
    groups.truncate(host.max_results(*limit));
    for scoped in &stores {
        let here = groups.iter().copied().flatten().filter(|(_, of)| std::ptr::eq(*of, scoped));
        let here: Vec<&Memory> = here.map(|(memory, _)| memory).collect();
        let files: Vec<Located> = here.iter().map(|memory| memory.at.clone()).collect();
        host.settle_edits(scoped, &files);
        if notes_shown {
            // If recording fails, the memories simply count as unseen.
            let _ = note_shown(host, scoped, &here);
        }
    }
    let label = |group: &&[(Memory, &ScopedStore)]| {
        let project = project_of(group.first()?.1);
        Some(ReviewCandidate { project, ..candidate_of(group)? })
    };
    let candidates = groups.iter().filter_map(label).collect();
    Ok(ReviewListReport { candidates, total, broken: unreadable })
}

/// Returns the file from which a candidate was imported. A clone can forge it, so candidates that
/// may not be the user's own are reviewed one at a time.
fn label_of<'m>(memory: &'m Memory, scoped: &ScopedStore) -> Option<&'m str> {
    let file = memory.imported_from()?;
    (!scoped.store.trust_of(memory).waits()).then_some(file)
}

/// Replaces each `import:FILE` by the ids of the candidates that were imported from the file.
fn expand_files(host: &Host, ids: &[String], scope: Option<Scope>) -> Result<Vec<String>> {
    let mut expanded = Vec::new();
    for id in ids {
        let Some(file) = id.strip_prefix(IMPORTED) else {
            expanded.push(id.clone());
            continue;
        };
        let (limit, file) = (Some(0), Some(file.to_owned()));
        let request = ReviewListRequest { limit, file, scope, all_projects: false };
        let all = waiting(host, &request)?.candidates.into_iter();
        let own = all.filter(|one| !one.memory.trust.is_some_and(Trust::waits));
        expanded.extend(own.map(|one| one.memory.id));
    }
    Ok(expanded)
}

/// Returns an entry for a candidate, or one entry for all statements from a file, in the order of
/// the file.
fn candidate_of(group: &[(Memory, &ScopedStore)]) -> Option<ReviewCandidate> {
    let mut each: Vec<ReviewCandidate> =
        group.iter().map(|(memory, scoped)| candidate(memory, scoped)).collect();
    if each.len() == 1 {
        return each.pop();
    }
    let label = group.first()?.0.imported_from()?;
    each.sort_by_key(|one| one.quotes.first()?.place.rsplit(':').next()?.parse::<usize>().ok());
    let titles = each.iter().take(MAX_TITLES).map(|one| format!("- {}\n", one.memory.title));
    Some(ReviewCandidate {
        body: titles.collect::<String>() + &format!("… One by one: nacre review --file {label}"),
        quotes: each.iter().flat_map(|one| one.quotes.clone()).collect(),
        memory: MemoryEntry {
            id: format!("{IMPORTED}{label}"),
            title: format!("{} statements from {label}", each.len()),
            path: label.to_owned(),
            ..each.swap_remove(0).memory
        },
        project: None,
        reason: None,
    })
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
