//! An index of records for whoever keeps their sources: told what changed, asked for what was said.
//!
//! Memories have a budget of their own for this, since they overturn each other; everything else that is
//! searched goes through here.

use std::collections::HashMap;
use std::sync::Arc;

use super::embed::{EmbedError, Embedder};
use super::index::{Changes, Index, IndexError};
use super::memories::MIN_SHARE_OF_BEST;
use super::query::Query;
use super::rank::{self, Level, Mode, RankOptions};
use super::record::{Fingerprint, Unit};
use super::snapshot::Snapshot;
use super::spoken;
use crate::safefs::{Owner, WriteScope};

/// Units that are different from what the index holds.
#[derive(Debug, Default)]
pub struct News {
    pub units: Vec<Unit>,
    /// Keys of units that are no more.
    pub gone: Vec<String>,
    /// Whether there is more to come: a large source is taken in pieces.
    pub is_partial: bool,
}

/// Records ready to be searched.
pub struct Library<'a> {
    embedder: &'a dyn Embedder,
    snapshot: Arc<Snapshot>,
}

/// How to search a library.
#[derive(Clone, Copy, Debug)]
pub struct LibraryOptions {
    pub mode: Mode,
    pub limit: usize,
    /// What "last week" counts from.
    pub now_ms: i64,
}

/// A record that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordHit {
    pub unit: String,
    pub record: String,
    pub score: f32,
    /// Whether its own words or meaning match, and not only its neighbours'.
    pub is_match: bool,
    /// Terms of the question that it holds.
    pub terms: Vec<String>,
    pub similarity: f32,
}

impl<'a> Library<'a> {
    /// Opens the index `name` in `folder` and brings it up to date with what `news` tells.
    pub fn open<E>(
        folder: Option<WriteScope>,
        name: &'static str,
        embedder: &'a dyn Embedder,
        owner: &Owner,
        mut news: impl FnMut(&HashMap<String, Fingerprint>) -> Result<News, E>,
    ) -> Result<Self, E>
    where
        E: From<IndexError>,
    {
        let index = Index::new(folder, name);
        let mut snapshot = index.load(embedder);
        loop {
            let mut is_partial = false;
            snapshot = index.update(snapshot, embedder, Some(owner), |snapshot| {
                let told = news(&known(snapshot))?;
                is_partial = told.is_partial;
                let has_news = !told.units.is_empty() || !told.gone.is_empty();
                Ok::<_, E>(has_news.then_some(Changes {
                    gone: told.gone,
                    units: told.units,
                    watermark: 0,
                    is_partial: told.is_partial,
                }))
            })?;
            if !is_partial {
                return Ok(Self { embedder, snapshot });
            }
        }
    }

    /// How many records can be found.
    pub fn n_records(&self) -> usize {
        self.snapshot.n_records()
    }

    /// The records that fit a question best, best first. `text_of` gives the text of a record by the keys of its unit
    /// and itself.
    pub fn search(
        &self,
        query: &Query,
        options: LibraryOptions,
        text_of: &dyn Fn(&str, &str) -> Option<String>,
    ) -> Result<Vec<RecordHit>, EmbedError> {
        let allowed = rank::allowed(&self.snapshot, query, true);
        search_snapshot(&self.snapshot, self.embedder, query, &allowed, options, text_of)
    }
}

/// The best of the allowed rows of a snapshot, best first.
pub(super) fn search_snapshot(
    snapshot: &Snapshot,
    embedder: &dyn Embedder,
    query: &Query,
    allowed: &[bool],
    options: LibraryOptions,
    text_of: &dyn Fn(&str, &str) -> Option<String>,
) -> Result<Vec<RecordHit>, EmbedError> {
    let rank_options = RankOptions {
        mode: options.mode,
        level: Level::Records,
        limit: options.limit.max(spoken::N_COMPARED),
        now_ms: options.now_ms,
    };
    let ranked = rank::rank(snapshot, query, allowed, embedder, &rank_options)?;
    let text_of = |row: usize| text_of(snapshot.unit_key(row), snapshot.key(row));
    let mut ranked = spoken::settle(snapshot, query, ranked, &text_of);
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
    Ok(ranked.into_iter().filter(|ranked| ranked.score >= least).map(hit).collect())
}

pub(super) fn known(snapshot: &Snapshot) -> HashMap<String, Fingerprint> {
    let units = snapshot.units();
    units.into_iter().map(|(key, fingerprint)| (key.to_owned(), fingerprint)).collect()
}
