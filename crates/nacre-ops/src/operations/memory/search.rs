//! Finds memories by their words and their meaning: the project's first, a person's own fill up.

use nacre_api::wire::{FoundMemory, MemorySearchReport, MemorySearchRequest, SearchMode, WhyFound};
use nacre_core::base::ShownLine;
use nacre_core::memory::Located;
use nacre_core::search::{MemoryHit, MemoryOptions, Mode, Query, parse_time};

use super::wire::{broken, core_type, edge, entry, labelled};
use crate::error::OpError;
use crate::host::{Host, ScopedStore, search_stores};

pub fn search(host: &Host, request: &MemorySearchRequest) -> Result<MemorySearchReport, OpError> {
    let query = query(host, request)?;
    let limit = match request.limit.unwrap_or(host.settings().memory.max_results) {
        0 => usize::MAX,
        limit => limit,
    };
    let options =
        MemoryOptions { mode: core_mode(request.mode), limit, archived: request.archived };
    let stores = host.searchable_stores(request.scope, "memory search")?;
    let found = search_stores(&stores, &query, &options)?;
    for searchable in &stores {
        let here = found.hits.iter().filter(|(_, of)| std::ptr::eq(*of, &searchable.scoped));
        let files: Vec<Located> = here.map(|(hit, _)| hit.memory.at.clone()).collect();
        host.settle_edits(&searchable.scoped, &files);
    }
    Ok(MemorySearchReport {
        query: request.query.clone(),
        hits: found.hits.iter().map(|(hit, scoped)| found_memory(hit, scoped)).collect(),
        total: found.total,
        broken: found.broken.iter().map(|(file, scoped)| broken(file, scoped)).collect(),
    })
}

/// The question, with what the request adds to its words.
fn query(host: &Host, request: &MemorySearchRequest) -> Result<Query, OpError> {
    let now = host.now();
    let mut query = Query::parse(&request.query, now);
    if query.is_empty() {
        return Err(OpError::usage("There is nothing to search for")
            .hint("nacre memory search sqlite queue"));
    }
    if let Some(of) = request.r#type {
        query = query.with_facet("type", core_type(of).as_str());
    }
    if let Some(tag) = &request.tag {
        query = query.with_facet("tag", tag);
    }
    if let Some(since) = &request.since {
        let time = parse_time(since, now).ok_or_else(|| {
            OpError::usage(format!("`{}` is no day, moment or age", ShownLine(since)))
                .hint("Write it like 2026-01-31, 2026-01 or 7d")
        })?;
        query.after = Some(time);
    }
    Ok(query)
}

pub(crate) fn core_mode(of: SearchMode) -> Mode {
    match of {
        SearchMode::Hybrid => Mode::Hybrid,
        SearchMode::Lexical => Mode::Lexical,
        SearchMode::Semantic => Mode::Semantic,
    }
}

fn found_memory(hit: &MemoryHit, scoped: &ScopedStore) -> FoundMemory {
    FoundMemory {
        memory: labelled(&hit.memory, scoped),
        score: hit.score,
        snippet: hit.snippet.clone(),
        why: WhyFound {
            terms: hit.why.terms.clone(),
            lexical: hit.why.lexical,
            similarity: hit.why.similarity,
            edges: hit.why.edges.iter().map(edge).collect(),
        },
        history: hit.history.iter().map(|memory| entry(memory, scoped)).collect(),
        not_verified: hit.unverified().map(|older| older.at.id.to_string()).collect(),
    }
}
