//! Where everything lies below a `.nacre/` folder.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::id::MemoryId;
use super::kinds::{MemoryType, TYPES};
use crate::safefs::{ChangeSet, FsError, RelPath, Writer};

/// What git keeps of a store: decisions and learnings, what proves them, what was forgotten, and the settings.
/// Everything else is local or can be made again.
pub const GITIGNORE: &str = "\
# Nacre shares decisions, learnings, their evidence and the project's settings; the rest is local.
# Summaries tell what people did: `share.summaries = true` in config.toml and `nacre init` share them.
/*
!/.gitignore
!/config.toml
!/memory/
/memory/summaries/
!/meta/
/meta/*
!/meta/evidence/
!/meta/tombstones/
";

/// The same where a project shares its summaries.
const GITIGNORE_WITH_SUMMARIES: &str = "\
# Nacre shares memories, their evidence and the project's settings; the rest is local.
/*
!/.gitignore
!/config.toml
!/memory/
!/meta/
/meta/*
!/meta/evidence/
!/meta/tombstones/
";

/// No `.gitignore` of ours is longer; a longer one is a person's.
const MAX_GITIGNORE_BYTES: u64 = 4096;

/// Whether a memory is in use or put away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shelf {
    Active,
    Archived,
}

/// A memory's place in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    pub id: MemoryId,
    pub memory_type: MemoryType,
    pub shelf: Shelf,
    pub path: RelPath,
}

impl Located {
    /// The memory whose file lies at `path` below a store; `None` when that is no memory's place.
    pub fn from_path(path: &str) -> Option<Self> {
        let rel = RelPath::new(path).ok()?;
        let (parent, name) = path.rsplit_once('/')?;
        let stem = name.strip_suffix(".md")?;
        let claim = claim_folders().find(|(_, _, folder)| *folder == parent);
        let (memory_type, shelf, id) = match claim {
            Some((memory_type, shelf, _)) => (memory_type, shelf, stem.parse().ok()?),
            None => {
                let day = parent.strip_prefix("memory/summaries/")?.split('/').next()?;
                (MemoryType::Summary, Shelf::Active, format!("{day}-{stem}").parse().ok()?)
            }
        };
        Some(Self { id, memory_type, shelf, path: rel })
    }
}

/// The folder of one type on one shelf; summaries have no archive.
pub(super) fn folder(memory_type: MemoryType, shelf: Shelf) -> Option<&'static str> {
    match (memory_type, shelf) {
        (MemoryType::Decision, Shelf::Active) => Some("memory/decisions"),
        (MemoryType::Learning, Shelf::Active) => Some("memory/learnings"),
        (MemoryType::Summary, Shelf::Active) => Some("memory/summaries"),
        (MemoryType::Decision, Shelf::Archived) => Some("memory/archived/decisions"),
        (MemoryType::Learning, Shelf::Archived) => Some("memory/archived/learnings"),
        (MemoryType::Summary, Shelf::Archived) => None,
    }
}

/// The file of a decision or learning.
pub(super) fn claim_path(
    memory_type: MemoryType,
    shelf: Shelf,
    id: &MemoryId,
) -> Result<RelPath, FsError> {
    let folder = folder(memory_type, shelf).unwrap_or("memory/summaries");
    RelPath::new(&format!("{folder}/{id}.md"))
}

/// The file of a summary: its day and time are folders.
pub(super) fn summary_path(id: &MemoryId, time: &str) -> Result<RelPath, FsError> {
    RelPath::new(&format!("memory/summaries/{}/{time}/{}.md", id.date(), id.slug()))
}

/// Whether a memory lies exactly where it belongs: a summary is found at any depth below its day.
pub(super) fn is_exact(at: &Located) -> bool {
    let time = at.path.as_str().split('/').nth(3).unwrap_or_default();
    match at.memory_type {
        MemoryType::Decision | MemoryType::Learning => true,
        MemoryType::Summary => {
            let path = summary_path(&at.id, time);
            is_stamp(time) && path.is_ok_and(|path| path == at.path)
        }
    }
}

/// The folder of all evidence.
pub(super) const EVIDENCE_FOLDER: &str = "meta/evidence";

pub(super) fn evidence_path(id: &MemoryId) -> Result<RelPath, FsError> {
    RelPath::new(&format!("{EVIDENCE_FOLDER}/{id}.json"))
}

pub(super) fn state_path(id: &MemoryId) -> Result<RelPath, FsError> {
    RelPath::new(&format!("meta/state/{id}.json"))
}

/// The pairs of folders that hold decisions and learnings.
pub(super) fn claim_folders() -> impl Iterator<Item = (MemoryType, Shelf, &'static str)> {
    TYPES.iter().flat_map(|spec| {
        let places = [Shelf::Active, Shelf::Archived].map(|shelf| (spec.memory_type, shelf));
        places.into_iter().filter_map(|(memory_type, shelf)| match memory_type {
            MemoryType::Decision | MemoryType::Learning => {
                folder(memory_type, shelf).map(|folder| (memory_type, shelf, folder))
            }
            MemoryType::Summary => None,
        })
    })
}

/// `YYYYMMDD` and `HHMMSS`, in UTC: the same trace gives the same names on every machine.
pub(super) fn stamp(now: Timestamp) -> (String, String) {
    let utc = now.to_zoned(TimeZone::UTC);
    (utc.strftime("%Y%m%d").to_string(), utc.strftime("%H%M%S").to_string())
}

/// Whether a folder's name can be a day or a time.
pub(super) fn is_stamp(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Writes what a new store starts with, where it is missing, and says to git whether summaries are shared; a `.gitignore`
/// that a person wrote stays. Returns what was written.
pub fn init(
    writer: &Writer<'_>,
    config: &str,
    shares_summaries: bool,
) -> Result<Vec<RelPath>, FsError> {
    let mut set = ChangeSet::new();
    let (wanted, other) = match shares_summaries {
        true => (GITIGNORE_WITH_SUMMARIES, GITIGNORE),
        false => (GITIGNORE, GITIGNORE_WITH_SUMMARIES),
    };
    let ignore = RelPath::new(".gitignore")?;
    if !writer.scope().has(&ignore)? {
        set.create(ignore, wanted.as_bytes().to_vec());
    } else if writer
        .scope()
        .read(&ignore, MAX_GITIGNORE_BYTES)
        .is_ok_and(|now| now == other.as_bytes())
    {
        set.replace(ignore, other.as_bytes(), wanted.as_bytes().to_vec());
    }
    let settings = RelPath::new("config.toml")?;
    if !writer.scope().has(&settings)? {
        set.create(settings, config.as_bytes().to_vec());
    }
    let written = set.paths().cloned().collect();
    writer.commit(set)?;
    Ok(written)
}
