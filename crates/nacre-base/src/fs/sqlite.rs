//! Creates, opens and migrates Nacre's SQLite files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::{Owner, RelPath, Result, WriteScope};

/// How long to wait for another process's transaction. All transactions are short.
const BUSY_TIMEOUT: Duration = Duration::from_secs(20);

/// Creates the database file `name` below `home` if it is missing, readable only by its owner.
pub fn make_database(
    home: &WriteScope,
    name: &str,
    owner: &Owner,
    patience: Duration,
) -> Result<()> {
    let file = RelPath::new(name)?;
    if home.has(&file)? {
        return Ok(());
    }
    // On its own, SQLite would create a file that other users can read. Its side files get the same
    // mode as the database.
    let writer = home.lock(owner, patience)?;
    if !home.has(&file)? {
        writer.write_atomic(&file, b"")?;
    }
    Ok(())
}

pub fn database_path(folder: &Path, name: &str) -> PathBuf {
    // SQLite is configured not to follow links, so resolve the links in the directory path first.
    // They belong to the user.
    crate::platform::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()).join(name)
}

pub fn open_database(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = flags
        | OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF; PRAGMA journal_size_limit = 67108864;",
    )?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

pub fn schema_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Runs `work` in a write transaction, which is rolled back if it fails.
pub fn write_transaction<T, E: From<rusqlite::Error>>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let result = work(&transaction)?;
    transaction.commit()?;
    Ok(result)
}

/// Applies the missing schema migrations. If the database was written by a newer version of Nacre,
/// nothing is changed and the newer schema version is returned.
pub fn migrate_database(
    connection: &mut Connection,
    steps: &[&str],
) -> rusqlite::Result<Option<i64>> {
    let newest = steps.len() as i64;
    let found = schema_version(connection)?;
    if newest <= found {
        return Ok((newest < found).then_some(found));
    }
    write_transaction(connection, |transaction| {
        let found = schema_version(transaction)?;
        for step in steps.iter().skip(usize::try_from(found).unwrap_or(0)) {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "user_version", newest.max(found))?;
        Ok(None)
    })
}
