//! What is known of all records: how many there are, how long they are, and how rare a word is.
//!
//! PostgreSQL knows how often frequent words occur, from its own statistics; rare ones are counted, since that is quick. Both are kept for
//! a while where there are many records.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nacre_core::search::Corpus;
use tokio::time::Instant;
use tokio_postgres::Client;

use super::vectors::lexeme;
use crate::database::{Database, DatabaseError};

/// Fewer records are counted for every question.
const SMALL: usize = 10_000;

/// How long the numbers of many records are kept.
const MAX_AGE: Duration = Duration::from_secs(60);

/// A word in more records than this is not rare, whatever their number.
const MAX_COUNTED: i64 = 500;

/// So many counts of words are kept at most.
const MAX_KEPT: usize = 50_000;

/// Numbers about all records.
#[derive(Clone, Debug, Default)]
pub(super) struct Stock {
    pub(super) n_records: usize,
    n_units: usize,
    mean_length: f32,
    /// The share of all records that holds a frequent term.
    frequent: Arc<HashMap<String, f32>>,
}

impl Stock {
    pub(super) fn is_small(&self) -> bool {
        self.n_records < SMALL
    }

    /// Whether it is known how frequent terms are.
    pub(super) fn has_shares(&self) -> bool {
        !self.frequent.is_empty()
    }

    /// The share of all records that holds a term, where it is frequent enough to be known.
    pub(super) fn share(&self, term: &str) -> Option<f32> {
        self.frequent.get(term).copied()
    }
}

/// What is kept between questions.
#[derive(Debug, Default)]
pub(super) struct CorpusCache(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    stock: Option<(Instant, Stock)>,
    counts: HashMap<String, usize>,
}

impl CorpusCache {
    /// Numbers about all records, not older than a minute; those of few records are exact.
    pub(super) fn stock(&self, database: &Database) -> Result<Stock, DatabaseError> {
        let kept = self.lock().stock.clone();
        let is_fresh =
            |(taken, stock): &(Instant, Stock)| !stock.is_small() && taken.elapsed() < MAX_AGE;
        if let Some((_, stock)) = kept.filter(is_fresh) {
            return Ok(stock);
        }
        let stock = database.run(async |client| take_stock(client).await)?;
        let mut kept = self.lock();
        kept.stock = Some((Instant::now(), stock.clone()));
        kept.counts.clear();
        Ok(stock)
    }

    /// The same, with the number of records that hold each of these terms.
    pub(super) async fn corpus(
        &self,
        client: &Client,
        stock: &Stock,
        terms: &[&str],
    ) -> Result<Corpus, DatabaseError> {
        let mut holding: HashMap<String, usize> = HashMap::new();
        let mut missing: Vec<String> = Vec::new();
        for term in terms {
            let known = self.lock().counts.get(*term).copied();
            let frequent = stock.share(term).map(|share| (share * stock.n_records as f32) as usize);
            match known.or(frequent.filter(|_| !stock.is_small())) {
                Some(n_holding) => drop(holding.insert((*term).to_owned(), n_holding)),
                None => missing.push((*term).to_owned()),
            }
        }
        let counted =
            if missing.is_empty() { Vec::new() } else { count(client, stock, &missing).await? };
        let mut kept = self.lock();
        if kept.counts.len() > MAX_KEPT {
            kept.counts.clear();
        }
        if !stock.is_small() {
            // A word that nobody used yet may be used by the next record.
            kept.counts.extend(counted.iter().filter(|(_, n_holding)| *n_holding > 0).cloned());
        }
        holding.extend(counted);
        let Stock { n_records, n_units, mean_length, .. } = *stock;
        Ok(Corpus { n_records, n_units, mean_length, holding })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn take_stock(client: &Client) -> Result<Stock, DatabaseError> {
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
        // Nobody took stock of the words yet.
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

/// Counts the records that hold each of these terms, up to a bound.
async fn count(
    client: &Client,
    stock: &Stock,
    terms: &[String],
) -> Result<Vec<(String, usize)>, DatabaseError> {
    let questions: Vec<String> = terms.iter().map(|term| lexeme(term)).collect();
    let most = if stock.is_small() { i64::MAX } else { MAX_COUNTED };
    let sql = "
SELECT (SELECT count(*) FROM (SELECT 1 FROM words WHERE terms @@ asked.term LIMIT $2) AS held)
FROM unnest($1::text[]::tsquery[]) WITH ORDINALITY AS asked (term, nth) ORDER BY nth";
    let rows = client.query(sql, &[&questions, &most]).await?;
    let counts = rows.iter().map(|row| usize::try_from(row.get::<_, i64>(0)).unwrap_or(0));
    Ok(terms.iter().cloned().zip(counts).collect())
}
