//! Record search, which is the same for the local index and for a team's database.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use nacre_base::fs::Owner;

use super::index::{Index, News};
use super::memories::MIN_SHARE_OF_BEST;
use super::query::Query;
use super::rank::{self, Level, Mode, RankOptions};
use super::recency;
use super::record::Fingerprint;
use super::snapshot::Snapshot;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readable {
    Everything,
    /// Only records that belong to these projects. Records without a project are excluded.
    Projects(BTreeSet<String>),
}

impl Readable {
    /// Restricts a search to these projects, ignoring case.
    pub fn projects<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::Projects(names.into_iter().map(str::to_lowercase).collect())
    }
}

#[derive(Clone, Copy, Debug)]
pub struct LibraryOptions {
    pub mode: Mode,
    pub limit: usize,
    /// The current time, needed for queries such as "last week".
    pub now_ms: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RecordHit {
    pub unit: String,
    pub record: String,
    pub score: f32,
    /// Whether the record itself matches, rather than only its neighbors.
    pub is_match: bool,
    pub terms: Vec<String>,
    pub similarity: f32,
}

pub(crate) fn sync_index<E>(
    index: &Index,
    owner: &Owner,
    mut news: impl FnMut(&HashMap<String, Fingerprint>) -> Result<News, E>,
) -> Result<Arc<Snapshot>, E> {
    let mut snapshot = index.load();
    loop {
        let mut is_partial = false;
        snapshot = index.update(snapshot, Some(owner), |snapshot| {
            let news = news(&collect_units(snapshot))?;
            is_partial = news.is_partial;
            let is_empty = news.units.is_empty() && news.gone.is_empty();
            Ok::<_, E>((!is_empty).then_some(news))
        })?;
        if !is_partial {
            return Ok(snapshot);
        }
    }
}

/// Searches the allowed rows. `text_of` returns a record's text, given its unit's key and its own.
pub fn search_snapshot(
    snapshot: &Snapshot,
    query: &Query,
    allowed: &[bool],
    options: LibraryOptions,
    text_of: &dyn Fn(&str, &str) -> Option<String>,
) -> Vec<RecordHit> {
    let rank_options = RankOptions {
        mode: options.mode,
        level: Level::Records,
        limit: options.limit.max(recency::MAX_MESSAGES),
        now_ms: options.now_ms,
    };
    let ranked = rank::rank(snapshot, query, allowed, &rank_options);
    let text_of = |row: usize| text_of(snapshot.unit_key(row), snapshot.key(row));
    let mut ranked = recency::order_messages(snapshot, query, ranked, &text_of);
    ranked.truncate(options.limit);
    let least = ranked.first().map_or(0.0, |best| best.score * MIN_SHARE_OF_BEST);
    let hit = |ranked: rank::Ranked| RecordHit {
        unit: snapshot.unit_key(ranked.row).to_owned(),
        record: snapshot.key(ranked.row).to_owned(),
        score: ranked.score,
        is_match: ranked.lexical > 0.0 || ranked.similarity >= rank::MIN_SIMILARITY,
        terms: ranked.terms,
        similarity: ranked.similarity,
    };
    ranked.into_iter().filter(|ranked| ranked.score >= least).map(hit).collect()
}

fn collect_units(snapshot: &Snapshot) -> HashMap<String, Fingerprint> {
    snapshot.units().map(|(key, fingerprint)| (key.to_owned(), fingerprint)).collect()
}
