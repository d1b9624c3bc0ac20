//! OpenCode: its JSON tree, its SQLite databases, sessions that it exported, and the older program of the same name.
//!
//! Moving from tree to database lost sessions for some people, so both are read; a session that
//! the database beside the tree holds in full is given from there alone.

mod database;
mod export;
mod folder;
mod legacy;
mod newer;
mod parts;
mod rows;
mod talk;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use self::talk::Talk;
use self::tree::Tree;
use super::adapter::{
    Adapter, Began, Discovery, Homes, Problem, ReadOutcome, Source, Stamp, Trace, Watermark,
};
use super::emit::Emitter;
use super::error::{Error, Result};
use super::facts::{Agent, SessionFacts};
use super::names::{is_session_id, short_name};
use super::sink::Sink;
use super::store::{self, Store};
use super::walk;

/// Reads what OpenCode leaves behind.
pub struct OpenCode;

/// A tree lies at most `project/<name>/storage` below a root; a person may name a folder above.
const MAX_DEPTH: usize = 6;
const MAX_ENTRIES: usize = 500_000;
/// Directories that hold no sessions but many files.
const SKIPPED: [&str; 10] = [
    "snapshot",
    "log",
    "bin",
    "cache",
    "node_modules",
    ".git",
    "target",
    "worktree",
    "tool-output",
    "session_diff",
];

impl Adapter for OpenCode {
    fn agent(&self) -> Agent {
        Agent::OpenCode
    }

    fn version(&self) -> u32 {
        1
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let data = homes.data().join("opencode");
        let mut roots = vec![data.clone()];
        if let Some(database) = &homes.opencode_db
            && database != Path::new(":memory:")
        {
            // A bare name lies in the data directory, and joining keeps an absolute path.
            roots.push(data.join(database));
        }
        roots
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        let mut discovery = Discovery::default();
        for root in roots {
            let mut n_left = MAX_ENTRIES;
            match fs::metadata(root) {
                Ok(metadata) if metadata.is_dir() => {
                    look(root, MAX_DEPTH, &mut n_left, &mut discovery);
                }
                Ok(metadata) if metadata.is_file() => push_database(root, &mut discovery),
                Ok(_) => note(root, Error::NotAFile { path: root.clone() }, &mut discovery),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(source) => {
                    note(root, Error::Walk { path: root.clone(), source }, &mut discovery);
                }
            }
        }
        discovery.sources.sort_by(|a, b| a.path.cmp(&b.path));
        discovery.sources.dedup_by(|a, b| a.path == b.path);
        discovery
    }

    fn sessions(&self, source: &Source) -> Result<Vec<Trace>> {
        if export::is_export(&source.path) {
            return Ok(vec![Trace::whole(source.clone())]);
        }
        let found = match Tree::at(&source.path) {
            Some(tree) => tree_sessions(&tree, &source.path),
            None => {
                let store = Store::open(&source.path)?;
                let found = database::sessions(&store)?;
                store.close()?;
                // An id is kept as it is, and shown: what no agent makes has no place there.
                found.into_iter().filter(|(id, _)| is_session_id(id)).collect()
            }
        };
        let trace = |(id, revision)| Trace {
            source: source.clone(),
            session: Some(id),
            revision: Some(revision),
        };
        Ok(found.into_iter().map(trace).collect())
    }

    fn read(
        &self,
        trace: &Trace,
        _from: Option<&Watermark>,
        sink: Sink<'_>,
    ) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        if export::is_export(path) {
            return export::read(path, sink);
        }
        let missing = || Error::NoSession {
            path: path.clone(),
            session: trace.session.clone().unwrap_or_default(),
        };
        let session = trace.session.as_deref().ok_or_else(missing)?;
        let mut out =
            Emitter::new(SessionFacts::new(Agent::OpenCode, &short_name(session)), 0, sink);
        let mut talk = Talk::new();
        if let Some(tree) = Tree::at(path) {
            tree.read(session, &mut talk, &mut out)?;
        } else {
            let store = Store::open(path)?;
            database::read(&store, missing, session, &mut talk, &mut out)?;
            store.close()?;
            note_project(path, &mut out);
        }
        talk.finish(&mut out);
        let (facts, report) = (out.facts, out.report);
        Ok(ReadOutcome { facts, report, began: Began::FromStart, watermark: None })
    }
}

