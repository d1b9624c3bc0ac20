//! Files of a workspace that a program can write, because the sandbox grants the whole workspace: Nacre's own, and those
//! that other programs act on later, outside any sandbox.
//!
//! Both are compared before and after a program. A memory that it changed is foreign, one that it deleted is put back, and
//! every change is reported to the model and, in the record of the call, to the user. Changed bytes stay as they are: they
//! may be the user's, from another window.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nacre_core::base::acted_on_places;
use nacre_core::memory::{
    Actor, Edit, LedgerPlace, Located, Memory, MemoryError, Rules, STORE_ACCESS, Store,
};
use nacre_core::platform::ext::MetadataExt as _;
use nacre_core::safefs::{Access, FsError, Owner, RelPath, Seal, WriteScope};

/// Maximum number of files to look at.
const MAX_FILES: usize = 20_000;

/// Total size of the files that can be put back; the rest is only compared.
const MAX_BYTES: u64 = 64 << 20;

const MAX_NAMES: usize = 20;

/// What Nacre shares of its folder: memories, what proves them, what was forgotten, and the settings.
const OWN: [&str; 5] = [
    ".nacre/.gitignore",
    ".nacre/config.toml",
    ".nacre/memory",
    ".nacre/meta/evidence",
    ".nacre/meta/tombstones",
];

/// Nacre's folder in a workspace.
const STORE: &str = ".nacre/";

/// How long to wait for another command that writes.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The files as they were before a program.
#[derive(Debug)]
pub(super) struct Guarded {
    workspace: PathBuf,
    /// Nacre's own folder, with the ledger.
    home: Option<PathBuf>,
    acted_on: BTreeMap<String, Seen>,
    own: BTreeMap<String, Seen>,
}

#[derive(Debug)]
struct Seen {
    /// Inode, size, and the time when the inode changed, which no program can set.
    stamp: (u64, u64, i64, i64),
    mode: Option<u32>,
    bytes: Option<Vec<u8>>,
}

impl Guarded {
    /// `home` is Nacre's own folder.
    pub(super) fn look(workspace: &Path, home: Option<&Path>) -> Self {
        Self {
            workspace: workspace.to_owned(),
            home: home.map(Path::to_owned),
            acted_on: scan(workspace, acted_on_places(), 0),
            own: scan(workspace, OWN.into_iter(), MAX_BYTES),
        }
    }

    /// Reports what the program changed, and takes trust from the memories among it. No process of it may be left.
    pub(super) fn finish(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let touched = changes(&self.acted_on, &scan(&self.workspace, acted_on_places(), 0));
        if !touched.is_empty() {
            notes.push(format!("changed files that other programs act on: {}", listed(&touched)));
        }
        let after = scan(&self.workspace, OWN.into_iter(), 0);
        let (changed, gone): (Vec<String>, Vec<String>) =
            changes(&self.own, &after).into_iter().partition(|path| after.contains_key(path));
        let store = self.store();
        let gone = gone.into_iter().filter(|path| !is_elsewhere(path, store.as_ref()));
        let (restored, lost): (Vec<String>, Vec<String>) =
            gone.partition(|path| self.restore(path));
        if !restored.is_empty() {
            notes.push(format!("deleted in .nacre, and restored: {}", listed(&restored)));
        }
        if !lost.is_empty() {
            notes.push(format!("deleted in .nacre, and not restored: {}", listed(&lost)));
        }
        if changed.is_empty() {
            return notes;
        }
        let names = listed(&changed);
        let distrusted = store.map_or(Ok(()), |store| distrust(&store, &changed));
        notes.push(match distrusted {
            Ok(()) => format!("changed in .nacre, and not trusted until `nacre trust`: {names}"),
            Err(error) => {
                format!("changed in .nacre; check it with `nacre trust` ({error}): {names}")
            }
        });
        notes
    }

    /// The store of the workspace. What is in its ledger was written by Nacre, which no program can be.
    fn store(&self) -> Option<Store> {
        let home = self.home.as_deref()?;
        let folder = STORE.trim_end_matches('/');
        let scope = WriteScope::open_inside(&self.workspace, folder, STORE_ACCESS).ok()?;
        let ledger = Some(LedgerPlace::of_store(home, scope.path()));
        let rules = Rules { ledger, actor: Actor::Person, ..Rules::default() };
        Some(Store::new(scope.sealed_by(Seal::kept_in(home)), rules))
    }

    /// Puts a deleted file back.
    fn restore(&self, path: &str) -> bool {
        let Some(Seen { bytes: Some(bytes), mode, .. }) = self.own.get(path) else { return false };
        let put_back = || -> Result<(), FsError> {
            let scope = WriteScope::open(&self.workspace, Access::Shared)?;
            scope.create_file_as(&RelPath::new(path)?, bytes, *mode)
        };
        put_back().is_ok()
    }
}

/// Whether another command of the user's forgot a memory, or moved it.
fn is_elsewhere(path: &str, store: Option<&Store>) -> bool {
    let (Some(at), Some(store)) = (memory_at(path), store) else { return false };
    let is_moved = store.places(&at.id).is_ok_and(|places| !places.is_empty());
    is_moved || store.last_trust(&at.id).is_none()
}

fn memory_at(path: &str) -> Option<Located> {
    Located::from_path(path.strip_prefix(STORE)?)
}

/// Records that the user did not make these changes. What Nacre itself wrote meanwhile is in the ledger already.
fn distrust(store: &Store, changed: &[String]) -> Result<(), MemoryError> {
    let memories = changed.iter().filter_map(|path| store.load(&memory_at(path)?).ok());
    let is_new = |memory: &Memory| {
        !store.is_trusted_version(&memory.at.id, memory.document.as_str().as_bytes())
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

/// The paths that are new, gone or different.
fn changes(before: &BTreeMap<String, Seen>, after: &BTreeMap<String, Seen>) -> Vec<String> {
    let stamp = |seen: &BTreeMap<String, Seen>, path: &str| seen.get(path).map(|seen| seen.stamp);
    let mut paths: Vec<String> = before.keys().chain(after.keys()).cloned().collect();
    paths.sort();
    paths.dedup();
    paths.retain(|path| stamp(before, path) != stamp(after, path));
    paths
}

/// Some of the paths. What git acts on comes first, so that nothing hides it.
fn listed(paths: &[String]) -> String {
    let mut paths = paths.to_vec();
    paths.sort_by_key(|path| !path.starts_with(".git/"));
    let more = if paths.len() > MAX_NAMES { ", …" } else { "" };
    paths[..paths.len().min(MAX_NAMES)].join(", ") + more
}

/// Looks at files and at those below folders, and reads up to `room` of their bytes. Links are not followed.
fn scan<'p>(
    workspace: &Path,
    places: impl Iterator<Item = &'p str>,
    mut room: u64,
) -> BTreeMap<String, Seen> {
    let mut found = BTreeMap::new();
    let scope = WriteScope::open(workspace, Access::Shared).ok();
    let mut left: Vec<String> = places.map(str::to_owned).collect();
    while let Some(path) = left.pop().filter(|_| found.len() < MAX_FILES) {
        let full = workspace.join(&path);
        let Ok(metadata) = fs::symlink_metadata(&full) else { continue };
        if metadata.is_dir() {
            let entries = fs::read_dir(&full).into_iter().flatten().flatten();
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
        found.insert(path, seen);
    }
    found
}
