//! Overviews that edits changed little of: the last one that was made is brought up to date, and neither survey nor graph is read.

use nacre_map::artifact::State;
use nacre_map::indexer::CacheWrites;
use nacre_map::slices::{Detail, Edits, MadePaths, OVERVIEW_FORMAT, Overview, OverviewBasis};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::code_map::CodeMap;

/// With more changed files than this an overview is made anew, and stored.
const MAX_CHANGED: usize = 64;

/// An overview as it is stored: of which state it is, and what it depends on.
#[derive(Debug, Serialize, Deserialize)]
struct StoredOverview {
    state: String,
    verified_ns: i64,
    commit: u64,
    /// The files that say what a program made.
    rule_files: Vec<String>,
    basis: OverviewBasis,
    overview: Overview,
}

/// The overview of the map as it is now, from the stored one; `None` where there is none, or it may say something else.
pub(super) fn carried_over(map: &CodeMap, detail: Detail) -> Option<Overview> {
    let current = &map.current;
    let bytes = map.cache.overview(&current.project, key(detail))?;
    let stored: StoredOverview = serde_json::from_slice(&bytes).ok()?;
    let state: State = stored.state.parse().ok()?;
    let is_known = stored.verified_ns == current.artifact.head().verified_ns
        && stored.commit == current.commit()
        && current.artifact.knows(state);
    if !is_known {
        return None;
    }
    let changed = current.changed_since(state.revision)?;
    if MAX_CHANGED < changed.len() {
        return None;
    }
    let text = |path: &str| current.text(path);
    let made = MadePaths::read(stored.rule_files.iter().map(String::as_str), &text);
    let edits = Edits {
        changed: &changed,
        made: &made,
        text: &text,
        analysis: &|path| current.analysis_at(path),
    };
    stored.basis.carried_over(stored.overview, &edits)
}

/// Stores an overview for the answers after the next edits. Best effort: errors are ignored.
pub(super) fn store(map: &CodeMap, overview: &Overview, basis: OverviewBasis, made: &MadePaths) {
    if map.keeping() == CacheWrites::Off {
        return;
    }
    let head = map.current.artifact.head();
    let stored = StoredOverview {
        state: head.state().to_string(),
        verified_ns: head.verified_ns,
        commit: map.current.commit(),
        rule_files: made.files().to_vec(),
        basis,
        overview: overview.clone(),
    };
    if let Ok(bytes) = serde_json::to_vec(&stored) {
        let _ = map.cache.keep_overview(&map.current.project, key(overview.detail), &bytes);
    }
}

fn key(detail: Detail) -> u64 {
    xxh3_64(format!("overview {OVERVIEW_FORMAT} {detail:?}").as_bytes())
}
