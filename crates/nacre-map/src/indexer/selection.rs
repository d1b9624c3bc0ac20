//! Selects the files for a walk and adds tracked files even if a rule ignores them.
//!
//! A malicious index can contain arbitrary paths, so a file is looked up only if its directories
//! exist. The first missing directory in a path gets a row so that its creation can be detected.

use std::io::ErrorKind;
use std::path::Path;

use nacre_base::platform::fd::OwnedFd;

use super::git::Tracked;
use super::look::{file_stamp, folder_stamp, is_racy};
use super::options::RefreshOptions;
use crate::artifact::{FolderRow, Stamp};

pub(super) struct Selection<'s> {
    pub(super) root: &'s Path,
    pub(super) tracked: &'s Tracked,
    pub(super) options: &'s RefreshOptions,
    /// Whether paths are returned without stamps, for callers that open every file anyway.
    pub(super) is_unstamped: bool,
}

#[derive(Debug, Default)]
pub(super) struct SelectedFiles {
    /// Stamps are `None` if `is_unstamped` is set.
    pub(super) files: Vec<(String, Option<Stamp>)>,
    pub(super) folders: Vec<(String, FolderRow)>,
    pub(super) nested: Vec<String>,
    /// Whether a rules file is ignored by its own rules. Such a file has no row, so changes to it
    /// cannot be detected.
    pub(super) has_hidden_rules: bool,
    /// Whether any directories were omitted because their rules exceeded the limits.
    pub(super) has_unread_rules: bool,
}

pub(super) fn late() -> std::io::Error {
    std::io::Error::new(ErrorKind::TimedOut, "Listing its directories took too long")
}

const MAX_FOLDERS: usize = 100_000;
const MAX_FOLDERS_BYTES: usize = 16 << 20;

/// Number of files to process between deadline checks.
const FILES_A_LOOK: usize = 64;

/// Adds tracked files that a rule ignores, and rows for their directories, whose stamps reveal
/// later changes.
pub(super) fn add_tracked(
    selection: &Selection<'_>,
    root: &OwnedFd,
    found: &mut SelectedFiles,
) -> std::io::Result<()> {
    // Both lists are sorted.
    let mut known = found.files.iter().map(|(path, _)| path.as_str()).peekable();
    let mut is_found = |path: &str| {
        while known.next_if(|known| *known < path).is_some() {}
        known.peek() == Some(&path)
    };
    let mut way = Way {
        selection,
        root,
        listed: &found.folders,
        steps: Vec::new(),
        rows: Vec::new(),
        n_row_bytes: 0,
    };
    let mut files = Vec::new();
    let missing = selection.tracked.files().filter(|path| !is_found(path) && !is_store(path));
    for (number, path) in missing.enumerate() {
        if number % FILES_A_LOOK == FILES_A_LOOK - 1 && selection.options.deadline.is_over() {
            return Err(late());
        }
        if way.leads_to(path)
            && selection.options.sensitive.rule_for(path).is_none()
            && let Some(stamp) = file_stamp(root, path)
        {
            files.push((path.to_owned(), Some(stamp)));
        }
    }
    let rows = way.rows;
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

/// The current file's parent directories. Files are visited in path order, so each directory is
/// checked only once.
struct Way<'w> {
    selection: &'w Selection<'w>,
    root: &'w OwnedFd,
    /// The directories that the walk listed, sorted by path.
    listed: &'w [(String, FolderRow)],
    /// The path of each parent directory, and whether its files may be added.
    steps: Vec<(&'w str, bool)>,
    rows: Vec<(String, FolderRow)>,
    n_row_bytes: usize,
}

impl<'w> Way<'w> {
    /// Returns whether every parent of the path is a real directory that is not denied. Like git,
    /// this does not follow links.
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

    /// Returns whether a directory exists and is not denied. Adds a row if the walk did not list
    /// the directory.
    fn enters(&mut self, folder: &str) -> bool {
        let is_listed =
            self.listed.binary_search_by(|(known, _)| known.as_str().cmp(folder)).is_ok();
        if is_listed {
            return true;
        }
        if self.selection.options.sensitive.rule_for(folder).is_some() {
            return false;
        }
        let stamp = folder_stamp(self.root, folder);
        self.add_row(folder, stamp.unwrap_or_default());
        stamp.is_some()
    }

    /// Adds a row. Once the limit is reached, the remaining directories are only counted, in the
    /// last row.
    fn add_row(&mut self, folder: &str, stamp: Stamp) {
        self.n_row_bytes = self.n_row_bytes.saturating_add(folder.len());
        let is_full = MAX_FOLDERS <= self.rows.len() || MAX_FOLDERS_BYTES < self.n_row_bytes;
        match self.rows.last_mut() {
            Some((_, last)) if is_full => last.skipped.too_deep += 1,
            _ => {
                let is_doubtful = is_racy(stamp, self.selection.options.looked_ns);
                let row = FolderRow { stamp, is_doubtful, ..FolderRow::default() };
                self.rows.push((folder.to_owned(), row));
            }
        }
    }
}

/// Returns whether a path is in a memory store. Stores are excluded because only their own tools
/// show how trustworthy each memory is.
pub(super) fn is_store(path: &str) -> bool {
    path.split('/').any(|part| part == ".nacre")
}
