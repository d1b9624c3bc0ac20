//! The index on disk. Writing requires a lock; reading does not. A damaged index is rebuilt.
//!
//! A search does not fail if the index cannot be written. If another process has the lock, the disk
//! is full or the directory is read-only, the changes are applied in memory for the current search
//! only.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{FileBytes, FsError, Owner, RelPath, WriteScope, Writer};

use super::draft::Draft;
use super::embed::Builtin;
use super::record::Unit;
use super::segment::{Segment, checksum};
use super::snapshot::Snapshot;

const MAX_INDEX_BYTES: u64 = 4 << 30;

#[derive(Debug)]
pub struct Index {
    /// `None` if the index exists only in memory.
    pub(super) folder: Option<WriteScope>,
    name: &'static str,
    kept: Option<Arc<KeptSnapshots>>,
}

#[derive(Debug, Default)]
pub struct News {
    pub units: Vec<Unit>,
    pub gone: Vec<String>,
    /// Whether more changes remain. A large source is indexed in several steps.
    pub is_partial: bool,
    /// Identifies the combined state of all sources, if the sources provide a watermark.
    pub watermark: u64,
}

impl Index {
    pub fn new(folder: Option<WriteScope>, name: &'static str) -> Self {
        Self { folder, name, kept: None }
    }

    /// Uses a cache so that the file is read again only after it changes.
    pub(super) fn with_cache(self, kept: Option<&Arc<KeptSnapshots>>) -> Self {
        Self { kept: kept.cloned(), ..self }
    }

    /// Reads the stored index. Returns an empty index if the file is missing, damaged or built with
    /// another model.
    pub(super) fn load(&self) -> Arc<Snapshot> {
        let model = Builtin::shipped();
        let empty = || Arc::new(Snapshot::new(Draft::of_shipped_model(0).finish()));
        let (Some(folder), Some(file)) = (&self.folder, self.map()) else { return empty() };
        let is_comparable =
            |segment: &Segment| segment.model() == model.id() && segment.dims == model.dims();
        let kept = self.kept.as_ref().and_then(|kept| kept.get(folder.path(), checksum(&file)));
        if let Some(snapshot) = kept.filter(|snapshot| is_comparable(snapshot.segment())) {
            return snapshot;
        }
        let Some(segment) = Segment::open(file).filter(is_comparable) else {
            return empty();
        };
        let snapshot = Arc::new(Snapshot::new(segment));
        if let Some(kept) = &self.kept {
            kept.keep(folder.path(), &snapshot);
        }
        snapshot
    }

    pub(super) fn load_of_any_model(&self) -> Option<Snapshot> {
        Segment::open(self.map()?).map(Snapshot::new)
    }

    fn map(&self) -> Option<FileBytes> {
        self.folder.as_ref()?.map_derived(&self.path().ok()?, MAX_INDEX_BYTES).ok()
    }

    fn path(&self) -> Result<RelPath, FsError> {
        RelPath::new(&format!("{}.seg", self.name))
    }

    /// Applies the changes returned by `changes` and stores the result. Stores nothing if there is
    /// no owner or another process is writing.
    pub(super) fn update<E>(
        &self,
        mut snapshot: Arc<Snapshot>,
        owner: Option<&Owner>,
        mut changes: impl FnMut(&Snapshot) -> Result<Option<News>, E>,
    ) -> Result<Arc<Snapshot>, E> {
        let Some(mut needed) = changes(&snapshot)? else { return Ok(snapshot) };
        let place = self.folder.as_ref().zip(owner);
        let writer = place.and_then(|(folder, owner)| folder.lock(owner, Duration::ZERO).ok());
        // Another process may have stored the same change while this one was waiting for the lock.
        if writer.is_some() && !self.is_stored(&snapshot) {
            snapshot = self.load();
            let Some(still_needed) = changes(&snapshot)? else { return Ok(snapshot) };
            needed = still_needed;
        }
        let applied = apply(&snapshot, &needed);
        if let Some(writer) = &writer {
            // The index is derived data, so ignore errors when storing it. This search uses the
            // copy in memory.
            let _ = self.store(writer, &applied);
        }
        Ok(Arc::new(Snapshot::new(applied)))
    }

