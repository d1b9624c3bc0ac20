//! The tokens and the audit list of one machine.

use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{OptionalExtension as _, Row, params};

use super::audit::{AuditEntry, AuditFilter};
use super::db::LocalPeople;
use super::error::PeopleError;
use super::permissions::Permissions;
use super::store::PeopleStore;
use super::token::{NewToken, TokenHash, TokenRecord};

const COLUMNS: &str = "id, hash, person, permissions, created, expires, revoked";

impl PeopleStore for LocalPeople {
    fn add_token(&mut self, token: &NewToken) -> Result<TokenRecord, PeopleError> {
        let NewToken { person, hash, permissions, created, expires } = token;
        let kept = "SELECT count(*) FROM token WHERE person = ?1 AND revoked IS NULL";
        let n_kept: i64 =
            self.read(|connection| connection.query_row(kept, [person], |row| row.get(0)))?;
        token.check(usize::try_from(n_kept).unwrap_or(usize::MAX))?;
        let id = hash.id();
        self.write(|transaction| {
            let sql = "INSERT INTO token (id, hash, person, permissions, created, expires)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let (created, expires) = (millis(*created), expires.map(millis));
            let values = params![id, hash.as_str(), person, permissions.encode(), created, expires];
            transaction.execute(sql, values).map(drop)
        })?;
        self.token(&id)?.ok_or(PeopleError::Damaged)
    }

    fn tokens(&self) -> Result<Vec<TokenRecord>, PeopleError> {
        let sql = format!("SELECT {COLUMNS} FROM token ORDER BY person, place");
        self.read(|connection| connection.prepare(&sql)?.query_map([], record)?.collect())
    }

    fn revoke(&mut self, id: &str, now: Timestamp) -> Result<TokenRecord, PeopleError> {
        let token = TokenRecord::named(self.tokens()?, id)?;
        let sql = "UPDATE token SET revoked = ?2 WHERE id = ?1 AND revoked IS NULL";
        let values = params![token.id, millis(now)];
        self.write(|transaction| transaction.execute(sql, values).map(drop))?;
        self.token(&token.id)?.ok_or(PeopleError::Damaged)
    }

    fn token(&self, id: &str) -> Result<Option<TokenRecord>, PeopleError> {
        let sql = format!("SELECT {COLUMNS} FROM token WHERE id = ?1");
        self.read(|connection| connection.prepare_cached(&sql)?.query_row([id], record).optional())
    }

    fn token_of(&self, person: &str, now: Timestamp) -> Result<Option<TokenRecord>, PeopleError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM token
             WHERE person = ?1 AND revoked IS NULL AND (expires IS NULL OR ?2 < expires)
             ORDER BY place DESC LIMIT 1"
        );
        let values = params![person, millis(now)];
        self.read(|connection| connection.query_row(&sql, values, record).optional())
    }

    fn record(&mut self, entries: &[AuditEntry]) -> Result<(), PeopleError> {
        self.write(|transaction| {
            let sql =
                "INSERT INTO audit (at, who, what, project, outcome) VALUES (?1, ?2, ?3, ?4, ?5)";
            let mut insert = transaction.prepare_cached(sql)?;
            for AuditEntry { at, who, what, project, outcome } in entries {
                insert.execute(params![millis(*at), who, what, project, outcome])?;
            }
            Ok(())
        })
    }

    fn audit(&self, filter: &AuditFilter) -> Result<Vec<AuditEntry>, PeopleError> {
        let AuditFilter { who, project, since, limit } = filter;
        let sql = "
SELECT at, who, what, project, outcome FROM audit
WHERE (?1 IS NULL OR who = ?1) AND (?2 IS NULL OR project = ?2) AND (?3 IS NULL OR ?3 <= at)
ORDER BY at DESC, place DESC LIMIT ?4";
        let limit = i64::try_from(*limit).unwrap_or(i64::MAX);
        let values = params![who, project, since.map(millis), limit];
        self.read(|connection| connection.prepare(sql)?.query_map(values, entry)?.collect())
    }

    fn prune_audit(&mut self, before: Timestamp, keep: usize) -> Result<usize, PeopleError> {
        self.write(|transaction| {
            let old = transaction.execute("DELETE FROM audit WHERE at < ?1", [millis(before)])?;
            let sql = "
DELETE FROM audit WHERE place IN (SELECT place FROM
  (SELECT place, row_number() OVER (PARTITION BY who ORDER BY at DESC, place DESC) AS newer FROM audit)
  WHERE ?1 < newer)";
            Ok(old + transaction.execute(sql, [i64::try_from(keep).unwrap_or(i64::MAX)])?)
        })
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<TokenRecord> {
    let permissions: String = row.get(3)?;
    let permissions = Permissions::decode(&permissions).ok_or_else(|| {
        let damaged = Box::new(PeopleError::Damaged);
        rusqlite::Error::FromSqlConversionFailure(3, Type::Text, damaged)
    })?;
    Ok(TokenRecord {
        id: row.get(0)?,
        hash: TokenHash::stored(row.get(1)?),
        person: row.get(2)?,
        permissions,
        created: moment(row.get(4)?),
        expires: row.get::<_, Option<i64>>(5)?.map(moment),
        revoked: row.get::<_, Option<i64>>(6)?.map(moment),
    })
}

fn entry(row: &Row<'_>) -> rusqlite::Result<AuditEntry> {
    Ok(AuditEntry {
        at: moment(row.get(0)?),
        who: row.get(1)?,
        what: row.get(2)?,
        project: row.get(3)?,
        outcome: row.get(4)?,
    })
}

fn millis(at: Timestamp) -> i64 {
    at.as_millisecond()
}

fn moment(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}
