//! Detects changes that sandboxed programs make to Nacre's own files, and to files that other
//! programs later execute outside the sandbox.
//!
//! The sandbox allows writes to the entire workspace, so these files are compared before and after
//! each program. Changed memories become untrusted, deleted memories are restored, and every change
//! is reported. Changed file contents are not reverted, because the user may have edited the file
//! in the meantime. If the comparison fails, the program's [`RunNotes`] entry keeps the memories
//! untrusted.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nacre_base::fs::{Access, FsError, Owner, RelPath, Seal, WriteScope};
use nacre_base::platform::ext::MetadataExt as _;
use nacre_base::{ContentHash, list_acted_on_places};
use nacre_memory::{
    Actor, Edit, LedgerPlace, Located, Memory, MemoryError, MemoryId, Rules, RunNote, RunNotes,
    STORE_ACCESS, Store, id_at,
};

const MAX_ENTRIES: usize = 100_000;

/// Maximum total size of files that can be restored. Memories beyond this limit count as not
/// compared.
const MAX_BYTES: u64 = 64 << 20;

const MAX_NAMES: usize = 20;

/// Nacre's trusted files: memories, their evidence, tombstones, the list of read sessions, and the
/// settings.
const OWN: [&str; 6] = [
    MEMORIES,
    ".nacre/meta/evidence",
    ".nacre/meta/tombstones",
    ".nacre/meta/sessions",
    ".nacre/.gitignore",
    ".nacre/config.toml",
];
const MEMORIES: &str = ".nacre/memory";

const STORE: &str = ".nacre";

const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Guarded {
    workspace: PathBuf,
    home: PathBuf,
    acted_on: Scan,
    own: Scan,
    /// The latest version of each memory written by Nacre itself.
    newest: BTreeMap<MemoryId, ContentHash>,
    note: RunNote,
}

#[derive(Debug, Default)]
struct Scan {
    files: BTreeMap<String, Seen>,
    partial: Vec<String>,
}

#[derive(Debug)]
struct Seen {
    /// Inode, size, and inode change time, which programs cannot set.
    stamp: (u64, u64, i64, i64),
    mode: Option<u32>,
    bytes: Option<Vec<u8>>,
}

impl Guarded {
    /// Scans the files and records the memories among them in a note with a random name. `home` is
    /// Nacre's own directory.
    pub(super) fn look(workspace: &Path, home: &Path, random: &str) -> Result<Self, FsError> {
        let own = scan(workspace, OWN.into_iter(), MAX_BYTES);
        let hashed = own.files.iter().filter_map(|(path, seen)| {
            Some((memory_at(path)?, ContentHash::of(seen.bytes.as_deref()?)))
        });
        let memories: Vec<(Located, ContentHash)> = hashed.collect();
        let store = WriteScope::open_inside(workspace, STORE, STORE_ACCESS);
        let store = store.ok().map(|scope| open_store(scope, home));
        let newest = memories.iter().filter_map(|(at, _)| {
            Some((at.id.clone(), *store.as_ref()?.own_versions(&at.id).first()?))
        });
        Ok(Self {
            workspace: workspace.to_owned(),
            home: home.to_owned(),
            acted_on: scan(workspace, list_acted_on_places(), 0),
            newest: newest.collect(),
            note: RunNotes::of_store(home, &workspace.join(STORE))
                .begin(random, memories.into_iter().map(|(at, hash)| (at.path, hash)))?,
            own,
        })
    }

    /// Reports the program's changes and revokes trust in the memories it changed. All processes of
    /// the program must have exited.
    pub(super) fn finish(self) -> Vec<String> {
        let mut notes = Vec::new();
        let touched = self.acted_on.changes(&scan(&self.workspace, list_acted_on_places(), 0));
        if !touched.is_empty() {
            notes.push(format!("changed files that other programs use: {}", list_paths(&touched)));
        }
        let settled = self.settle(&mut notes);
        let settled = settled.and_then(|()| self.note.remove().map_err(|error| error.to_string()));
        if let Err(why) = settled {
            notes.push(format!("memory edits stay untrusted until they can be compared: {why}"));
        }
        notes
    }

