//! Candidates of a question: by words, by meaning, and what stands beside them in their unit.

use std::collections::{BTreeMap, BTreeSet};

use nacre_core::search::{
    Candidates, Fingerprint, LibraryOptions, Link, LinkKind, Mode, Query, Readable, Record,
    RecordIndexError, Standing, Unit, Voice, facet_name, terms_of_question,
};
use tokio_postgres::{Client, Row};

use super::apply::projects_of;
use super::queries::{Filter, MAX_MATCHES, N_NEWEST, Places, WordsQuestion};
use super::vectors::vector;
use super::{SharedRecords, failed};
use crate::database::{Database, DatabaseError};

/// So many candidates are ranked for words and for meaning at least.
const N_WORDS: usize = 80;
const N_MEANING: usize = 50;

/// Up to so many vectors are compared one by one, which misses none. Of more, the index finds enough with fewer looks.
const MAX_SCANNED: f32 = 100_000.0;

/// Finds the candidates of a question.
pub(super) fn find(
    records: &SharedRecords,
    query: &Query,
    readable: &Readable,
    options: LibraryOptions,
) -> Result<Candidates, RecordIndexError> {
    let SharedRecords { database, embedder, corpus } = records;
    let stock = corpus.stock(database).map_err(failed)?;
    let projects = projects_of(readable);
    let readable = match &projects {
        Some(projects) => Some(audiences(database, projects).map_err(failed)?),
        None => None,
    };
    let filter = Filter::new(query, projects.as_deref(), readable, &stock);
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
    let nearest = match options.mode {
        Mode::Lexical => None,
        Mode::Semantic | Mode::Hybrid => {
            let numbers = embedder.embed(&[&query.text])?.pop().unwrap_or_default();
            vector(&numbers).map(|vector| Nearest {
                vector,
                dims: embedder.dims(),
                is_scanned: stock.n_records as f32 * filter.share() <= MAX_SCANNED,
                limit: N_MEANING.max(options.limit),
            })
        }
    };
    let n_words = N_WORDS.max(options.limit);
    let words = async |client: &mut Client| {
        let of_all = corpus.corpus(client, &stock, &words).await?;
        let question =
            WordsQuestion::new(&terms, &of_all, &filter).filter(|_| options.mode != Mode::Semantic);
        let found = match &question {
            Some(question) => by_words(client, &filter, question, n_words).await?,
            None => Vec::new(),
        };
        Ok((of_all, found))
    };
    let ((of_all, by_words), by_meaning) = match &nearest {
        Some(nearest) => database
            .run_both(words, async |client| by_meaning(client, &filter, nearest).await)
            .map_err(failed)?,
        None => (database.run(words).map_err(failed)?, Vec::new()),
    };
    let ids: BTreeSet<i64> = by_words.into_iter().chain(by_meaning).collect();
    let ids: Vec<i64> = ids.into_iter().collect();
    let found = fetch(database, &filter, &ids).map_err(failed)?;
    Ok(Candidates { corpus: of_all, ..found })
}

