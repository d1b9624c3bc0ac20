//! The index on disk: opened without a lock, changed under one, made again when it is not whole.
//!
//! A search never fails for the index's sake. What cannot be read is rebuilt, and where nothing may be
//! written (another process is at it, the disk is full, the folder is read-only) the change is made in
//! memory, used for this question and left to the next process to store.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::container::Bytes;
use super::embed::{EmbedError, Embedder};
use super::kept::{IndexState, KeptSnapshots};
use super::manifest::{Manifest, Part};
use super::record::{Record, Unit};
use super::segment::{Analysed, Draft, Segment};
use super::snapshot::Snapshot;
use crate::base::on_all_cores;
use crate::safefs::{FsError, Owner, RelPath, WriteScope, Writer};

/// No segment is larger.
const MAX_SEGMENT_BYTES: u64 = 4 << 30;

/// A manifest holds numbers only.
const MAX_MANIFEST_BYTES: u64 = 256 << 20;

/// A segment is merged into the one before when that is at most so many times its size.
const MERGE_FACTOR: usize = 3;

/// So many segments wait for the last piece of a change at most.
const MAX_UNMERGED: usize = 64;

/// Units that are taken apart at once; bounds what a rebuild holds in memory.
const UNITS_AT_ONCE: usize = 256;

/// Fewer units are not worth a thread.
const UNITS_PER_THREAD: usize = 64;

/// How often a reader looks again when a merge takes a segment away under its eyes.
const MAX_LOOKS: usize = 5;

/// The index of one kind of thing in an `index/` folder.
#[derive(Debug)]
pub struct Index {
    /// `None` where there is no place for it; then it lives for one question.
    folder: Option<WriteScope>,
    name: &'static str,
    /// Where a process with many questions keeps what it read.
    kept: Option<Arc<KeptSnapshots>>,
}

/// What has to change.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Units that are not there any more.
    pub(super) gone: Vec<String>,
    /// Units that are new or different.
    pub(super) units: Vec<Unit>,
    /// What the look at the sources saw.
    pub(super) watermark: u64,
    /// Whether another piece of the same change follows: segments are merged when it was the last.
    pub(super) is_partial: bool,
}

