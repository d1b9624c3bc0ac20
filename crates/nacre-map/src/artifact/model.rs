//! What is known of a file and of the project that it lies in.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Serialize, Serializer};
use xxhash_rust::xxh3::xxh3_64;

use crate::languages::{Analysis, Language, Outline};

/// How many bytes of source a token stands for, as a rule.
const BYTES_PER_TOKEN: u64 = 4;

/// A file's path seen from its project's root, with `/` between the names. Always valid UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct RelativePath(Box<str>);

impl RelativePath {
    /// Takes a path that leads down from the root and names each folder once.
    pub fn new(text: &str) -> Option<Self> {
        Self::is_one(text).then(|| Self(text.into()))
    }

    /// Whether a text is such a path. This is asked of every path that git tracks, so it goes by bytes.
    pub fn is_one(text: &str) -> bool {
        let is_name = |name: &[u8]| !matches!(name, b"" | b"." | b"..");
        let bytes = text.as_bytes();
        bytes.split(|byte| *byte == b'/').all(is_name) && memchr::memchr(0, bytes).is_none()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last name.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The folder that it lies in; empty for the root.
    pub fn folder(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Where it lies below `root`.
    pub fn below(&self, root: &Path) -> PathBuf {
        root.join(&*self.0)
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a file's bytes are known by: their xxh3-64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

impl Serialize for FileHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A project's name among the artifacts: the xxh3-64 of its canonical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProjectId(pub u64);

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Serialize for ProjectId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A state of a project's files. Each change of them makes the next one.
///
/// It names the artifact that it belongs to by when that was first made, so that a number from before a rebuild is
/// recognized and not taken for another state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Revision {
    pub epoch: u32,
    pub number: u64,
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}.{}", self.epoch, self.number)
    }
}

impl FromStr for Revision {
    type Err = BadRevision;

    fn from_str(text: &str) -> Result<Self, BadRevision> {
        let parsed = text.split_once('.').and_then(|(epoch, number)| {
            let epoch = u32::from_str_radix(epoch, 16).ok()?;
            Some(Self { epoch, number: number.parse().ok()? })
        });
        parsed.ok_or_else(|| BadRevision { text: text.chars().take(40).collect() })
    }
}

impl Serialize for Revision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A revision, and what the files held at it: after a power cut, two states may bear one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    pub revision: Revision,
    pub identity: u64,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:016x}", self.revision, self.identity)
    }
}

impl FromStr for State {
    type Err = BadRevision;

    fn from_str(text: &str) -> Result<Self, BadRevision> {
        let parsed = text.split_once(' ').and_then(|(revision, identity)| {
            let identity = u64::from_str_radix(identity, 16).ok()?;
            Some(Self { revision: revision.parse().ok()?, identity })
        });
        parsed.ok_or_else(|| BadRevision { text: text.chars().take(40).collect() })
    }
}

/// A text that names no revision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no revision")]
pub struct BadRevision {
    text: String,
}

/// A code base that has an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Canonical.
    pub root: PathBuf,
    pub id: ProjectId,
}

impl Project {
    /// The project at a canonical path.
    pub fn at(root: PathBuf) -> Self {
        let id = ProjectId(xxh3_64(root.as_os_str().as_encoded_bytes()));
        Self { root, id }
    }
}

/// What the file system says of a file; any write changes it, unless two fall into one tick of its clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stamp {
    pub size: u64,
    /// Nanoseconds since 1970.
    pub mtime_ns: i64,
    /// When its metadata last changed; no program can set it back.
    pub ctime_ns: i64,
    pub inode: u64,
}

/// Everything that is known of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    pub path: RelativePath,
    pub stamp: Stamp,
    pub hash: FileHash,
    pub language: Option<Language>,
    pub lines: u32,
    /// An estimate, by its size.
    pub tokens: u32,
    pub analysis: Analysis,
}

/// What is known of a file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOutline<'a> {
    pub path: &'a str,
    pub language: Option<Language>,
    pub outline: Outline<'a>,
}

/// A file whose text is another one than it was, with what is known of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile<'a> {
    /// Its place among all files, in the order of their paths.
    pub idx: usize,
    pub path: String,
    pub before: Outline<'a>,
    pub after: Outline<'a>,
    /// Whether both are known; what is not, is empty.
    pub is_known: bool,
    /// How many lines it had before, and has now.
    pub lines: (u32, u32),
}

/// How many tokens a text of this size has, as a rule.
pub fn estimated_tokens(size: u64) -> u32 {
    u32::try_from(size.div_ceil(BYTES_PER_TOKEN)).unwrap_or(u32::MAX)
}
