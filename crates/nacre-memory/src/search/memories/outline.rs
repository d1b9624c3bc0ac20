//! Lists active memories and finds similar ones, using only the index.
//!
//! A brief shows about thirty memories out of possibly thousands. Memories are selected using only
//! the index, so only the selected files are read.

use std::collections::HashMap;

use jiff::Timestamp;

use nacre_base::on_all_cores;
use nacre_types::BriefTopic;
use simsimd::SpatialSimilarity as _;

use super::units::file_name;
use super::{MAX_CANDIDATES, MemoryIndex};
use crate::record::IMPORTANCE;
use crate::search::query::Query;
use crate::search::rank::{self, Level, Mode, RankOptions};
use crate::search::record::Standing;
use crate::{LEARNING_KINDS, LearningKind, Located, Memory, MemoryId, MemoryType};

/// Weight of mentioning a file with the same name in another directory. A mention of the file
/// itself has weight 1.
const SAME_NAME: f32 = 0.4;

const MAX_FILES: usize = 64;

/// Minimum number of rows per thread. With fewer, starting a thread costs more time than it saves.
const ROWS_PER_THREAD: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    pub one: MemoryId,
    pub other: MemoryId,
    pub likeness: f32,
}

#[derive(Clone, Debug)]
pub struct Interest<'a> {
    pub task: Option<&'a str>,
    /// Paths relative to the repository.
    pub files: &'a [String],
}

#[derive(Clone, Debug, PartialEq)]
pub struct Listed<'a> {
    row: usize,
    pub id: &'a str,
    pub memory_type: MemoryType,
    pub kind: Option<LearningKind>,
    /// When the memory was last repeated or changed, or 1970 if unknown.
    pub updated: Timestamp,
    /// From 0 to 1.
    pub confidence: f32,
    /// From 1 to 3; 2 if unknown.
    pub importance: u8,
    /// How well the memory matches the task, from 0 to 1; 0 if there is no task.
    pub fit: f32,
    pub names_file: f32,
}

impl Listed<'_> {
    pub fn topic(&self) -> BriefTopic {
        match (self.memory_type, self.kind) {
            (MemoryType::Decision, _) => BriefTopic::Decisions,
            (MemoryType::Summary, _) => BriefTopic::RecentWork,
            (MemoryType::Learning, Some(kind)) => LEARNING_KINDS[kind as usize].topic,
            (MemoryType::Learning, None) => BriefTopic::Knowledge,
        }
    }
}

