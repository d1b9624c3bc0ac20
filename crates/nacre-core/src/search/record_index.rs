//! Records as whoever searches them sees them: what the segments of one machine and a database that a team shares both do.

use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::sync::Arc;

use super::embed::{EmbedError, Embedder};
use super::index::{Changes, Index, IndexError};
use super::library::{LibraryOptions, News, RecordHit, known, search_snapshot};
use super::query::Query;
use super::rank;
use super::record::{Fingerprint, PROJECT};
use super::snapshot::Snapshot;
use super::words;
use crate::safefs::{Owner, WriteScope};

/// Which projects a caller may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readable {
    Everything,
    /// These, and no record without a project.
    Projects(BTreeSet<String>),
}

impl Readable {
    /// These projects, whatever the case of their names.
    pub fn projects<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::Projects(names.into_iter().map(str::to_lowercase).collect())
    }
}

/// Why records could not be searched or changed.
#[derive(Debug, thiserror::Error)]
pub enum RecordIndexError {
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The database that a team shares failed; `is_passing` says that it may come back.
    #[error("Cannot use the shared index")]
    Shared { is_passing: bool, source: Box<dyn Error + Send + Sync> },
}

/// Records that change in units and are found by words, by meaning and by their properties.
pub trait RecordIndex {
    /// The units that it holds.
    fn known(&self) -> Result<HashMap<String, Fingerprint>, RecordIndexError>;

    /// Takes in all of `news` or none of it: whoever searches meanwhile sees what was there before, or all that is there then. So a
    /// record and the one that it supersedes change their places at the same moment.
    fn apply(&mut self, news: &News) -> Result<(), RecordIndexError>;

    /// How many records a caller can find.
    fn n_records(&self, readable: &Readable) -> Result<u64, RecordIndexError>;

    /// The records that fit a question best, best first, among those that the caller may read.
    fn search(
        &self,
        query: &Query,
        readable: &Readable,
        options: LibraryOptions,
    ) -> Result<Vec<RecordHit>, RecordIndexError>;
}

/// The text of a record, by the keys of its unit and itself.
pub type RecordTexts = Box<dyn Fn(&str, &str) -> Option<String> + Send + Sync>;

/// Records in the segments of one machine.
pub struct LocalRecords {
    index: Index,
    embedder: Arc<dyn Embedder>,
    owner: Owner,
    texts: RecordTexts,
    snapshot: Arc<Snapshot>,
}

impl LocalRecords {
    /// Opens the index `name` in `folder`; without a folder it lives as long as this value.
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

    /// A yes or no for every row: live, and of a project that may be read.
    fn readable_rows(&self, readable: &Readable) -> Vec<bool> {
        let is_live = &self.snapshot.layout().is_live;
        let projects = match readable {
            Readable::Everything => return is_live.clone(),
            Readable::Projects(projects) => projects,
        };
        let mut rows = vec![false; self.snapshot.n_rows()];
        for project in projects {
            for (row, _) in self.snapshot.postings(&words::facet(PROJECT, project)) {
                rows[row] = is_live[row];
            }
        }
        rows
    }
}

impl RecordIndex for LocalRecords {
    fn known(&self) -> Result<HashMap<String, Fingerprint>, RecordIndexError> {
        Ok(known(&self.snapshot))
    }

    fn apply(&mut self, news: &News) -> Result<(), RecordIndexError> {
        let changes = || Changes {
            gone: news.gone.clone(),
            units: news.units.clone(),
            watermark: 0,
            is_partial: news.is_partial,
        };
        let before = Arc::clone(&self.snapshot);
        self.snapshot = self.index.update(before, &*self.embedder, Some(&self.owner), |_| {
            Ok::<_, RecordIndexError>(Some(changes()))
        })?;
        Ok(())
    }

    fn n_records(&self, readable: &Readable) -> Result<u64, RecordIndexError> {
        Ok(self.readable_rows(readable).into_iter().filter(|is_readable| *is_readable).count()
            as u64)
    }

    fn search(
        &self,
        query: &Query,
        readable: &Readable,
        options: LibraryOptions,
    ) -> Result<Vec<RecordHit>, RecordIndexError> {
        let mut allowed = rank::allowed(&self.snapshot, query, true);
        for (is_allowed, is_readable) in allowed.iter_mut().zip(self.readable_rows(readable)) {
            *is_allowed &= is_readable;
        }
        let found = search_snapshot(
            &self.snapshot,
            &*self.embedder,
            query,
            &allowed,
            options,
            &*self.texts,
        );
        Ok(found?)
    }
}
