//! The rows of the audit list.

use jiff::Timestamp;
use nacre_core::people::{AuditEntry, AuditFilter};

use crate::database::{Database, DatabaseError, moment, plain};

/// Adds all of them or none.
pub(super) fn record(database: &Database, entries: &[AuditEntry]) -> Result<(), DatabaseError> {
    let at: Vec<i64> = entries.iter().map(|entry| entry.at.as_millisecond()).collect();
    let who: Vec<String> = entries.iter().map(|entry| plain(&entry.who)).collect();
    let what: Vec<String> = entries.iter().map(|entry| plain(&entry.what)).collect();
    let outcome: Vec<String> = entries.iter().map(|entry| plain(&entry.outcome)).collect();
    let project: Vec<Option<String>> =
        entries.iter().map(|entry| entry.project.as_deref().map(plain)).collect();
    database.run(async |client| {
        let sql = "
INSERT INTO audit (at, who, what, project, outcome)
SELECT at, who, what, project, outcome
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[])
  WITH ORDINALITY AS entry (at, who, what, project, outcome, place) ORDER BY place";
        client.execute(sql, &[&at, &who, &what, &project, &outcome]).await?;
        Ok(())
    })
}

pub(super) fn list(
    database: &Database,
    filter: &AuditFilter,
) -> Result<Vec<AuditEntry>, DatabaseError> {
    let AuditFilter { who, project, since, limit } = filter;
    let (who, project) = (who.as_deref().map(plain), project.as_deref().map(plain));
    let since = since.map(Timestamp::as_millisecond);
    let limit = i64::try_from(*limit).unwrap_or(i64::MAX);
    let rows = database.run(async |client| {
        let sql = "
SELECT at, who, what, project, outcome FROM audit
WHERE ($1::text IS NULL OR who = $1) AND ($2::text IS NULL OR project = $2)
  AND ($3::bigint IS NULL OR $3 <= at)
ORDER BY at DESC, place DESC LIMIT $4";
        Ok(client.query(sql, &[&who, &project, &since, &limit]).await?)
    })?;
    let entries = rows.iter().map(|row| AuditEntry {
        at: moment(row.get(0)),
        who: row.get(1),
        what: row.get(2),
        project: row.get(3),
        outcome: row.get(4),
    });
    Ok(entries.collect())
}

/// Removes what is older than `before`, and each person's oldest beyond `keep`.
pub(super) fn prune(
    database: &Database,
    before: Timestamp,
    keep: usize,
) -> Result<usize, DatabaseError> {
    let before = before.as_millisecond();
    let keep = i64::try_from(keep).unwrap_or(i64::MAX);
    let removed = database.run(async |client| {
        let transaction = client.transaction().await?;
        let old = transaction.execute("DELETE FROM audit WHERE at < $1", &[&before]).await?;
        let sql = "
DELETE FROM audit WHERE place IN (SELECT place FROM
  (SELECT place, row_number() OVER (PARTITION BY who ORDER BY at DESC, place DESC) AS newer FROM audit) AS ranked
  WHERE $1 < newer)";
        let beyond = transaction.execute(sql, &[&keep]).await?;
        transaction.commit().await?;
        Ok(old + beyond)
    })?;
    Ok(usize::try_from(removed).unwrap_or(usize::MAX))
}
