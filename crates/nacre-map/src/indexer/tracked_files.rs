//! Finds the tracked files that a walk left out: a rule ignores them, and git tracks them all the same.
//!
//! An index names whatever its author wrote into it. So a file costs something only where the folders on the way to it are on the
//! disk: of those that are not, the first has a row, by whose stamp it is noticed when it comes.

use nacre_core::platform::fd::OwnedFd;

use super::look::{file_stamp, folder_stamp, is_racy};
use super::selection::{SelectedFiles, Selection, late};
use crate::artifact::{FolderRow, Skipped, Stamp};

/// More rows of folders than these, or longer ones, are not kept.
const MAX_FOLDERS: usize = 100_000;
const MAX_FOLDER_BYTES: usize = 16 << 20;

/// After this many files the deadline is checked.
const FILES_A_LOOK: usize = 64;

/// Adds tracked files that a rule leaves out, and the folders on the way to them, by whose stamps it is noticed when
/// one comes or goes.
pub(super) fn add_tracked(
    selection: &Selection<'_>,
    root: &OwnedFd,
    found: &mut SelectedFiles,
) -> std::io::Result<()> {
    // Both are in order.
    let mut known = found.files.iter().map(|(path, _)| path.as_str()).peekable();
    let mut is_found = |path: &str| {
        while known.next_if(|known| *known < path).is_some() {}
        known.peek() == Some(&path)
    };
    let mut way =
        Way { selection, root, listed: &found.folders, steps: Vec::new(), rows: Rows::default() };
    let mut files = Vec::new();
    let missing = selection.tracked.files().filter(|path| !is_found(path));
    for (number, path) in missing.enumerate() {
        if number % FILES_A_LOOK == FILES_A_LOOK - 1 && selection.deadline.is_over() {
            return Err(late());
        }
        if way.leads_to(path)
            && selection.sensitive.rule_for(path).is_none()
            && let Some(stamp) = file_stamp(root, path)
        {
            files.push((path.to_owned(), Some(stamp)));
        }
    }
    let rows = way.rows.kept;
    if !files.is_empty() {
        found.files.extend(files);
        found.files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    }
    if !rows.is_empty() {
        found.folders.extend(rows);
        found.folders.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    }
    Ok(())
}

/// The folders on the way to a file. Files come in order, so that each folder is looked at once.
struct Way<'w> {
    selection: &'w Selection<'w>,
    root: &'w OwnedFd,
    /// The folders that the walk listed, in order.
    listed: &'w [(String, FolderRow)],
    /// Each folder's path, and whether what lies in it is looked at.
    steps: Vec<(&'w str, bool)>,
    rows: Rows,
}

impl<'w> Way<'w> {
    /// Whether every folder on the way is a folder, and none is denied: git follows no links, either.
    fn leads_to(&mut self, path: &'w str) -> bool {
        let is_below =
            |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        while self.steps.last().is_some_and(|(folder, _)| !is_below(folder)) {
            self.steps.pop();
        }
        let (start, mut is_open) =
            self.steps.last().map_or((0, true), |(folder, is_open)| (folder.len() + 1, *is_open));
        let mut ends = path[start..].match_indices('/').map(|(at, _)| start + at);
        while is_open && let Some(end) = ends.next() {
            let folder = &path[..end];
            is_open = self.enters(folder);
            self.steps.push((folder, is_open));
        }
        is_open
    }

    /// Whether a folder is there and may be looked into. One that the walk did not list gets a row.
    fn enters(&mut self, folder: &str) -> bool {
        let is_listed =
            self.listed.binary_search_by(|(known, _)| known.as_str().cmp(folder)).is_ok();
        if is_listed {
            return true;
        }
        if self.selection.sensitive.rule_for(folder).is_some() {
            return false;
        }
        let stamp = folder_stamp(self.root, folder);
        self.rows.add(folder, stamp.unwrap_or_default(), self.selection.looked_ns);
        stamp.is_some()
    }
}

/// The rows of folders that the walk did not list.
#[derive(Default)]
struct Rows {
    kept: Vec<(String, FolderRow)>,
    n_bytes: usize,
}

impl Rows {
    /// Adds a row. The last one that fits counts those that do not.
    fn add(&mut self, folder: &str, stamp: Stamp, looked_ns: i64) {
        self.n_bytes = self.n_bytes.saturating_add(folder.len());
        let is_full = MAX_FOLDERS <= self.kept.len() || MAX_FOLDER_BYTES < self.n_bytes;
        match self.kept.last_mut() {
            Some((_, last)) if is_full => last.skipped.too_deep += 1,
            _ => {
                let is_doubtful = is_racy(stamp, looked_ns);
                let row =
                    FolderRow { stamp, is_doubtful, is_listed: false, skipped: Skipped::default() };
                self.kept.push((folder.to_owned(), row));
            }
        }
    }
}
