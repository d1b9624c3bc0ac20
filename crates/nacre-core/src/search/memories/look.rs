//! What is different between an index and the files of its store.
//!
//! The index remembers the stamps of files and of the folders they lie in. As long as all of them are the same, a look
//! is a look at each and nothing else; a folder is a unit without records, so it is stored and forgotten as files are.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::{SearchError, units};
use crate::base::{Alarm, on_all_cores};
use crate::memory::{Located, Remembered, Store, Survey, Surveyed};
use crate::safefs::{FileStamp, FsError};
use crate::search::index::Changes;
use crate::search::record::{Fingerprint, Unit};
use crate::search::snapshot::Snapshot;

/// A file this young may change again without its stamp changing.
const YOUNG_NANOS: i128 = 20_000_000;

/// Files, and bytes of text, that are taken into the index at once: bounds what building it holds in memory, and what is lost
/// when the process is ended meanwhile.
const MAX_UNITS: usize = 8192;
const MAX_HELD_BYTES: usize = 4 << 20;

/// Files that are read between two looks at how much is held.
const FILES_AT_ONCE: usize = 256;

/// The same where time is short, so that the end of it is seen: words that are all different take a second a megabyte.
const SHORT_BYTES: usize = 1 << 20;
const SHORT_FILES: usize = 64;

/// Where summaries lie, by day and time.
const SUMMARIES: &str = "memory/summaries";

/// The content of a file that cannot be read.
const UNREADABLE: u64 = 1;

/// Fewer files are not worth a thread.
const FILES_PER_THREAD: usize = 64;

/// Whether the index shows the store as it is now, found out without listing or reading anything.
pub(super) fn is_current(store: &Store, snapshot: &Snapshot) -> Result<bool, SearchError> {
    let remembered: Vec<Remembered<'_>> = snapshot
        .units()
        .map(|(path, fingerprint)| Remembered { path, stamp: fingerprint.stamp })
        .collect();
    // An index without folders was not made by a whole look.
    let has_folders = remembered.iter().any(|known| is_folder(known.path));
    Ok(has_folders
        && units::number_of(store.evidence_stamp()?) == snapshot.watermark()
        && store.is_unchanged(&remembered)?)
}

/// Whether the folders of decisions and learnings are as the index knows them: nothing came, went or was replaced there.
pub(super) fn has_same_folders(store: &Store, snapshot: &Snapshot) -> Result<bool, SearchError> {
    let remembered: Vec<Remembered<'_>> = snapshot
        .empty_units_with_stamps()
        .filter(|(path, _)| is_folder(path) && !path.starts_with(SUMMARIES))
        .map(|(path, stamp)| Remembered { path, stamp })
        .collect();
    Ok(!remembered.is_empty() && store.is_unchanged(&remembered)?)
}

/// Whether a unit is a folder.
pub(super) fn is_folder(key: &str) -> bool {
    key.ends_with('/')
}

/// How many memories are new, different or gone.
pub(super) fn n_files(changes: &Changes) -> usize {
    let units = changes.units.iter().map(|unit| unit.key.as_str());
    units.chain(changes.gone.iter().map(String::as_str)).filter(|key| !is_folder(key)).count()
}

/// The change of files that somebody knows to have changed.
pub(super) fn changes_of(store: &Store, changed: &[Located], watermark: u64) -> Changes {
    let mut changes = Changes { watermark, ..Changes::default() };
    for at in changed {
        // The next look at all files settles the stamp.
        let doubtful = Doubtful { at: at.clone(), before: None, now: Fingerprint::default() };
        match read_one(store, &doubtful, false) {
            Some(unit) if store.stamp_of(at).is_some() => changes.units.push(unit),
            _ => changes.gone.push(at.path.as_str().to_owned()),
        }
    }
    changes
}

/// What one look may still take into the index. The rest is left to the next look, which goes on from there.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexBudget {
    pub(super) n_files: usize,
    pub(super) n_bytes: usize,
}

impl IndexBudget {
    /// Of one command: more than any project has written down, and a few seconds of work.
    pub(super) const OF_ONE_LOOK: Self = Self { n_files: 200_000, n_bytes: 64 << 20 };

    /// Of a look that somebody waits for: what a person or a sync changed since the last one.
    pub(super) const OF_A_QUICK_LOOK: Self = Self { n_files: 48, n_bytes: 256 << 10 };

    pub(super) fn is_used_up(&self) -> bool {
        self.n_files == 0 || self.n_bytes == 0
    }

