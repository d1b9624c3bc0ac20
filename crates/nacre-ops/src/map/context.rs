//! Collects the code needed for a task, within a token budget. Files named in memories about the
//! task rank higher.

use nacre_map::artifact::{FileFacts, RelativePath};
use nacre_map::indexer::CacheWrites;
use nacre_map::slices::{self, Evidence, Ranked, Sketch, WEIGHTS, context_text, rank};
use nacre_memory::search::{MemoryHit, MemoryIndex, MemoryOptions, Mode, Query};
use nacre_types::{ContextReport, ContextRequest, ContextSlice, MapCommand, MapFormat, MapHeader};

use super::code_map::{self, Answer, CodeMap, MapAccess, cost, json_payload, text_payload};
use crate::prelude::*;

pub const DEFAULT_BUDGET: usize = 4_000;

/// Maximum number of files to show. Any further files are only listed.
const MAX_SHOWN: usize = 40;

const MAX_DEEPENED: usize = 12;

pub fn context(
    host: &Host,
    request: &ContextRequest,
    events: &Events,
) -> Result<Answer<ContextReport>> {
    let ContextRequest { project, refresh, strict, format, client, task, .. } = request;
    let has_task = task.as_ref().is_some_and(|task| !task.trim().is_empty());
    if !has_task && request.files.is_empty() {
        return Err(OpError::usage("`context` requires a task (`--task`) or files (`--file`)")
            .hint("Describe the task: `nacre context \"retry failed uploads\"`"));
    }
    let access = MapAccess::from_request(project.as_deref(), *refresh, *strict);
    code_map::ask(host, access, MapCommand::Context, events, |map| {
        let files: Vec<_> =
            request.files.iter().map(|typed| resolve_path(host, map, typed)).collect();
        if let Some(path) = files.iter().find(|path| map.current.artifact.find(path).is_none()) {
            let message = format!("`{path}` is not in the map");
            return Err(OpError::not_found(message).hint(format!("nacre explain {path}")));
        }
        let slice = collect(host, map, request, &files)?;
        map.mark_seen(client.as_deref(), events)?;
        let header = map.header(MapCommand::Context);
        let payload = payload(&header, *format, &slice);
        Ok(Answer { report: ContextReport { map: header, slice }, payload })
    })
}

/// Resolves a path relative to the current directory, or to the project root if the path exists
/// only there.
fn resolve_path(host: &Host, map: &CodeMap, typed: &str) -> String {
    let is_known = |path: &str| map.current.artifact.find(path).is_some();
    let full = host.environment.folder.join(typed);
    let inside = full.strip_prefix(&map.current.project.root).ok().and_then(Path::to_str);
    let (typed, from_here) = (
        nacre_base::platform::with_slashes(typed),
        nacre_base::platform::with_slashes(inside.unwrap_or(typed)),
    );
    let from_here = from_here.trim_start_matches("./");
    if is_known(&typed) && !is_known(from_here) { typed } else { from_here.to_owned() }
}

fn collect(
    host: &Host,
    map: &mut CodeMap,
    request: &ContextRequest,
    files: &[String],
) -> Result<ContextSlice> {
    let task = request.task.as_deref().unwrap_or_default();
    let ranked = rank_files(host, map, task, files);
    let shown: Vec<String> =
        ranked.paths().take(MAX_SHOWN).map(|path| path.as_str().to_owned()).collect();
    if !request.files_only {
        // In large projects, files are initially analyzed only line by line.
        map.deepen(&shown.iter().map(String::as_str).take(MAX_DEEPENED).collect::<Vec<_>>());
    }
    let map = &*map;
    let header = map.header(MapCommand::Context);
    let facts: Vec<FileFacts> =
        shown.iter().filter_map(|path| map.current.facts_at(path)).collect();
    let text = |path: &RelativePath| map.current.text(path.as_str());
    let cost = |slice: &ContextSlice| cost(&payload(&header, request.format, slice));
    let wanted = slices::ContextRequest {
        task,
        budget: request.budget.unwrap_or(DEFAULT_BUDGET),
        is_files_only: request.files_only,
        text: &text,
        cost: &cost,
    };
    Ok(slices::context(&ranked, &facts, &wanted)?)
}

fn rank_files(host: &Host, map: &CodeMap, task: &str, named: &[String]) -> Ranked {
    let memory = recall_paths(host, map, task);
    let files = map.current.artifact.files();
    let imports = map.current.imports(&map.cache, map.keeping(), map.options.n_threads);
    let bags = map.bags(&files);
    let bag = |idx: usize| bags.of(idx);
    let paths = files.iter().map(|(path, _)| *path).collect();
    let made = map.read_made_paths();
    let sketch = Sketch::new(paths, &bag, &made, imports.files());
    let names = |path: &str| map.current.names_at(path);
    let evidence = Evidence {
        task,
        files: named,
        memory: &memory,
        names: &names,
        weights: &WEIGHTS,
        n_threads: map.options.n_threads,
    };
    rank(&sketch, &evidence)
}

fn payload(header: &MapHeader, format: MapFormat, slice: &ContextSlice) -> String {
    match format {
        MapFormat::Json => {
            json_payload(&ContextReport { map: header.clone(), slice: slice.clone() })
        }
        MapFormat::Text => text_payload(header, &context_text(slice)),
    }
}

const MAX_MEMORIES: usize = 20;

/// Returns the paths named in memories about the task, with their weights. Returns no paths if the
/// store cannot be read.
fn recall_paths(host: &Host, map: &CodeMap, task: &str) -> BTreeMap<String, f64> {
    let mut weights = BTreeMap::new();
    let query = Query::parse(task, host.now());
    if query.is_empty() {
        return weights;
    }
    if map.options.keeping == CacheWrites::Off && host.has_unsettled_store() {
        return weights;
    }
    let owner = host.owner("context");
    for scoped in host.stores_to_read(None).unwrap_or_default() {
        let opened = match map.options.keeping {
            CacheWrites::On => MemoryIndex::open(&scoped.store, &owner, host.now()),
            CacheWrites::Off => MemoryIndex::peek(&scoped.store, host.now()),
        };
        let options = MemoryOptions { mode: Mode::Hybrid, limit: MAX_MEMORIES, archived: false };
        let Ok(index) = opened else { continue };
        let found = index.search(&query, &options);
        let is_told = |hit: &&MemoryHit| scoped.store.trust_of(&hit.memory).is_offered();
        for hit in found.hits.iter().filter(is_told) {
            let weight = f64::from(hit.score.clamp(0.0, 1.0));
            for path in find_named_paths(hit.memory.document.body(), map) {
                let most: &mut f64 = weights.entry(path.to_owned()).or_default();
                *most = most.max(weight);
            }
        }
    }
    weights
}

fn find_named_paths<'t>(text: &'t str, map: &CodeMap) -> impl Iterator<Item = &'t str> {
    let words = text.split(|c: char| {
        c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ',' | ':' | '[' | ']')
    });
    words
        .map(|word| word.trim_matches(['.', ';']).trim_start_matches("./"))
        .filter(|word| word.contains(['.', '/']))
        .filter(|path| map.current.artifact.find(path).is_some())
}
