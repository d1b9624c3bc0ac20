//! Records that a team searches together.
//!
//! PostgreSQL chooses candidates, by words (`tsvector` with a weight a field) and by meaning (`pgvector`), among the records that the caller
//! may read; the ranking of one machine puts them in order. Terms are made here, by the same rules as in an index of one machine, so that
//! both find the same.

mod apply;
mod candidates;
mod corpus;
mod model;
mod queries;
mod vectors;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use nacre_core::search::{
    Embedder, Fingerprint, LibraryOptions, News, Query, Readable, RecordHit, RecordIndex,
    RecordIndexError, rank_candidates,
};

use crate::database::{Database, DatabaseError};
use corpus::CorpusCache;

/// Records in PostgreSQL.
#[derive(Clone)]
pub struct SharedRecords {
    database: Database,
    embedder: Arc<dyn Embedder>,
    corpus: Arc<CorpusCache>,
}

impl SharedRecords {
    /// The records of a database whose schema is up to date, with vectors of this model and an index of them.
    pub fn open(database: &Database, embedder: Arc<dyn Embedder>) -> Result<Self, DatabaseError> {
        let records = Self::open_as_it_is(database, embedder)?;
        records.build_index()?;
        Ok(records)
    }

    /// The same without indexes where there are no records yet: many are loaded faster before those are built.
    pub fn open_for_loading(
        database: &Database,
        embedder: Arc<dyn Embedder>,
    ) -> Result<Self, DatabaseError> {
        let records = Self::open_as_it_is(database, embedder)?;
        model::drop_indexes(database)?;
        Ok(records)
    }

    fn open_as_it_is(
        database: &Database,
        embedder: Arc<dyn Embedder>,
    ) -> Result<Self, DatabaseError> {
        database.check_schema()?;
        model::claim(database, &*embedder)?;
        Ok(Self { database: database.clone(), embedder, corpus: Arc::default() })
    }

    /// Builds the indexes where they are missing, and takes stock of the words.
    pub fn build_index(&self) -> Result<(), DatabaseError> {
        model::build_index(&self.database, self.embedder.dims())
    }
}

impl RecordIndex for SharedRecords {
    fn known(&self) -> Result<HashMap<String, Fingerprint>, RecordIndexError> {
        apply::known(&self.database).map_err(failed)
    }

    fn apply(&mut self, news: &News) -> Result<(), RecordIndexError> {
        let rows = apply::Rows::new(&news.units, &*self.embedder)?;
        apply::apply(&self.database, news, &rows).map_err(failed)
    }

    fn n_records(&self, readable: &Readable) -> Result<u64, RecordIndexError> {
        apply::n_records(&self.database, readable).map_err(failed)
    }

    fn search(
        &self,
        query: &Query,
        readable: &Readable,
        options: LibraryOptions,
    ) -> Result<Vec<RecordHit>, RecordIndexError> {
        let found = candidates::find(self, query, readable, options)?;
        Ok(rank_candidates(found, query, &*self.embedder, options)?)
    }
}

impl fmt::Debug for SharedRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedRecords").field("database", &self.database).finish_non_exhaustive()
    }
}

fn failed(error: DatabaseError) -> RecordIndexError {
    RecordIndexError::Shared { is_passing: error.is_passing(), source: Box::new(error) }
}
