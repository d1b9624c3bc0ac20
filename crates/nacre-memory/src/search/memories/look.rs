//! Finds the differences between an index and the files in its store.
//!
//! The index stores the stamps of files and directories; a directory is a unit without records. If
//! no stamp has changed, no file is listed or read.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::{Result, units};
use crate::search::index::News;
use crate::search::record::{Fingerprint, Unit};
use crate::search::snapshot::Snapshot;
use crate::{Located, Remembered, Store, Survey, Surveyed};
use nacre_base::fs::{FileStamp, FsError};
use nacre_base::{Alarm, on_all_cores};

/// A file's stamp is stored only if the last change is at least this old. A file modified more
/// recently could change again without getting a new stamp.
const YOUNG_NANOS: i128 = 20_000_000;

/// Limits on how many files and bytes of text one step indexes. They bound the memory used and the
/// work lost if the process is killed.
const MAX_UNITS: usize = 8192;
const MAX_HELD_BYTES: usize = 4 << 20;

const FILES_AT_ONCE: usize = 256;

/// The byte limit if the caller has a deadline. Indexing a megabyte of distinct words takes about a
/// second.
const SHORT_BYTES: usize = 1 << 20;
const SHORT_FILES: usize = 64;

const SUMMARIES: &str = "memory/summaries";

const UNREADABLE: u64 = 1;

/// Minimum number of files per thread. With fewer files, starting a thread costs more time than it
/// saves.
const FILES_PER_THREAD: usize = 64;

/// Checks only stamps.
pub(super) fn is_current(store: &Store, snapshot: &Snapshot) -> Result<bool> {
    let remembered: Vec<Remembered<'_>> = snapshot
        .units()
        .map(|(path, fingerprint)| Remembered { path, stamp: fingerprint.stamp })
        .collect();
    // Directory stamps are stored only after a complete scan.
    let has_folders = remembered.iter().any(|known| is_folder(known.path));
    Ok(has_folders
        && units::number_of(store.evidence_stamp()?) == snapshot.watermark()
        && store.is_unchanged(&remembered)?)
}

pub(super) fn has_same_folders(store: &Store, snapshot: &Snapshot) -> Result<bool> {
    let remembered: Vec<Remembered<'_>> = snapshot
        .empty_units()
        .filter(|(path, _)| is_folder(path) && !path.starts_with(SUMMARIES))
        .map(|(path, fingerprint)| Remembered { path, stamp: fingerprint.stamp })
        .collect();
    Ok(!remembered.is_empty() && store.is_unchanged(&remembered)?)
}

pub(super) fn is_folder(key: &str) -> bool {
    key.ends_with('/')
}

pub(super) fn n_files(news: &News) -> usize {
    let units = news.units.iter().map(|unit| unit.key.as_str());
    units.chain(news.gone.iter().map(String::as_str)).filter(|key| !is_folder(key)).count()
}

pub(super) fn changes_of(store: &Store, changed: &[Located], watermark: u64) -> News {
    let mut news = News { watermark, ..News::default() };
    for at in changed {
        // The stamp is stored by the next complete scan.
        let doubtful = Doubtful { at: at.clone(), before: None, now: Fingerprint::default() };
        match read_one(store, &doubtful, false) {
            Some(unit) if store.stamp_of(at).is_some() => news.units.push(unit),
            _ => news.gone.push(at.path.as_str().to_owned()),
        }
    }
    news
}

/// How many files and bytes one scan may index. The next scan continues where this one stopped.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexBudget {
    pub(super) n_files: usize,
    pub(super) n_bytes: usize,
}

impl IndexBudget {
    /// A command's budget. No real project has this many files, and the work takes at most a few
    /// seconds.
    pub(super) const OF_ONE_LOOK: Self = Self { n_files: 200_000, n_bytes: 64 << 20 };

    /// A hook's budget, large enough for the changes that typically accumulate between scans.
    pub(super) const OF_A_QUICK_LOOK: Self = Self { n_files: 48, n_bytes: 256 << 10 };

