//! Candidates of a question: by words, by meaning, and what stands beside them in their unit.

use std::collections::BTreeSet;

use nacre_core::search::{
    Candidates, Fingerprint, LibraryOptions, Link, LinkKind, Mode, Query, Readable, Record,
    RecordIndexError, Standing, Unit, Voice, facet_name, terms_of_question,
};
use tokio_postgres::Row;

use super::queries::{Filter, MAX_MATCHES, WordsQuestion};
use super::vectors::vector;
use super::{SharedRecords, failed};
use crate::database::{Database, DatabaseError};

/// So many candidates are ranked for words and for meaning at least.
const N_WORDS: usize = 150;
const N_MEANING: usize = 100;

/// Up to so many vectors are compared one by one, which misses none. Of more, the index finds enough with fewer looks.
const MAX_SCANNED: f32 = 12_000.0;

/// Finds the candidates of a question.
pub(super) fn find(
    records: &SharedRecords,
    query: &Query,
    readable: &Readable,
    options: LibraryOptions,
) -> Result<Candidates, RecordIndexError> {
    let SharedRecords { database, embedder, corpus } = records;
    let stock = corpus.stock(database).map_err(failed)?;
    let filter = Filter::new(query, readable, &stock);
    if filter.is_empty() {
        return Ok(Candidates::default());
    }
    if query.is_filter_only() {
        let ids = newest(database, &filter, options.limit).map_err(failed)?;
        return fetch(database, &filter, &ids).map_err(failed);
    }
    let terms = terms_of_question(query);
    let variants = terms.iter().flat_map(|term| term.variants.iter().map(String::as_str));
    let words: Vec<&str> = terms.iter().map(|term| term.term.as_str()).chain(variants).collect();
    let of_all = corpus.corpus(database, &stock, &words).map_err(failed)?;
    let mut ids = BTreeSet::new();
    if options.mode != Mode::Semantic
        && let Some(question) = WordsQuestion::new(&terms, &of_all, &filter)
    {
        let limit = N_WORDS.max(options.limit);
        ids.extend(by_words(database, &filter, &question, limit).map_err(failed)?);
    }
    if options.mode != Mode::Lexical {
        let numbers = embedder.embed(&[&query.text])?.pop().unwrap_or_default();
        let nearest = Nearest {
            vector: vector(&numbers),
            dims: embedder.dims(),
            is_scanned: stock.n_records as f32 * filter.share <= MAX_SCANNED,
            limit: N_MEANING.max(options.limit),
        };
        ids.extend(by_meaning(database, &filter, &nearest).map_err(failed)?);
    }
    let ids: Vec<i64> = ids.into_iter().collect();
    let found = fetch(database, &filter, &ids).map_err(failed)?;
    Ok(Candidates { corpus: of_all, ..found })
}

/// Without words the newest come first.
fn newest(database: &Database, filter: &Filter, limit: usize) -> Result<Vec<i64>, DatabaseError> {
    let Filter { terms, projects, after_ms, before_ms, .. } = filter;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    database.run(async |client| {
        let sql = "
SELECT id FROM record WHERE ($1::text IS NULL OR terms @@ $1::text::tsquery) AND ($2::text[] IS NULL OR projects && $2)
  AND time_ms >= $3 AND time_ms < $4 ORDER BY time_ms DESC, id LIMIT $5";
        let rows = client.query(sql, &[terms, projects, after_ms, before_ms, &limit]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    })
}

fn by_words(
    database: &Database,
    filter: &Filter,
    question: &WordsQuestion,
    limit: usize,
) -> Result<Vec<i64>, DatabaseError> {
    let Filter { projects, after_ms, before_ms, .. } = filter;
    let WordsQuestion { needed, terms, worths } = question;
    let most = i64::try_from(MAX_MATCHES).unwrap_or(i64::MAX);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    database.run(async |client| {
        let sql = "
SELECT id FROM (
  SELECT id, terms FROM record WHERE terms @@ $1::text::tsquery AND ($2::text[] IS NULL OR projects && $2)
    AND time_ms >= $3 AND time_ms < $4 LIMIT $5) AS matched
ORDER BY (
  SELECT sum(asked.worth * ts_rank('{0.3, 0.5, 0.75, 1}', matched.terms, asked.term))
  FROM unnest($6::text[]::tsquery[], $7::real[]) AS asked (term, worth)) DESC, id LIMIT $8";
        let rows = client
            .query(
                sql,
                &[needed, projects, after_ms, before_ms, &most, terms, worths, &limit],
            )
            .await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    })
}

/// A question by meaning.
struct Nearest {
    /// `None` where nothing in the question is known.
    vector: Option<String>,
    dims: usize,
    /// So few records pass that each is looked at.
    is_scanned: bool,
    limit: usize,
}

fn by_meaning(
    database: &Database,
    filter: &Filter,
    nearest: &Nearest,
) -> Result<Vec<i64>, DatabaseError> {
    let Some(vector) = &nearest.vector else { return Ok(Vec::new()) };
    let limit = i64::try_from(nearest.limit).unwrap_or(i64::MAX);
    let Filter { terms, projects, after_ms, before_ms, .. } = filter;
    let has_times = *after_ms != i64::MIN || *before_ms != i64::MAX;
    // Projects are known beside the vectors; for anything else the record is looked at.
    let by_record =
        "EXISTS (SELECT 1 FROM record WHERE id = e.record AND time_ms >= $4 AND time_ms < $5
  AND ($6::text IS NULL OR terms @@ $6::text::tsquery))";
    let of_record = if has_times || terms.is_some() {
        by_record
    } else {
        "$4::bigint <= $5::bigint AND $6::text IS NULL"
    };
    // The index is of an expression with the number of dimensions: without it, every vector that passes is compared.
    let dims = nearest.dims;
    let distance = if nearest.is_scanned {
        "e.vector <=> $1::text::halfvec".to_owned()
    } else {
        format!("e.vector::halfvec({dims}) <=> $1::text::halfvec({dims})")
    };
    let sql = format!(
        "SELECT e.record FROM embedding e WHERE ($2::text[] IS NULL OR e.projects && $2) AND {of_record}
         ORDER BY {distance} LIMIT $3"
    );
    database.run(async |client| {
        let transaction = client.transaction().await?;
        if !nearest.is_scanned {
            transaction.batch_execute(LOOK_ON).await?;
        }
        let rows = transaction
            .query(&sql, &[vector, projects, &limit, after_ms, before_ms, terms])
            .await?;
        transaction.commit().await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    })
}