/// Why an index could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error(transparent)]
    Fs(#[from] FsError),
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

impl Index {
    /// The index `name` in `folder`.
    pub fn new(folder: Option<WriteScope>, name: &'static str) -> Self {
        Self { folder, name, kept: None }
    }

    /// The same, read anew only where it changed since the last question.
    pub(super) fn kept_in(self, kept: &Arc<KeptSnapshots>) -> Self {
        Self { kept: Some(Arc::clone(kept)), ..self }
    }

    /// Where it lies; `None` where it lives for one question.
    pub(super) fn folder(&self) -> Option<&WriteScope> {
        self.folder.as_ref()
    }

    /// Reads what is there; empty when nothing is, or nothing whole, or vectors of another model.
    pub(super) fn load(&self, embedder: &dyn Embedder) -> Arc<Snapshot> {
        let mut last: Option<Vec<u8>> = None;
        for _ in 0..MAX_LOOKS {
            let Some(state) = self.state().filter(|now| last.as_ref() != Some(&now.manifest))
            else {
                break;
            };
            if let Some(snapshot) = self.kept_snapshot(&state, embedder) {
                return snapshot;
            }
            let Some(manifest) = Manifest::parse(state.manifest.clone()) else { break };
            if manifest.model != embedder.model().as_str() {
                break;
            }
            let Some(snapshot) = self.load_parts(manifest) else {
                last = Some(state.manifest);
                continue;
            };
            let snapshot = Arc::new(snapshot);
            if let Some((kept, folder)) = self.kept.as_ref().zip(self.folder.as_ref()) {
                kept.keep(folder.path(), state, &snapshot);
            }
            return snapshot;
        }
        Arc::new(Snapshot::new(empty_manifest(embedder), Vec::new()))
    }

    /// What the disk holds now. The stamp is taken first: a change in between makes the two differ from the next look.
    fn state(&self) -> Option<IndexState> {
        let name = self.manifest_path().ok()?;
        let stamp = match &self.kept {
            Some(_) => self.folder.as_ref()?.root().ok()?.stamp(name.as_str()),
            None => None,
        };
        let manifest = self.folder.as_ref()?.read(&name, MAX_MANIFEST_BYTES).ok()?;
        Some(IndexState { manifest, stamp })
    }

    fn kept_snapshot(&self, state: &IndexState, embedder: &dyn Embedder) -> Option<Arc<Snapshot>> {
        let snapshot = self.kept.as_ref()?.get(self.folder.as_ref()?.path(), state)?;
        (snapshot.model() == embedder.model().as_str()).then_some(snapshot)
    }

    /// Reads what is there, whichever model its vectors are of.
    pub(super) fn load_of_any_model(&self) -> Option<Snapshot> {
        let bytes = self.read(self.manifest_path(), MAX_MANIFEST_BYTES)?;
        self.load_parts(Manifest::parse(bytes)?)
    }

    fn load_parts(&self, manifest: Manifest) -> Option<Snapshot> {
        let dims = manifest.dims as usize;
        let read = |part: &Part| {
            let path = self.part_path(part.number).ok()?;
            let bytes = self.folder.as_ref()?.map_derived(&path, MAX_SEGMENT_BYTES).ok()?;
            let segment = Segment::open(Bytes::Mapped(bytes));
            segment.filter(|segment| segment.dims() == dims).map(Arc::new)
        };
        let segments: Option<Vec<Arc<Segment>>> = manifest.parts.iter().map(read).collect();
        Some(Snapshot::new(manifest, segments?))
    }

    /// Brings `snapshot` up to date: `changes` tells what is different from it. Stores the result when
    /// that is possible now, and when there is an owner to store it.
    pub(super) fn update<E: From<IndexError>>(
        &self,
        snapshot: Arc<Snapshot>,
        embedder: &dyn Embedder,
        owner: Option<&Owner>,
        mut changes: impl FnMut(&Snapshot) -> Result<Option<Changes>, E>,
    ) -> Result<Arc<Snapshot>, E> {
        let Some(needed) = changes(&snapshot)? else { return Ok(snapshot) };
        let place = self.folder.as_ref().zip(owner);
        let locked = place.map(|(folder, owner)| folder.lock(owner, Duration::ZERO));
        let Some(Ok(writer)) = locked else {
            return Ok(Arc::new(apply(&snapshot, &needed, embedder)?.snapshot));
        };
        // Another process may have stored the same change while this one was looking.
        let (snapshot, needed) = if self.is_stored(&snapshot) {
            (snapshot, Some(needed))
        } else {
            let stored = self.load(embedder);
            let needed = changes(&stored)?;
            (stored, needed)
        };
        let Some(needed) = needed else { return Ok(snapshot) };
        let applied = apply(&snapshot, &needed, embedder)?;
        // Derived data that could not be stored is no failure: it is there, in memory.
        let _ = self.store(&writer, &applied);
        Ok(Arc::new(applied.snapshot))
    }

    /// Forgets everything, so that the next search builds it anew.
    pub fn clear(&self, owner: &Owner, patience: Duration) -> Result<(), FsError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let writer = folder.lock(owner, patience)?;
        writer.remove_derived(&self.manifest_path()?)?;
        self.sweep(&writer, &[])
    }

    /// Takes units out so that none of their words stay on the disk: a segment is written anew without what no longer counts in it.
    /// Returns whether the disk holds none of them now.
    pub(super) fn purge(
        &self,
        owner: &Owner,
        patience: Duration,
        is_gone: &dyn Fn(&str) -> bool,
    ) -> Result<bool, FsError> {
        let Some(folder) = &self.folder else { return Ok(true) };
        let writer = folder.lock(owner, patience)?;
        match self.load_of_any_model() {
            Some(snapshot) => self.store(&writer, &without_dead(&snapshot, is_gone))?,
            // What cannot be read is made again by the next search.
            None => {
                writer.remove_derived(&self.manifest_path()?)?;
                self.sweep(&writer, &[])?;
            }
        }
        let holds =
            |segment: &Segment| (0..segment.n_units()).any(|unit| is_gone(segment.unit_key(unit)));
        let stored = self.load_of_any_model();
        Ok(stored.is_none_or(|stored| !stored.loaded.iter().any(|part| holds(&part.segment))))
    }

    /// How many bytes it has on disk.
    pub fn n_bytes(&self) -> u64 {
        let root = self.folder.as_ref().and_then(|folder| folder.root().ok());
        let Some(folder) = root else { return 0 };
        let Ok(entries) = folder.list() else { return 0 };
        let own = entries.iter().filter(|entry| entry.name.starts_with(self.name));
        own.filter_map(|entry| folder.stamp(&entry.name)).map(|stamp| stamp.size).sum()
    }

    /// Whether the disk holds just what `snapshot` was read from.
    fn is_stored(&self, snapshot: &Snapshot) -> bool {
        let stored = self.read(self.manifest_path(), MAX_MANIFEST_BYTES).and_then(Manifest::parse);
        stored.as_ref() == Some(&snapshot.manifest)
    }

    fn store(&self, writer: &Writer<'_>, applied: &Applied) -> Result<(), FsError> {
        let manifest = &applied.snapshot.manifest;
        let segments = manifest.parts.iter().zip(&applied.snapshot.loaded).zip(&applied.origins);
        for ((part, loaded), _) in segments.filter(|(_, origin)| **origin == Origin::New) {
            writer.put_derived(&self.part_path(part.number)?, loaded.segment.bytes())?;
        }
        writer.put_derived(&self.manifest_path()?, &manifest.render())?;
        let kept: Vec<u64> = manifest.parts.iter().map(|part| part.number).collect();
        self.sweep(writer, &kept)
    }

    /// Removes the segments that no manifest names: merged ones, and what a killed writer left.
    fn sweep(&self, writer: &Writer<'_>, kept: &[u64]) -> Result<(), FsError> {
        for entry in writer.scope().root()?.list()? {
            let number = entry
                .name
                .strip_prefix(self.name)
                .and_then(|rest| rest.strip_prefix('-'))
                .and_then(|rest| rest.strip_suffix(".seg"))
                .and_then(|number| number.parse::<u64>().ok());
            if number.is_some_and(|number| !kept.contains(&number)) {
                writer.remove_derived(&RelPath::new(&entry.name)?)?;
            }
        }
        Ok(())
    }

    fn read(&self, path: Result<RelPath, FsError>, limit: u64) -> Option<Vec<u8>> {
        self.folder.as_ref()?.read(&path.ok()?, limit).ok()
    }

    fn manifest_path(&self) -> Result<RelPath, FsError> {
        RelPath::new(&format!("{}.manifest", self.name))
    }

    fn part_path(&self, number: u64) -> Result<RelPath, FsError> {
        RelPath::new(&format!("{}-{number:06}.seg", self.name))
    }
}