/// The sets of projects that hold one of these.
fn audiences(database: &Database, projects: &[String]) -> Result<Vec<i32>, DatabaseError> {
    database.run(async |client| {
        let sql = "SELECT id FROM audience WHERE projects && $1";
        let rows = client.query(sql, &[&projects]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    })
}

/// Without words the newest come first.
fn newest(database: &Database, filter: &Filter, limit: usize) -> Result<Vec<i64>, DatabaseError> {
    let Filter { terms, audiences, after_ms, before_ms, .. } = filter;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    database.run(async |client| {
        let sql = "
SELECT record FROM words WHERE ($1::text IS NULL OR terms @@ $1::text::tsquery) AND ($2::integer[] IS NULL OR audience = ANY ($2))
  AND time_ms >= $3 AND time_ms < $4 ORDER BY time_ms DESC, record LIMIT $5";
        let rows = client.query(sql, &[terms, audiences, after_ms, before_ms, &limit]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    })
}

async fn by_words(
    client: &mut Client,
    filter: &Filter,
    question: &WordsQuestion,
    limit: usize,
) -> Result<Vec<i64>, DatabaseError> {
    let Filter { audiences, after_ms, before_ms, .. } = filter;
    let WordsQuestion { needed, places, terms, worths } = question;
    let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let n_projects = audiences.as_ref().map_or(1, Vec::len).max(1);
    let (matched, n_newest) = match places {
        Places::Index => (IN_INDEX, 0),
        Places::BothIndexes => (IN_BOTH_INDEXES, 0),
        Places::Newest => (AMONG_NEWEST, N_NEWEST),
        // The largest may have more than their turn, as far as others have less.
        Places::NewestOfEach => {
            (AMONG_NEWEST_OF_EACH, (4 * N_NEWEST).div_ceil(n_projects).min(N_NEWEST))
        }
    };
    let worth = |nth: usize| {
        format!(
            "($7::real[])[{nth}] * ts_rank('{{0.3, 0.5, 0.75, 1}}', terms, ($6::text[])[{nth}]::tsquery)"
        )
    };
    let worth: Vec<String> = (1..=terms.len()).map(worth).collect();
    // Each way takes the same parameters: the last two are used by some of them alone.
    let sql = format!(
        "SELECT record FROM ({matched} LIMIT $5) AS matched WHERE $9::bigint >= 0 AND $10::bigint > 0
         ORDER BY {} DESC, record LIMIT $8",
        worth.join(" + ")
    );
    let transaction = client.transaction().await?;
    let way = match places {
        Places::Index | Places::BothIndexes => ALONE.to_owned(),
        Places::Newest | Places::NewestOfEach => {
            format!("{ALONE}; SET LOCAL enable_bitmapscan = off")
        }
    };
    transaction.batch_execute(&way).await?;
    let (most, limit) = (number(MAX_MATCHES), number(limit));
    let (n_newest, n_of_all) = (number(n_newest), number(N_NEWEST));
    let rows = transaction
        .query(
            &sql,
            &[
                needed, audiences, after_ms, before_ms, &most, terms, worths, &limit, &n_newest,
                &n_of_all,
            ],
        )
        .await?;
    transaction.commit().await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Words and meaning are looked for at once: starting helpers for one of them takes longer than they save.
const ALONE: &str = "SET LOCAL max_parallel_workers_per_gather = 0";

/// Records that hold what is needed, by the index of words. The sum keeps PostgreSQL from looking into the index of projects, too.
const IN_INDEX: &str = "
SELECT record, terms FROM words WHERE terms @@ $1::text::tsquery AND ($2::integer[] IS NULL OR audience + 0 = ANY ($2))
  AND time_ms >= $3 AND time_ms < $4";

/// The same by both indexes.
const IN_BOTH_INDEXES: &str = "
SELECT record, terms FROM words WHERE terms @@ $1::text::tsquery AND audience = ANY ($2)
  AND time_ms >= $3 AND time_ms < $4";

/// The same among the newest records that the caller may read.
const AMONG_NEWEST: &str = "
SELECT record, terms FROM (
  SELECT record, terms FROM words WHERE ($2::integer[] IS NULL OR audience = ANY ($2)) AND time_ms >= $3 AND time_ms < $4
  ORDER BY time_ms DESC, record LIMIT $9) AS newest
WHERE terms @@ $1::text::tsquery";

/// The same among the newest of each project: an index names them, and of those the newest are read.
const AMONG_NEWEST_OF_EACH: &str = "
SELECT record, terms FROM (
  SELECT newest.record FROM unnest($2::integer[]) AS project (id), LATERAL (
    SELECT record, time_ms FROM words WHERE audience = project.id AND time_ms >= $3 AND time_ms < $4
    ORDER BY time_ms DESC, record LIMIT $9) AS newest
  ORDER BY newest.time_ms DESC, newest.record LIMIT $10) AS named JOIN words USING (record)
WHERE terms @@ $1::text::tsquery";

/// A question by meaning.
struct Nearest {
    vector: String,
    dims: usize,
    /// So few records pass that each is looked at.
    is_scanned: bool,
    limit: usize,
}

async fn by_meaning(
    client: &mut Client,
    filter: &Filter,
    nearest: &Nearest,
) -> Result<Vec<i64>, DatabaseError> {
    let vector = &nearest.vector;
    let limit = i64::try_from(nearest.limit).unwrap_or(i64::MAX);
    let Filter { terms, audiences, after_ms, before_ms, .. } = filter;
    let has_times = *after_ms != i64::MIN || *before_ms != i64::MAX;
    // Who may read it is known beside the vectors; for anything else the words are looked at.
    let by_record =
        "EXISTS (SELECT 1 FROM words WHERE record = e.record AND time_ms >= $4 AND time_ms < $5
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
        "SELECT e.record FROM embedding e WHERE ($2::integer[] IS NULL OR e.audience = ANY ($2)) AND {of_record}
         ORDER BY {distance} LIMIT $3"
    );
    let transaction = client.transaction().await?;
    transaction
        .batch_execute(match (nearest.is_scanned, terms) {
            (true, None) => SCAN,
            // Properties are found by the index of words, which has scans of this kind alone.
            (true, Some(_)) => ALONE,
            (false, _) => LOOK_ON,
        })
        .await?;
    let rows =
        transaction.query(&sql, &[vector, audiences, &limit, after_ms, before_ms, terms]).await?;
    transaction.commit().await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// The index goes on looking where the filter leaves too little of what is nearest. Without the scans off PostgreSQL, which does not
/// know how many records a list of projects leaves, may sort half of all vectors instead.
const LOOK_ON: &str =
    "SET LOCAL hnsw.iterative_scan = 'relaxed_order'; SET LOCAL hnsw.ef_search = 60;
SET LOCAL hnsw.max_scan_tuples = 20000; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;
SET LOCAL max_parallel_workers_per_gather = 0";

/// Vectors of one project stand together in the index by audience.
const SCAN: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;
SET LOCAL max_parallel_workers_per_gather = 0";

/// Reads candidates and what stands around them in their unit: a neighbour is ranked too, by what stands beside it.
fn fetch(database: &Database, filter: &Filter, ids: &[i64]) -> Result<Candidates, DatabaseError> {
    let audiences = &filter.audiences;
    let rows = database.run(async |client| {
        let mut rows = client.query(&chosen(CHOSEN), &[&ids, audiences]).await?;
        let among_others: Vec<i64> = rows
            .iter()
            .filter(|row| row.get::<_, i32>("n_together") > 1)
            .map(|row| row.get("id"))
            .collect();
        if !among_others.is_empty() {
            let around = chosen(AROUND);
            rows.extend(client.query(&around, &[&among_others, audiences]).await?);
        }
        Ok(rows)
    })?;
    // Two candidates may have one neighbour, or be neighbours.
    let rows: BTreeMap<(&str, i32), &Row> =
        rows.iter().map(|row| ((row.get("unit"), row.get("place")), row)).collect();
    let mut found = Candidates::default();
    let mut last: Option<(&str, i32)> = None;
    for ((unit, place), row) in rows {
        // Records with a gap between them are no neighbours.
        if last != Some((unit, place - 1)) {
            let (key, fingerprint) = (unit.to_owned(), Fingerprint::default());
            found.units.push(Unit { key, fingerprint, records: Vec::new() });
            found.vectors.push(Vec::new());
        }
        if let (Some(unit), Some(vectors)) = (found.units.last_mut(), found.vectors.last_mut()) {
            unit.records.push(record(row));
            vectors.push(row.get::<_, Option<Vec<f32>>>("vector").unwrap_or_default());
        }
        last = Some((unit, place));
    }
    Ok(found)
}

/// Candidates themselves.
const CHOSEN: &str = "record r LEFT JOIN embedding e ON e.record = r.id WHERE r.id = ANY ($1)";

/// What stands around them.
const AROUND: &str = "
record c JOIN record r ON r.unit = c.unit AND r.place BETWEEN c.place - 2 AND c.place + 2
LEFT JOIN embedding e ON e.record = r.id WHERE c.id = ANY ($1)";

/// Everything of these records that the caller may read.
fn chosen(from: &str) -> String {
    format!(
        "SELECT r.*, e.vector::real[] AS vector FROM {from} AND ($2::integer[] IS NULL OR r.audience = ANY ($2))"
    )
}

fn record(row: &Row) -> Record {
    let code = |column: &str| u8::try_from(row.get::<_, i16>(column)).unwrap_or(0);
    let (facets, links): (&str, &str) = (row.get("facets"), row.get("links"));
    let facet = |line: &str| {
        let (name, value) = line.split_once('\t')?;
        Some((facet_name(name)?, value.to_owned()))
    };
    let link = |line: &str| {
        let (kind, to) = line.split_once('\t')?;
        Some(Link { kind: LinkKind::from_code(kind.parse().ok()?), to: to.to_owned() })
    };
    Record {
        key: row.get("key"),
        time_ms: row.get("time_ms"),
        voice: Voice::from_code(code("voice")),
        speaker: row.get("speaker"),
        standing: Standing::from_code(code("standing")),
        confidence: row.get("confidence"),
        title: row.get("title"),
        tags: row.get("tags"),
        body: row.get("body"),
        quotes: row.get("quotes"),
        facets: facets.lines().filter_map(facet).collect(),
        links: links.lines().filter_map(link).collect(),
    }
}
