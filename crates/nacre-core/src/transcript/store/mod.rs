//! Other programs' SQLite databases, read while their owner may be at work on them, or a stranger made them.
//!
//! SQLite never sees the files: [`Image`] opens and reads them, and [`vfs`] hands their bytes on. So nothing beside a database is
//! made, changed, followed or waited for. Rows, bytes, steps and time are bounded by what lies of the database on the disk, see
//! [`DatabaseBudget`]; its schema is small and computes nothing; and a database that changed under the reader is reported as [`Fault::Busy`] instead of being half read.

mod columns;
mod fault;
mod image;
mod schema;
mod schema_size;
#[cfg(test)]
mod tests;
mod vfs;

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::hooks::AuthContext;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row};

pub(super) use self::columns::{bytes, number, text, time};
use self::fault::{fault_of, store_error};
use self::image::{Image, Opened};
use self::schema::Tables;
use super::adapter::Stamp;
use super::budget::{DatabaseBudget, SyncIsSpent};
use super::emit::Emitter;
use super::error::{Error, Fault, Result};
use crate::platform::ext::MetadataExt as _;

/// A value beyond this is not read; no message is this long.
pub(super) const MAX_VALUE: u64 = 32 * 1024 * 1024;
/// A statement of a schema beyond this is not read; all of them together are bounded by [`schema_size`].
const MAX_SQL: i32 = 256 * 1024;
/// The page cache of a connection, in KiB.
const CACHE_KIB: i32 = 8 * 1024;
/// SQLite asks after this many steps of its machine whether to go on.
const STEPS_PER_CHECK: i32 = 200;
/// Two changes of a file that are no further apart may leave the same time; systems count by 1 to 10 ms.
const CLOCK_TICK: jiff::SignedDuration = jiff::SignedDuration::from_millis(50);

/// An open database of another program.
#[derive(Debug)]
pub(super) struct Store {
    connection: Connection,
    path: PathBuf,
    image: Arc<Image>,
    outside: Outside,
    tables: Arc<Tables>,
    budget: Arc<DatabaseBudget>,
}

/// The outside of a database and of its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outside {
    main: Stamp,
    log: Option<Stamp>,
}

impl Outside {
    fn now(path: &Path) -> Option<Self> {
        let main = super::walk::stamp(&fs::metadata(path).ok()?);
        let log = fs::symlink_metadata(beside(path, "-wal")).ok();
        Some(Self { main, log: log.map(|log| super::walk::stamp(&log)) })
    }

    /// Whether a change of the main file since it was looked at must show in its time: the log is younger, so that the clock has
    /// gone on since.
    fn is_settled(&self) -> bool {
        let log = self.log.and_then(|log| log.modified);
        self.main.modified.zip(log).is_some_and(|(main, log)| CLOCK_TICK < log.duration_since(main))
    }
}

/// The stamp of a database: of the file and its write-ahead log together.
pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    let main = fs::metadata(path).ok()?;
    let mut stamp = super::walk::stamp(&main);
    let log = fs::symlink_metadata(beside(path, "-wal")).ok().filter(fs::Metadata::is_file);
    if let Some(log) = log {
        stamp.size += log.len();
        let modified = super::walk::stamp(&log).modified;
        // An empty log is what a reader left behind; it says nothing about the content.
        stamp.modified = if log.len() == 0 { stamp.modified } else { stamp.modified.max(modified) };
    }
    Some(stamp)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

