//! Searches a team's records. Among the records that the caller may read, PostgreSQL selects
//! candidates by terms (`tsvector` with one weight per field) and by embedding (`pgvector`). The
//! local index's ranking code then orders them. Terms are extracted in the same way as for the
//! local index, so that both indexes find the same records.

mod apply;
mod candidates;
mod corpus;
mod queries;
mod terms;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use nacre_memory::search::{
    Builtin, Fingerprint, LibraryOptions, News, Query, Readable, RecordHit, rank_candidates,
};

use crate::postgres::database::{Database, DatabaseError, Result};
use corpus::CorpusCache;

#[derive(Clone)]
pub struct SharedRecords {
    database: Database,
    corpus: Arc<CorpusCache>,
}

impl SharedRecords {
    /// Opens the search index and creates missing indexes. The schema must be up to date.
    pub fn open(database: &Database) -> Result<Self> {
        database.check_schema()?;
        claim_model(database)?;
        let records = Self { database: database.clone(), corpus: Arc::default() };
        records.build_index()?;
        Ok(records)
    }

    pub fn build_index(&self) -> Result<()> {
        build_index(&self.database, Builtin::shipped().dims())
    }

    pub fn fingerprints(&self) -> Result<HashMap<String, Fingerprint>> {
        apply::read_fingerprints(&self.database)
    }

    /// Applies all of `news` or none of it. Readers never see a partial change, so a record and its
    /// successor change together.
    pub fn apply(&mut self, news: &News) -> Result<()> {
        apply::apply(&self.database, news, &apply::rows_of(&news.units))
    }

    pub fn n_records(&self, readable: &Readable) -> Result<u64> {
        apply::n_records(&self.database, readable)
    }

    pub fn search(
        &self,
        query: &Query,
        readable: &Readable,
        options: LibraryOptions,
    ) -> Result<Vec<RecordHit>> {
        let found = candidates::find(self, query, readable, options)?;
        Ok(rank_candidates(found, query, options))
    }
}

nacre_base::debug_only!(SharedRecords { database });

/// PostgreSQL advisory lock, held while the embedding model is selected or its index is built.
const MODEL_LOCK: i64 = 0x6e61_6372_6503;

/// Building an index over many vectors takes minutes or longer.
const BUILD_TIMEOUT: Duration = Duration::from_secs(6 * 3600);

/// Stores the embedding model's name if none is stored yet, or if no record has another model's
/// vector.
fn claim_model(database: &Database) -> Result<()> {
    let used = Builtin::shipped().id();
    let dims = i32::try_from(Builtin::shipped().dims()).unwrap_or(i32::MAX);
    let found: Option<String> = database.run(async |client| {
        // Checking first usually avoids the lock, which another server may hold while it builds an
        // index.
        let row = client.query_opt("SELECT model FROM search_model", &[]).await?;
        if row.is_some_and(|row| row.get::<_, &str>(0) == used) {
            return Ok(None);
        }
        let transaction = client.transaction().await?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&MODEL_LOCK]).await?;
        let row = transaction.query_opt("SELECT model FROM search_model", &[]).await?;
        let found: Option<String> = row.map(|row| row.get(0));
        if found.as_deref() == Some(used) {
            return Ok(None);
        }
        let is_used = "SELECT EXISTS (SELECT 1 FROM embedding)";
        if found.is_some() && transaction.query_one(is_used, &[]).await?.get(0) {
            return Ok(found);
        }
        transaction.batch_execute(WITHOUT_INDEXES).await?;
        let enter = "
INSERT INTO search_model (model, dims) VALUES ($1, $2) ON CONFLICT (one) DO UPDATE SET model = $1, dims = $2";
        transaction.execute(enter, &[&used, &dims]).await?;
        transaction.commit().await?;
        Ok(None)
    })?;
    match found {
        Some(found) => Err(DatabaseError::OtherModel { found, used: used.to_owned() }),
        None => Ok(()),
    }
}

/// Drops the indexes, to be recreated after the first import, because inserting many records into
/// an existing index takes far longer.
const WITHOUT_INDEXES: &str = "DROP INDEX IF EXISTS nacre.embedding_nearest;
DROP INDEX IF EXISTS nacre.embedding_audience; DROP INDEX IF EXISTS nacre.words_terms";

/// Vectors with more dimensions are not stored in the index, because fewer than three of them would
/// fit on an index page.
const MAX_DIMS_INSIDE: usize = 1_200;

fn build_index(database: &Database, dims: usize) -> Result<()> {
    // If the index includes the vectors, each project's vectors are adjacent, regardless of
    // insertion order.
    let inside =
        if dims <= MAX_DIMS_INSIDE { "(audience) INCLUDE (record, vector)" } else { "(audience)" };
    let build = format!(
        "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SET LOCAL maintenance_work_mem = '2GB';
         CREATE INDEX IF NOT EXISTS words_terms ON nacre.words USING gin (terms) WITH (fastupdate = off);
         CREATE INDEX IF NOT EXISTS embedding_audience ON nacre.embedding {inside};
         CREATE INDEX IF NOT EXISTS embedding_nearest ON nacre.embedding
           USING hnsw ((vector::halfvec({dims})) halfvec_cosine_ops) WITH (m = 16, ef_construction = 64)"
    );
    database.run_within(BUILD_TIMEOUT, async |client| {
        let missing = "
SELECT to_regclass('nacre.embedding_nearest') IS NULL OR to_regclass('nacre.embedding_audience') IS NULL
  OR to_regclass('nacre.words_terms') IS NULL";
        if !client.query_one(missing, &[]).await?.get::<_, bool>(0) {
            return Ok(());
        }
        let transaction = client.transaction().await?;
        transaction.batch_execute("SET LOCAL statement_timeout = 0").await?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&MODEL_LOCK]).await?;
        transaction.batch_execute(&build).await?;
        transaction.batch_execute(STOCK).await?;
        transaction.commit().await?;
        Ok(())
    })
}

const STOCK: &str =
    "ANALYZE nacre.record; ANALYZE nacre.words; ANALYZE nacre.embedding; ANALYZE nacre.audience";
