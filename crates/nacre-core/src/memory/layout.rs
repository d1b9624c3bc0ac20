//! Where everything lies below a `.nacre/` folder.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::id::MemoryId;
use super::kinds::{MemoryType, TYPES};
use crate::safefs::{Access, ChangeSet, FsError, RelPath, Writer};

/// What git keeps of a store: decisions and learnings, what proves them, what was forgotten, and the settings.
/// Everything else is local or can be made again.
const GITIGNORE: &str = "\
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

/// Modes of files follow git: what it does not share, other users of the machine do not read. Summaries are always
/// private; where git shares them, every clone has its own copy.
pub const STORE_ACCESS: Access = Access::ByGit(GITIGNORE);

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
pub enum StoreArea {
    Active,
    Archived,
}

/// A memory's place in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    pub id: MemoryId,
    pub memory_type: MemoryType,
    pub area: StoreArea,
    pub path: RelPath,
}

impl Located {
    /// The memory whose file lies at `path` below a store; `None` when that is no memory's place.
    pub fn from_path(path: &str) -> Option<Self> {
        let rel = RelPath::new(path).ok()?;
        let (parent, name) = path.rsplit_once('/')?;
        let stem = name.strip_suffix(".md")?;
        let claim = claim_folders().find(|(_, _, folder)| *folder == parent);
        let (memory_type, area, id) = match claim {
            Some((memory_type, area, _)) => (memory_type, area, stem.parse().ok()?),
            None => {
                let day = parent.strip_prefix("memory/summaries/")?.split('/').next()?;
                (MemoryType::Summary, StoreArea::Active, format!("{day}-{stem}").parse().ok()?)
            }
        };
        Some(Self { id, memory_type, area, path: rel })
    }
}

/// The folder of one type on one area; summaries have no archive.
pub(super) fn folder(memory_type: MemoryType, area: StoreArea) -> Option<&'static str> {
    match (memory_type, area) {
        (MemoryType::Decision, StoreArea::Active) => Some("memory/decisions"),
        (MemoryType::Learning, StoreArea::Active) => Some("memory/learnings"),
        (MemoryType::Summary, StoreArea::Active) => Some("memory/summaries"),
        (MemoryType::Decision, StoreArea::Archived) => Some("memory/archived/decisions"),
        (MemoryType::Learning, StoreArea::Archived) => Some("memory/archived/learnings"),
        (MemoryType::Summary, StoreArea::Archived) => None,
    }
}

/// The file of a decision or learning.
pub(super) fn claim_path(
    memory_type: MemoryType,
    area: StoreArea,
    id: &MemoryId,
) -> Result<RelPath, FsError> {
    let folder = folder(memory_type, area).unwrap_or("memory/summaries");
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

/// The memory whose evidence lies at a path.
pub(super) fn evidence_id(path: &str) -> Option<MemoryId> {
    path.strip_prefix(EVIDENCE_FOLDER)?.strip_prefix('/')?.strip_suffix(".json")?.parse().ok()
}

pub(super) fn evidence_path(id: &MemoryId) -> Result<RelPath, FsError> {
    RelPath::new(&format!("{EVIDENCE_FOLDER}/{id}.json"))
}

pub(super) fn state_path(id: &MemoryId) -> Result<RelPath, FsError> {
    RelPath::new(&format!("meta/state/{id}.json"))
}

/// The pairs of folders that hold decisions and learnings.
pub(super) fn claim_folders() -> impl Iterator<Item = (MemoryType, StoreArea, &'static str)> {
    TYPES.iter().flat_map(|spec| {
        let places = [StoreArea::Active, StoreArea::Archived].map(|area| (spec.memory_type, area));
        places.into_iter().filter_map(|(memory_type, area)| match memory_type {
            MemoryType::Decision | MemoryType::Learning => {
                folder(memory_type, area).map(|folder| (memory_type, area, folder))
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
