//! Changes of units, each in one transaction.

use std::collections::HashMap;

use nacre_core::search::{
    EmbedError, Embedder, Fingerprint, LinkKind, News, Readable, Record, Unit, embedded_text,
    terms_of_record,
};
use tokio_postgres::Transaction;

use super::vectors::{tsvector, vector};
use crate::database::{Database, DatabaseError, plain};

/// Held while records change.
const LOCK: i64 = 0x6e61_6372_6504;

/// Rows of one statement.
const MAX_BATCH: usize = 500;

/// The units that are there.
pub(super) fn known(database: &Database) -> Result<HashMap<String, Fingerprint>, DatabaseError> {
    let rows = database.run(async |client| {
        Ok(client.query("SELECT key, stamp, side, content FROM unit", &[]).await?)
    })?;
    let number =
        |row: &tokio_postgres::Row, column: usize| row.get::<_, i64>(column).cast_unsigned();
    let unit = |row: &tokio_postgres::Row| {
        let fingerprint =
            Fingerprint { stamp: number(row, 1), side: number(row, 2), content: number(row, 3) };
        (row.get(0), fingerprint)
    };
    Ok(rows.iter().map(unit).collect())
}

/// How many records a caller can find.
pub(super) fn n_records(database: &Database, readable: &Readable) -> Result<u64, DatabaseError> {
    let projects = projects_of(readable);
    let row = database.run(async |client| {
        let sql = "
SELECT count(*) FROM record
WHERE $1::text[] IS NULL OR audience IN (SELECT id FROM audience WHERE projects && $1)";
        Ok(client.query_one(sql, &[&projects]).await?)
    })?;
    Ok(row.get::<_, i64>(0).unsigned_abs())
}

/// The projects that may be read; `None` for all of them.
pub(super) fn projects_of(readable: &Readable) -> Option<Vec<String>> {
    match readable {
        Readable::Everything => None,
        Readable::Projects(projects) => Some(projects.iter().map(|name| plain(name)).collect()),
    }
}

/// Records, column by column.
#[derive(Default)]
pub(super) struct Rows {
    units: Vec<String>,
    places: Vec<i32>,
    n_together: Vec<i32>,
    keys: Vec<String>,
    projects: Vec<String>,
    times: Vec<i64>,
    voices: Vec<i16>,
    speakers: Vec<String>,
    standings: Vec<i16>,
    confidences: Vec<f32>,
    titles: Vec<String>,
    tags: Vec<String>,
    bodies: Vec<String>,
    quotes: Vec<String>,
    facets: Vec<String>,
    links: Vec<String>,
    terms: Vec<String>,
    lengths: Vec<f32>,
    vectors: Vec<Option<String>>,
}

impl Rows {
    /// Takes units apart; this is done before the transaction begins, so that nobody waits for it.
    pub(super) fn new(units: &[Unit], embedder: &dyn Embedder) -> Result<Self, EmbedError> {
        let mut rows = Self::default();
        // Of two with one key the last counts, as the last change does.
        let last: HashMap<&str, usize> =
            units.iter().enumerate().map(|(nth, unit)| (unit.key.as_str(), nth)).collect();
        for (_, unit) in
            units.iter().enumerate().filter(|(nth, unit)| last[unit.key.as_str()] == *nth)
        {
            let texts: Vec<String> = unit.records.iter().map(embedded_text).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let vectors = embedder.embed(&texts)?;
            for ((place, record), numbers) in (0..).zip(&unit.records).zip(&vectors) {
                rows.push(&unit.key, place, record, numbers);
                rows.n_together.push(i32::try_from(unit.records.len()).unwrap_or(i32::MAX));
            }
        }
        Ok(rows)
    }

    fn push(&mut self, unit: &str, place: i32, record: &Record, numbers: &[f32]) {
        let terms = terms_of_record(record);
        self.units.push(plain(unit));
        self.places.push(place);
        self.keys.push(plain(&record.key));
        self.projects.push(lines(projects(record)));
        self.times.push(record.time_ms);
        self.voices.push(i16::from(record.voice.code()));
        self.speakers.push(plain(&record.speaker));
        self.standings.push(i16::from(record.standing.code()));
        self.confidences.push(record.confidence);
        self.titles.push(plain(&record.title));
        self.tags.push(plain(&record.tags));
        self.bodies.push(plain(&record.body));
        self.quotes.push(plain(&record.quotes));
        self.facets
            .push(lines(record.facets.iter().map(|(name, value)| format!("{name}\t{value}"))));
        let link = |kind: LinkKind, to: &str| format!("{}\t{to}", kind.code());
        self.links.push(lines(record.links.iter().map(|to| link(to.kind, &to.to))));
        self.terms.push(tsvector(&terms));
        self.lengths.push(terms.length);
        self.vectors.push(vector(numbers));
    }
}

/// The names of the project that a record belongs to, in the form in which they are compared.
fn projects(record: &Record) -> impl Iterator<Item = String> {
    let named = record.facets.iter().filter(|(name, _)| *name == "project");
    named.map(|(_, value)| value.to_lowercase())
}

/// Values a line each; one that is more than a line is left out.
fn lines(values: impl Iterator<Item = String>) -> String {
    let plain: Vec<String> =
        values.filter(|value| !value.contains('\n')).map(|value| plain(&value)).collect();
    plain.join("\n")
}

