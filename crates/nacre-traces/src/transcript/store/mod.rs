//! Reads other programs' SQLite databases, which may be in use or hostile.
//!
//! SQLite never opens the files: [`Image`] reads them, and [`vfs`] passes their bytes to SQLite.
//! Therefore, SQLite cannot create or change files next to a database, follow links, or block on
//! pipes. Rows, bytes, steps and time are bounded in proportion to the database's size on disk (see
//! [`DatabaseBudget`]). Large schemas and computed columns are rejected. If a database changes
//! during a read, the result is [`Fault::Busy`].

mod image;
mod schema;
#[cfg(test)]
mod tests;
mod vfs;

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::config::DbConfig;
use rusqlite::hooks::AuthContext;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, Params, Row};

use self::image::Image;
use self::schema::Tables;
use crate::transcript::toolkit::*;
use nacre_base::platform::ext::MetadataExt as _;

/// Real messages are smaller than this.
pub(crate) const MAX_VALUE: u64 = 32 * 1024 * 1024;
/// Maximum size of one schema statement. [`schema`] limits the total size of all statements.
const MAX_SQL: i32 = 256 * 1024;
const CACHE_KIB: i32 = 8 * 1024;
/// How many virtual machine steps run between calls to the progress handler.
const STEPS_PER_CHECK: i32 = 200;
/// Changes closer together than this may have the same modification time. File system timestamps
/// have a resolution of 1 to 10 ms.
const CLOCK_TICK: jiff::SignedDuration = jiff::SignedDuration::from_millis(50);

#[derive(Debug)]
pub(crate) struct Store {
    connection: Connection,
    path: PathBuf,
    image: Arc<Image>,
    outside: Outside,
    tables: Arc<Tables>,
    budget: Arc<DatabaseBudget>,
}

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

    /// Returns whether the log is newer than the main file by more than the clock's resolution, so
    /// that any further change to the main file must also change its modification time.
    fn is_settled(&self) -> bool {
        let log = self.log.and_then(|log| log.modified);
        self.main.modified.zip(log).is_some_and(|(main, log)| CLOCK_TICK < log.duration_since(main))
    }
}

pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    let main = fs::metadata(path).ok()?;
    let mut stamp = super::walk::stamp(&main);
    let log = fs::symlink_metadata(beside(path, "-wal")).ok().filter(fs::Metadata::is_file);
    if let Some(log) = log {
        stamp.size += log.len();
        let modified = super::walk::stamp(&log).modified;
        // A reader may leave an empty log behind without changing the content.
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
    /// Opens a database for reading without locks. Call [`close`](Self::close) after the last read
    /// to check that the data was consistent. Fails if a rollback journal is active, because the
    /// main file is then inconsistent.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let (image, main, log) = Image::open(path)?;
        if image::has_open_journal(path)? {
            return Err(store_error(path, Fault::Busy));
        }
        let outside = Outside {
            main: super::walk::stamp(&main),
            log: log.map(|log| super::walk::stamp(&log)),
        };
        if schema::is_too_large(&image) {
            let reason = "the schema is larger than any agent's";
            return Err(Error::Unreadable { path: path.to_owned(), reason });
        }
        let budget = DatabaseBudget::of((main.dev(), main.ino()), image.size_on_disk)
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

    fn harden(&mut self) -> rusqlite::Result<()> {
        let size = self.image.size;
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

    /// Passes a query's rows to `each` until it returns `Wish::Enough`. No query is started after
    /// the budget is used up.
    pub(crate) fn rows(
        &self,
        sql: &str,
        params: impl Params,
        mut each: impl FnMut(&Row) -> Wish,
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

    pub(crate) fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row) -> T,
    ) -> Result<Option<T>> {
        let mut read = Some(read);
        let mut found = None;
        self.rows(sql, params, |row| {
            found = read.take().map(|read| read(row));
            Wish::Enough
        })?;
        Ok(found)
    }

    /// Fails for a table with computed columns, because reading it would execute untrusted
    /// expressions.
    pub(crate) fn has_table(&self, name: &str) -> Result<bool> {
        match self.tables.get(name) {
            Some(schema::Table::Stored) => Ok(true),
            Some(schema::Table::Computed) => Err(store_error(&self.path, Fault::Computed)),
            None => Ok(false),
        }
    }

    pub(crate) fn has_columns(&self, table: &str, wanted: &[&str]) -> Result<bool> {
        let mut found = Vec::new();
        self.rows(&schema::columns_of(table), [], |row| {
            found.extend(text(row, schema::COLUMN_NAME).map(Cow::into_owned));
            Wish::More
        })?;
        Ok(wanted.iter().all(|name| found.iter().any(|known| known == name)))
    }

    pub(crate) fn close(self) -> Result<()> {
        if self.is_unchanged() { Ok(()) } else { Err(store_error(&self.path, Fault::Busy)) }
    }

    /// Returns `true` if the pages still belong to the state that was opened. Pages that a writer
    /// appended to the log belong to later states and are ignored.
    fn is_unchanged(&self) -> bool {
        let Some(now) = Outside::now(&self.path) else { return false };
        let is_same = now.main == self.outside.main
            && (now.log == self.outside.log || self.outside.is_settled());
        is_same
            && self.image.is_current()
            && image::has_open_journal(&self.path).is_ok_and(|is_open| !is_open)
    }

    /// Counts an error in a session and continues, because damage is usually local. Returns the
    /// error only if a retry can succeed or if the budget is used up, because all later reads would
    /// then fail as well.
    pub(crate) fn survive(&self, result: Result<()>, out: &mut Emitter) -> Result<()> {
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

    fn charge(&self, row: &Row) -> Result<()> {
        let mut n_bytes = 0;
        for idx in 0..row.as_ref().column_count() {
            n_bytes += bytes(row, idx).map_or(8, |bytes| bytes.len() as u64);
        }
        self.budget.charge_bytes(n_bytes);
        self.check_budget()
    }

    fn error(&self, error: rusqlite::Error) -> Error {
        self.budget.charge_work();
        if self.budget.is_spent() {
            return store_error(&self.path, Fault::TooSlow);
        }
        let mut fault = fault_of(error);
        // Without locks, a concurrent writer can make the database appear damaged.
        if matches!(fault, Fault::Corrupt(_)) && !self.is_unchanged() {
            fault = Fault::Busy;
        }
        store_error(&self.path, fault)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    More,
    Enough,
}

/// Returns a column as text. Invalid UTF-8 is replaced.
pub(crate) fn text<'a>(row: &'a Row<'_>, idx: usize) -> Option<Cow<'a, str>> {
    bytes(row, idx).map(String::from_utf8_lossy)
}

/// Like `text`, but reports invalid UTF-8.
pub(crate) fn read_counted_text(row: &Row, idx: usize, out: &mut Emitter) -> Option<String> {
    let text = text(row, idx)?;
    out.report.invalid_utf8 += u64::from(matches!(text, Cow::Owned(_)));
    Some(text.into_owned())
}

pub(crate) fn bytes<'a>(row: &'a Row<'_>, idx: usize) -> Option<&'a [u8]> {
    match row.get_ref(idx).ok()? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => None,
    }
}

pub(crate) fn number(row: &Row, idx: usize) -> Option<i64> {
    match row.get_ref(idx).ok()? {
        ValueRef::Integer(number) => Some(number),
        #[expect(clippy::cast_possible_truncation, reason = "some times are fractional")]
        ValueRef::Real(number) => Some(number as i64),
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok()?.parse().ok(),
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}

pub(crate) fn time(row: &Row, idx: usize) -> Option<Timestamp> {
    time_of(number(row, idx)?)
}

pub(crate) fn fault_of(error: rusqlite::Error) -> Fault {
    match error.sqlite_error_code() {
        // SQLite returns these errors if it has to open the log or roll back the journal, which
        // means that a writer is active.
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::ReadOnly
            | ErrorCode::CannotOpen
            | ErrorCode::FileLockingProtocolFailed,
        ) => Fault::Busy,
        Some(ErrorCode::OperationInterrupted) => Fault::TooSlow,
        // The authorizer rejected the statement because it reads a table that must not be read.
        Some(ErrorCode::AuthorizationForStatementDenied) => Fault::Computed,
        Some(ErrorCode::Unknown) => Fault::Schema(Box::new(error)),
        Some(_) => Fault::Corrupt(Box::new(error)),
        None => Fault::Schema(Box::new(error)),
    }
}

pub(crate) fn store_error(path: &Path, fault: Fault) -> Error {
    let path = path.to_owned();
    if matches!(fault, Fault::Busy) {
        Error::Busy { path }
    } else {
        Error::Store { path, source: fault }
    }
}
