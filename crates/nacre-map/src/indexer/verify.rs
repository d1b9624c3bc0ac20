//! Looks at every file and folder that is known, and tells which are not as they were.
//!
//! This is all that an unchanged project costs. Files are looked up from the handle of a folder above, which is opened once
//! for all of them, because short paths are found faster than long ones. A link on the way is not noticed here but by the
//! folder that it took the place of.

use std::panic::resume_unwind;
use std::thread;

use nacre_core::platform;
use nacre_core::platform::fd::{AsFd as _, BorrowedFd, OwnedFd};
use nacre_core::platform::fs::Mode;

use super::look::{PASSAGE, file_stamp, folder_stamp};
use crate::artifact::{FileRow, FolderRow, Stamp};

/// A folder is worth opening when the path that is so many places ahead lies in it, too.
pub(super) const AHEAD: usize = 4;

/// A thread is not worth starting for fewer looks.
const MIN_SHARE: usize = 256;

/// The places in `files` of those that must be read again, with their stamps now; `None` for those that are gone.
pub(super) fn changed_files(
    root: &OwnedFd,
    files: &[(&str, FileRow)],
    n_threads: usize,
) -> Vec<(usize, Option<Stamp>)> {
    in_shares(files, n_threads, |first, share| {
        let mut stairs = Stairs::new(root);
        let mut changed = Vec::new();
        for (idx, (path, row)) in share.iter().enumerate() {
            let ahead = share.get(idx + AHEAD).map(|(path, _)| *path);
            let (from, rest) = stairs.nearest(path, ahead);
            let stamp = file_stamp(from, rest);
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
        let mut stairs = Stairs::new(root);
        let mut changed = Vec::new();
        for (idx, (path, row)) in share.iter().enumerate() {
            let ahead = share.get(idx + AHEAD).map(|(path, _)| path.as_str());
            let (from, rest) = stairs.nearest(path, ahead);
            let stamp = folder_stamp(from, rest);
            if stamp.unwrap_or_default() != row.stamp || row.is_doubtful {
                changed.push((first + idx, stamp));
            }
        }
        changed
    })
}

/// Splits a list among threads; `work` is told where its share begins.
fn in_shares<T: Sync, R: Send>(
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
        running
            .into_iter()
            .flat_map(|share| share.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}

/// The open folders on the way to a file. Paths come in order, so the next file is mostly a step away.
pub(super) struct Stairs<'a> {
    root: &'a OwnedFd,
    /// Each folder's path, and the folder.
    steps: Vec<(&'a str, OwnedFd)>,
}

impl<'a> Stairs<'a> {
    pub(super) fn new(root: &'a OwnedFd) -> Self {
        Self { root, steps: Vec::new() }
    }

    /// An open folder above a path, and the rest of the path from there.
    pub(super) fn nearest(
        &mut self,
        path: &'a str,
        ahead: Option<&str>,
    ) -> (BorrowedFd<'_>, &'a str) {
        while self.steps.last().is_some_and(|(step, _)| !is_below(path, step)) {
            self.steps.pop();
        }
        let reached = self.steps.last().map_or("", |(step, _)| *step);
        let rest = rest_of(path, reached);
        let above = rest.rmatch_indices('/').map(|(at, _)| &path[..path.len() - rest.len() + at]);
        let worthy = ahead.and_then(|ahead| above.into_iter().find(|above| is_below(ahead, above)));
        if let Some(folder) = worthy {
            let from = self.steps.last().map_or(self.root.as_fd(), |(_, handle)| handle.as_fd());
            let opened =
                platform::fs::openat(from, rest_of(folder, reached), PASSAGE, Mode::empty());
            // What cannot be opened is not there, as the look itself will tell.
            if let Ok(opened) = opened {
                self.steps.push((folder, opened));
            }
        }
        match self.steps.last() {
            Some((step, handle)) => (handle.as_fd(), rest_of(path, step)),
            None => (self.root.as_fd(), path),
        }
    }
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// What is left of a path below a folder.
fn rest_of<'p>(path: &'p str, folder: &str) -> &'p str {
    path.get(folder.len()..).unwrap_or_default().trim_start_matches('/')
}
