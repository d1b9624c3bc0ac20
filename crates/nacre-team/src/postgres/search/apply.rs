//! Applies changes to the search index, one transaction per change.

use std::collections::HashMap;

use nacre_memory::search::{
    Builtin, Fingerprint, LinkKind, News, Readable, Record, Unit, terms_of_record,
};
use serde_json::{Value, json};
use tokio_postgres::{Row, Transaction};

use super::terms::{tsvector, vector};
use crate::postgres::database::{Database, Result, plain};

const LOCK: i64 = 0x6e61_6372_6504;

/// Maximum number of rows per statement.
const MAX_BATCH: usize = 500;

pub(super) fn read_fingerprints(database: &Database) -> Result<HashMap<String, Fingerprint>> {
    let rows = database.query("SELECT key, stamp, side, content FROM unit", &[])?;
    let number = |row: &Row, column: usize| row.get::<_, i64>(column).cast_unsigned();
    let unit = |row: &Row| {
        let fingerprint =
            Fingerprint { stamp: number(row, 1), side: number(row, 2), content: number(row, 3) };
        (row.get(0), fingerprint)
    };
    Ok(rows.iter().map(unit).collect())
}

pub(super) fn n_records(database: &Database, readable: &Readable) -> Result<u64> {
    let sql = "
SELECT count(*) FROM record
WHERE $1::text[] IS NULL OR audience IN (SELECT id FROM audience WHERE projects && $1)";
    let row = database.query_one(sql, &[&projects_of(readable)])?;
    Ok(row.get::<_, i64>(0).unsigned_abs())
}

/// Returns the projects that may be read, or `None` for all of them.
pub(super) fn projects_of(readable: &Readable) -> Option<Vec<String>> {
    match readable {
        Readable::Everything => None,
        Readable::Projects(projects) => Some(projects.iter().map(|name| plain(name)).collect()),
    }
}

/// Returns rows for `json_to_recordset`.
///
/// Call this before starting the transaction, because embedding is slow.
pub(super) fn rows_of(units: &[Unit]) -> Vec<Value> {
    let mut rows = Vec::new();
    // If a key occurs more than once, the last unit wins.
    let last: HashMap<&str, usize> =
        units.iter().enumerate().map(|(nth, unit)| (unit.key.as_str(), nth)).collect();
    for (_, unit) in units.iter().enumerate().filter(|(nth, unit)| last[unit.key.as_str()] == *nth)
    {
        rows.extend(unit.records.iter().enumerate().map(|(place, record)| {
            let mut row = row(record, &Builtin::shipped().embed(&record.text_to_embed()));
            row["unit"] = plain(&unit.key).into();
            row["place"] = place.into();
            row["n_together"] = unit.records.len().into();
            row
        }));
    }
    rows
}

fn row(record: &Record, numbers: &[f32]) -> Value {
    let terms = terms_of_record(record);
    let link = |kind: LinkKind, to: &str| format!("{}\t{to}", kind.code());
    let facets = record.facets.iter().map(|(name, value)| format!("{name}\t{value}"));
    json!({
        "key": plain(&record.key),
        "projects": lines(projects(record)),
        "time_ms": record.time_ms,
        "voice": record.voice.code(),
        "speaker": plain(&record.speaker),
        "standing": record.standing.code(),
        "confidence": record.confidence,
        "title": plain(&record.title),
        "tags": plain(&record.tags),
        "body": plain(&record.body),
        "quotes": plain(&record.quotes),
        "facets": lines(facets),
        "links": lines(record.links.iter().map(|to| link(to.kind, &to.to))),
        "terms": tsvector(&terms),
        "length": terms.length,
        "vector": vector(numbers),
    })
}

/// Returns the project names in lower case for comparison.
fn projects(record: &Record) -> impl Iterator<Item = String> {
    let named = record.facets.iter().filter(|(name, _)| *name == "project");
    named.map(|(_, value)| value.to_lowercase())
}

/// Joins the values with line breaks, omitting values that contain one.
fn lines(values: impl Iterator<Item = String>) -> String {
    let plain: Vec<String> =
        values.filter(|value| !value.contains('\n')).map(|value| plain(&value)).collect();
    plain.join("\n")
}

pub(super) fn apply(database: &Database, news: &News, rows: &[Value]) -> Result<()> {
    let replaced = news.units.iter().map(|unit| &unit.key);
    let mut buried: Vec<String> = replaced.chain(&news.gone).map(|key| plain(key)).collect();
    buried.sort_unstable();
    buried.dedup();
    database.run_within(APPLY_TIMEOUT, async |client| {
        let transaction = client.transaction().await?;
        // Several servers may insert the same units and projects, so changes are serialized.
        let limit = format!("SET LOCAL statement_timeout = '{}s'", APPLY_TIMEOUT.as_secs());
        transaction.batch_execute(&limit).await?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        transaction.execute("DELETE FROM unit WHERE key = ANY ($1)", &[&buried]).await?;
        insert_units(&transaction, &news.units).await?;
        // Several records can have the same set of projects.
        let mut sets: Vec<&str> = rows.iter().filter_map(|row| row["projects"].as_str()).collect();
        sets.sort_unstable();
        sets.dedup();
        transaction.execute(INSERT_AUDIENCES, &[&sets]).await?;
        for batch in rows.chunks(MAX_BATCH) {
            let batch = Value::from(batch).to_string();
            transaction.execute(INSERT_RECORDS, &[&batch]).await?;
        }
        if !news.gone.is_empty() {
            // Remove sets of projects that no record uses any more.
            let unused = "DELETE FROM audience a WHERE NOT EXISTS (SELECT 1 FROM record WHERE audience = a.id)";
            transaction.execute(unused, &[]).await?;
        }
        transaction.commit().await?;
        Ok(())
    })
}

/// Longer than the default timeout, because changes can be large.
const APPLY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(600);

async fn insert_units(transaction: &Transaction<'_>, units: &[Unit]) -> Result<()> {
    // If a key occurs more than once, the last unit wins, as in `rows_of`.
    let by_key: HashMap<String, Fingerprint> =
        units.iter().map(|unit| (plain(&unit.key), unit.fingerprint)).collect();
    let rows = by_key.iter().map(|(key, Fingerprint { stamp, side, content })| {
        let [stamp, side, content] = [stamp, side, content].map(|number| number.cast_signed());
        json!({ "key": key, "stamp": stamp, "side": side, "content": content })
    });
    let sql = "
INSERT INTO unit (key, stamp, side, content)
SELECT * FROM json_to_recordset($1::text::json) AS new (key text, stamp bigint, side bigint, content bigint)";
    transaction.execute(sql, &[&Value::from_iter(rows).to_string()]).await?;
    Ok(())
}

const INSERT_AUDIENCES: &str = "
INSERT INTO audience (projects, hash) SELECT string_to_array(names, E'\\n'), encode(sha256(convert_to(names, 'UTF8')), 'hex') FROM unnest($1::text[]) WITH ORDINALITY AS new (names, nth)
WHERE NOT EXISTS (SELECT 1 FROM audience WHERE hash = encode(sha256(convert_to(names, 'UTF8')), 'hex'))
ORDER BY nth";

const INSERT_RECORDS: &str = "
WITH new AS (
  SELECT * FROM json_to_recordset($1::text::json) AS new (unit text, place integer, n_together integer, key text, projects text,
    time_ms bigint, voice smallint, speaker text, standing smallint, confidence real, title text, tags text, body text,
    quotes text, facets text, links text, terms text, length real, vector text)),
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
