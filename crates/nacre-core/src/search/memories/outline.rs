//! What holds now, told from the index alone: no memory's file is read to know that it is there.
//!
//! A brief of ten thousand memories shows thirty. Which thirty follows from what the index has of each row: its standing,
//! time, confidence and kind, the files it names, and how well it fits a task. Only those that are shown are read.

use std::collections::HashMap;

use jiff::Timestamp;

use super::mentions;
use super::{MAX_CANDIDATES, MemoryIndex, SearchError};
use crate::memory::{LEARNING_KINDS, LearningKind, Located, Memory, MemoryType};
use crate::search::held::HeldRow;
use crate::search::index::IndexError;
use crate::search::query::Query;
use crate::search::rank::{self, Level, Mode, RankOptions};
use crate::search::record::Standing;
use crate::search::segment::Row;
use crate::search::words;

/// What a memory is worth that names a file of the same name elsewhere, beside one that names the file itself.
const SAME_NAME: f32 = 0.4;

/// More files than this are no task.
const MAX_FILES: usize = 64;

/// What the reader is about to do, as far as that is known.
#[derive(Clone, Debug)]
pub struct Interest<'a> {
    /// In words.
    pub task: Option<&'a str>,
    /// Paths as memories name them: below the repository.
    pub files: &'a [String],
    pub mode: Mode,
}

/// A memory that holds, as the index knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed<'a> {
    row: usize,
    pub id: &'a str,
    pub memory_type: MemoryType,
    pub kind: Option<LearningKind>,
    /// When it was last said or changed; the beginning of time where nobody knows.
    pub updated: Timestamp,
    /// From 0 to 1.
    pub confidence: f32,
    /// How well it fits the task, from 0 to 1; 0 without a task.
    pub fit: f32,
    /// Whether it names one of the files, from 0 to 1.
    pub names_file: f32,
}

impl MemoryIndex<'_> {
    /// Every memory that holds: active, and not overturned by its own word. What another file claims to overturn is
    /// here, too: a claim hides nothing. In no order.
    pub fn outline<'i>(
        &'i self,
        interest: &Interest<'_>,
    ) -> Result<impl Iterator<Item = Listed<'i>> + use<'i>, SearchError> {
        let fits = self.fits(interest)?;
        let named = self.naming(interest.files);
        let listed = move |held: &HeldRow| {
            let row = held.row as usize;
            Listed {
                row,
                id: self.snapshot.key(row),
                memory_type: held.memory_type,
                kind: held.kind,
                updated: Timestamp::from_millisecond(held.time_ms).unwrap_or_default(),
                confidence: f32::from(held.confidence) / 255.0,
                fit: fits.get(&row).copied().unwrap_or(0.0),
                names_file: named.get(&row).copied().unwrap_or(0.0),
            }
        };
        Ok(self.held().iter().map(listed))
    }

    /// Reads a listed memory; `None` when it went away or changed so that it is none any more.
    pub fn read(&self, listed: &Listed<'_>) -> Option<Memory> {
        let at = Located::from_path(self.snapshot.unit_key(listed.row))?;
        self.pages().reader.borrow_mut().read_leniently(&at)
    }

    /// The active rows of memories.
    pub(super) fn held(&self) -> &[HeldRow] {
        self.snapshot.held(|| {
            let kinds = self.kinds();
            let held = |row: usize| {
                let numbers = self.snapshot.row(row);
                let is_active = numbers.standing == Standing::Active && self.snapshot.is_live(row);
                let memory_type = is_active.then(|| type_of(self.snapshot.unit_key(row)))??;
                let Row { time_ms, confidence, .. } = numbers;
                let (kind, row) = (kinds[row], u32::try_from(row).ok()?);
                Some(HeldRow { row, memory_type, kind, time_ms, confidence })
            };
            (0..self.snapshot.n_rows()).filter_map(held).collect()
        })
    }

    /// The kind of every row that has one.
    fn kinds(&self) -> Vec<Option<LearningKind>> {
        let mut kinds = vec![None; self.snapshot.n_rows()];
        for spec in LEARNING_KINDS {
            for (row, _) in self.snapshot.postings(&words::facet("kind", spec.name)) {
                kinds[row] = Some(spec.kind);
            }
        }
        kinds
    }

    fn fits(&self, interest: &Interest<'_>) -> Result<HashMap<usize, f32>, SearchError> {
        let Some(task) = interest.task.filter(|task| !task.trim().is_empty()) else {
            return Ok(HashMap::new());
        };
        let mut allowed = vec![false; self.snapshot.n_rows()];
        for held in self.held() {
            allowed[held.row as usize] = true;
        }
        let options = RankOptions {
            mode: interest.mode,
            level: Level::Records,
            limit: MAX_CANDIDATES,
            now_ms: self.now.as_millisecond(),
        };
        let query = Query::plain(task);
        let ranked = rank::rank(&self.snapshot, &query, &allowed, self.embedder, &options)
            .map_err(IndexError::Embed)?;
        let best = ranked.first().map_or(1.0, |best| best.score.max(f32::MIN_POSITIVE));
        Ok(ranked.into_iter().map(|hit| (hit.row, (hit.score / best).clamp(0.0, 1.0))).collect())
    }

    fn naming(&self, files: &[String]) -> HashMap<usize, f32> {
        let mut named: HashMap<usize, f32> = HashMap::new();
        for file in files.iter().take(MAX_FILES) {
            let path = file.trim_start_matches("./");
            let name = mentions::file_name(path);
            for (value, worth) in [(path, 1.0), (name, SAME_NAME)] {
                for (row, _) in self.snapshot.postings(&words::facet("file", value)) {
                    let known = named.entry(row).or_default();
                    *known = known.max(worth);
                }
            }
        }
        named
    }
}

/// The type of the memory at a path; looked at for every memory, so that nothing but the folder is.
pub(super) fn type_of(path: &str) -> Option<MemoryType> {
    let folder = path.strip_prefix("memory/")?.split('/').next()?;
    crate::memory::TYPES.iter().find(|spec| spec.folder == folder).map(|spec| spec.memory_type)
}
