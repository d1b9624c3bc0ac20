//! Composes the brief that an agent reads before it starts a task.

use nacre_memory::recall::{self, Source, Wish};
use nacre_memory::search::MemoryIndex;
use nacre_memory::{MemoryId, StoreArea};
use nacre_types::{BriefReport, BriefRequest, BriefSection, BriefTopic, StoreScope};

use super::memory::to_broken_file;
use crate::error::OpError;
use crate::host::{Host, ScopedStore, note_offered};
use crate::import::loaded_text;

/// In tokens. Small enough to leave most of the context for the task.
const DEFAULT_BUDGET: usize = 2000;
const MAX_BUDGET: usize = 100_000;

/// Maximum size of a hook's output. Agents cut text out of the middle of longer output.
const MAX_HOOK_BYTES: usize = 9_000;

/// Number of bytes of the task description to compare with memories.
const MAX_TASK_BYTES: usize = 8_000;

pub fn brief(host: &Host, request: &BriefRequest) -> Result<BriefReport, OpError> {
    let BriefRequest { budget, task, files, scope } = request;
    let budget = budget.unwrap_or(DEFAULT_BUDGET);
    if budget > MAX_BUDGET {
        return Err(OpError::usage(format!("`--budget` must be at most {MAX_BUDGET}")));
    }
    let stores = host.stores_to_read(*scope)?;
    let owner = host.owner("brief");
    let mut indexes = Vec::new();
    for scoped in &stores {
        indexes.push(MemoryIndex::open(&scoped.store, &owner, host.now())?);
    }
    let sources = sources(&stores, &indexes);
    let files: Vec<String> = files.iter().map(|file| host.below_project(file)).collect();
    let task = task.as_deref().map(|task| &task[..task.floor_char_boundary(MAX_TASK_BYTES)]);
    let (now, names_unproven) = (host.now(), true);
    let wish = Wish { budget, task, files: &files, names_unproven, now, ..Wish::default() };
    let mut report = recall::brief(&sources, &wish);
    // In every store, record the user's own edits to these memories as trusted.
    let mut has_edits = false;
    for scoped in &stores {
        let files = report.unproven.iter().filter_map(|id| scoped.store.locate(id).ok());
        has_edits |= host.settle_edits(scoped, &files.collect::<Vec<_>>());
    }
    if has_edits {
        report = recall::brief(&sources, &wish);
    }
    report.left_out += indexes.iter().map(MemoryIndex::n_postponed).sum::<usize>();
    for scoped in &stores {
        note_offered(&scoped.store, &owner, &list_offered(&report, scoped.scope), host.now());
        let listing = scoped.store.outlines(|at| at.area == StoreArea::Active)?;
        report.candidates += listing.memories.iter().filter(|memory| memory.is_candidate()).count();
        report.broken.extend(listing.broken.iter().map(|file| to_broken_file(file, scoped).path));
    }
    Ok(report)
}

/// Like `brief`, but for hooks, which must not block: checks only directory timestamps and records
/// nothing. Also returns whether the index is stale.
pub(super) fn quick_brief(
    host: &Host,
    budget: usize,
    known: &[String],
    agent: &str,
) -> Result<(BriefReport, bool), OpError> {
    let stores = host.stores_to_read(None)?;
    let mut indexes = Vec::new();
    for scoped in &stores {
        indexes.push(host.quick_index(scoped)?);
    }
    let sources = sources(&stores, &indexes);
    let loaded = &loaded_text(host, agent);
    let mut wish = Wish { budget, known, loaded, now: host.now(), ..Wish::default() };
    let mut report = recall::brief(&sources, &wish);
    while report.text.len() > MAX_HOOK_BYTES {
        wish.budget = wish.budget * 2 / 3;
        report = recall::brief(&sources, &wish);
    }
    Ok((report, indexes.iter().any(|index| index.n_postponed() > 0)))
}

pub(super) fn sources<'a>(
    stores: &'a [ScopedStore],
    indexes: &'a [MemoryIndex<'a>],
) -> Vec<Source<'a>> {
    let sources = stores.iter().zip(indexes);
    sources.map(|(scoped, index)| Source { index, scope: scoped.scope }).collect()
}

/// Returns the decisions and learnings in a brief that come from one store.
fn list_offered(report: &BriefReport, scope: StoreScope) -> Vec<MemoryId> {
    let is_claims = |section: &&BriefSection| match section.topic {
        BriefTopic::RecentWork | BriefTopic::OpenEnds => false,
        BriefTopic::Decisions
        | BriefTopic::Preferences
        | BriefTopic::Pitfalls
        | BriefTopic::Knowledge => true,
    };
    let items = report.sections.iter().filter(is_claims).flat_map(|section| &section.items);
    items.filter(|item| item.scope == scope).filter_map(|item| item.id.parse().ok()).collect()
}
