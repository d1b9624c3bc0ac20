//! Reads the stamps of files and directories without following links, and finds those that changed.

use std::path::Path;

use nacre_base::platform;
use nacre_base::platform::fd::{AsFd, OwnedFd};
use nacre_base::platform::fs::{AtFlags, FileType, Mode, OFlags};

use crate::artifact::{FileRow, FolderRow, Stamp};
use crate::shares::in_batches;

pub(super) const READABLE_FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// `NONBLOCK` keeps `open` from blocking on a named pipe.
pub(super) const READABLE_FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

const BATCH: usize = 1_024;

pub(super) fn open_root(root: &Path) -> std::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(platform::fs::open(root, flags, Mode::empty())?)
}

/// Returns a file's stamp, or `None` if the path is not a plain file.
pub(super) fn file_stamp(folder: impl AsFd, path: &str) -> Option<Stamp> {
    let stat = platform::fs::statat(folder, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    FileType::from_raw_mode(stat.st_mode).is_file().then(|| Stamp::of(&stat))
}

/// Returns a directory's stamp, or `None` if the path is not a directory.
pub(super) fn folder_stamp(root: impl AsFd, path: &str) -> Option<Stamp> {
    let path = if path.is_empty() { "." } else { path };
    let stat = platform::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    FileType::from_raw_mode(stat.st_mode).is_dir().then(|| Stamp::of(&stat))
}

/// The longest clock tick on file systems with sub-second timestamps, and on those with
/// whole-second timestamps.
const TICK_NS: i64 = 20_000_000;
const COARSE_TICK_NS: i64 = 2_000_000_000;

/// Returns whether the file could have changed after it was stamped without changing the stamp.
/// This is git's rule for racy timestamps, applied to `ctime`, which programs cannot set.
pub(super) fn is_racy(stamp: Stamp, looked_ns: i64) -> bool {
    let is_coarse = stamp.ctime_ns % 1_000_000_000 == 0;
    let tick = if is_coarse { COARSE_TICK_NS } else { TICK_NS };
    looked_ns <= stamp.ctime_ns.saturating_add(tick)
}

/// Returns the indexes and new stamps of files that must be read again. The stamp is `None` for
/// removed files. If a parent directory was replaced by a link, that counts as a change to the
/// directory.
pub(super) fn find_changed_files(
    root: &OwnedFd,
    files: &[(&str, FileRow)],
    n_threads: usize,
) -> Vec<(usize, Option<Stamp>)> {
    find_changed(files.len(), n_threads, |idx| {
        let (path, row) = &files[idx];
        let stamp = file_stamp(root, path);
        (stamp != Some(row.stamp) || row.is_doubtful).then_some(stamp)
    })
}

/// Returns the indexes and new stamps of directories whose entries may have changed.
pub(super) fn find_changed_directories(
    root: &OwnedFd,
    folders: &[(&String, &FolderRow)],
    n_threads: usize,
) -> Vec<(usize, Option<Stamp>)> {
    find_changed(folders.len(), n_threads, |idx| {
        let (path, row) = folders[idx];
        let stamp = folder_stamp(root, path);
        (stamp.unwrap_or_default() != row.stamp || row.is_doubtful).then_some(stamp)
    })
}

fn find_changed(
    n_items: usize,
    n_threads: usize,
    stamp: impl Fn(usize) -> Option<Option<Stamp>> + Sync,
) -> Vec<(usize, Option<Stamp>)> {
    let batches = in_batches(n_items, BATCH, n_threads, |batch| {
        batch.filter_map(|idx| Some((idx, stamp(idx)?))).collect::<Vec<_>>()
    });
    batches.into_iter().flatten().collect()
}