    pub(super) fn is_used_up(&self) -> bool {
        self.n_files == 0 || self.n_bytes == 0
    }

    fn take(&mut self, units: &[Unit]) {
        self.n_files = self.n_files.saturating_sub(units.len());
        self.n_bytes = self.n_bytes.saturating_sub(n_bytes(units));
    }

    fn of_one_piece(self) -> Self {
        Self { n_files: self.n_files.min(MAX_UNITS), n_bytes: self.n_bytes.min(MAX_HELD_BYTES) }
    }
}

fn n_bytes(units: &[Unit]) -> usize {
    let records = units.iter().flat_map(|unit| &unit.records);
    records.map(|record| record.title.len() + record.body.len() + record.quotes.len()).sum()
}

struct Doubtful {
    at: Located,
    before: Option<Fingerprint>,
    now: Fingerprint,
}

pub(super) struct Look<'a> {
    pub(super) store: &'a Store,
    pub(super) survey: &'a Survey,
    pub(super) now: Timestamp,
    pub(super) alarm: Option<&'a Alarm>,
}

impl Look<'_> {
    pub(super) fn is_late(&self) -> bool {
        self.alarm.is_some_and(Alarm::is_over)
    }

    /// Returns the changes since `snapshot` that fit into the budget, and how many files were left
    /// out.
    pub(super) fn changes(
        &self,
        snapshot: &Snapshot,
        budget: &mut IndexBudget,
    ) -> Result<(Option<News>, usize), FsError> {
        let watermark = units::number_of(self.survey.evidence);
        let has_new_evidence = watermark != snapshot.watermark();
        let sides = self.sides(has_new_evidence)?;
        let known: HashMap<&str, Fingerprint> = snapshot.units().collect();
        let doubtful = self.doubtful(&known, sides.as_deref());
        let (mut units, n_left) = self.read(&doubtful, sides.is_some(), budget);
        // Only a complete scan may mark directories as unchanged.
        if n_left == 0 {
            units.extend(self.folders(&known));
        }
        let gone = self.gone(known.into_keys());
        let watermark = if n_left == 0 { watermark } else { snapshot.watermark() };
        let is_same = units.is_empty() && gone.is_empty() && watermark == snapshot.watermark();
        let news = News { units, gone, watermark, is_partial: n_left != 0 };
        Ok(((!is_same).then_some(news), n_left))
    }

    pub(super) fn news(
        &self,
        known: &HashMap<String, Fingerprint>,
        mut budget: IndexBudget,
    ) -> Result<News, FsError> {
        let sides = self.sides(true)?;
        let known = known.iter().map(|(path, fingerprint)| (path.as_str(), *fingerprint)).collect();
        let doubtful = self.doubtful(&known, sides.as_deref());
        let (units, n_left) = self.read(&doubtful, true, &mut budget);
        let gone = self.gone(known.into_keys());
        Ok(News { units, gone, is_partial: n_left > 0, ..News::default() })
    }

    fn doubtful(
        &self,
        known: &HashMap<&str, Fingerprint>,
        sides: Option<&[Option<FileStamp>]>,
    ) -> Vec<Doubtful> {
        let mut doubtful = Vec::new();
        for (idx, Surveyed { path, stamp }) in self.survey.files.iter().enumerate() {
            let before = known.get(path.as_str()).copied();
            let old = before.unwrap_or_default();
            let side = sides.map_or(old.side, |sides| units::number_of(sides[idx]));
            let now = Fingerprint { stamp: stamp.number(), side, content: 0 };
            if now.stamp != old.stamp || now.side != old.side {
                let Some(at) = Located::from_path(path) else { continue };
                let stamp = self.lasting(Some(*stamp));
                doubtful.push(Doubtful { at, before, now: Fingerprint { stamp, ..now } });
            }
        }
        doubtful
    }

    fn folders(&self, known: &HashMap<&str, Fingerprint>) -> Vec<Unit> {
        let folders = self.survey.folders.iter().filter_map(|folder| {
            let fingerprint =
                Fingerprint { stamp: self.lasting(folder.stamp), ..Fingerprint::default() };
            let is_known = known.get(folder.path.as_str()) == Some(&fingerprint);
            let unit = || Unit { key: folder.path.clone(), fingerprint, records: Vec::new() };
            (!is_known).then(unit)
        });
        folders.collect()
    }

    fn sides(&self, has_new_evidence: bool) -> Result<Option<Vec<Option<FileStamp>>>, FsError> {
        if !has_new_evidence {
            return Ok(None);
        }
        let paths = self.survey.files.iter().map(|file| file.path.as_str());
        let located: Vec<Option<Located>> = paths.map(Located::from_path).collect();
        self.store.evidence_stamps(&located).map(Some)
    }

    /// Reads files that may have changed, up to the limit. Also returns how many files were not
    /// read.
    fn read(
        &self,
        doubtful: &[Doubtful],
        has_sides: bool,
        budget: &mut IndexBudget,
    ) -> (Vec<Unit>, usize) {
        let mut units: Vec<Unit> = Vec::new();
        let (mut piece, mut n_read) = (budget.of_one_piece(), 0);
        let mut at_once = FILES_AT_ONCE;
        if self.alarm.is_some() {
            piece.n_bytes = piece.n_bytes.min(SHORT_BYTES);
            at_once = SHORT_FILES;
        }
        while n_read < doubtful.len() && !piece.is_used_up() {
            let end = doubtful.len().min(n_read + at_once.min(piece.n_files));
            let read = on_all_cores(&doubtful[n_read..end], FILES_PER_THREAD, |files| {
                files.iter().map(|doubtful| read_one(self.store, doubtful, has_sides)).collect()
            });
            let first = units.len();
            units.extend(read.into_iter().flatten());
            piece.take(&units[first..]);
            n_read = end;
        }
        budget.take(&units);
        (units, doubtful.len() - n_read)
    }

    fn gone<'k>(&self, known: impl Iterator<Item = &'k str>) -> Vec<String> {
        let files = self.survey.files.iter().map(|file| file.path.as_str());
        let folders = self.survey.folders.iter().map(|folder| folder.path.as_str());
        let here: HashSet<&str> = files.chain(folders).collect();
        known.filter(|path| !here.contains(path)).map(str::to_owned).collect()
    }

    /// Returns the number to store for a stamp: 0, which never matches, if the file was modified
    /// too recently.
    fn lasting(&self, stamp: Option<FileStamp>) -> u64 {
        let is_young = |stamp: &FileStamp| {
            stamp.modified.max(stamp.changed) + YOUNG_NANOS > self.now.as_nanosecond()
        };
        if stamp.as_ref().is_some_and(is_young) { 0 } else { units::number_of(stamp) }
    }
}

/// Reads a file. Returns `None` if the file is unchanged but was modified too recently for its
/// stamp to be stored.
fn read_one(store: &Store, doubtful: &Doubtful, has_sides: bool) -> Option<Unit> {
    let Doubtful { at, before, now } = doubtful;
    let mut now = *now;
    if !has_sides {
        let stamps = store.evidence_stamps(&[Some(at.clone())]).ok()?;
        now.side = units::number_of(stamps.first().copied().flatten());
    }
    let read = store.read_for_search(at);
    now.content = read.as_ref().map_or(UNREADABLE, units::content_of);
    let is_same =
        before.is_some_and(|before| before.content == now.content && before.side == now.side);
    if is_same && now.stamp == 0 {
        return None;
    }
    Some(match read {
        Ok(read) => units::unit_of(at, now, &read),
        // Store a unit without records, so that the file is not read again until it changes.
        Err(_) => Unit { key: at.path.as_str().to_owned(), fingerprint: now, records: vec![] },
    })
}
