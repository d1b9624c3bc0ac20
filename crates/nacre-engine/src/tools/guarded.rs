//! Files of a workspace that a program can write, because the walls grant the whole workspace, and should not: Nacre's own,
//! and those that other programs act on later, outside of any walls.
//!
//! Both are looked at before and after a program. What it changed of Nacre's is put back; of the others each change is
//! reported, to the model and, by the record of the call, to the person.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use nacre_core::base::{ContentHash, acted_on_places};
use nacre_core::memory::LedgerPlace;
use nacre_core::platform::ext::MetadataExt as _;
use nacre_core::safefs::{Access, FileStamp, FsError, RelPath, WriteScope};

/// Maximum number of files to look at.
const MAX_FILES: usize = 20_000;

/// The bytes of all files together that can be put back; the rest is only compared.
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

/// Where the bytes that were replaced are kept, beside the long outputs.
const REPLACED: &str = "replaced";

/// The files as they were before a program.
#[derive(Debug)]
pub(super) struct Guarded {
    workspace: PathBuf,
    spill: PathBuf,
    acted_on: BTreeMap<String, Seen>,
    own: BTreeMap<String, Seen>,
    /// Nacre writes the ledger of a store whenever it writes a memory of it; no program can.
    ledger: Option<LedgerPlace>,
    entered: Option<FileStamp>,
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
    pub(super) fn look(workspace: &Path, spill: &Path, home: Option<&Path>) -> Self {
        let ledger = home.map(|home| LedgerPlace::of_store(home, &workspace.join(".nacre")));
        Self {
            workspace: workspace.to_owned(),
            spill: spill.to_owned(),
            acted_on: scan(workspace, acted_on_places(), 0),
            own: scan(workspace, OWN.into_iter(), MAX_BYTES),
            entered: ledger.as_ref().and_then(LedgerPlace::stamp),
            ledger,
        }
    }

    /// Puts Nacre's files back, and says in sentences what the program changed. No process of it may be left.
    pub(super) fn finish(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let touched = changes(&self.acted_on, &scan(&self.workspace, acted_on_places(), 0));
        if !touched.is_empty() {
            notes.push(format!("changed files that other programs act on: {}", listed(&touched)));
        }
        let changed = changes(&self.own, &scan(&self.workspace, OWN.into_iter(), 0));
        if changed.is_empty() {
            return notes;
        }
        // Another command of the person's wrote meanwhile, and its memories must not be lost. What it did not write is not in
        // the ledger, and so not trusted.
        if self.ledger.as_ref().and_then(LedgerPlace::stamp) != self.entered {
            let names = listed(&changed);
            notes.push(format!("changed in .nacre, while Nacre wrote there, and left so: {names}"));
            return notes;
        }
        let (restored, lost): (Vec<_>, Vec<_>) =
            changed.into_iter().partition(|path| self.restore(path).is_ok());
        if !restored.is_empty() {
            let (n, names) = (restored.len(), listed(&restored));
            notes.push(format!(
                "The program changed {n} files in .nacre; they were restored: {names}"
            ));
        }
        if !lost.is_empty() {
            notes.push(format!("changed in .nacre, and could not be restored: {}", listed(&lost)));
        }
        notes
    }

    fn restore(&self, path: &str) -> Result<(), FsError> {
        let path = RelPath::new(path)?;
        let scope = WriteScope::open(&self.workspace, Access::Shared)?;
        let now = scope.read_optional(&path, MAX_BYTES)?;
        if let Some(bytes) = &now {
            // It may be the edit of a person in another window.
            let aside = WriteScope::create_inside(&self.spill, REPLACED, Access::Private)?;
            let _ = aside.create_file(&RelPath::new(&ContentHash::of(bytes).to_string())?, bytes);
        }
        let now = now.as_deref().map(ContentHash::of);
        match (self.own.get(path.as_str()), now) {
            (None, None) => Ok(()),
            (None, Some(now)) => scope.remove_file(&path, now),
            (Some(Seen { bytes: Some(bytes), mode, .. }), None) => {
                scope.create_file_as(&path, bytes, *mode)
            }
            (Some(Seen { bytes: Some(bytes), mode, .. }), Some(now)) => {
                scope.replace_file_as(&path, now, bytes, *mode)
            }
            (Some(Seen { bytes: None, .. }), _) => Err(FsError::Conflict { paths: vec![path] }),
        }
    }
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

fn listed(paths: &[String]) -> String {
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
