//! Stores one machine's tokens and audit log in a SQLite file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{
    Owner, RelPath, WriteScope, database_path, make_database, migrate_database, open_database,
    write_transaction,
};
use rusqlite::types::Type;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, Transaction, params};

use super::permissions::Permissions;
use super::store::{AuditEntry, AuditFilter, PeopleError, PeopleStore, Result};
use super::token::{TokenHash, TokenRecord};

pub const PEOPLE_FILE: &str = "people.sqlite3";

/// Migration steps. Released steps must not be changed.
const STEPS: &[&str] = &[include_str!("people.sql")];

/// Only the machine's owner can read the file.
#[derive(Debug)]
pub struct LocalPeople {
    connection: Connection,
    path: PathBuf,
}

impl LocalPeople {
    pub fn open(home: &WriteScope, owner: &Owner, patience: Duration) -> Result<Self> {
        make_database(home, PEOPLE_FILE, owner, patience)?;
        Self::open_file(home.path())
    }

    pub fn open_existing(home: &WriteScope) -> Result<Option<Self>> {
        if !home.has(&RelPath::new(PEOPLE_FILE)?)? {
            return Ok(None);
        }
        Self::open_file(home.path()).map(Some)
    }

    fn open_file(folder: &Path) -> Result<Self> {
        let path = database_path(folder, PEOPLE_FILE);
        let opened = open_database(&path, OpenFlags::empty()).and_then(|mut connection| {
            let newer = migrate_database(&mut connection, STEPS)?;
            Ok((connection, newer))
        });
        match opened {
            Ok((connection, None)) => Ok(Self { connection, path }),
            Ok((_, Some(found))) => Err(PeopleError::Newer { path, found }),
            Err(source) => Err(PeopleError::File { path, source }),
        }
    }

    /// Runs `work` in a transaction, which is rolled back if it fails.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        write_transaction(&mut self.connection, work)
            .map_err(|source| PeopleError::File { path: self.path.clone(), source })
    }

    fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.connection)
            .map_err(|source| PeopleError::File { path: self.path.clone(), source })
    }
}

const COLUMNS: &str = "id, hash, person, permissions, created, expires, revoked";

impl PeopleStore for LocalPeople {
    fn insert_token(&mut self, token: &TokenRecord) -> Result<()> {
        let TokenRecord { id, person, hash, permissions, created, expires, .. } = token;
        self.write(|transaction| {
            let sql = "INSERT INTO token (id, hash, person, permissions, created, expires)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let (created, expires) = (millis(*created), expires.map(millis));
            let values = params![id, hash.as_str(), person, permissions.encode(), created, expires];
            transaction.execute(sql, values).map(drop)
        })
    }

    fn tokens(&self) -> Result<Vec<TokenRecord>> {
        let sql = format!("SELECT {COLUMNS} FROM token ORDER BY person, place");
        self.read(|connection| connection.prepare(&sql)?.query_map([], record)?.collect())
    }

    fn set_revoked(&mut self, id: &str, now: Timestamp) -> Result<()> {
        let sql = "UPDATE token SET revoked = ?2 WHERE id = ?1 AND revoked IS NULL";
        let values = params![id, millis(now)];
        self.write(|transaction| transaction.execute(sql, values).map(drop))
    }

    fn token(&self, id: &str) -> Result<Option<TokenRecord>> {
        let sql = format!("SELECT {COLUMNS} FROM token WHERE id = ?1");
        self.read(|connection| connection.prepare_cached(&sql)?.query_row([id], record).optional())
    }

    fn token_of(&self, person: &str, now: Timestamp) -> Result<Option<TokenRecord>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM token
             WHERE person = ?1 AND revoked IS NULL AND (expires IS NULL OR ?2 < expires)
             ORDER BY place DESC LIMIT 1"
        );
        let values = params![person, millis(now)];
        self.read(|connection| connection.query_row(&sql, values, record).optional())
    }

    fn record(&mut self, entries: &[AuditEntry]) -> Result<()> {
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

    fn audit(&self, filter: &AuditFilter) -> Result<Vec<AuditEntry>> {
        let AuditFilter { who, project, since, limit } = filter;
        let sql = "
SELECT at, who, what, project, outcome FROM audit
WHERE (?1 IS NULL OR who = ?1) AND (?2 IS NULL OR project = ?2) AND (?3 IS NULL OR ?3 <= at)
ORDER BY at DESC, place DESC LIMIT ?4";
        let limit = i64::try_from(*limit).unwrap_or(i64::MAX);
        let values = params![who, project, since.map(millis), limit];
        self.read(|connection| connection.prepare(sql)?.query_map(values, entry)?.collect())
    }

    fn prune_audit(&mut self, before: Timestamp, keep: usize) -> Result<usize> {
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
        hash: TokenHash::from_stored(row.get(1)?),
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

pub(crate) fn moment(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}
