//! One database or file tree, filled with mutated values.
//!
//! The values are mutations of samples. The samples are short built-in values in every shape that
//! an adapter supports, and values from a directory of real databases.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ToSql};

use crate::fuzz::mutate::{CHANGES, Random, mutate, shorten};

const STRING_MAX: usize = 120;
const VALUE_MAX: usize = 3000;
const ROWS_MAX: usize = 2000;

pub(crate) type Values = Vec<Vec<u8>>;

pub(crate) struct Seeds {
    pub(crate) composers: Values,
    pub(crate) bubbles: Values,
    pub(crate) tabs: Values,
    pub(crate) prompts: Values,
    pub(crate) blobs: Values,
    pub(crate) metas: Values,
    pub(crate) sessions: Values,
    pub(crate) messages: Values,
    pub(crate) parts: Values,
    pub(crate) newer: Values,
}

impl Seeds {
    pub(crate) fn load(databases: &[PathBuf], scratch: &Path) -> Self {
        let mut seeds = Self {
            composers: lines(include_str!("seeds/cursor-composers.jsonl")),
            bubbles: lines(include_str!("seeds/cursor-bubbles.jsonl")),
            tabs: lines(include_str!("seeds/cursor-tabs.jsonl")),
            prompts: lines(include_str!("seeds/cursor-prompts.jsonl")),
            blobs: lines(include_str!("seeds/cursor-messages.jsonl")),
            metas: lines(include_str!("seeds/cursor-metas.jsonl")),
            sessions: lines(include_str!("seeds/opencode-sessions.jsonl")),
            messages: lines(include_str!("seeds/opencode-messages.jsonl")),
            parts: lines(include_str!("seeds/opencode-parts.jsonl")),
            newer: lines(include_str!("seeds/opencode-newer.jsonl")),
        };
        for database in databases {
            seeds.harvest(database, scratch);
        }
        seeds
    }

    fn harvest(&mut self, database: &Path, scratch: &Path) {
        // Opening a database with a log writes to its directory, so use a copy.
        let copy = scratch.join("harvest.db");
        clear(&copy);
        fs::write(&copy, fs::read(database).unwrap()).unwrap();
        if let Ok(log) = fs::read(beside(database, "-wal")) {
            fs::write(beside(&copy, "-wal"), log).unwrap();
        }
        let connection = Connection::open(&copy).unwrap();
        let kv = |key: &str| format!("SELECT value FROM cursorDiskKV WHERE key GLOB '{key}:*'");
        let listed = |key: &str, list: &str| {
            format!(
                "SELECT e.value FROM ItemTable i, json_each(i.value, '{list}') e WHERE i.key = '{key}'"
            )
        };
        let tabs = "workbench.panel.aichat.view.aichat.chatdata";
        let of_tabs = format!(
            "SELECT b.value FROM ItemTable i, json_each(i.value, '$.tabs') t, \
                json_each(t.value, '$.bubbles') b WHERE i.key = '{tabs}'"
        );
        // Some queries use tables that other kinds of databases lack.
        let all = |sql: &str| column(&connection, sql).unwrap_or_default();
        self.composers.extend(all(&kv("composerData")));
        self.composers.extend(all(&listed("composer.composerData", "$.allComposers")));
        self.bubbles.extend(all(&kv("bubbleId")));
        self.bubbles.extend(all(&of_tabs));
        self.tabs.extend(all(&listed(tabs, "$.tabs")));
        self.prompts.extend(all(&listed("aiService.prompts", "$")));
        self.messages.extend(all("SELECT data FROM message"));
        self.parts.extend(all("SELECT data FROM part"));
        self.newer.extend(all("SELECT data FROM session_message"));
        drop(connection);
        clear(&copy);
    }
}

fn lines(text: &str) -> Values {
    text.lines().map(|line| line.as_bytes().to_vec()).collect()
}

/// Returns the shortened results of a query. Fails if its tables do not exist.
fn column(connection: &Connection, sql: &str) -> rusqlite::Result<Values> {
    let mut statement = connection.prepare(&format!("{sql} LIMIT {ROWS_MAX}"))?;
    let mut rows = statement.query([])?;
    let mut values = Vec::new();
    while let Some(row) = rows.next()? {
        if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = row.get_ref(0)? {
            let mut value = Vec::new();
            shorten(bytes, STRING_MAX, &mut value);
            values.extend((value.len() <= VALUE_MAX).then_some(value));
        }
    }
    Ok(values)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Many values, each of which is an input.
    Full,
    /// Few values, because the bytes of the file are mutated instead.
    Small,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Journal {
    Off,
    /// WAL mode with an empty log.
    Wal,
    /// WAL mode with all content in the log.
    Log,
}

pub(crate) struct Round<'a> {
    pub(crate) random: Random,
    pub(crate) seeds: &'a Seeds,
    pub(crate) scale: Scale,
    pub(crate) changes: &'a mut [u64; CHANGES.len()],
    pub(crate) n_values: u64,
}

