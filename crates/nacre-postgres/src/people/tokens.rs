//! The rows of tokens.

use jiff::Timestamp;
use nacre_core::people::{NewToken, PeopleError, Permissions, TokenHash, TokenRecord};
use tokio_postgres::Row;

use crate::database::{Database, DatabaseError, moment, plain};

const COLUMNS: &str = "id, hash, person, permissions, created, expires, revoked";

/// How many tokens a person has that were not revoked.
pub(super) fn count(database: &Database, person: &str) -> Result<usize, DatabaseError> {
    let person = plain(person);
    let count: i64 = database.run(async |client| {
        let sql = "SELECT count(*) FROM token WHERE person = $1 AND revoked IS NULL";
        Ok(client.query_one(sql, &[&person]).await?.get(0))
    })?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

pub(super) fn add(database: &Database, token: &NewToken) -> Result<(), DatabaseError> {
    let NewToken { person, hash, permissions, created, expires } = token;
    let (id, hash, person) = (hash.id(), hash.as_str().to_owned(), plain(person));
    let permissions = plain(&permissions.encode());
    let (created, expires) =
        (created.as_millisecond(), expires.map(jiff::Timestamp::as_millisecond));
    database.run(async |client| {
        let sql = "
INSERT INTO token (id, hash, person, permissions, created, expires) VALUES ($1, $2, $3, $4, $5, $6)";
        client.execute(sql, &[&id, &hash, &person, &permissions, &created, &expires]).await?;
        Ok(())
    })
}

pub(super) fn all(database: &Database) -> Result<Vec<TokenRecord>, PeopleError> {
    let rows = database.run(async |client| {
        let sql = format!("SELECT {COLUMNS} FROM token ORDER BY person, place");
        Ok(client.query(&sql, &[]).await?)
    })?;
    rows.iter().map(record).collect()
}

/// Ends a token. One that was ended before stays as it was.
pub(super) fn revoke(database: &Database, id: &str, now: Timestamp) -> Result<(), DatabaseError> {
    let (id, now) = (plain(id), now.as_millisecond());
    database.run(async |client| {
        let sql = "UPDATE token SET revoked = $2 WHERE id = $1 AND revoked IS NULL";
        client.execute(sql, &[&id, &now]).await?;
        Ok(())
    })
}

pub(super) fn with_id(database: &Database, id: &str) -> Result<Option<TokenRecord>, PeopleError> {
    let id = plain(id);
    let row = database.run(async |client| {
        let sql = format!("SELECT {COLUMNS} FROM token WHERE id = $1");
        Ok(client.query_opt(&sql, &[&id]).await?)
    })?;
    row.as_ref().map(record).transpose()
}

/// The newest token of a person that lets them in.
pub(super) fn newest_of(
    database: &Database,
    person: &str,
    now: Timestamp,
) -> Result<Option<TokenRecord>, PeopleError> {
    let (person, now) = (plain(person), now.as_millisecond());
    let row = database.run(async |client| {
        let sql = format!(
            "SELECT {COLUMNS} FROM token
             WHERE person = $1 AND revoked IS NULL AND (expires IS NULL OR $2 < expires)
             ORDER BY place DESC LIMIT 1"
        );
        Ok(client.query_opt(&sql, &[&person, &now]).await?)
    })?;
    row.as_ref().map(record).transpose()
}

fn record(row: &Row) -> Result<TokenRecord, PeopleError> {
    let permissions: String = row.get(3);
    Ok(TokenRecord {
        id: row.get(0),
        hash: TokenHash::stored(row.get(1)),
        person: row.get(2),
        permissions: Permissions::decode(&permissions).ok_or(PeopleError::Damaged)?,
        created: moment(row.get(4)),
        expires: row.get::<_, Option<i64>>(5).map(moment),
        revoked: row.get::<_, Option<i64>>(6).map(moment),
    })
}
