//! Looks at every file and folder that is known, and tells which are not as they were.
//!
//! This is all that an unchanged project costs. Files are looked up from the handle of their folder, which is opened once for
//! all of them, because short paths are found faster than long ones.

use std::os::fd::OwnedFd;
use std::thread;

use rustix::fs::Mode;

use super::look::{PASSAGE, file_stamp, folder_stamp};
use crate::artifact::{FileRow, FolderRow, Stamp};

/// A thread is not worth starting for fewer looks.
const MIN_SHARE: usize = 256;

/// The places in `files` of those that must be read again, with their stamps now; `None` for those that are gone.
pub(super) fn changed_files(
    root: &OwnedFd,
    files: &[(&str, FileRow)],
    n_threads: usize,
) -> Vec<(usize, Option<Stamp>)> {
    in_shares(files, n_threads, |first, share| {
        let mut stairs = Stairs { root, steps: Vec::new() };
        let mut changed = Vec::new();
        for (idx, (path, row)) in share.iter().enumerate() {
            let stamp = stairs.stamp(path);
            if stamp != Some(row.stamp) || row.marks.is_doubtful {
                changed.push((first + idx, stamp));
            }
        }
        changed
    })
}

/// The places in `folders` of those whose names may have changed, with their stamps now.
pub(super) fn changed_folders(
    root: &OwnedFd,
    folders: &[(&String, &FolderRow)],
    n_threads: usize,
) -> Vec<(usize, Option<Stamp>)> {
    in_shares(folders, n_threads, |first, share| {
        let mut changed = Vec::new();
        for (idx, (path, row)) in share.iter().enumerate() {
            let stamp = folder_stamp(root, path);
            if stamp.unwrap_or_default() != row.stamp || row.is_doubtful {
                changed.push((first + idx, stamp));
            }
        }
        changed
    })
}

/// Splits a list among threads; `work` is told where its share begins.
pub(super) fn in_shares<T: Sync, R: Send>(
    items: &[T],
    n_threads: usize,
    work: impl Fn(usize, &[T]) -> Vec<R> + Sync,
) -> Vec<R> {
    let n_shares = n_threads.min(items.len() / MIN_SHARE).max(1);
    if n_shares == 1 {
        return work(0, items);
    }
    let size = items.len().div_ceil(n_shares);
    let work = &work;
    thread::scope(|scope| {
        let shares = items.chunks(size).enumerate();
        let running: Vec<_> =
            shares.map(|(number, share)| scope.spawn(move || work(number * size, share))).collect();
        running.into_iter().flat_map(|share| share.join().unwrap_or_default()).collect()
    })
}

/// The open folders on the way to a file. Paths come in order, so the next file is mostly a step away.
struct Stairs<'a> {
    root: &'a OwnedFd,
    /// Each folder's path, and the folder.
    steps: Vec<(&'a str, OwnedFd)>,
}

impl<'a> Stairs<'a> {
    fn stamp(&mut self, path: &'a str) -> Option<Stamp> {
        let Some((folder, name)) = path.rsplit_once('/') else {
            return file_stamp(self.root, path);
        };
        let is_above = |step: &str| {
            folder.strip_prefix(step).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        while self.steps.last().is_some_and(|(step, _)| !is_above(step)) {
            self.steps.pop();
        }
        let (reached, from) = match self.steps.last() {
            Some((step, handle)) => (step.len(), handle),
            None => (0, self.root),
        };
        let rest = folder[reached..].trim_start_matches('/');
        if rest.is_empty() {
            return file_stamp(from, name);
        }
        let opened = rustix::fs::openat(from, rest, PASSAGE, Mode::empty()).ok()?;
        let stamp = file_stamp(&opened, name);
        self.steps.push((folder, opened));
        stamp
    }
}