/// An index of these units that lives in memory alone.
pub(super) fn in_memory(units: &[Unit], embedder: &dyn Embedder) -> Result<Snapshot, IndexError> {
    let mut manifest = empty_manifest(embedder);
    let mut segments = Vec::new();
    push_part(&mut manifest, &mut segments, draft_of(units, embedder)?.finish());
    let segments = segments.into_iter().map(|(segment, _)| segment).collect();
    Ok(Snapshot::new(manifest, segments))
}

/// An index in memory of units whose vectors are known; a missing one is none. It has the terms that are wanted.
pub(super) fn of_vectors(
    units: &[Unit],
    vectors: &[Vec<Vec<f32>>],
    embedder: &dyn Embedder,
    is_wanted: impl Fn(&str) -> bool,
) -> Snapshot {
    let mut draft = Draft::new(embedder.dims());
    for (idx, unit) in units.iter().enumerate() {
        let vector = |at: usize| {
            vectors
                .get(idx)
                .and_then(|vectors| vectors.get(at))
                .map(Vec::as_slice)
                .unwrap_or_default()
        };
        let records = unit.records.iter().enumerate();
        let analysed =
            |(at, record)| Analysed::with_terms(record, vector(at), |term| is_wanted(term));
        let records = records.map(analysed).collect();
        draft.push_unit(&unit.key, unit.fingerprint, records);
    }
    let mut manifest = empty_manifest(embedder);
    let mut segments = Vec::new();
    push_part(&mut manifest, &mut segments, draft.finish());
    let segments = segments.into_iter().map(|(segment, _)| segment).collect();
    Snapshot::new(manifest, segments)
}

fn empty_manifest(embedder: &dyn Embedder) -> Manifest {
    Manifest {
        model: embedder.model().as_str().to_owned(),
        dims: u32::try_from(embedder.dims()).unwrap_or(0),
        ..Manifest::default()
    }
}

/// The segments of a snapshot in the making.
type Segments = Vec<(Arc<Segment>, Origin)>;

/// A snapshot with a change in it, and which of its segments are new.
struct Applied {
    snapshot: Snapshot,
    origins: Vec<Origin>,
}

/// Where a segment comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Stored,
    New,
}