/// Removes and replaces units in one transaction.
pub(super) fn apply(database: &Database, news: &News, rows: &Rows) -> Result<(), DatabaseError> {
    let replaced = news.units.iter().map(|unit| &unit.key);
    let mut buried: Vec<String> = replaced.chain(&news.gone).map(|key| plain(key)).collect();
    buried.sort_unstable();
    buried.dedup();
    database.run_within(APPLY_TIMEOUT, async |client| {
        let transaction = client.transaction().await?;
        // Servers that change records take turns: they may enter the same units and projects.
        let limit = format!("SET LOCAL statement_timeout = '{}s'", APPLY_TIMEOUT.as_secs());
        transaction.batch_execute(&limit).await?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        transaction.execute("DELETE FROM unit WHERE key = ANY ($1)", &[&buried]).await?;
        insert_units(&transaction, &news.units).await?;
        insert_audiences(&transaction, &rows.projects).await?;
        for first in (0..rows.keys.len()).step_by(MAX_BATCH) {
            insert_records(&transaction, rows, first..(first + MAX_BATCH).min(rows.keys.len()))
                .await?;
        }
        if !news.gone.is_empty() {
            forget_audiences(&transaction).await?;
        }
        transaction.commit().await?;
        Ok(())
    })
}

/// A change of many units takes longer than a question.
const APPLY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(600);

async fn insert_units(transaction: &Transaction<'_>, units: &[Unit]) -> Result<(), DatabaseError> {
    // As in the rows, of two with one key the last counts.
    let by_key: HashMap<String, Fingerprint> =
        units.iter().map(|unit| (plain(&unit.key), unit.fingerprint)).collect();
    let keys: Vec<&String> = by_key.keys().collect();
    let numbers = |of: fn(&Fingerprint) -> u64| -> Vec<i64> {
        by_key.values().map(|fingerprint| of(fingerprint).cast_signed()).collect()
    };
    let (stamps, sides, contents) =
        (numbers(|of| of.stamp), numbers(|of| of.side), numbers(|of| of.content));
    let sql = "
INSERT INTO unit (key, stamp, side, content) SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])";
    transaction.execute(sql, &[&keys, &stamps, &sides, &contents]).await?;
    Ok(())
}

/// Enters each set of names once.
async fn insert_audiences(
    transaction: &Transaction<'_>,
    projects: &[String],
) -> Result<(), DatabaseError> {
    let mut sets: Vec<&String> = projects.iter().collect();
    sets.sort_unstable();
    sets.dedup();
    let sql = "
INSERT INTO audience (projects, hash) SELECT string_to_array(names, E'\\n'), encode(sha256(convert_to(names, 'UTF8')), 'hex') FROM unnest($1::text[]) WITH ORDINALITY AS new (names, nth)
WHERE NOT EXISTS (SELECT 1 FROM audience WHERE hash = encode(sha256(convert_to(names, 'UTF8')), 'hex'))
ORDER BY nth";
    transaction.execute(sql, &[&sets]).await?;
    Ok(())
}

/// Removes names that no record has any more.
async fn forget_audiences(transaction: &Transaction<'_>) -> Result<(), DatabaseError> {
    let sql = "
DELETE FROM audience a WHERE NOT EXISTS (SELECT 1 FROM record WHERE audience = a.id)";
    transaction.execute(sql, &[]).await?;
    Ok(())
}

async fn insert_records(
    transaction: &Transaction<'_>,
    rows: &Rows,
    range: std::ops::Range<usize>,
) -> Result<(), DatabaseError> {
    let sql = "
WITH new AS (
  SELECT * FROM unnest($1::text[], $2::integer[], $3::text[], $4::text[], $5::bigint[], $6::smallint[], $7::text[],
    $8::smallint[], $9::real[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[],
    $17::real[], $18::text[], $19::integer[])
  AS new (unit, place, key, projects, time_ms, voice, speaker, standing, confidence, title, tags, body, quotes, facets, links,
    terms, length, vector, n_together)),
added AS (
  INSERT INTO record (unit, place, n_together, key, audience, time_ms, voice, speaker, standing, confidence, title, tags, body, quotes,
    facets, links, length)
  SELECT unit, place, n_together, key, (SELECT a.id FROM audience a WHERE a.hash = encode(sha256(convert_to(new.projects, 'UTF8')), 'hex')),
    time_ms, voice, speaker, standing, confidence, title, tags, body, quotes, facets, links, length FROM new
  RETURNING id, unit, place, audience, time_ms),
worded AS (
  INSERT INTO words (record, audience, time_ms, terms)
  SELECT added.id, added.audience, added.time_ms, new.terms::tsvector FROM added JOIN new USING (unit, place))
INSERT INTO embedding (record, audience, vector)
SELECT added.id, added.audience, new.vector::halfvec FROM added JOIN new USING (unit, place) WHERE new.vector IS NOT NULL";
    let at = range;
    transaction
        .execute(
            sql,
            &[
                &&rows.units[at.clone()],
                &&rows.places[at.clone()],
                &&rows.keys[at.clone()],
                &&rows.projects[at.clone()],
                &&rows.times[at.clone()],
                &&rows.voices[at.clone()],
                &&rows.speakers[at.clone()],
                &&rows.standings[at.clone()],
                &&rows.confidences[at.clone()],
                &&rows.titles[at.clone()],
                &&rows.tags[at.clone()],
                &&rows.bodies[at.clone()],
                &&rows.quotes[at.clone()],
                &&rows.facets[at.clone()],
                &&rows.links[at.clone()],
                &&rows.terms[at.clone()],
                &&rows.lengths[at.clone()],
                &&rows.vectors[at.clone()],
                &&rows.n_together[at],
            ],
        )
        .await?;
    Ok(())
}
