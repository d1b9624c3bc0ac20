//! The map's files, projects and revisions.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use nacre_base::platform;
use nacre_base::platform::fs::{FileType, Stat};
use nacre_types::{MapRevision, SkippedCounts};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::languages::{Analysis, Depth, Language, Outline};
use crate::words::WORDS_FORMAT;

/// File analyses or word counts, keyed by storage key.
pub type Blobs = BTreeMap<u64, Vec<u8>>;

/// A path relative to the project's root, with `/` as the separator. Always valid UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelativePath(Box<str>);

impl RelativePath {
    /// Parses a path. Returns `None` for paths with `..`, empty names or NUL bytes.
    pub fn new(text: &str) -> Option<Self> {
        Self::is_valid(text).then(|| Self(text.into()))
    }

    pub fn is_valid(text: &str) -> bool {
        !text.contains('\0') && !text.split('/').any(|name| matches!(name, "" | "." | ".."))
    }

    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the parent directory's path, or an empty string for files in the root.
    pub fn folder(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    pub fn below(&self, root: &Path) -> PathBuf {
        root.join(&*self.0)
    }
}

nacre_base::text_type!(RelativePath);

/// The xxh3-64 hash of a file's bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct FileHash(pub u64);

impl FileHash {
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxh3_64(bytes))
    }
}

impl fmt::Display for FileHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AnalysisKey(u64);

impl AnalysisKey {
    pub fn new(hash: FileHash, language: Language) -> Self {
        let mut hasher = Xxh3::new();
        hasher.update(&hash.0.to_le_bytes());
        hasher.update(language.name().as_bytes());
        Self(hasher.digest())
    }

    /// Returns the storage key for an analysis of this depth. Each depth has its own key, so a deep
    /// analysis does not replace a shallow one.
    pub(crate) fn at(self, depth: Depth) -> u64 {
        self.0.wrapping_add(depth as u64)
    }
}

/// Returns the storage key for a file's word counts. Code and prose have different keys because
/// they are split into words differently.
pub(crate) fn words_key(hash: FileHash, is_code: bool) -> u64 {
    let mut bytes = hash.0.to_le_bytes().to_vec();
    bytes.extend([WORDS_FORMAT, u8::from(is_code)]);
    xxh3_64(&bytes)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Canonical path.
    pub root: PathBuf,
    /// The xxh3-64 hash of the canonical path.
    pub id: String,
}

impl Project {
    pub fn at(root: PathBuf) -> Self {
        let id = format!("{:016x}", xxh3_64(root.as_os_str().as_encoded_bytes()));
        Self { root, id }
    }
}

/// File metadata that changes with every write, unless two writes fall within one tick of the file
/// system's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    pub size: u64,
    /// Nanoseconds since 1970.
    pub mtime_ns: i64,
    /// When the metadata last changed. Programs cannot set this time.
    pub ctime_ns: i64,
    pub inode: u64,
}

impl Stamp {
    pub(crate) fn of(stat: &Stat) -> Self {
        let nanos = |(seconds, nanos): (i64, i64)| {
            seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
        };
        Self {
            size: stat.st_size.cast_unsigned(),
            mtime_ns: nanos(platform::modification_time(stat)),
            ctime_ns: nanos(platform::change_time(stat)),
            inode: stat.st_ino,
        }
    }

