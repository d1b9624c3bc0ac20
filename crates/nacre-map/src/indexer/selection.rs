//! What a walk is asked for, and what it answers.

use std::io::ErrorKind;
use std::path::Path;

use super::deadline::Deadline;
use super::excludes::Excludes;
use super::git::Tracked;
use super::sensitive::Sensitive;
use crate::artifact::{FolderRow, Stamp};

/// What decides which files belong.
#[derive(Debug)]
pub(super) struct Selection<'s> {
    pub(super) root: &'s Path,
    pub(super) tracked: &'s Tracked,
    pub(super) sensitive: &'s Sensitive,
    pub(super) excludes: &'s Excludes,
    /// When the looking began, by the clock of the file system.
    pub(super) looked_ns: i64,
    pub(super) n_threads: usize,
    pub(super) deadline: &'s Deadline,
    /// Whether files are only named: who reads them all sees their stamps anyway.
    pub(super) is_unstamped: bool,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct SelectedFiles {
    /// With their stamps, where those were asked for.
    pub(super) files: Vec<(String, Option<Stamp>)>,
    pub(super) folders: Vec<(String, FolderRow)>,
    /// Folders that are other repositories.
    pub(super) nested: Vec<String>,
    /// Whether there are rules that leave themselves out: no row tells when they change.
    pub(super) has_hidden_rules: bool,
    /// Whether there are rules that were not read, and folders that are left out therefore.
    pub(super) has_unread_rules: bool,
}

/// Why a walk has no answer when time is over.
pub(super) fn late() -> std::io::Error {
    std::io::Error::new(ErrorKind::TimedOut, "Listing its folders took too long")
}