impl Store {
    /// Opens a database for reading. No lock is taken, so that [`close`](Self::close) has to say whether what was read belongs
    /// together. A rollback journal that is in use means that the main file is between two states.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let Opened { image, main, log } = Image::open(path)?;
        if image::has_open_journal(path)? {
            return Err(store_error(path, Fault::Busy));
        }
        let outside = Outside {
            main: super::walk::stamp(&main),
            log: log.map(|log| super::walk::stamp(&log)),
        };
        if schema_size::is_too_large(&image) {
            let reason = "its schema is larger than that of any agent";
            return Err(Error::Unreadable { path: path.to_owned(), reason });
        }
        let budget = DatabaseBudget::of((main.dev(), main.ino()), image.size_on_disk())
            .map_err(|SyncIsSpent| Error::LeftOut { path: path.to_owned() })?;
        let image = Arc::new(image);
        let connection =
            vfs::connect(&image).map_err(|error| store_error(path, fault_of(error)))?;
        let (path, tables) = (path.to_owned(), Arc::default());
        let mut store = Self { connection, path, image, outside, tables, budget };
        store.harden().map_err(|error| store.error(error))?;
        store.tables = Arc::new(Tables::list(&store)?);
        let allowed = Arc::clone(&store.tables);
        let judge = move |context: AuthContext<'_>| allowed.judge(&context.action);
        store.connection.authorizer(Some(judge)).map_err(|error| store.error(error))?;
        Ok(store)
    }

    /// Takes from the connection all that a hostile schema could use.
    fn harden(&mut self) -> rusqlite::Result<()> {
        let size = self.image.size();
        let longest = i32::try_from(MAX_VALUE.min(size) + 4096).unwrap_or(i32::MAX);
        for (limit, value) in [
            (Limit::SQLITE_LIMIT_LENGTH, longest),
            (Limit::SQLITE_LIMIT_SQL_LENGTH, MAX_SQL),
            (Limit::SQLITE_LIMIT_ATTACHED, 0),
            (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
        ] {
            self.connection.set_limit(limit, value)?;
        }
        for (setting, value) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        ] {
            self.connection.set_db_config(setting, value)?;
        }
        let budget = Arc::clone(&self.budget);
        let check = move || {
            budget.charge_steps(STEPS_PER_CHECK.unsigned_abs().into());
            budget.charge_work();
            budget.is_spent()
        };
        self.connection.progress_handler(STEPS_PER_CHECK, Some(check))?;
        self.connection.busy_timeout(Duration::ZERO)?;
        self.connection.pragma_update(None, "cell_size_check", true)?;
        self.connection.pragma_update(None, "query_only", true)?;
        self.connection.pragma_update(None, "mmap_size", 0)?;
        self.connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        self.connection.pragma_update(None, "temp_store", "MEMORY")
    }

    /// Hands every row of a query to `each`, until it wants no more. Once the budget is spent, no query is begun.
    pub(super) fn rows(
        &self,
        sql: &str,
        params: impl Params,
        mut each: impl FnMut(&Row<'_>) -> Wish,
    ) -> Result<()> {
        self.check_budget()?;
        self.budget.begin_work();
        let mut statement = self.connection.prepare_cached(sql).map_err(|e| self.error(e))?;
        let mut rows = statement.query(params).map_err(|e| self.error(e))?;
        loop {
            let row = rows.next().map_err(|e| self.error(e))?;
            self.budget.charge_work();
            let Some(row) = row else { return Ok(()) };
            self.charge(row)?;
            match each(row) {
                Wish::More => self.budget.begin_work(),
                Wish::Enough => return Ok(()),
            }
        }
    }

    fn check_budget(&self) -> Result<()> {
        if self.budget.is_spent() {
            return Err(store_error(&self.path, Fault::TooSlow));
        }
        Ok(())
    }

    /// The first row of a query.
    pub(super) fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> T,
    ) -> Result<Option<T>> {
        let mut read = Some(read);
        let mut found = None;
        self.rows(sql, params, |row| {
            found = read.take().map(|read| read(row));
            Wish::Enough
        })?;
        Ok(found)
    }

    /// Whether there is such a table. One whose columns are computed is refused: reading it would run what a stranger wrote.
    pub(super) fn has_table(&self, name: &str) -> Result<bool> {
        match self.tables.get(name) {
            Some(schema::Table::Stored) => Ok(true),
            Some(schema::Table::Computed) => Err(store_error(&self.path, Fault::Computed)),
            None => Ok(false),
        }
    }

    /// Whether a table has all of these columns.
    pub(super) fn has_columns(&self, table: &str, wanted: &[&str]) -> Result<bool> {
        let mut found = Vec::new();
        self.rows(&schema::columns_of(table), [], |row| {
            found.extend(text(row, schema::COLUMN_NAME).map(Cow::into_owned));
            Wish::More
        })?;
        Ok(wanted.iter().all(|name| found.iter().any(|known| known == name)))
    }

    /// Checks that what was read belongs together; to be called when all is read.
    pub(super) fn close(self) -> Result<()> {
        if self.is_unchanged() { Ok(()) } else { Err(store_error(&self.path, Fault::Busy)) }
    }

    /// Whether the pages that are read are still those of the state that was opened. What a writer adds to the log belongs to
    /// later states, and is not looked at.
    fn is_unchanged(&self) -> bool {
        let Some(now) = Outside::now(&self.path) else { return false };
        let is_same = now.main == self.outside.main
            && (now.log == self.outside.log || self.outside.is_settled());
        is_same
            && self.image.is_current()
            && image::has_open_journal(&self.path).is_ok_and(|is_open| !is_open)
    }

    /// Counts an error in the middle of a session, for a damaged place costs nothing but itself. One that another try could mend
    /// is returned, and so is that of a budget that is spent: all that follows would fail, too.
    pub(super) fn survive(&self, result: Result<()>, out: &mut Emitter<'_>) -> Result<()> {
        match result {
            Err(error @ (Error::Busy { .. } | Error::Store { source: Fault::TooSlow, .. })) => {
                Err(error)
            }
            Err(_) => {
                out.report.bad_lines += 1;
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn charge(&self, row: &Row<'_>) -> Result<()> {
        let mut n_bytes = 0;
        for idx in 0..row.as_ref().column_count() {
            n_bytes += match row.get_ref(idx) {
                Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => bytes.len() as u64,
                Ok(ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_)) | Err(_) => 8,
            };
        }
        self.budget.charge_bytes(n_bytes);
        self.check_budget()
    }

    fn error(&self, error: rusqlite::Error) -> Error {
        self.budget.charge_work();
        if self.budget.is_spent() {
            return store_error(&self.path, Fault::TooSlow);
        }
        let fault = match fault_of(error) {
            // Without locks, damage may be no more than a writer that has come.
            Fault::Corrupt(_) if !self.is_unchanged() => Fault::Busy,
            fault @ (Fault::Busy
            | Fault::Computed
            | Fault::TooSlow
            | Fault::Corrupt(_)
            | Fault::Schema(_)) => fault,
        };
        store_error(&self.path, fault)
    }
}

/// Whether a caller wants further rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    More,
    Enough,
}