    /// Returns a plain file's stamp. Links are not followed.
    pub(crate) fn at(file: &Path) -> Option<Self> {
        let stat = platform::fs::lstat(file).ok()?;
        FileType::from_raw_mode(stat.st_mode).is_file().then(|| Self::of(&stat))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRow {
    pub stamp: Stamp,
    pub hash: FileHash,
    pub lines: u32,
    /// The file changed shortly before it was read, so a later change might not alter its stamp.
    /// The next refresh reads the file again.
    pub is_doubtful: bool,
    /// The file is too large or cannot be read, so its hash is computed from its stamp.
    pub is_unread: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderRow {
    pub stamp: Stamp,
    pub is_doubtful: bool,
    /// Whether the directory was listed. An unlisted directory is one that is ignored but contains
    /// tracked files.
    pub is_listed: bool,
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub skipped: SkippedCounts,
}

fn is_nothing(skipped: &SkippedCounts) -> bool {
    skipped.total() == 0
}

/// A revision number and a hash of all changes up to it. The hash is needed because two different
/// states can have the same revision number after a power failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapState {
    pub revision: MapRevision,
    pub identity: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub revision: MapRevision,
    pub identity: u64,
    pub created_ns: i64,
    /// When a refresh last read every file in full.
    pub verified_ns: i64,
    /// Hash of the built-in rules and the list of tracked files. Both affect which files are
    /// selected.
    pub rules: u64,
    /// Hash of the stamps that git's index and private ignore rules had when they were last read.
    pub git: u64,
}

impl Head {
    pub fn state(&self) -> MapState {
        MapState { revision: self.revision, identity: self.identity }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    pub head: Head,
    /// New or changed rows; `None` for a removed path.
    pub files: Vec<(String, Option<FileRow>)>,
    pub folders: Vec<(String, Option<FolderRow>)>,
    /// Changes to file contents. If a file has a new stamp but the same content, it gets a new row
    /// but is not listed here.
    pub changes: Vec<ContentChange>,
}

/// A change to a file's content. A `None` hash means that the file does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentChange {
    pub path: String,
    pub before: Option<FileHash>,
    pub after: Option<FileHash>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    pub since: u64,
    pub identity: u64,
    /// Each change and the revision number that it produced.
    pub changes: Vec<(u64, ContentChange)>,
}

/// Maximum number of recorded changes. Requests for changes since an older revision fail.
const MAX_CHANGES: usize = 200_000;

impl History {
    pub(super) fn identity_at(&self, number: u64) -> u64 {
        let revisions = self.changes.chunk_by(|(one, _), (other, _)| one == other);
        let until = revisions.take_while(|changes| changes.iter().all(|(at, _)| *at <= number));
        until.fold(self.identity, |before, changes| {
            identity_after(before, changes.iter().map(|(_, change)| change))
        })
    }

    pub(super) fn trim(&mut self) {
        let Some(n_over) = self.changes.len().checked_sub(MAX_CHANGES).filter(|n| *n > 0) else {
            return;
        };
        let last_cut = self.changes[n_over - 1].0;
        self.identity = self.identity_at(last_cut);
        self.since = last_cut;
        self.changes.retain(|(number, _)| last_cut < *number);
    }
}

pub fn first_identity(created_ns: i64, hashes: impl Iterator<Item = FileHash>) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(&created_ns.to_le_bytes());
    hashes.for_each(|hash| hasher.update(&hash.0.to_le_bytes()));
    hasher.digest()
}

/// Returns the state's identity after `changes`. A revision number alone is ambiguous: if the last
/// change is lost, the next change gets the same number.
pub fn identity_after<'c>(
    before: u64,
    changes: impl IntoIterator<Item = &'c ContentChange>,
) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(&before.to_le_bytes());
    for change in changes {
        hasher.update(&(change.path.len() as u64).to_le_bytes());
        hasher.update(change.path.as_bytes());
        for hash in [change.before, change.after] {
            hasher.update(&[u8::from(hash.is_some())]);
            hasher.update(&hash.map_or(0, |hash| hash.0).to_le_bytes());
        }
    }
    hasher.digest()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    pub path: RelativePath,
    pub hash: FileHash,
    pub language: Option<Language>,
    pub lines: u32,
    pub analysis: Analysis,
}

impl FileFacts {
    pub fn outline(&self) -> Option<Outline> {
        Some(self.analysis.clone().into_outline(self.language?))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOutline<'a> {
    pub path: &'a str,
    pub language: Option<Language>,
    pub outline: Outline,
}