impl Round<'_> {
    /// Returns `full`, or a small number if the database is small.
    pub(crate) fn count(&self, full: usize) -> usize {
        match self.scale {
            Scale::Full => full,
            Scale::Small => full.min(2),
        }
    }

    pub(crate) fn change_random(&mut self, values: &Values) -> Vec<u8> {
        let value = values[self.random.below(values.len())].clone();
        self.change(value, values)
    }

    pub(crate) fn change(&mut self, mut value: Vec<u8>, others: &Values) -> Vec<u8> {
        self.n_values += 1;
        let other = &others[self.random.below(others.len())];
        mutate(&mut value, other, &mut self.random, self.changes);
        value
    }

    /// Returns a random value, usually unmutated, because the parser reads the other values only if
    /// this one is valid.
    pub(crate) fn mostly_whole(&mut self, values: &Values) -> Vec<u8> {
        if self.random.one_in(6) {
            return self.change_random(values);
        }
        values[self.random.below(values.len())].clone()
    }

    pub(crate) fn id(&mut self, name: String) -> String {
        if !self.random.one_in(80) {
            return name;
        }
        let mut odd = name.into_bytes();
        mutate(&mut odd, b"ses_:/../\\\"';--@", &mut self.random, self.changes);
        odd.truncate(100);
        String::from_utf8_lossy(&odd).into_owned()
    }

    /// Creates a database with these tables and starts a transaction.
    pub(crate) fn database(&mut self, path: &Path, tables: &str) -> Connection {
        let journal = match (self.scale, self.random.below(16)) {
            (Scale::Full, 2..) | (Scale::Small, 8..) => Journal::Off,
            (Scale::Full, 1) | (Scale::Small, 5..8) => Journal::Wal,
            _ => Journal::Log,
        };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        clear(path);
        let connection = Connection::open(path).unwrap();
        connection.set_prepared_statement_cache_capacity(32);
        let mode = if journal == Journal::Off { "OFF" } else { "WAL" };
        let is_log = journal == Journal::Log;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_log).unwrap();
        let sql = format!(
            "PRAGMA journal_mode = {mode}; PRAGMA synchronous = OFF; \
                PRAGMA wal_autocheckpoint = 0; {tables}; BEGIN"
        );
        connection.execute_batch(&sql).unwrap();
        connection
    }

    /// Converts a value to a column value, usually to text, even if it is not valid UTF-8.
    pub(crate) fn column(&mut self, value: Vec<u8>) -> Column {
        match self.random.below(64) {
            0 => Column::Other(Value::Null),
            1 => Column::Other(Value::Integer(value.len() as i64 - 2)),
            2 => Column::Other(Value::Real(1e300)),
            3..8 => Column::Other(Value::Blob(value)),
            _ => Column::Text(value),
        }
    }

    pub(crate) fn time(&mut self, usual: usize) -> i64 {
        match self.random.below(64) {
            0 => i64::MIN,
            1 => i64::MAX,
            2 => -1,
            3 => 253_402_300_800_000,
            _ => 1_770_000_000_000 + usual as i64,
        }
    }
}

pub(crate) enum Column {
    /// Text that may be invalid UTF-8.
    Text(Vec<u8>),
    Other(Value),
}

impl ToSql for Column {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Text(bytes) => ToSqlOutput::Borrowed(ValueRef::Text(bytes)),
            Self::Other(value) => ToSqlOutput::Borrowed(value.into()),
        })
    }
}

/// Commits the transaction that [`Round::database`] started.
pub(crate) fn commit(connection: Connection) {
    connection.execute_batch("COMMIT").unwrap();
    connection.flush_prepared_statement_cache();
    connection.close().unwrap();
}

pub(crate) fn put(connection: &Connection, sql: &str, params: impl rusqlite::Params) {
    connection.prepare_cached(sql).unwrap().execute(params).unwrap();
}

pub(crate) fn clear(path: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        fs::remove_file(beside(path, suffix)).ok();
    }
}

pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
