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
        transaction.batch_execute("DROP INDEX IF EXISTS nacre.embedding_nearest").await?;
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

/// Builds the index by nearness where it is missing.
pub(super) fn build_index(database: &Database, dims: usize) -> Result<(), DatabaseError> {
    let build = format!(
        "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SET LOCAL maintenance_work_mem = '1GB';
         CREATE INDEX IF NOT EXISTS embedding_nearest ON nacre.embedding
           USING hnsw ((vector::halfvec({dims})) halfvec_cosine_ops) WITH (m = 16, ef_construction = 64)"
    );
    database.run_within(BUILD_TIMEOUT, async |client| {
        let missing = "SELECT to_regclass('nacre.embedding_nearest') IS NULL";
        if !client.query_one(missing, &[]).await?.get::<_, bool>(0) {
            return Ok(());
        }
        let transaction = client.transaction().await?;
        transaction.batch_execute("SET LOCAL statement_timeout = 0").await?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        transaction.batch_execute(&build).await?;
        transaction.batch_execute("ANALYZE nacre.record; ANALYZE nacre.embedding").await?;
        transaction.commit().await?;
        Ok(())
    })
}
