//! Which model the vectors are of. Vectors of two models cannot be compared, so a database holds those of one.

use std::time::Duration;

use nacre_core::search::Embedder;

use crate::database::{Database, DatabaseError};

/// Held while the model is decided about or its index is built.
const LOCK: i64 = 0x6e61_6372_6503;

/// The index of many vectors takes minutes.
const BUILD_TIMEOUT: Duration = Duration::from_secs(6 * 3600);

/// Enters the model where there is none, or no record that another one made a vector of.
pub(super) fn claim(database: &Database, embedder: &dyn Embedder) -> Result<(), DatabaseError> {
    let used = embedder.model().as_str();
    let dims = i32::try_from(embedder.dims()).unwrap_or(i32::MAX);
    let found: Option<String> = database.run(async |client| {
        // As nearly always: nobody has to wait for whoever builds an index.
        let row = client.query_opt("SELECT model FROM search_model", &[]).await?;
        if row.is_some_and(|row| row.get::<_, &str>(0) == used) {
            return Ok(None);
        }
        let transaction = client.transaction().await?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
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

/// What is made when records are in: an index that many of them are entered into one by one takes far longer.
const WITHOUT_INDEXES: &str = "DROP INDEX IF EXISTS nacre.embedding_nearest;
DROP INDEX IF EXISTS nacre.embedding_audience; DROP INDEX IF EXISTS nacre.words_terms";

/// A vector with more numbers does not fit into a page of an index beside two others.
const MAX_DIMS_INSIDE: usize = 1_200;

/// Takes the indexes away where there are no records yet.
pub(super) fn drop_indexes(database: &Database) -> Result<(), DatabaseError> {
    database.run(async |client| {
        let transaction = client.transaction().await?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        let is_used = "SELECT EXISTS (SELECT 1 FROM record)";
        if !transaction.query_one(is_used, &[]).await?.get::<_, bool>(0) {
            transaction.batch_execute(WITHOUT_INDEXES).await?;
        }
        transaction.commit().await?;
        Ok(())
    })
}

/// Builds the indexes by words, by nearness and by audience where they are missing.
pub(super) fn build_index(database: &Database, dims: usize) -> Result<(), DatabaseError> {
    // With the vectors inside, those of one project stand together, whenever they came.
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
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        transaction.batch_execute(&build).await?;
        transaction.batch_execute(STOCK).await?;
        transaction.commit().await?;
        Ok(())
    })
}

const STOCK: &str =
    "ANALYZE nacre.record; ANALYZE nacre.words; ANALYZE nacre.embedding; ANALYZE nacre.audience";
