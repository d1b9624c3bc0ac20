//! Finds a query's candidates by words and vectors, and their neighbors in the same unit.

use std::collections::{BTreeMap, BTreeSet};

use nacre_memory::search::{
    Builtin, Candidates, Fingerprint, LibraryOptions, Link, LinkKind, Mode, Query, Readable,
    Record, Standing, Unit, Voice, facet_name, terms_of_question,
};
use tokio_postgres::{Client, Row};

use super::SharedRecords;
use super::apply::projects_of;
use super::queries::{Filter, MAX_MATCHES, N_NEWEST, Places, WordsQuestion};
use super::terms::vector;
use crate::postgres::database::{Database, Result};

/// Minimum number of candidates to rank, separately for those found by words and those found by
/// vectors.
const N_WORDS: usize = 80;
const N_MEANING: usize = 50;

/// With up to this many records, all vectors are compared, which gives exact results. Beyond it,
/// the vector index is used.
const MAX_SCANNED: f32 = 100_000.0;

pub(super) fn find(
    records: &SharedRecords,
    query: &Query,
    readable: &Readable,
    options: LibraryOptions,
) -> Result<Candidates> {
    let SharedRecords { database, corpus } = records;
    let stock = corpus.stock(database)?;
    let projects = projects_of(readable);
    let readable = match &projects {
        Some(projects) => Some(audiences(database, projects)?),
        None => None,
    };
    let filter = Filter::new(query, projects.as_deref(), readable, &stock);
    if filter.is_empty() {
        return Ok(Candidates::default());
    }
    if query.is_filter_only() {
        let ids = newest(database, &filter, options.limit)?;
        return fetch(database, &filter, &ids);
    }
    let terms = terms_of_question(query);
    let variants = terms.iter().flat_map(|term| term.variants.iter().map(String::as_str));
    let words: Vec<&str> = terms.iter().map(|term| term.term.as_str()).chain(variants).collect();
    let nearest = match options.mode {
        Mode::Lexical => None,
        Mode::Semantic | Mode::Hybrid => vector(&Builtin::shipped().embed(&query.text)),
    };
    let is_scanned = stock.n_records as f32 * filter.share() <= MAX_SCANNED;
    let n_nearest = N_MEANING.max(options.limit);
    // The index is on an expression that includes the number of dimensions. PostgreSQL uses the
    // index only if the query contains the same expression.
    let distance = match is_scanned {
        true => "e.vector <=> $1::text::halfvec".to_owned(),
        false => {
            format!("e.vector::halfvec({0}) <=> $1::text::halfvec({0})", Builtin::shipped().dims())
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
        Some(vector) => {
            let meaning = async |client: &mut Client| {
                by_meaning(client, &filter, vector, &distance, is_scanned, n_nearest).await
            };
            database.run_both(words, meaning)?
        }
        None => (database.run(words)?, Vec::new()),
    };
    let ids: BTreeSet<i64> = by_words.into_iter().chain(by_meaning).collect();
    let ids: Vec<i64> = ids.into_iter().collect();
    let found = fetch(database, &filter, &ids)?;
    Ok(Candidates { corpus: of_all, ..found })
}

/// Returns the audiences (sets of projects) that include at least one of the given projects.
fn audiences(database: &Database, projects: &[String]) -> Result<Vec<i32>> {
    let rows = database.query("SELECT id FROM audience WHERE projects && $1", &[&projects])?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

fn newest(database: &Database, filter: &Filter, limit: usize) -> Result<Vec<i64>> {
    let Filter { terms, audiences, after_ms, before_ms, .. } = filter;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let sql = "
SELECT record FROM words WHERE ($1::text IS NULL OR terms @@ $1::text::tsquery) AND ($2::integer[] IS NULL OR audience = ANY ($2))
  AND time_ms >= $3 AND time_ms < $4 ORDER BY time_ms DESC, record LIMIT $5";
    let rows = database.query(sql, &[terms, audiences, after_ms, before_ms, &limit])?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

async fn by_words(
    client: &mut Client,
    filter: &Filter,
    question: &WordsQuestion,
    limit: usize,
) -> Result<Vec<i64>> {
    let Filter { audiences, after_ms, before_ms, .. } = filter;
    let WordsQuestion { needed, places, terms, worths } = question;
    let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let n_projects = audiences.as_ref().map_or(1, Vec::len).max(1);
    let (matched, n_newest) = match places {
        Places::Index => (IN_INDEX, 0),
        Places::BothIndexes => (IN_BOTH_INDEXES, 0),
        Places::Newest => (AMONG_NEWEST, N_NEWEST),
        // The projects' limits add up to four times `N_NEWEST`, because small projects do not use
        // up their share.
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
    // All variants take the same parameters, but only some use the last two.
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

/// Disables parallel workers, because starting them takes longer than it saves. Word and vector
/// searches already run at the same time.
const ALONE: &str = "SET LOCAL max_parallel_workers_per_gather = 0";

/// Finds records with the required terms through the word index. `audience + 0` prevents PostgreSQL
/// from also using the audience index.
const IN_INDEX: &str = "
SELECT record, terms FROM words WHERE terms @@ $1::text::tsquery AND ($2::integer[] IS NULL OR audience + 0 = ANY ($2))
  AND time_ms >= $3 AND time_ms < $4";

/// Like `IN_INDEX`, but lets PostgreSQL use both indexes.
const IN_BOTH_INDEXES: &str = "
SELECT record, terms FROM words WHERE terms @@ $1::text::tsquery AND audience = ANY ($2)
  AND time_ms >= $3 AND time_ms < $4";

/// Searches only the newest records that the caller may read.
const AMONG_NEWEST: &str = "
SELECT record, terms FROM (
  SELECT record, terms FROM words WHERE ($2::integer[] IS NULL OR audience = ANY ($2)) AND time_ms >= $3 AND time_ms < $4
  ORDER BY time_ms DESC, record LIMIT $9) AS newest
WHERE terms @@ $1::text::tsquery";

/// Uses an index to find each project's newest records, and searches only those.
const AMONG_NEWEST_OF_EACH: &str = "
SELECT record, terms FROM (
  SELECT newest.record FROM unnest($2::integer[]) AS project (id), LATERAL (
    SELECT record, time_ms FROM words WHERE audience = project.id AND time_ms >= $3 AND time_ms < $4
    ORDER BY time_ms DESC, record LIMIT $9) AS newest
  ORDER BY newest.time_ms DESC, newest.record LIMIT $10) AS named JOIN words USING (record)
WHERE terms @@ $1::text::tsquery";

async fn by_meaning(
    client: &mut Client,
    filter: &Filter,
    vector: &str,
    distance: &str,
    is_scanned: bool,
    limit: usize,
) -> Result<Vec<i64>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let Filter { terms, audiences, after_ms, before_ms, .. } = filter;
    let has_times = *after_ms != i64::MIN || *before_ms != i64::MAX;
    // The audience is stored next to the vectors. All other filters need the word table.
    let by_record =
        "EXISTS (SELECT 1 FROM words WHERE record = e.record AND time_ms >= $4 AND time_ms < $5
  AND ($6::text IS NULL OR terms @@ $6::text::tsquery))";
    let of_record = if has_times || terms.is_some() {
        by_record
    } else {
        "$4::bigint <= $5::bigint AND $6::text IS NULL"
    };
    let sql = format!(
        "SELECT e.record FROM embedding e WHERE ($2::integer[] IS NULL OR e.audience = ANY ($2)) AND {of_record}
         ORDER BY {distance} LIMIT $3"
    );
    let transaction = client.transaction().await?;
    transaction
        .batch_execute(match (is_scanned, terms) {
            (true, None) => SCAN,
            // The word index supports only bitmap scans, so they must stay enabled.
            (true, Some(_)) => ALONE,
            (false, _) => LOOK_ON,
        })
        .await?;
    let rows =
        transaction.query(&sql, &[&vector, audiences, &limit, after_ms, before_ms, terms]).await?;
    transaction.commit().await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Continues the index scan if too few of the nearest vectors pass the filter. Other scans are
/// disabled, because PostgreSQL cannot estimate how many records belong to a list of projects, and
/// might choose to sort half of all vectors.
const LOOK_ON: &str =
    "SET LOCAL hnsw.iterative_scan = 'relaxed_order'; SET LOCAL hnsw.ef_search = 60;
SET LOCAL hnsw.max_scan_tuples = 20000; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;
SET LOCAL max_parallel_workers_per_gather = 0";

/// In the audience index, each project's vectors are adjacent.
const SCAN: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;
SET LOCAL max_parallel_workers_per_gather = 0";

/// Fetches the candidates and their neighbors, which are also ranked.
fn fetch(database: &Database, filter: &Filter, ids: &[i64]) -> Result<Candidates> {
    let audiences = &filter.audiences;
    let rows = database.run(async |client| {
        let mut rows = client.query(&select_records(CHOSEN), &[&ids, audiences]).await?;
        let among_others: Vec<i64> = rows
            .iter()
            .filter(|row| row.get::<_, i32>("n_together") > 1)
            .map(|row| row.get("id"))
            .collect();
        if !among_others.is_empty() {
            let around = select_records(AROUND);
            rows.extend(client.query(&around, &[&among_others, audiences]).await?);
        }
        Ok(rows)
    })?;
    // A candidate can be another candidate's neighbor, or share a neighbor with it.
    let rows: BTreeMap<(&str, i32), &Row> =
        rows.iter().map(|row| ((row.get("unit"), row.get("place")), row)).collect();
    let mut found = Candidates::default();
    let mut last: Option<(&str, i32)> = None;
    for ((unit, place), row) in rows {
        // Only records in consecutive positions are neighbors.
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

const CHOSEN: &str = "record r LEFT JOIN embedding e ON e.record = r.id WHERE r.id = ANY ($1)";

const AROUND: &str = "
record c JOIN record r ON r.unit = c.unit AND r.place BETWEEN c.place - 2 AND c.place + 2
LEFT JOIN embedding e ON e.record = r.id WHERE c.id = ANY ($1)";

fn select_records(from: &str) -> String {
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