/// Makes the next snapshot in memory.
fn apply(
    snapshot: &Snapshot,
    changes: &Changes,
    embedder: &dyn Embedder,
) -> Result<Applied, IndexError> {
    let mut manifest = snapshot.manifest.clone();
    manifest.watermark = changes.watermark;
    bury(&mut manifest, snapshot, changes);
    let loaded = snapshot.loaded.iter();
    let mut segments: Segments =
        loaded.map(|loaded| (Arc::clone(&loaded.segment), Origin::Stored)).collect();
    if !changes.units.is_empty() {
        let bytes = draft_of(&changes.units, embedder)?.finish();
        push_part(&mut manifest, &mut segments, bytes);
    }
    while let Some(first) = to_merge(&manifest, &segments, changes.is_partial) {
        let mut draft = Draft::new(manifest.dims as usize);
        for (idx, (segment, _)) in segments.iter().enumerate().skip(first) {
            let dead = &manifest.parts[idx].dead;
            let is_dead = |unit: usize| {
                u32::try_from(unit).is_ok_and(|unit| dead.binary_search(&unit).is_ok())
            };
            draft.absorb(segment, |unit| !is_dead(unit));
        }
        let number = manifest.next_number();
        manifest.parts.truncate(first);
        segments.truncate(first);
        push_numbered(&mut manifest, &mut segments, draft.finish(), number);
    }
    let (segments, origins) = segments.into_iter().unzip();
    Ok(Applied { snapshot: Snapshot::new(manifest, segments), origins })
}

/// The same units without the dead ones and those that are gone.
fn without_dead(snapshot: &Snapshot, is_gone: &dyn Fn(&str) -> bool) -> Applied {
    let mut manifest = Manifest { parts: Vec::new(), ..snapshot.manifest.clone() };
    let mut number = snapshot.manifest.next_number();
    let mut segments = Segments::new();
    for (part, loaded) in snapshot.manifest.parts.iter().zip(&snapshot.loaded) {
        let segment = &loaded.segment;
        let is_dead = |unit: usize| {
            let is_buried =
                u32::try_from(unit).is_ok_and(|unit| part.dead.binary_search(&unit).is_ok());
            is_buried || is_gone(segment.unit_key(unit))
        };
        if !(0..segment.n_units()).any(is_dead) {
            manifest.parts.push(part.clone());
            segments.push((Arc::clone(segment), Origin::Stored));
            continue;
        }
        let mut draft = Draft::new(manifest.dims as usize);
        draft.absorb(segment, |unit| !is_dead(unit));
        push_numbered(&mut manifest, &mut segments, draft.finish(), number);
        number += 1;
    }
    let (segments, origins) = segments.into_iter().unzip();
    Applied { snapshot: Snapshot::new(manifest, segments), origins }
}

/// Marks what is gone or replaced.
fn bury(manifest: &mut Manifest, snapshot: &Snapshot, changes: &Changes) {
    let replaced = changes.units.iter().map(|unit| unit.key.as_str());
    let buried: HashSet<&str> = replaced.chain(changes.gone.iter().map(String::as_str)).collect();
    for (part, loaded) in manifest.parts.iter_mut().zip(&snapshot.loaded) {
        let segment = &loaded.segment;
        let dead = (0..segment.n_units()).filter(|unit| buried.contains(segment.unit_key(*unit)));
        part.dead.extend(dead.filter_map(|unit| u32::try_from(unit).ok()));
        part.dead.sort_unstable();
        part.dead.dedup();
    }
}

fn push_part(manifest: &mut Manifest, segments: &mut Segments, bytes: Vec<u8>) {
    let number = manifest.next_number();
    push_numbered(manifest, segments, bytes, number);
}

fn push_numbered(manifest: &mut Manifest, segments: &mut Segments, bytes: Vec<u8>, number: u64) {
    if let Some(segment) = Segment::open(Bytes::Held(bytes)) {
        manifest.parts.push(Part { number, dead: Vec::new() });
        segments.push((Arc::new(segment), Origin::New));
    }
}