    fn settle(&self, notes: &mut Vec<String>) -> Result<(), String> {
        let after = scan(&self.workspace, OWN.into_iter(), 0);
        let changes = self.own.changes(&after);
        let is_there = fs::symlink_metadata(self.workspace.join(STORE)).is_ok();
        if !is_there && self.note.paths().next().is_none() {
            return Ok(());
        }
        let scope = WriteScope::create_inside(&self.workspace, STORE, STORE_ACCESS);
        let store = open_store(scope.map_err(|error| error.to_string())?, &self.home);
        let (changed, gone): (Vec<String>, Vec<String>) =
            changes.into_iter().partition(|path| self.is_file(path));
        let gone = gone.into_iter().filter(|path| !self.is_by_nacre(path, &store));
        let (restored, lost): (Vec<String>, Vec<String>) =
            gone.partition(|path| self.restore(path));
        for (what, paths) in [
            ("deleted in .nacre, then restored", &restored),
            ("deleted in .nacre, not restored", &lost),
            ("changed in .nacre; untrusted until you run `nacre trust`", &changed),
            (".nacre is too large to compare completely", &after.partial),
        ] {
            if !paths.is_empty() {
                notes.push(format!("{what}: {}", list_paths(paths)));
            }
        }
        let is_new = |path: &&String| self.own.stamp(path) != after.stamp(path);
        let suspects = after.files.keys().filter(|path| is_new(path) || !self.is_noted(path));
        distrust(&store, suspects).map_err(|error| error.to_string())?;
        let noted = self.note.paths().map(|path| format!("{STORE}/{path}"));
        let is_compared = |path: &String| self.is_file(path) || self.is_by_nacre(path, &store);
        let partial = after.partial.into_iter().filter(|place| place == MEMORIES);
        noted.filter(|path| !is_compared(path)).chain(partial).next().map_or(Ok(()), Err)
    }

    fn is_file(&self, path: &str) -> bool {
        fs::symlink_metadata(self.workspace.join(path)).is_ok_and(|found| found.is_file())
    }

    /// Returns whether the note lists the current version of this memory.
    fn is_noted(&self, path: &str) -> bool {
        let bytes = self.own.files.get(path).and_then(|seen| seen.bytes.as_deref());
        let memory = memory_at(path).zip(bytes);
        memory.is_some_and(|(at, bytes)| self.note.knows(&at.path, ContentHash::of(bytes)))
    }

    /// Returns whether Nacre itself deleted or moved a memory in the meantime. Only the ledger can
    /// prove this, because programs can also move files and write tombstones.
    fn is_by_nacre(&self, path: &str, store: &Store) -> bool {
        let Some(id) = in_store(path).and_then(id_at) else { return false };
        let newest = store.own_versions(&id).first().copied();
        let is_rewritten = newest.is_some() && newest.as_ref() != self.newest.get(&id);
        let is_moved = || store.places(&id).is_ok_and(|places| !places.is_empty());
        store.last_trust(&id).is_none() || (is_rewritten && memory_at(path).is_some() && is_moved())
    }

    fn restore(&self, path: &str) -> bool {
        let Some(Seen { bytes: Some(bytes), mode, .. }) = self.own.files.get(path) else {
            return false;
        };
        let put_back = || -> Result<(), FsError> {
            let scope = WriteScope::open(&self.workspace, Access::Shared)?;
            scope.create_file_as(&RelPath::new(path)?, bytes, *mode)
        };
        put_back().is_ok()
    }
}