    fn is_stored(&self, snapshot: &Snapshot) -> bool {
        match self.map() {
            Some(file) => checksum(&file) == snapshot.checksum(),
            None => snapshot.segment().n_units() == 0,
        }
    }

    fn store(&self, writer: &Writer<'_>, segment: &Segment) -> Result<(), FsError> {
        writer.put_derived(&self.path()?, &segment.bytes)
    }

    /// Removes the index. The next search rebuilds it.
    pub fn clear(&self, owner: &Owner, patience: Duration) -> Result<(), FsError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let writer = folder.lock(owner, patience)?;
        writer.remove_derived(&self.path()?)
    }

    /// Removes units from the index and erases their words from the disk. Returns whether this
    /// succeeded.
    pub(super) fn purge(
        &self,
        owner: &Owner,
        patience: Duration,
        is_gone: &dyn Fn(&str) -> bool,
    ) -> Result<bool, FsError> {
        let Some(folder) = &self.folder else { return Ok(true) };
        let writer = folder.lock(owner, patience)?;
        let Some(snapshot) = self.load_of_any_model() else {
            writer.remove_derived(&self.path()?)?;
            return Ok(self.map().is_none());
        };
        let segment = snapshot.segment();
        let mut draft = Draft::new(segment.model(), segment.dims, segment.watermark());
        draft.absorb(segment, |key| !is_gone(key));
        self.store(&writer, &draft.finish())?;
        let stored = self.load_of_any_model();
        Ok(stored.is_none_or(|stored| !stored.units().any(|(key, _)| is_gone(key))))
    }

    pub fn n_bytes(&self) -> u64 {
        let folder = self.folder.as_ref().and_then(|folder| folder.root().ok());
        let stamp = folder.zip(self.path().ok()).and_then(|(root, path)| root.stamp(path.as_str()));
        stamp.map_or(0, |stamp| stamp.size)
    }
}

fn apply(snapshot: &Snapshot, news: &News) -> Segment {
    let replaced = news.units.iter().map(|unit| unit.key.as_str());
    let gone: HashSet<&str> = replaced.chain(news.gone.iter().map(String::as_str)).collect();
    let mut draft = Draft::of_shipped_model(news.watermark);
    draft.absorb(snapshot.segment(), |key| !gone.contains(key));
    draft.push_units(&news.units);
    draft.finish()
}

/// Indexes units in memory, without a file.
pub fn index_units(units: &[Unit]) -> Snapshot {
    let mut draft = Draft::of_shipped_model(0);
    draft.push_units(units);
    Snapshot::new(draft.finish())
}

/// A cache of snapshots, so that a server reads each index only once.
#[derive(Debug, Default)]
pub struct KeptSnapshots {
    /// Most recently used last.
    entries: Mutex<Vec<(PathBuf, Arc<Snapshot>)>>,
}

impl KeptSnapshots {
    const MAX: usize = 16;

    fn get(&self, path: &Path, checksum: Option<u64>) -> Option<Arc<Snapshot>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let found = entries.iter().position(|(of, _)| of == path)?;
        let kept = entries.remove(found);
        let snapshot = Arc::clone(&kept.1);
        if checksum.is_none() || snapshot.checksum() != checksum {
            return None;
        }
        entries.push(kept);
        Some(snapshot)
    }

    fn keep(&self, path: &Path, snapshot: &Arc<Snapshot>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|(of, _)| of != path);
        if entries.len() >= Self::MAX {
            entries.remove(0);
        }
        entries.push((path.to_owned(), Arc::clone(snapshot)));
    }
}

/// A marker file for the process that indexes files in the background.
///
/// A hook indexes a few files itself and starts a background process for the rest. Until that
/// process has finished, other hooks do not scan or start another background process. Errors are
/// ignored: without the file, every hook scans.
pub(super) mod backlog {
    use super::*;

    const FILE: &str = "left.stamp";
    const MAX_BYTES: u64 = 64;

    /// If the file is older than this, the background process is assumed to have been killed.
    const MAX_AGE: Duration = Duration::from_secs(10);