/// The index goes on looking where the filter leaves too little of what is nearest. Without the last two PostgreSQL, which does not know
/// how many records a list of projects leaves, may sort half of all vectors instead.
const LOOK_ON: &str =
    "SET LOCAL hnsw.iterative_scan = 'relaxed_order'; SET LOCAL hnsw.ef_search = 100;
SET LOCAL hnsw.max_scan_tuples = 20000; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off";

/// Reads candidates and what stands around them in their unit: a neighbour is ranked too, by what stands beside it.
fn fetch(database: &Database, filter: &Filter, ids: &[i64]) -> Result<Candidates, DatabaseError> {
    let projects = &filter.projects;
    let rows = database.run(async |client| {
        let sql = "
WITH chosen AS (
  SELECT unnest($1::bigint[]) AS id
  UNION SELECT near.id FROM record c JOIN record near ON near.unit = c.unit AND near.place BETWEEN c.place - 2 AND c.place + 2
    WHERE c.id = ANY ($1))
SELECT unit, place, key, time_ms, voice, speaker, standing, confidence, title, tags, body, quotes, facets, links,
  e.vector::real[]
FROM chosen JOIN record r USING (id) LEFT JOIN embedding e ON e.record = r.id
WHERE $2::text[] IS NULL OR r.projects && $2 ORDER BY unit, place";
        Ok(client.query(sql, &[&ids, projects]).await?)
    })?;
    let mut found = Candidates::default();
    let mut last: Option<(String, i32)> = None;
    for row in &rows {
        let (unit, place): (String, i32) = (row.get(0), row.get(1));
        // Records with a gap between them are no neighbours.
        if last.as_ref() != Some(&(unit.clone(), place - 1)) {
            let fingerprint = Fingerprint::default();
            found.units.push(Unit { key: unit.clone(), fingerprint, records: Vec::new() });
            found.vectors.push(Vec::new());
        }
        if let (Some(unit), Some(vectors)) = (found.units.last_mut(), found.vectors.last_mut()) {
            unit.records.push(record(row));
            vectors.push(row.get::<_, Option<Vec<f32>>>(14).unwrap_or_default());
        }
        last = Some((unit, place));
    }
    Ok(found)
}

fn record(row: &Row) -> Record {
    let code = |column: usize| u8::try_from(row.get::<_, i16>(column)).unwrap_or(0);
    let (facets, links): (&str, &str) = (row.get(12), row.get(13));
    let facet = |line: &str| {
        let (name, value) = line.split_once('\t')?;
        Some((facet_name(name)?, value.to_owned()))
    };
    let link = |line: &str| {
        let (kind, to) = line.split_once('\t')?;
        Some(Link { kind: LinkKind::from_code(kind.parse().ok()?), to: to.to_owned() })
    };
    Record {
        key: row.get(2),
        time_ms: row.get(3),
        voice: Voice::from_code(code(4)),
        speaker: row.get(5),
        standing: Standing::from_code(code(6)),
        confidence: row.get(7),
        title: row.get(8),
        tags: row.get(9),
        body: row.get(10),
        quotes: row.get(11),
        facets: facets.lines().filter_map(facet).collect(),
        links: links.lines().filter_map(link).collect(),
    }
}