impl Scan {
    fn changes(&self, after: &Self) -> Vec<String> {
        let mut paths: Vec<String> = self.files.keys().chain(after.files.keys()).cloned().collect();
        paths.sort();
        paths.dedup();
        paths.retain(|path| self.stamp(path) != after.stamp(path));
        paths
    }

    fn stamp(&self, path: &str) -> Option<(u64, u64, i64, i64)> {
        self.files.get(path).map(|seen| seen.stamp)
    }
}

/// Opens the store of a workspace. Its ledger is trusted because programs cannot write to it.
fn open_store(scope: WriteScope, home: &Path) -> Store {
    let ledger = Some(LedgerPlace::of_store(home, scope.path()));
    let rules = Rules { ledger, actor: Actor::Person, ..Rules::default() };
    Store::new(scope.with_seal(Seal::from_directory(home)), rules)
}

fn in_store(path: &str) -> Option<&str> {
    path.strip_prefix(STORE)?.strip_prefix('/')
}

fn memory_at(path: &str) -> Option<Located> {
    Located::from_path(in_store(path)?)
}

/// Records that these changes were not made by the user. Versions that Nacre wrote itself are
/// already in the ledger.
fn distrust<'p>(store: &Store, paths: impl Iterator<Item = &'p String>) -> Result<(), MemoryError> {
    let memories = paths.filter_map(|path| store.load(&memory_at(path)?).ok());
    let is_new = |memory: &Memory| {
        let hash = ContentHash::of(memory.document.as_str().as_bytes());
        !store.own_versions(&memory.at.id).contains(&hash)
    };
    let changed: Vec<Memory> = memories.filter(is_new).collect();
    if changed.is_empty() {
        return Ok(());
    }
    let owner =
        Owner { pid: std::process::id(), command: "nacre chat".to_owned(), since: String::new() };
    let mut batch = store.begin(&owner, LOCK_TIMEOUT)?;
    changed.iter().for_each(|memory| batch.settle_edit(&Edit { memory, is_users: false }));
    batch.commit().map(drop)
}

/// Lists the first few paths. Files used by git come first, so that a long list cannot hide them.
fn list_paths(paths: &[String]) -> String {
    let mut paths = paths.to_vec();
    paths.sort_by_key(|path| !path.starts_with(".git/"));
    let more = if paths.len() > MAX_NAMES { ", …" } else { "" };
    paths[..paths.len().min(MAX_NAMES)].join(", ") + more
}

/// Scans files and directories, reading at most `room` bytes in total. Symbolic links are not
/// followed.
fn scan<'p>(workspace: &Path, places: impl Iterator<Item = &'p str>, mut room: u64) -> Scan {
    let mut found = Scan::default();
    let scope = WriteScope::open(workspace, Access::Shared).ok();
    for place in places {
        let (mut left, mut n_entries) = (vec![place.to_owned()], 0);
        while let Some(path) = left.pop() {
            n_entries += 1;
            let full = workspace.join(&path);
            let metadata = match fs::symlink_metadata(&full) {
                Err(error) if is_missing(&error) => continue,
                metadata => metadata.ok().filter(|_| n_entries <= MAX_ENTRIES),
            };
            let Some(metadata) = metadata else {
                found.partial.push(place.to_owned());
                break;
            };
            if metadata.is_dir() {
                let entries = fs::read_dir(&full).into_iter().flatten().flatten().take(MAX_ENTRIES);
                left.extend(entries.map(|entry| format!("{path}/{}", entry.file_name().display())));
                continue;
            }
            let stamp = (metadata.ino(), metadata.size(), metadata.ctime(), metadata.ctime_nsec());
            let mut seen = Seen { stamp, mode: None, bytes: None };
            if let (Some(scope), Ok(path), true) = (&scope, RelPath::new(&path), room != 0) {
                seen.mode = scope.mode(&path);
                seen.bytes = scope.read(&path, room).ok();
                room -= seen.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
            }
            found.files.insert(path, seen);
        }
    }
    found
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