    /// Returns whether a background process may still be running.
    pub(in crate::search) fn is_assigned(folder: &WriteScope, now: Timestamp) -> bool {
        // If the clock was set back, a time in the future must not block indexing forever.
        let age = read(folder).and_then(|at| Duration::try_from(now.duration_since(at)).ok());
        age.is_some_and(|age| age < MAX_AGE)
    }

    pub(in crate::search) fn assign(folder: &WriteScope, now: Timestamp, owner: &Owner) {
        write(folder, &now.to_string(), owner);
    }

    pub(in crate::search) fn clear(folder: &WriteScope, owner: &Owner) {
        if read(folder).is_some() {
            write(folder, "", owner);
        }
    }

    fn read(folder: &WriteScope) -> Option<Timestamp> {
        let bytes = folder.read_optional(&RelPath::new(FILE).ok()?, MAX_BYTES).ok()??;
        std::str::from_utf8(&bytes).ok()?.parse().ok()
    }

    fn write(folder: &WriteScope, text: &str, owner: &Owner) {
        if let Ok(path) = RelPath::new(FILE) {
            let _ = folder.put_output(&path, text.as_bytes(), owner);
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use nacre_base::fs::Access;

        #[test]
        fn a_backlog_is_assigned_until_it_is_cleared_or_too_old() {
            let place = tempfile::tempdir().unwrap();
            let folder = WriteScope::open(place.path(), Access::Private).unwrap();
            let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
            let now: Timestamp = "2026-11-15T08:30:00Z".parse().unwrap();
            assert!(!is_assigned(&folder, now));
            clear(&folder, &owner);
            assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "no file remains");
            assign(&folder, now, &owner);
            assert!(is_assigned(&folder, now) && is_assigned(&folder, now + MAX_AGE / 2));
            assert!(!is_assigned(&folder, now + MAX_AGE));
            assert!(!is_assigned(&folder, now - Duration::from_secs(1)));
            clear(&folder, &owner);
            assert!(!is_assigned(&folder, now));
            write(&folder, "garbage", &owner);
            assert!(!is_assigned(&folder, now));
        }
    }
}

#[cfg(test)]
mod tests {
    use nacre_base::fs::Access;

    use super::super::record::Record;
    use super::*;

    fn unit(number: usize) -> Unit {
        let key = format!("u{number}");
        let record =
            Record { key: key.clone(), title: format!("word{number}"), ..Record::default() };
        Unit { key, records: vec![record], ..Unit::default() }
    }

    #[test]
    fn purged_units_are_not_on_disk_and_the_rest_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let folder = WriteScope::create(&dir.path().join("index"), Access::Private).unwrap();
        let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
        let index = Index::new(Some(folder), "test");
        for units in [(0..20).collect::<Vec<_>>(), vec![20, 21], vec![3]] {
            let snapshot = index.load();
            let news = || News {
                units: units.iter().map(|number| unit(*number)).collect(),
                ..News::default()
            };
            let changes = |_: &Snapshot| Ok::<_, FsError>(Some(news()));
            index.update(snapshot, Some(&owner), changes).unwrap();
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
        assert_eq!(index.load().n_records(), 20);
        assert!(index.purge(&owner, Duration::ZERO, &|_| true).unwrap());
        assert_eq!(index.load().n_records(), 0);
    }

    #[test]
    fn a_snapshot_is_kept_for_its_own_content_and_old_ones_make_room() {
        let kept = KeptSnapshots::default();
        let snapshot = Arc::new(index_units(&[unit(1)]));
        let (path, own) = (Path::new("/a"), snapshot.checksum());
        for other in [None, Some(1)] {
            kept.keep(path, &snapshot);
            let found = kept.get(path, own);
            assert!(found.is_some_and(|found| Arc::ptr_eq(&found, &snapshot)));
            assert!(kept.get(Path::new("/b"), own).is_none());
            assert!(kept.get(path, other).is_none(), "{other:?}");
            assert!(kept.get(path, own).is_none(), "an outdated snapshot is dropped");
        }
        kept.keep(path, &snapshot);
        for number in 0..KeptSnapshots::MAX {
            kept.keep(Path::new(&format!("/{number}")), &snapshot);
        }
        assert!(kept.get(path, own).is_none());
        assert!(kept.get(Path::new("/0"), own).is_some());
    }
}