impl MemoryIndex<'_> {
    /// Returns all active memories that are not marked as superseded in their own files, in no
    /// particular order. Unverified claims in other files are ignored.
    pub fn outline(&self, interest: &Interest<'_>) -> impl Iterator<Item = Listed<'_>> {
        let fits = self.fits(interest);
        let named = self.naming(interest.files);
        let kinds = self.kinds();
        let mut importance = vec![2; self.snapshot.n_rows()];
        for known in [1, 3] {
            let rows = self.snapshot.rows_with(IMPORTANCE, &known.to_string());
            rows.for_each(|row| importance[row] = known);
        }
        self.active_rows().map(move |(row, memory_type)| {
            let numbers = self.snapshot.row(row);
            Listed {
                row,
                id: self.snapshot.key(row),
                memory_type,
                kind: kinds[row],
                updated: Timestamp::from_millisecond(numbers.time_ms).unwrap_or_default(),
                confidence: f32::from(numbers.confidence) / 255.0,
                importance: importance[row],
                fit: fits.get(&row).copied().unwrap_or(0.0),
                names_file: named.get(&row).copied().unwrap_or(0.0),
            }
        })
    }

    /// Reads a listed memory. Returns `None` if it was removed or is no longer valid.
    pub fn read(&self, listed: &Listed<'_>) -> Option<Memory> {
        self.read_row(listed.row)
    }

    /// Returns the ids of all memories, including archived ones.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let rows = (0..self.snapshot.n_rows()).filter(|row| self.snapshot.is_live(*row));
        rows.map(|row| self.snapshot.key(row))
    }

    pub(crate) fn active_rows(&self) -> impl Iterator<Item = (usize, MemoryType)> {
        (0..self.snapshot.n_rows()).filter_map(|row| {
            let is_active =
                self.snapshot.row(row).standing == Standing::Active && self.snapshot.is_live(row);
            is_active.then(|| Some((row, type_of(self.snapshot.unit_key(row))?)))?
        })
    }

    fn kinds(&self) -> Vec<Option<LearningKind>> {
        let mut kinds = vec![None; self.snapshot.n_rows()];
        for spec in LEARNING_KINDS {
            self.snapshot
                .rows_with("kind", spec.kind.as_str())
                .for_each(|row| kinds[row] = Some(spec.kind));
        }
        kinds
    }

    fn fits(&self, interest: &Interest<'_>) -> HashMap<usize, f32> {
        let Some(task) = interest.task.filter(|task| !task.trim().is_empty()) else {
            return HashMap::new();
        };
        let mut allowed = vec![false; self.snapshot.n_rows()];
        self.active_rows().for_each(|(row, _)| allowed[row] = true);
        let options = RankOptions {
            mode: Mode::Hybrid,
            level: Level::Records,
            limit: MAX_CANDIDATES,
            now_ms: self.now.as_millisecond(),
        };
        let query = Query::plain(task);
        let ranked = rank::rank(&self.snapshot, &query, &allowed, &options);
        let best = ranked.first().map_or(1.0, |best| best.score.max(f32::MIN_POSITIVE));
        ranked.into_iter().map(|hit| (hit.row, (hit.score / best).clamp(0.0, 1.0))).collect()
    }

    fn naming(&self, files: &[String]) -> HashMap<usize, f32> {
        let mut named: HashMap<usize, f32> = HashMap::new();
        for file in files.iter().take(MAX_FILES) {
            let path = file.trim_start_matches("./");
            let name = file_name(path);
            for (value, worth) in [(path, 1.0), (name, SAME_NAME)] {
                for row in self.snapshot.rows_with("file", value) {
                    let known = named.entry(row).or_default();
                    *known = known.max(worth);
                }
            }
        }
        named
    }

    /// Returns pairs of similar decisions and learnings. Each memory is paired with up to `limit`
    /// others that have a similarity of at least `least`. Each pair occurs only once.
    pub fn nearest(&self, limit: usize, least: f32) -> Vec<Near> {
        let vectors = self.claim_vectors();
        let numbers: Vec<usize> = (0..vectors.len()).collect();
        let found = on_all_cores(&numbers, ROWS_PER_THREAD, |piece| {
            piece.iter().flat_map(|one| nearest_of(&vectors, *one, limit, least)).collect()
        });
        let mut pairs: Vec<(usize, usize, f32)> =
            found.into_iter().map(|(a, b, likeness)| (a.min(b), a.max(b), likeness)).collect();
        pairs.sort_by_key(|(a, b, _)| (*a, *b));
        pairs.dedup_by_key(|(a, b, _)| (*a, *b));
        let id = |idx: usize| vectors[idx].id.clone();
        pairs
            .into_iter()
            .map(|(a, b, likeness)| Near { one: id(a), other: id(b), likeness })
            .collect()
    }

    fn claim_vectors(&self) -> Vec<ClaimVector<'_>> {
        let segment = self.snapshot.segment();
        let vectors = segment.vectors().chunks_exact(segment.dims.max(1)).enumerate();
        let live = vectors.filter(|(row, _)| self.snapshot.is_live(*row));
        let claim = |(row, vector)| {
            let at = Located::from_path(self.snapshot.unit_key(row))?;
            let is_claim = at.memory_type != MemoryType::Summary;
            is_claim.then(|| ClaimVector { id: at.id, vector, scale: segment.scale(row) })
        };
        live.filter_map(claim).collect()
    }
}

struct ClaimVector<'a> {
    id: MemoryId,
    vector: &'a [i8],
    scale: f32,
}

fn nearest_of(
    vectors: &[ClaimVector<'_>],
    one: usize,
    limit: usize,
    least: f32,
) -> Vec<(usize, usize, f32)> {
    let own = &vectors[one];
    let likeness = |other: &ClaimVector<'_>| {
        i8::dot(own.vector, other.vector).unwrap_or(0.0) as f32 * own.scale * other.scale
    };
    let others = vectors.iter().enumerate().filter(|(other, _)| *other != one);
    let mut near: Vec<(usize, usize, f32)> = others
        .map(|(idx, other)| (one, idx, likeness(other)))
        .filter(|(_, _, likeness)| *likeness >= least)
        .collect();
    near.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| a.1.cmp(&b.1)));
    near.truncate(limit);
    near
}

/// Returns the type of the memory at a path. Checks only the directory, because this function is
/// called for every memory.
pub(super) fn type_of(path: &str) -> Option<MemoryType> {
    let folder = path.strip_prefix("memory/")?.split('/').next()?;
    crate::TYPES.iter().find(|spec| spec.folder == folder).map(|spec| spec.memory_type)
}
