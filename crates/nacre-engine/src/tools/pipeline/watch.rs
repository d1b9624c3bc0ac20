//! Detects a program's changes by comparing the files before and after it runs.
//!
//! Programs do not declare which files they change. The metadata and contents of all files that git
//! would list are therefore stored, within limits. The second scan reads only files whose metadata
//! has changed.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use nacre_base::fs::{FileStamp, Folder, RelPath};

use crate::model::Cancel;
use crate::record::FileChange;
use crate::tools::pipeline::undo::{ChangedFile, Image, MAX_FILE_BYTES};
use crate::tools::workspace::{Walk, Workspace};

const MAX_ENTRIES: usize = 20_000;

/// Maximum total size of stored contents. Beyond this limit, only metadata is stored.
const MAX_TOTAL_BYTES: usize = 64 << 20;

/// Maximum number of recorded changes. Programs that make more changes can simply be run again.
const MAX_CHANGED: usize = 2_000;

/// Timestamps more recent than this are not trusted, because a later change could get the same
/// timestamp.
const SLACK_NANOS: i128 = 2_000_000_000;

#[derive(Clone, Debug, Default)]
pub(super) struct Watched(Arc<Mutex<WatchedFiles>>);

#[derive(Debug, Default)]
struct WatchedFiles {
    by_path: BTreeMap<RelPath, Seen>,
    n_bytes: usize,
    look: u64,
}

#[derive(Debug)]
struct Seen {
    stamp: FileStamp,
    image: Image,
    look: u64,
}

#[derive(Debug, Default)]
pub(super) struct ProgramChanges {
    pub(super) files: Vec<ChangedFile>,
    /// Whether some watched files were skipped, in which case more files may have changed.
    pub(super) is_cut: bool,
}

impl Watched {
    pub(super) fn has_looked(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).look != 0
    }

    pub(super) async fn look(&self, workspace: &Arc<Workspace>, now: Timestamp) -> ProgramChanges {
        let (files, workspace) = (Arc::clone(&self.0), Arc::clone(workspace));
        let looked = tokio::task::spawn_blocking(move || {
            files.lock().unwrap_or_else(PoisonError::into_inner).look(&workspace, now)
        });
        looked.await.unwrap_or_default()
    }
}

impl WatchedFiles {
    fn look(&mut self, workspace: &Workspace, now: Timestamp) -> ProgramChanges {
        self.look += 1;
        let fresh_from = now.as_nanosecond() - SLACK_NANOS;
        let mut changes = ProgramChanges::default();
        let never = Cancel::new();
        let walk = Walk::new(workspace, &never).at_most(MAX_ENTRIES);
        let walked = walk.run(None, &mut |path, folder| {
            self.file(path, folder, fresh_from, &mut changes);
            ControlFlow::Continue(())
        });
        changes.is_cut |= walked.map_or(true, |end| end.is_cut);
        if !changes.is_cut {
            self.forget_missing(&mut changes);
        }
        changes
    }

    fn file(
        &mut self,
        path: &RelPath,
        folder: &Folder,
        fresh_from: i128,
        changes: &mut ProgramChanges,
    ) {
        let Some(stamp) = folder.stamp(path.name()) else { return };
        let look = self.look;
        if let Some(seen) = self.by_path.get_mut(path) {
            seen.look = look;
            if seen.stamp == stamp && stamp.changed.max(stamp.modified) < fresh_from {
                return;
            }
        }
        let image = self.read(path, folder, &stamp);
        let old = self.by_path.insert(path.clone(), Seen { stamp, image: image.clone(), look });
        let (before, was_touched) = match old {
            Some(old) => {
                self.n_bytes -= size_of(&old.image);
                (old.image, old.stamp != stamp)
            }
            None => (Image::Absent, true),
        };
        self.n_bytes += size_of(&image);
        let is_different = before != image || (before == Image::TooLarge && was_touched);
        if is_different {
            changes.add(ChangedFile { path: path.clone(), before, after: image });
        }
    }

    fn read(&self, path: &RelPath, folder: &Folder, stamp: &FileStamp) -> Image {
        let is_small = stamp.size <= MAX_FILE_BYTES as u64
            && self.n_bytes + usize::try_from(stamp.size).unwrap_or(usize::MAX) <= MAX_TOTAL_BYTES;
        if !is_small {
            return Image::TooLarge;
        }
        match folder.read(path.name(), MAX_FILE_BYTES as u64) {
            Ok(bytes) => Image::File { bytes: bytes.into(), mode: folder.mode(path.name()) },
            Err(_) => Image::TooLarge,
        }
    }

    fn forget_missing(&mut self, changes: &mut ProgramChanges) {
        let look = self.look;
        let n_bytes = &mut self.n_bytes;
        self.by_path.retain(|path, seen| {
            if seen.look == look {
                return true;
            }
            *n_bytes -= size_of(&seen.image);
            let before = std::mem::replace(&mut seen.image, Image::Absent);
            changes.add(ChangedFile { path: path.clone(), before, after: Image::Absent });
            false
        });
    }
}

impl ProgramChanges {
    pub(super) fn without(mut self, is_known: impl Fn(&RelPath) -> bool) -> Self {
        self.files.retain(|file| !is_known(&file.path));
        self
    }

    pub(super) fn changes(&self) -> impl Iterator<Item = FileChange> {
        self.files.iter().map(ChangedFile::change)
    }

    fn add(&mut self, changed: ChangedFile) {
        if self.files.len() < MAX_CHANGED {
            self.files.push(changed);
        } else {
            self.is_cut = true;
        }
    }
}

fn size_of(image: &Image) -> usize {
    match image {
        Image::File { bytes, .. } => bytes.len(),
        Image::Absent | Image::TooLarge => 0,
    }
}
