//! Other programs' SQLite databases, read while their owner may be at work on them.
//!
//! Opening a database in WAL mode through SQLite can leave `-wal` and `-shm` files beside it, so the
//! way in depends on what lies there: see [`open`](Store::open). Whatever the way, nothing is
//! written, rows, bytes and steps are bounded by the size of the database, and a database that
//! changed under the reader is reported as [`Fault::Busy`] instead of being half read.

mod columns;
mod fault;
mod image;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::Cell;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Params, Row};

pub(super) use self::columns::{bytes, number, text, time};
use self::fault::{fault_of, store_error};
use self::image::Image;
use super::adapter::Stamp;
use super::emit::Emitter;
use super::error::{Error, Fault, Result};

/// A value beyond this is not read; no message is this long.
pub(super) const MAX_VALUE: u64 = 32 * 1024 * 1024;
/// A database in WAL mode up to this size is read as a private image in memory.
const MAX_IMAGE: u64 = 32 * 1024 * 1024;
/// How often an image is made anew when the database changes meanwhile.
const IMAGE_TRIES: usize = 4;
/// The page cache of a connection, in KiB.
const CACHE_KIB: i32 = 8 * 1024;
/// SQLite asks after this many steps of its machine whether to go on.
const STEPS_PER_CHECK: i32 = 1000;
/// The steps any database may take, and those that a big one may take at most.
const MIN_STEPS: u64 = 5_000_000;
const MAX_STEPS: u64 = 1_000_000_000;
/// What may be read of a small database; see [`Budget`].
const MIN_BYTES: u64 = 8 * 1024 * 1024;

/// How the database is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A private copy in memory, with the write-ahead log worked in.
    Image,
    /// Through SQLite and its locks.
    Shared,
    /// Through SQLite without locks, for no one has it open; checked again at the end.
    AtRest,
}

/// What reading may cost, in proportion to the database: every row is wanted about once, so only a
/// damaged or hostile database needs more.
#[derive(Debug)]
struct Budget {
    bytes_left: Cell<u64>,
    out_of_steps: Arc<AtomicBool>,
}

/// An open database of another program.
#[derive(Debug)]
pub(super) struct Store {
    connection: Connection,
    path: PathBuf,
    way: Way,
    outside: Outside,
    budget: Budget,
}

/// The outside of a database and of the files beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outside {
    main: Stamp,
    log: Option<Stamp>,
    has_index: bool,
}

impl Outside {
    fn of(path: &Path) -> Result<Self> {
        let open_error = |source| Error::Open { path: path.to_owned(), source };
        let metadata = fs::metadata(path).map_err(open_error)?;
        if !metadata.is_file() {
            return Err(Error::NotAFile { path: path.to_owned() });
        }
        let log = fs::metadata(beside(path, "-wal")).ok().map(|log| super::walk::stamp(&log));
        let has_index = fs::metadata(beside(path, "-shm")).is_ok();
        Ok(Self { main: super::walk::stamp(&metadata), log, has_index })
    }

    fn log_size(&self) -> u64 {
        self.log.map_or(0, |log| log.size)
    }

    fn size(&self) -> u64 {
        self.main.size + self.log_size()
    }
}

/// The stamp of a database: of the file and its write-ahead log together.
pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    let main = fs::metadata(path).ok()?;
    let mut stamp = super::walk::stamp(&main);
    if let Ok(log) = fs::metadata(beside(path, "-wal")) {
        stamp.size += log.size();
        let modified = super::walk::stamp(&log).modified;
        // An empty log is what a reader left behind; it says nothing about the content.
        stamp.modified =
            if log.size() == 0 { stamp.modified } else { stamp.modified.max(modified) };
    }
    Some(stamp)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

