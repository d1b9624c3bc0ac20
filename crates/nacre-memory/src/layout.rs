//! The paths of all files in a `.nacre/` directory.

use jiff::tz::TimeZone;

use super::kinds::TYPES;
use crate::prelude::*;
use nacre_base::fs::{Access, ChangeSet, Result, Writer};

/// Git tracks decisions, learnings, their evidence, tombstones and the settings. All other files
/// are local or derived.
const GITIGNORE: &str = include_str!("layout/gitignore.txt");

/// Files that git ignores are private to the user. Summaries are always private, even if git tracks
/// them.
pub const STORE_ACCESS: Access = Access::ByGit(GITIGNORE);

const GITIGNORE_WITH_SUMMARIES: &str = include_str!("layout/gitignore_with_summaries.txt");

/// Nacre never writes a longer `.gitignore`, so a longer file was written by the user.
const MAX_GITIGNORE_BYTES: u64 = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoreArea {
    Active,
    Archived,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    pub id: MemoryId,
    pub memory_type: MemoryType,
    pub area: StoreArea,
    pub path: RelPath,
}

impl Located {
    /// Returns the memory whose file is at `path` in a store, or `None` if memories are not stored
    /// at such a path.
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

pub(super) fn claim_path(
    memory_type: MemoryType,
    area: StoreArea,
    id: &MemoryId,
) -> Result<RelPath> {
    let folder = folder(memory_type, area).unwrap_or("memory/summaries");
    RelPath::new(&format!("{folder}/{id}.md"))
}

pub(super) fn summary_path(id: &MemoryId, time: &str) -> Result<RelPath> {
    RelPath::new(&format!("memory/summaries/{}/{time}/{}.md", id.date(), id.slug()))
}

/// Returns whether a memory is at its canonical path. Summaries may be at any depth below their
/// date's directory.
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

pub(super) const EVIDENCE_FOLDER: &str = "meta/evidence";

pub(super) fn evidence_id(path: &str) -> Option<MemoryId> {
    path.strip_prefix(EVIDENCE_FOLDER)?.strip_prefix('/')?.strip_suffix(".json")?.parse().ok()
}

pub fn id_at(path: &str) -> Option<MemoryId> {
    Located::from_path(path).map(|at| at.id).or_else(|| evidence_id(path))
}

pub(super) fn evidence_path(id: &MemoryId) -> Result<RelPath> {
    RelPath::new(&format!("{EVIDENCE_FOLDER}/{id}.json"))
}

pub(super) fn state_path(id: &MemoryId) -> Result<RelPath> {
    RelPath::new(&format!("meta/state/{id}.json"))
}

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

/// Returns `YYYYMMDD` and `HHMMSS` in UTC, so that names derived from a time are the same on every
/// machine.
pub(super) fn stamp(now: Timestamp) -> (String, String) {
    let utc = now.to_zoned(TimeZone::UTC);
    (utc.strftime("%Y%m%d").to_string(), utc.strftime("%H%M%S").to_string())
}

pub(super) fn is_stamp(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Writes a new store's missing files and returns their paths. A `.gitignore` that the user wrote
/// is not replaced.
pub fn init(writer: &Writer<'_>, config: &str, shares_summaries: bool) -> Result<Vec<RelPath>> {
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
