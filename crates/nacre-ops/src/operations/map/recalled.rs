//! What memory knows of the files of a task: the paths that memories about it name.

use std::collections::BTreeMap;

use nacre_core::search::{MemoryHit, MemoryIndex, MemoryOptions, Mode, Query};
use nacre_map::indexer::CacheWrites;

use super::code_map::CodeMap;
use crate::host::Host;

/// How many memories are asked for paths.
const MAX_MEMORIES: usize = 20;

/// Paths that memories about a task name, with how well the best of them fits. Without a store, or with a broken one, none.
pub(super) fn recalled_paths(host: &Host, map: &CodeMap, task: &str) -> BTreeMap<String, f64> {
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
        let Ok(embedder) = host.embedder(&scoped.settings) else { continue };
        let opened = match map.options.keeping {
            CacheWrites::On => MemoryIndex::open(&scoped.store, &*embedder, &owner, host.now()),
            CacheWrites::Off => MemoryIndex::peek(&scoped.store, &*embedder, host.now()),
        };
        let options = MemoryOptions { mode: Mode::Hybrid, limit: MAX_MEMORIES, archived: false };
        let Some(found) = opened.ok().and_then(|index| index.search(&query, &options).ok()) else {
            continue;
        };
        let is_told = |hit: &&MemoryHit| scoped.store.trust_of(&hit.memory).is_told_unasked();
        for hit in found.hits.iter().filter(is_told) {
            let weight = f64::from(hit.score.clamp(0.0, 1.0));
            for path in named_paths(hit.memory.document.body(), map) {
                let most: &mut f64 = weights.entry(path.to_owned()).or_default();
                *most = most.max(weight);
            }
        }
    }
    weights
}

/// The files of the map that a text names by their paths.
fn named_paths<'t>(text: &'t str, map: &CodeMap) -> impl Iterator<Item = &'t str> {
    let words = text.split(|c: char| {
        c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ',' | ':' | '[' | ']')
    });
    words
        .map(|word| word.trim_matches(['.', ';']).trim_start_matches("./"))
        .filter(|word| word.contains(['.', '/']))
        .filter(|path| map.current.artifact.find(path).is_some())
}