    fn take(&mut self, units: &[Unit]) {
        self.n_files = self.n_files.saturating_sub(units.len());
        self.n_bytes = self.n_bytes.saturating_sub(n_bytes(units));
    }

    /// What is in it and fits into one piece.
    fn of_one_piece(self) -> Self {
        Self { n_files: self.n_files.min(MAX_UNITS), n_bytes: self.n_bytes.min(MAX_HELD_BYTES) }
    }
}

/// The bytes of text that units hold.
fn n_bytes(units: &[Unit]) -> usize {
    let records = units.iter().flat_map(|unit| &unit.records);
    records.map(|record| record.title.len() + record.body.len() + record.quotes.len()).sum()
}

/// A file that may not be what the index holds.
struct Doubtful {
    at: Located,
    /// As it was indexed, if it was.
    before: Option<Fingerprint>,
    now: Fingerprint,
}

/// One look at a store's files.
pub(super) struct Look<'a> {
    pub(super) store: &'a Store,
    pub(super) survey: &'a Survey,
    pub(super) now: Timestamp,
    /// What is not read when it is over waits for the next look.
    pub(super) alarm: Option<&'a Alarm>,
}

impl Look<'_> {
    pub(super) fn is_late(&self) -> bool {
        self.alarm.is_some_and(Alarm::is_over)
    }

    /// What is different from `snapshot`, or as much of it as `budget` has space for; `None` when nothing is. And how many files
    /// that may have changed were left out.
    pub(super) fn changes(
        &self,
        snapshot: &Snapshot,
        budget: &mut IndexBudget,
    ) -> Result<(Option<Changes>, usize), FsError> {
        let watermark = units::number_of(self.survey.evidence);
        let has_new_evidence = watermark != snapshot.watermark();
        let sides = self.sides(has_new_evidence)?;
        let known: HashMap<&str, Fingerprint> = snapshot.units().collect();
        let doubtful = self.doubtful(&known, sides.as_deref());
        let (mut units, n_left) = self.read(&doubtful, sides.is_some(), budget);
        // Only a look that saw everything may say that a folder is as it was.
        if n_left == 0 {
            units.extend(self.folders(&known));
        }
        let gone = self.gone(known.into_keys());
        let watermark = if n_left == 0 { watermark } else { snapshot.watermark() };
        let is_same = units.is_empty() && gone.is_empty() && watermark == snapshot.watermark();
        // Where time is over, segments are merged by another look.
        let is_partial = (n_left != 0 && !budget.is_used_up()) || self.is_late();
        Ok(((!is_same).then_some(Changes { gone, units, watermark, is_partial }), n_left))
    }

    /// What is different from `known`, or as much of it as `budget` has space for: units, paths of those that are no more, and how many
    /// files were left out. Folders are not part of it.
    pub(super) fn news(
        &self,
        known: &HashMap<String, Fingerprint>,
        mut budget: IndexBudget,
    ) -> Result<(Vec<Unit>, Vec<String>, usize), FsError> {
        let sides = self.sides(true)?;
        let known = known.iter().map(|(path, fingerprint)| (path.as_str(), *fingerprint)).collect();
        let doubtful = self.doubtful(&known, sides.as_deref());
        let (units, n_left) = self.read(&doubtful, true, &mut budget);
        Ok((units, self.gone(known.into_keys()), n_left))
    }

    /// The files whose stamps are not the known ones.
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

    /// The folders whose stamps are not the known ones.
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

    /// The stamps of all evidence, where that is worth a look.
    fn sides(&self, has_new_evidence: bool) -> Result<Option<Vec<Option<FileStamp>>>, FsError> {
        if !has_new_evidence {
            return Ok(None);
        }
        let paths = self.survey.files.iter().map(|file| file.path.as_str());
        let located: Vec<Option<Located>> = paths.map(Located::from_path).collect();
        self.store.evidence_stamps(&located).map(Some)
    }

    /// Reads what may have changed, until there is enough for one piece. Tells how many files were not read.
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

    /// The number to remember of a stamp; 0, which is never trusted, while it is young.
    fn lasting(&self, stamp: Option<FileStamp>) -> u64 {
        let is_young = |stamp: &FileStamp| {
            stamp.modified.max(stamp.changed) + YOUNG_NANOS > self.now.as_nanosecond()
        };
        if stamp.as_ref().is_some_and(is_young) { 0 } else { units::number_of(stamp) }
    }
}

/// Reads a file; `None` when it is what the index holds and may still change.
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
        // What cannot be read is no memory until its stamp changes.
        Err(_) => Unit { key: at.path.as_str().to_owned(), fingerprint: now, records: vec![] },
    })
}