impl Store {
    /// Opens a database for reading, in a way that makes no file and disturbs no writer:
    ///
    /// - not in WAL mode: `mode=ro`, which takes SQLite's read lock and makes nothing;
    /// - WAL mode and small: as an image in memory, read without any lock;
    /// - WAL mode, `-wal` and `-shm` there: `mode=ro&readonly_shm=1`, as one more reader;
    /// - WAL mode and no log: no one has it open, so `immutable=1`, and that is checked at the end;
    /// - WAL mode with a log but no `-shm`, and too big for an image: refused. Only a copy on disk
    ///   could be read, and this room writes none; the agent's next start makes the `-shm` anew.
    pub(super) fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, MAX_IMAGE)
    }

    /// As [`open`](Self::open), with another size up to which an image is made.
    fn open_with(path: &Path, max_image: u64) -> Result<Self> {
        let outside = Outside::of(path)?;
        // SQLite opens a log that lies there whatever the header says, and makes its index for it: a
        // damaged header must not talk us into that.
        let mode = match outside.log_size() {
            0 => image::journal_mode(path)?,
            _ => image::JournalMode::Wal,
        };
        let (connection, way) = match mode {
            image::JournalMode::Other => (connect(path, "mode=ro"), Way::Shared),
            image::JournalMode::Wal if outside.size() <= max_image => {
                (connect_image(path, max_image), Way::Image)
            }
            image::JournalMode::Wal if outside.log_size() == 0 => {
                (connect(path, "mode=ro&immutable=1"), Way::AtRest)
            }
            image::JournalMode::Wal if outside.has_index => {
                (connect(path, "mode=ro&readonly_shm=1"), Way::Shared)
            }
            image::JournalMode::Wal => (Err(Fault::LoneLog), Way::Shared),
        };
        let connection = connection.map_err(|fault| store_error(path, fault))?;
        let budget = Budget::of(outside.size());
        let mut store = Self { connection, path: path.to_owned(), way, outside, budget };
        store.harden().map_err(|error| store_error(path, fault_of(error)))?;
        Ok(store)
    }

    /// Takes from the connection all that a hostile schema could use.
    fn harden(&mut self) -> rusqlite::Result<()> {
        let size = self.outside.size();
        let longest = i32::try_from(MAX_VALUE.min(size) + 4096).unwrap_or(i32::MAX);
        self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, longest)?;
        self.connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        self.connection.set_limit(Limit::SQLITE_LIMIT_WORKER_THREADS, 0)?;
        for (setting, value) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        ] {
            self.connection.set_db_config(setting, value)?;
        }
        let mut steps_left = (MIN_STEPS + size * 2).min(MAX_STEPS);
        let out_of_steps = Arc::clone(&self.budget.out_of_steps);
        let check = move || {
            steps_left = steps_left.saturating_sub(STEPS_PER_CHECK.unsigned_abs().into());
            out_of_steps.fetch_or(steps_left == 0, Ordering::Relaxed);
            steps_left == 0
        };
        self.connection.progress_handler(STEPS_PER_CHECK, Some(check))?;
        self.connection.busy_timeout(std::time::Duration::ZERO)?;
        self.connection.pragma_update(None, "cell_size_check", true)?;
        self.connection.pragma_update(None, "query_only", true)?;
        self.connection.pragma_update(None, "mmap_size", 0)?;
        self.connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        self.connection.pragma_update(None, "temp_store", "MEMORY")
    }

    /// Hands every row of a query to `each`, until it wants no more.
    pub(super) fn rows(
        &self,
        sql: &str,
        params: impl Params,
        mut each: impl FnMut(&Row<'_>) -> Wish,
    ) -> Result<()> {
        let mut statement = self.connection.prepare_cached(sql).map_err(|e| self.error(e))?;
        let mut rows = statement.query(params).map_err(|e| self.error(e))?;
        while let Some(row) = rows.next().map_err(|e| self.error(e))? {
            self.charge(row)?;
            match each(row) {
                Wish::More => {}
                Wish::Enough => break,
            }
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

    pub(super) fn has_table(&self, name: &str) -> Result<bool> {
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        Ok(self.first(sql, [name], |_| ())?.is_some())
    }

    /// Whether a table has all of these columns.
    pub(super) fn has_columns(&self, table: &str, wanted: &[&str]) -> Result<bool> {
        let mut found = Vec::new();
        self.rows("SELECT name FROM pragma_table_info(?1)", [table], |row| {
            found.extend(text(row, 0).map(Cow::into_owned));
            Wish::More
        })?;
        Ok(wanted.iter().all(|name| found.iter().any(|known| known == name)))
    }

    /// Checks that what was read belongs together; to be called when all is read.
    pub(super) fn close(self) -> Result<()> {
        let is_same = match self.way {
            // Locks, and the checks while the image was made, have seen to it.
            Way::Image | Way::Shared => true,
            Way::AtRest => Outside::of(&self.path).is_ok_and(|now| now == self.outside),
        };
        if is_same { Ok(()) } else { Err(store_error(&self.path, Fault::Busy)) }
    }

    /// Counts an error in the middle of a session; only one that another try could mend is
    /// returned, for a damaged place costs nothing but itself.
    pub(super) fn survive(&self, result: Result<()>, out: &mut Emitter<'_>) -> Result<()> {
        match result {
            Err(error @ Error::Busy { .. }) => Err(error),
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
        match self.budget.bytes_left.get().checked_sub(n_bytes) {
            Some(left) => self.budget.bytes_left.set(left),
            None => return Err(store_error(&self.path, Fault::TooSlow)),
        }
        Ok(())
    }

    fn error(&self, error: rusqlite::Error) -> Error {
        if self.budget.out_of_steps.load(Ordering::Relaxed) {
            return store_error(&self.path, Fault::TooSlow);
        }
        let fault = match (self.way, fault_of(error)) {
            // Without locks, damage may be no more than a writer that has come.
            (Way::AtRest, Fault::Corrupt(_))
                if Outside::of(&self.path).is_ok_and(|now| now != self.outside) =>
            {
                Fault::Busy
            }
            (_, fault) => fault,
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

impl Budget {
    fn of(size: u64) -> Self {
        let bytes_left = Cell::new(MIN_BYTES + size.saturating_mul(4));
        Self { bytes_left, out_of_steps: Arc::new(AtomicBool::new(false)) }
    }
}

fn connect(path: &Path, query: &str) -> std::result::Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_PRIVATE_CACHE;
    Connection::open_with_flags(file_uri(path, query), flags).map_err(fault_of)
}

fn connect_image(path: &Path, max_image: u64) -> std::result::Result<Connection, Fault> {
    for _ in 0..IMAGE_TRIES {
        let before = Outside::of(path).map_err(|_| Fault::Busy)?;
        if max_image < before.size() {
            return Err(Fault::Busy);
        }
        let Ok(mut image) = Image::open(path) else { return Err(Fault::Busy) };
        let size = image.size();
        let mut connection = Connection::open_in_memory().map_err(fault_of)?;
        let loaded = connection.deserialize_read_exact("main", &mut image, size, true);
        if Outside::of(path).is_ok_and(|after| after == before) && image.is_current() {
            return loaded.map(|()| connection).map_err(fault_of);
        }
    }
    Err(Fault::Busy)
}

/// `path` as a URI for SQLite.
fn file_uri(path: &Path, query: &str) -> String {
    use std::os::unix::ffi::OsStrExt;

    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(char::from(*byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push('?');
    uri.push_str(query);
    uri
}
