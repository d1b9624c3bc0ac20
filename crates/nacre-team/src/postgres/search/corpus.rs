//! Corpus statistics for BM25 ranking: number of records, mean length and document frequencies.
//! Frequencies of common terms come from PostgreSQL's own statistics (`pg_stats`); rare terms are
//! counted, which is fast. Results for a large corpus are cached.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nacre_memory::search::Corpus;
use tokio::time::Instant;
use tokio_postgres::Client;

use super::terms::lexeme;
use crate::postgres::database::{Database, Result};

/// With fewer records than this, statistics are computed for every query.
const SMALL: usize = 10_000;

const MAX_AGE: Duration = Duration::from_secs(60);

/// Maximum number of records counted per term.
const MAX_COUNTED: i64 = 500;

const MAX_KEPT: usize = 50_000;

#[derive(Clone, Debug, Default)]
pub(super) struct Stock {
    pub(super) n_records: usize,
    n_units: usize,
    mean_length: f32,
    /// The fraction of records that contain each term. Empty if PostgreSQL has no term statistics
    /// yet.
    pub(super) frequent: Arc<HashMap<String, f32>>,
}

impl Stock {
    pub(super) fn is_small(&self) -> bool {
        self.n_records < SMALL
    }

    pub(super) fn share(&self, term: &str) -> Option<f32> {
        self.frequent.get(term).copied()
    }
}

#[derive(Debug, Default)]
pub(super) struct CorpusCache {
    stock: Mutex<Option<(Instant, Stock)>>,
    counts: Mutex<HashMap<String, usize>>,
}

impl CorpusCache {
    /// Returns the statistics, which are exact for a small corpus and at most `MAX_AGE` old for a
    /// large one.
    pub(super) fn stock(&self, database: &Database) -> Result<Stock> {
        let kept = lock(&self.stock).clone();
        let is_fresh =
            |(taken, stock): &(Instant, Stock)| !stock.is_small() && taken.elapsed() < MAX_AGE;
        if let Some((_, stock)) = kept.filter(is_fresh) {
            return Ok(stock);
        }
        let stock = database.run(async |client| take_stock(client).await)?;
        *lock(&self.stock) = Some((Instant::now(), stock.clone()));
        lock(&self.counts).clear();
        Ok(stock)
    }

    pub(super) async fn corpus(
        &self,
        client: &Client,
        stock: &Stock,
        terms: &[&str],
    ) -> Result<Corpus> {
        let mut holding: HashMap<String, usize> = HashMap::new();
        let mut missing: Vec<String> = Vec::new();
        for term in terms {
            let known = lock(&self.counts).get(*term).copied();
            let frequent = stock.share(term).map(|share| (share * stock.n_records as f32) as usize);
            match known.or(frequent.filter(|_| !stock.is_small())) {
                Some(n_holding) => drop(holding.insert((*term).to_owned(), n_holding)),
                None => missing.push((*term).to_owned()),
            }
        }
        let counted =
            if missing.is_empty() { Vec::new() } else { count(client, stock, &missing).await? };
        let mut kept = lock(&self.counts);
        if kept.len() > MAX_KEPT {
            kept.clear();
        }
        if !stock.is_small() {
            // Zero is not cached, because the next record may contain the term.
            kept.extend(counted.iter().filter(|(_, n_holding)| *n_holding > 0).cloned());
        }
        drop(kept);
        holding.extend(counted);
        let Stock { n_records, n_units, mean_length, .. } = *stock;
        Ok(Corpus { n_records, n_units, mean_length, holding })
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn take_stock(client: &Client) -> Result<Stock> {
    let few = "
SELECT count(*), count(DISTINCT unit), coalesce(avg(length), 1)::real FROM (SELECT unit, length FROM record LIMIT $1) AS few";
    let limit = i64::try_from(SMALL).unwrap_or(i64::MAX);
    let row = client.query_one(few, &[&limit]).await?;
    let (n_counted, n_units, mean_length): (i64, i64, f32) = (row.get(0), row.get(1), row.get(2));
    let number = |number: i64| usize::try_from(number).unwrap_or(0);
    let (n_counted, n_units) = (number(n_counted), number(n_units));
    let few = Stock { n_records: n_counted, n_units, mean_length, frequent: Arc::default() };
    if n_counted < SMALL {
        return Ok(few);
    }
    let many = "
SELECT (SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'nacre.record'::regclass),
  (SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'nacre.unit'::regclass),
  most_common_elems::text::text[], most_common_elem_freqs
FROM pg_stats WHERE schemaname = 'nacre' AND tablename = 'words' AND attname = 'terms'";
    let Some(row) = client.query_opt(many, &[]).await? else {
        // PostgreSQL has not analyzed the terms yet.
        let all = client.query_one("SELECT count(*) FROM record", &[]).await?;
        return Ok(Stock { n_records: number(all.get(0)), ..few });
    };
    let n_records = number(row.get(0)).max(n_counted);
    let n_units = number(row.get(1)).max(n_units);
    let terms: Option<Vec<String>> = row.get(2);
    let shares: Option<Vec<f32>> = row.get(3);
    let frequent = terms.unwrap_or_default().into_iter().zip(shares.unwrap_or_default()).collect();
    Ok(Stock { n_records, n_units, mean_length, frequent: Arc::new(frequent) })
}

async fn count(client: &Client, stock: &Stock, terms: &[String]) -> Result<Vec<(String, usize)>> {
    let questions: Vec<String> = terms.iter().map(|term| lexeme(term)).collect();
    let most = if stock.is_small() { i64::MAX } else { MAX_COUNTED };
    let sql = "
SELECT (SELECT count(*) FROM (SELECT 1 FROM words WHERE terms @@ asked.term LIMIT $2) AS held)
FROM unnest($1::text[]::tsquery[]) WITH ORDINALITY AS asked (term, nth) ORDER BY nth";
    let rows = client.query(sql, &[&questions, &most]).await?;
    let counts = rows.iter().map(|row| usize::try_from(row.get::<_, i64>(0)).unwrap_or(0));
    Ok(terms.iter().cloned().zip(counts).collect())
}
