//! Stores people and the audit log in a shared database. A token that is revoked on one server is
//! invalid on all of them.

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::people::{
    AuditEntry, AuditFilter, PeopleError, PeopleStore, Permissions, TokenHash, TokenRecord,
};
use crate::postgres::database::{Database, Result, moment, plain};

const COLUMNS: &str = "id, hash, person, permissions, created, expires, revoked";

#[derive(Clone, Debug)]
pub struct SharedPeople {
    database: Database,
}

impl SharedPeople {
    /// Opens the store. The schema must be up to date.
    pub fn open(database: &Database) -> Result<Self> {
        database.check_schema()?;
        Ok(Self { database: database.clone() })
    }
}

impl PeopleStore for SharedPeople {
    fn insert_token(&mut self, token: &TokenRecord) -> Result<(), PeopleError> {
        let TokenRecord { id, person, hash, permissions, created, expires, .. } = token;
        let name = plain(person);
        let permissions = plain(&permissions.encode());
        let (created, expires) = (created.as_millisecond(), expires.map(Timestamp::as_millisecond));
        let sql = "
INSERT INTO token (id, hash, person, permissions, created, expires) VALUES ($1, $2, $3, $4, $5, $6)";
        let hash = hash.as_str();
        let values: [&(dyn ToSql + Sync); 6] = [id, &hash, &name, &permissions, &created, &expires];
        self.database.execute(sql, &values)?;
        Ok(())
    }

    fn tokens(&self) -> Result<Vec<TokenRecord>, PeopleError> {
        let sql = format!("SELECT {COLUMNS} FROM token ORDER BY person, place");
        self.database.query(&sql, &[])?.iter().map(record).collect()
    }

    fn set_revoked(&mut self, id: &str, now: Timestamp) -> Result<(), PeopleError> {
        let sql = "UPDATE token SET revoked = $2 WHERE id = $1 AND revoked IS NULL";
        self.database.execute(sql, &[&id, &now.as_millisecond()])?;
        Ok(())
    }

    fn token(&self, id: &str) -> Result<Option<TokenRecord>, PeopleError> {
        let sql = format!("SELECT {COLUMNS} FROM token WHERE id = $1");
        self.database.query_opt(&sql, &[&plain(id)])?.as_ref().map(record).transpose()
    }

    fn token_of(&self, person: &str, now: Timestamp) -> Result<Option<TokenRecord>, PeopleError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM token
             WHERE person = $1 AND revoked IS NULL AND (expires IS NULL OR $2 < expires)
             ORDER BY place DESC LIMIT 1"
        );
        let row = self.database.query_opt(&sql, &[&plain(person), &now.as_millisecond()])?;
        row.as_ref().map(record).transpose()
    }

    fn record(&mut self, entries: &[AuditEntry]) -> Result<(), PeopleError> {
        let rows = entries.iter().map(|AuditEntry { at, who, what, project, outcome }| {
            json!({
                "at": at.as_millisecond(),
                "who": plain(who),
                "what": plain(what),
                "project": project.as_deref().map(plain),
                "outcome": plain(outcome),
            })
        });
        let sql = "
INSERT INTO audit (at, who, what, project, outcome) SELECT at, who, what, project, outcome
FROM ROWS FROM (json_to_recordset($1::text::json) AS (at bigint, who text, what text, project text, outcome text))
  WITH ORDINALITY AS entry (at, who, what, project, outcome, place) ORDER BY place";
        self.database.execute(sql, &[&Value::from_iter(rows).to_string()])?;
        Ok(())
    }

    fn audit(&self, filter: &AuditFilter) -> Result<Vec<AuditEntry>, PeopleError> {
        let AuditFilter { who, project, since, limit } = filter;
        let (who, project) = (who.as_deref().map(plain), project.as_deref().map(plain));
        let since = since.map(Timestamp::as_millisecond);
        let limit = i64::try_from(*limit).unwrap_or(i64::MAX);
        let sql = "
SELECT at, who, what, project, outcome FROM audit
WHERE ($1::text IS NULL OR who = $1) AND ($2::text IS NULL OR project = $2)
  AND ($3::bigint IS NULL OR $3 <= at)
ORDER BY at DESC, place DESC LIMIT $4";
        let rows = self.database.query(sql, &[&who, &project, &since, &limit])?;
        let entries = rows.iter().map(|row| AuditEntry {
            at: moment(row.get(0)),
            who: row.get(1),
            what: row.get(2),
            project: row.get(3),
            outcome: row.get(4),
        });
        Ok(entries.collect())
    }

    fn prune_audit(&mut self, before: Timestamp, keep: usize) -> Result<usize, PeopleError> {
        let before = before.as_millisecond();
        let keep = i64::try_from(keep).unwrap_or(i64::MAX);
        let n_removed = self.database.run(async |client| {
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
        Ok(usize::try_from(n_removed).unwrap_or(usize::MAX))
    }
}

fn record(row: &Row) -> Result<TokenRecord, PeopleError> {
    let permissions: String = row.get(3);
    Ok(TokenRecord {
        id: row.get(0),
        hash: TokenHash::from_stored(row.get(1)),
        person: row.get(2),
        permissions: Permissions::decode(&permissions).ok_or(PeopleError::Damaged)?,
        created: moment(row.get(4)),
        expires: row.get::<_, Option<i64>>(5).map(moment),
        revoked: row.get::<_, Option<i64>>(6).map(moment),
    })
}
