//! Record search over a changing source: a trait and its local implementation. The database that a
//! team shares implements the trait too.

use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::sync::Arc;

use nacre_base::fs::{Owner, WriteScope};

use super::embed::{EmbedError, Embedder};
use super::index::{Index, IndexError, News};
use super::memories::MIN_SHARE_OF_BEST;
use super::query::Query;
use super::rank::{self, Level, Mode, RankOptions};
use super::recency;
use super::record::{Fingerprint, PROJECT};
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

#[derive(Debug, thiserror::Error)]
pub enum RecordIndexError {
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The shared database failed. If `is_passing` is set, retrying may succeed.
    #[error("Cannot use the shared index")]
    Shared { is_passing: bool, source: Box<dyn Error + Send + Sync> },
}

pub trait RecordIndex {
    fn fingerprints(&self) -> Result<HashMap<String, Fingerprint>, RecordIndexError>;

    /// Applies all of `news` or none of it. Readers never see a partial change, so a record and its
    /// successor change together.
    fn apply(&mut self, news: &News) -> Result<(), RecordIndexError>;

    fn n_records(&self, readable: &Readable) -> Result<u64, RecordIndexError>;

    fn search(
        &self,
        query: &Query,
        readable: &Readable,
        options: LibraryOptions,
    ) -> Result<Vec<RecordHit>, RecordIndexError>;
}

/// Returns a record's text, given its unit's key and its own key.
pub type RecordTexts = Box<dyn Fn(&str, &str) -> Option<String> + Send + Sync>;

pub struct LocalRecords {
    index: Index,
    embedder: Arc<dyn Embedder>,
    owner: Owner,
    texts: RecordTexts,
    snapshot: Arc<Snapshot>,
}

impl LocalRecords {
    /// Opens the index `name` in `folder`. If `folder` is `None`, the index exists only in memory.
    pub fn open(
        folder: Option<WriteScope>,
        name: &'static str,
        embedder: Arc<dyn Embedder>,
        owner: Owner,
        texts: RecordTexts,
    ) -> Self {
        let index = Index::new(folder, name);
        let snapshot = index.load(&*embedder);
        Self { index, embedder, owner, texts, snapshot }
    }

    fn readable_rows(&self, readable: &Readable) -> Vec<bool> {
        let Readable::Projects(projects) = readable else {
            return self.snapshot.layout().is_live.clone();
        };
        let mut rows = vec![false; self.snapshot.n_rows()];
        for project in projects {
            self.snapshot.rows_with(PROJECT, project).for_each(|row| rows[row] = true);
        }
        rows
    }
}

impl RecordIndex for LocalRecords {
    fn fingerprints(&self) -> Result<HashMap<String, Fingerprint>, RecordIndexError> {
        Ok(collect_units(&self.snapshot))
    }

    fn apply(&mut self, news: &News) -> Result<(), RecordIndexError> {
        let news =
            || News { gone: news.gone.clone(), units: news.units.clone(), ..News::default() };
        let before = Arc::clone(&self.snapshot);
        let changes = |_: &Snapshot| Ok::<_, RecordIndexError>(Some(news()));
        self.snapshot = self.index.update(before, &*self.embedder, Some(&self.owner), changes)?;
        Ok(())
    }

    fn n_records(&self, readable: &Readable) -> Result<u64, RecordIndexError> {
        let rows = self.readable_rows(readable);
        Ok(rows.into_iter().filter(|is_readable| *is_readable).count() as u64)
    }

    fn search(
        &self,
        query: &Query,
        readable: &Readable,
        options: LibraryOptions,
    ) -> Result<Vec<RecordHit>, RecordIndexError> {
        let mut allowed = rank::filter_rows(&self.snapshot, query, true);
        for (is_allowed, is_readable) in allowed.iter_mut().zip(self.readable_rows(readable)) {
            *is_allowed &= is_readable;
        }
        let (snapshot, embedder) = (&self.snapshot, &*self.embedder);
        Ok(search_snapshot(snapshot, embedder, query, &allowed, options, &*self.texts)?)
    }
}

pub(crate) fn sync_index<E: From<IndexError>>(
    index: &Index,
    embedder: &dyn Embedder,
    owner: &Owner,
    mut news: impl FnMut(&HashMap<String, Fingerprint>) -> Result<News, E>,
) -> Result<Arc<Snapshot>, E> {
    let mut snapshot = index.load(embedder);
    loop {
        let mut is_partial = false;
        snapshot = index.update(snapshot, embedder, Some(owner), |snapshot| {
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

pub(crate) fn search_snapshot(
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
        limit: options.limit.max(recency::MAX_MESSAGES),
        now_ms: options.now_ms,
    };
    let ranked = rank::rank(snapshot, query, allowed, embedder, &rank_options)?;
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
    Ok(ranked.into_iter().filter(|ranked| ranked.score >= least).map(hit).collect())
}

fn collect_units(snapshot: &Snapshot) -> HashMap<String, Fingerprint> {
    snapshot.units().map(|(key, fingerprint)| (key.to_owned(), fingerprint)).collect()
}