/// The first of the segments that become one: of the last ones that are alike in size, or one that is mostly dead and all that
/// follow it. Between the pieces of a change nothing is merged, or the first piece would be written as often as there are others.
fn to_merge(
    manifest: &Manifest,
    segments: &[(Arc<Segment>, Origin)],
    is_partial: bool,
) -> Option<usize> {
    if is_partial && segments.len() < MAX_UNMERGED {
        return None;
    }
    let n_live =
        |idx: usize| segments[idx].0.n_units().saturating_sub(manifest.parts[idx].dead.len());
    let is_mostly_dead = |idx: &usize| n_live(*idx) < segments[*idx].0.n_units().div_ceil(2);
    if let Some(first) = (0..segments.len()).find(is_mostly_dead) {
        return Some(first);
    }
    let last = segments.len().checked_sub(1)?;
    // A unit without records has its weight too.
    let size = |idx: usize| segments[idx].0.n_rows() + segments[idx].0.n_units();
    let (mut first, mut merged) = (last, size(last));
    while let Some(before) = first.checked_sub(1)
        && size(before) <= merged.saturating_mul(MERGE_FACTOR)
    {
        (first, merged) = (before, merged + size(before));
    }
    (first < last).then_some(first)
}

fn draft_of(units: &[Unit], embedder: &dyn Embedder) -> Result<Draft, EmbedError> {
    let mut draft = Draft::new(embedder.dims());
    for piece in units.chunks(UNITS_AT_ONCE) {
        let analysed = on_all_cores(piece, UNITS_PER_THREAD, |units| {
            units.iter().map(|unit| analyse(unit, embedder)).collect()
        });
        for (unit, records) in piece.iter().zip(analysed) {
            draft.push_unit(&unit.key, unit.fingerprint, records?);
        }
    }
    Ok(draft)
}

fn analyse(unit: &Unit, embedder: &dyn Embedder) -> Result<Vec<Analysed>, EmbedError> {
    let texts: Vec<String> = unit.records.iter().map(Record::embedded_text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embedder.embed(&texts)?;
    Ok(unit
        .records
        .iter()
        .zip(vectors)
        .map(|(record, vector)| Analysed::new(record, &vector))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::safefs::Access;
    use crate::search::Builtin;

    fn owner() -> Owner {
        Owner { pid: 1, command: "test".to_owned(), since: String::new() }
    }

    fn unit(number: usize) -> Unit {
        let key = format!("u{number}");
        let record =
            Record { key: key.clone(), title: format!("word{number}"), ..Record::default() };
        Unit { key, records: vec![record], ..Unit::default() }
    }

    #[test]
    fn what_is_purged_is_on_no_disk_and_the_rest_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let folder = WriteScope::create(&dir.path().join("index"), Access::Private).unwrap();
        let (embedder, owner) = (Builtin::shipped().unwrap(), owner());
        let index = Index::new(Some(folder), "test");
        for units in [(0..20).collect::<Vec<_>>(), vec![20, 21], vec![3]] {
            let snapshot = index.load(&embedder);
            let changes = || Changes {
                units: units.iter().map(|number| unit(*number)).collect(),
                ..Changes::default()
            };
            let change = |_: &Snapshot| Ok::<_, IndexError>(Some(changes()));
            index.update(snapshot, &embedder, Some(&owner), change).unwrap();
        }
        let on_disk = |word: &str| {
            let files = std::fs::read_dir(dir.path().join("index")).unwrap();
            let held = files.map(|file| std::fs::read(file.unwrap().path()).unwrap_or_default());
            held.into_iter().any(|bytes| bytes.windows(word.len()).any(|at| at == word.as_bytes()))
        };
        assert!(on_disk("word3") && on_disk("word21"));
        let is_gone = |key: &str| key == "u3" || key == "u21";
        assert!(index.purge(&owner, Duration::ZERO, &is_gone).unwrap());
        assert!(!on_disk("word3") && !on_disk("word21") && on_disk("word20"));
        assert_eq!(index.load(&embedder).n_records(), 20);
        assert!(index.purge(&owner, Duration::ZERO, &|_| true).unwrap());
        assert_eq!(index.load(&embedder).n_records(), 0);
    }

    #[test]
    fn a_change_in_pieces_is_merged_once() {
        let embedder = Builtin::shipped().unwrap();
        let index = Index::new(None, "test");
        let mut snapshot = index.load(&embedder);
        for piece in 0..5 {
            snapshot = index
                .update(snapshot, &embedder, None, |_| {
                    let units = (piece * 10..piece * 10 + 10).map(unit).collect();
                    Ok::<_, IndexError>(Some(Changes {
                        units,
                        is_partial: piece != 4,
                        ..Changes::default()
                    }))
                })
                .unwrap();
        }
        let numbers: Vec<u64> = snapshot.manifest.parts.iter().map(|part| part.number).collect();
        assert_eq!((numbers, snapshot.n_records()), (vec![6], 50), "five pieces, one merge");
    }
}
