//! Finds memories by their words and their meaning: the project's first, a person's own fill up.

use nacre_api::wire::{MemorySearchReport, MemorySearchRequest, SearchMode};
use nacre_core::base::ShownLine;
use nacre_core::search::{MemoryOptions, Mode, Query, parse_time};

use super::everywhere;
use super::wire::{broken, core_type, found_memory};
use crate::error::OpError;
use crate::host::{Host, search_stores};

pub fn search(host: &Host, request: &MemorySearchRequest) -> Result<MemorySearchReport, OpError> {
    let query = query(host, request)?;
    let limit = match request.limit.unwrap_or(host.settings().memory.max_results) {
        0 => usize::MAX,
        limit => limit,
    };
    let options =
        MemoryOptions { mode: core_mode(request.mode), limit, archived: request.archived };
    if request.all_projects {
        return everywhere::search(host, request, (&query, &options));
    }
    let stores = host.searchable_stores(request.scope, "memory search")?;
    let mut found = search_stores(&stores, &query, &options)?;
    host.settle_found(&mut found.hits);
    Ok(MemorySearchReport {
        query: request.query.clone(),
        hits: found.hits.iter().map(found_memory).collect(),
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
