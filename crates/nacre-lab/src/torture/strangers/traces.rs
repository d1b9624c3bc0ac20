//! Hostile agent databases, with pipes and hard links next to them and with expensive generated
//! columns.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;

use super::repositories::{Maker, repository};
use super::victims::Victims;
use super::{Site, Verbs};
use crate::AnyError;

/// The path that is passed to commands as the trace. It is a database name that OpenCode uses.
pub(super) const TRACE: &str = "opencode.db";

/// An expression for a generated column that is slow to evaluate and cannot be interrupted.
const SLOW: &str = "instr(zeroblob(4000000), zeroblob(2000000) || x'01')";

#[derive(Clone, Copy)]
enum Beside {
    Pipe,
    Link,
    /// A hard link to a file. Archives can contain hard links.
    SecondName,
}

type Plant = fn(&Path, &Victims) -> Result<(), AnyError>;

const SITES: &[(&str, Plant)] = &[
    ("trace-pipe-as-log", |trace, victims| {
        put(trace, "-wal", Beside::Pipe, victims)?;
        put(trace, "-shm", Beside::SecondName, victims)
    }),
    ("trace-pipe-as-journal", |trace, victims| put(trace, "-journal", Beside::Pipe, victims)),
    ("trace-pipe-as-index", |trace, victims| {
        fs::write(beside(trace, "-wal"), vec![b'x'; 4096])?;
        put(trace, "-shm", Beside::Pipe, victims)
    }),
    ("trace-links", |trace, victims| {
        ["-wal", "-shm", "-journal"]
            .iter()
            .try_for_each(|end| put(trace, end, Beside::Link, victims))
    }),
    ("trace-second-names", |trace, victims| {
        ["-wal", "-shm"].iter().try_for_each(|end| put(trace, end, Beside::SecondName, victims))
    }),
    ("trace-computes", |trace, _| {
        let agent = Connection::open(trace)?;
        let sql = format!(
            "DROP TABLE session; CREATE TABLE session (id TEXT, time_updated INT); \
             INSERT INTO session VALUES ('s', 1); PRAGMA writable_schema = ON; \
             UPDATE sqlite_schema SET sql = 'CREATE TABLE session (id TEXT, time_updated INT AS ({}))' \
             WHERE name = 'session'",
            SLOW.replace('\'', "''")
        );
        Ok(agent.execute_batch(&sql)?)
    }),
];

pub(super) fn makers() -> Vec<(&'static str, Maker)> {
    let maker = |(name, plant): &'static (&'static str, Plant)| {
        let make: Maker = Box::new(move |name, victims| {
            repository(victims)?;
            let root = victims.site();
            let trace = root.join(TRACE);
            database(&trace, name == "trace-pipe-as-index")?;
            plant(&trace, victims)?;
            Ok(Site {
                name: name.to_owned(),
                root,
                home_config: String::new(),
                verbs: Verbs::Trace,
            })
        });
        (*name, make)
    };
    SITES.iter().map(maker).collect()
}

/// Creates the database of an agent that is no longer running. Large databases are tested too,
/// because they used to be read differently.
fn database(path: &Path, is_large: bool) -> Result<(), AnyError> {
    let agent = Connection::open(path)?;
    let size = if is_large { 40_000_000 } else { 4_200_000 };
    let mode = if is_large { "wal" } else { "delete" };
    agent.pragma_update(None, "journal_mode", mode)?;
    Ok(agent.execute_batch(&format!(
        "CREATE TABLE session (id TEXT, time_updated INT); INSERT INTO session VALUES ('s', 1); \
         CREATE TABLE pad (b); INSERT INTO pad VALUES (zeroblob({size}))"
    ))?)
}

fn put(trace: &Path, end: &str, what: Beside, victims: &Victims) -> Result<(), AnyError> {
    let (at, precious) = (beside(trace, end), victims.own().join("secret.txt"));
    match what {
        Beside::Pipe => {
            let status = Command::new("mkfifo").arg(at).status()?;
            if !status.success() {
                return Err("mkfifo failed".into());
            }
        }
        Beside::Link => symlink(precious, at)?,
        Beside::SecondName => fs::hard_link(precious, at)?,
    }
    Ok(())
}

fn beside(trace: &Path, end: &str) -> std::path::PathBuf {
    trace.with_file_name(format!("{TRACE}{end}"))
}
