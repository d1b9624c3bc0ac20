//! Tells what an agent should know before it starts.

use std::path::Path;

use nacre_api::wire::{BriefItem, BriefReport, BriefRequest, BriefSection, BriefTopic, StoreScope};
use nacre_core::config::EmbeddingChoice;
use nacre_core::memory::{MemoryId, StoreArea};
use nacre_core::search::{Builtin, MemoryIndex, Mode, TokenCounter};
use nacre_engine::flows::brief::{Brief, Item, Section, Source, Topic, Wish};

use super::memory::broken;
use crate::error::OpError;
use crate::host::{Host, ScopedStore, note_offered};

/// What fits beside a question without pushing it aside.
const DEFAULT_BUDGET: usize = 2000;
const MAX_BUDGET: usize = 100_000;

/// A longer task is a document, and is compared by its beginning.
const MAX_TASK_BYTES: usize = 8_000;

pub fn brief(host: &Host, request: &BriefRequest) -> Result<BriefReport, OpError> {
    let BriefRequest { budget, task, files, scope } = request;
    let budget = budget.unwrap_or(DEFAULT_BUDGET);
    if budget > MAX_BUDGET {
        return Err(OpError::usage(format!("`--budget` is at most {MAX_BUDGET}")));
    }
    let stores = host.stores_to_read(*scope)?;
    let embedders = stores.iter().map(|scoped| host.embedder(&scoped.settings));
    let embedders = embedders.collect::<Result<Vec<_>, _>>()?;
    let owner = host.owner("brief");
    let mut indexes = Vec::new();
    for (scoped, embedder) in stores.iter().zip(&embedders) {
        indexes.push(MemoryIndex::open(&scoped.store, &**embedder, &owner, host.now())?);
    }
    let sources: Vec<Source<'_>> = stores
        .iter()
        .zip(&indexes)
        .map(|(scoped, index)| Source { store: &scoped.store, index, scope: scoped.scope.as_str() })
        .collect();
    let files: Vec<String> = files.iter().map(|file| below(host, file)).collect();
    let task = task.as_deref().map(|task| &task[..task.floor_char_boundary(MAX_TASK_BYTES)]);
    // Only the model that is part of the program is asked for the meaning of a task: others take their time.
    let mode = match host.settings().search.embedding {
        EmbeddingChoice::Builtin => Mode::Hybrid,
        EmbeddingChoice::Endpoint => Mode::Lexical,
    };
    let names_unproven = true;
    let wish =
        Wish { budget, task, files: &files, known: &[], mode, names_unproven, now: host.now() };
    let counter = TokenCounter::shipped()?;
    let mut made = nacre_engine::flows::brief::brief(&sources, &wish, &counter)?;
    if settle_edits(host, &stores, &made.unproven) {
        made = nacre_engine::flows::brief::brief(&sources, &wish, &counter)?;
    }
    let n_postponed: usize = indexes.iter().map(MemoryIndex::n_postponed).sum();
    for scoped in &stores {
        note_offered(&scoped.store, &owner, &offered(&made, scoped.scope), host.now());
    }
    let mut report = report(made, n_postponed);
    for scoped in &stores {
        let listing = scoped.store.outlines(|at| at.area == StoreArea::Active)?;
        report.candidates += listing.memories.iter().filter(|memory| memory.is_candidate()).count();
        report.broken.extend(listing.broken.iter().map(|file| broken(file, scoped).path));
    }
    Ok(report)
}

/// Takes the person's own edits of files for theirs; tells whether there were any.
fn settle_edits(host: &Host, stores: &[ScopedStore], ids: &[String]) -> bool {
    let settle = |scoped: &ScopedStore| {
        let files = ids.iter().filter_map(|id| scoped.store.locate(id).ok());
        host.settle_edits(scoped, &files.collect::<Vec<_>>())
    };
    // Each of the stores, whatever the others say.
    stores.iter().map(settle).fold(false, |any, one| any | one)
}

/// The same for a hook, which must not wait: the index is looked at by its folders, and nothing is noted. Tells whether the
/// index is behind.
pub(super) fn quick_brief(
    host: &Host,
    request: &BriefRequest,
    known: &[String],
) -> Result<(BriefReport, bool), OpError> {
    let stores = host.stores_to_read(request.scope)?;
    let model = Builtin::shipped()?;
    let mut indexes = Vec::new();
    for scoped in &stores {
        indexes.push(host.quick_index(scoped, &model)?);
    }
    let sources: Vec<Source<'_>> = stores
        .iter()
        .zip(&indexes)
        .map(|(scoped, index)| Source { store: &scoped.store, index, scope: scoped.scope.as_str() })
        .collect();
    let budget = request.budget.unwrap_or(DEFAULT_BUDGET);
    let (mode, now) = (Mode::Lexical, host.now());
    let names_unproven = false;
    let wish = Wish { budget, task: None, files: &[], known, mode, names_unproven, now };
    let made = nacre_engine::flows::brief::brief(&sources, &wish, &TokenCounter::shipped()?)?;
    let n_postponed: usize = indexes.iter().map(MemoryIndex::n_postponed).sum();
    Ok((report(made, n_postponed), n_postponed > 0))
}

/// The decisions and learnings that a brief tells of, from one store.
fn offered(made: &Brief, scope: StoreScope) -> Vec<MemoryId> {
    let is_claims = |section: &&Section| match section.topic {
        Topic::Decisions | Topic::Preferences | Topic::Pitfalls | Topic::Knowledge => true,
        Topic::RecentWork | Topic::OpenEnds => false,
    };
    let items = made.sections.iter().filter(is_claims).flat_map(|section| &section.items);
    let here = items.filter(|item| item.scope == scope.as_str());
    here.filter_map(|item| item.id.parse().ok()).collect()
}

/// A path as memories name it: below the repository.
fn below(host: &Host, file: &str) -> String {
    let absolute = host.environment.absolute(Path::new(file));
    let root = host.project.as_ref().map(|project| project.path.as_path());
    match root.and_then(|root| absolute.strip_prefix(root).ok()) {
        Some(path) => path.display().to_string(),
        None => file.to_owned(),
    }
}

/// `n_postponed` memories wait for the next look, and are not in it either.
fn report(made: Brief, n_postponed: usize) -> BriefReport {
    let text = made.text();
    let Brief { budget, tokens, sections, n_left_out, unproven } = made;
    let sections = sections.into_iter().map(section).collect();
    BriefReport {
        budget,
        tokens,
        sections,
        left_out: n_left_out + n_postponed,
        unproven,
        candidates: 0,
        broken: Vec::new(),
        text,
    }
}

fn section(section: Section) -> BriefSection {
    let Section { topic, items } = section;
    let topic = match topic {
        Topic::Decisions => BriefTopic::Decisions,
        Topic::Preferences => BriefTopic::Preferences,
        Topic::Pitfalls => BriefTopic::Pitfalls,
        Topic::Knowledge => BriefTopic::Knowledge,
        Topic::RecentWork => BriefTopic::RecentWork,
        Topic::OpenEnds => BriefTopic::OpenEnds,
    };
    BriefSection { topic, items: items.into_iter().map(item).collect() }
}

fn item(item: Item) -> BriefItem {
    let Item { id, scope, text } = item;
    let is_global = scope == StoreScope::Global.as_str();
    let scope = if is_global { StoreScope::Global } else { StoreScope::Project };
    BriefItem { id, scope, text }
}
