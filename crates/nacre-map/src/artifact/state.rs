//! An artifact as it is: its file, and what its log changed since.

use std::collections::BTreeMap;

use super::base::Base;
use super::commit::{Change, Commit, Head, History};
use super::row::{FileRow, FolderRow, Skipped};

/// What is known of a project's files at one revision.
#[derive(Debug, Default)]
pub struct Artifact {
    pub(super) base: Option<Base>,
    pub(super) place: Place,
    head: Head,
    /// Rows that differ from the base's; `None` where there is no such file any more.
    rows: BTreeMap<String, Option<FileRow>>,
    /// All folders, in the order of their paths.
    folders: BTreeMap<String, FolderRow>,
    /// What the log changed.
    changes: Vec<(u64, Change)>,
}

/// Which bytes on the disk an artifact was read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The number of the file and of its log; 0 for what is on no disk.
    pub(super) generation: u64,
    /// How much of the log could be read.
    pub(super) n_read: u64,
    /// How long the log is; longer than what could be read when a writer was killed.
    pub(super) n_log: u64,
}

impl Artifact {
    pub(super) fn read(base: Base, place: Place, log: Vec<Commit>) -> Self {
        let folders = base.folders.iter().cloned().collect();
        let mut artifact =
            Self { head: base.head, folders, base: Some(base), place, ..Self::default() };
        for commit in log {
            artifact.apply(commit);
        }
        artifact
    }

    /// Takes a change in.
    pub fn apply(&mut self, commit: Commit) {
        let number = commit.head.revision.number;
        self.changes.extend(commit.changes.into_iter().map(|change| (number, change)));
        self.rows.extend(commit.files);
        for (path, row) in commit.folders {
            match row {
                Some(row) => self.folders.insert(path, row),
                None => self.folders.remove(&path),
            };
        }
        self.head = commit.head;
    }

    pub fn head(&self) -> &Head {
        &self.head
    }

    pub fn find(&self, path: &str) -> Option<FileRow> {
        match self.rows.get(path) {
            Some(row) => *row,
            None => self.base.as_ref().and_then(|base| base.find(path)),
        }
    }

    /// All files in the order of their paths.
    pub fn files(&self) -> Vec<(&str, FileRow)> {
        let n_base = self.base.as_ref().map_or(0, |base| base.files().len());
        let mut files = Vec::with_capacity(n_base + self.rows.len());
        let mut over = self.rows.iter().peekable();
        for (path, row) in self.base.iter().flat_map(Base::files) {
            while let Some((before, row)) = over.next_if(|(over, _)| over.as_str() < path) {
                files.extend(row.map(|row| (before.as_str(), row)));
            }
            match over.next_if(|(over, _)| over.as_str() == path) {
                Some((_, over)) => files.extend(over.map(|row| (path, row))),
                None => files.push((path, row)),
            }
        }
        files.extend(over.filter_map(|(path, row)| Some((path.as_str(), (*row)?))));
        files
    }

    pub fn folders(&self) -> &BTreeMap<String, FolderRow> {
        &self.folders
    }

    /// What is no part of the map, over all folders.
    pub fn skipped(&self) -> Skipped {
        let mut all = Skipped::default();
        for row in self.folders.values() {
            all.add(row.skipped);
        }
        all
    }

    /// What was changed, as far as it is kept.
    pub fn history(&self) -> History {
        let nothing_kept = || History { since: self.head.revision.number, changes: Vec::new() };
        let mut history = match &self.base {
            // Without what came before the log, the log says too little.
            Some(base) => match base.history() {
                Some(history) => history,
                None => return nothing_kept(),
            },
            None => History { since: 1, changes: Vec::new() },
        };
        history.changes.extend(self.changes.iter().cloned());
        history
    }
}