/// A database in a project's own `.opencode` belongs to that project.
fn note_project(path: &Path, out: &mut Emitter<'_>) {
    let above = path.parent().filter(|above| above.file_name() == Some(OsStr::new(".opencode")));
    if let Some(project) = above.and_then(Path::parent).and_then(Path::to_str)
        && out.facts.cwd.is_none()
    {
        out.note_cwd(project);
    }
}

/// The sessions of a tree, less those that a database beside it holds in full.
fn tree_sessions(tree: &Tree, storage: &Path) -> BTreeMap<String, String> {
    let stored = stored_counts(storage);
    let mut found = BTreeMap::new();
    for (id, info) in tree.sessions() {
        let n_messages = tree.n_messages(&id);
        if n_messages == 0 || stored.get(&id).is_some_and(|n_stored| n_messages <= *n_stored) {
            continue;
        }
        let stamp = tree.stamp(&id, &info);
        let modified = stamp.modified.map_or(0, Timestamp::as_millisecond);
        found.insert(id, format!("{n_messages}-{}-{modified}", stamp.size));
    }
    found
}

fn stored_counts(storage: &Path) -> BTreeMap<String, usize> {
    let mut stored = BTreeMap::new();
    // `<data>/storage`, or `<data>/project/<name>/storage`.
    for data in [storage.parent(), storage.ancestors().nth(3)].into_iter().flatten() {
        let Ok(entries) = fs::read_dir(data) else { continue };
        for entry in entries.flatten().filter(|entry| is_database(&entry.file_name())) {
            // A database that cannot be read now hides nothing: better twice than never.
            let counts = Store::open(&entry.path()).and_then(|store| {
                let counts = database::message_counts(&store)?;
                store.close()?;
                Ok(counts)
            });
            stored.extend(counts.unwrap_or_default());
        }
    }
    stored
}

fn is_database(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        let stem = name.strip_suffix(".db").unwrap_or_default();
        stem == "opencode" || stem.starts_with("opencode-")
    })
}

fn look(directory: &Path, depth: usize, n_left: &mut usize, discovery: &mut Discovery) {
    if let Some(tree) = Tree::at(directory) {
        push_tree(&tree, directory, discovery);
        return;
    }
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(source) => {
            let error = Error::Walk { path: directory.to_owned(), source };
            return note(directory, error, discovery);
        }
    };
    for entry in entries.flatten() {
        if *n_left == 0 {
            let error = Error::TooManyEntries { path: directory.to_owned(), limit: MAX_ENTRIES };
            return note(directory, error, discovery);
        }
        *n_left -= 1;
        let (name, path) = (entry.file_name(), entry.path());
        let Ok(kind) = entry.file_type() else { continue };
        let is_skipped = name.to_str().is_none_or(|name| SKIPPED.contains(&name));
        if kind.is_symlink() {
            discovery.links_skipped += 1;
        } else if kind.is_file() && is_database(&name) {
            push_database(&path, discovery);
        } else if kind.is_dir() && 0 < depth && !is_skipped {
            look(&path, depth - 1, n_left, discovery);
        }
    }
}

fn push_database(path: &Path, discovery: &mut Discovery) {
    // A file that vanished meanwhile is no longer there to be found.
    if let Some(stamp) = store::stamp(path) {
        discovery.sources.push(Source { agent: Agent::OpenCode, path: path.to_owned(), stamp });
    }
}

/// A tree's stamp is that of all its sessions together.
fn push_tree(tree: &Tree, storage: &Path, discovery: &mut Discovery) {
    let Ok(metadata) = fs::metadata(storage) else { return };
    let mut all = Stamp { size: 0, ..walk::stamp(&metadata) };
    for (id, info) in tree.sessions() {
        let one = tree.stamp(&id, &info);
        all.size += one.size;
        all.modified = all.modified.max(one.modified);
    }
    discovery.sources.push(Source { agent: Agent::OpenCode, path: storage.to_owned(), stamp: all });
}

fn note(path: &Path, error: Error, discovery: &mut Discovery) {
    discovery.problems.push(Problem { path: path.to_owned(), error });
}
