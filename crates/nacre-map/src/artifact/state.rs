//! An artifact as it is: its file, and what its log changed since.

use std::collections::BTreeMap;
use std::path::Path;

use super::base::{self, Base};
use super::commit::{Change, Commit, Head, History, identity_at};
use super::model::State;
use super::row::{FileRow, FolderRow, Skipped};

/// What is known of a project's files at one revision.
#[derive(Debug, Default)]
pub struct Artifact {
    pub(super) base: Option<Base>,
    pub(super) place: PackPlace,
    head: Head,
    /// The head before everything that `changes` tells of.
    first: Head,
    /// Rows that differ from the base's; `None` where there is no such file any more.
    rows: BTreeMap<String, Option<FileRow>>,
    /// All folders, in the order of their paths.
    folders: BTreeMap<String, FolderRow>,
    /// What the log changed.
    changes: Vec<(u64, Change)>,
}

/// Which bytes on the disk an artifact was read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PackPlace {
    /// The number of the file and of its log; 0 for what is on no disk.
    pub(super) generation: u64,
    /// How much of the log could be read.
    pub(super) n_read: u64,
    /// How long the log is; longer than what could be read when a writer was killed.
    pub(super) n_log: u64,
}

impl Artifact {
    pub(super) fn read(mut base: Base, place: PackPlace, log: Vec<Commit>) -> Self {
        let folders = std::mem::take(&mut base.folders).into_iter().collect();
        let (head, first) = (base.head, base.head);
        let mut artifact =
            Self { head, first, folders, base: Some(base), place, ..Self::default() };
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
        if self.first == Head::default() {
            self.first = commit.head;
        }
    }

    /// Whether the files were ever in this state, as far as that is kept.
    pub fn knows(&self, state: State) -> bool {
        let State { revision, identity } = state;
        let number = revision.number;
        if revision.epoch != self.head.revision.epoch || self.head.revision.number < number {
            return false;
        }
        if number == self.head.revision.number {
            return identity == self.head.identity;
        }
        if self.first.revision.number <= number {
            return identity == identity_at(self.first.identity, &self.changes, number);
        }
        let history = self.history();
        history.since <= number
            && identity == identity_at(history.identity, &history.changes, number)
    }

    /// Everything as one file, with one more change, which is not taken in.
    pub(super) fn rendered_with(&self, root: &Path, commit: &Commit) -> Vec<u8> {
        let Commit { head, files, folders, changes } = commit;
        let is_first = self.base.is_none() && self.rows.is_empty() && self.folders.is_empty();
        if is_first && files.is_sorted_by(|one, other| one.0 < other.0) {
            // Nothing has to find its place among others.
            let folders = folders.iter().filter_map(|(path, row)| Some((path, row.as_ref()?)));
            let files = files.iter().filter_map(|(path, row)| Some((path.as_str(), (*row)?)));
            let history = History::since(head);
            return base::render(root, head, &folders.collect::<Vec<_>>(), files, &history);
        }
        let mut history = self.history();
        match self.first == Head::default() {
            true => history = History::since(head),
            false => {
                let number = head.revision.number;
                history.changes.extend(changes.iter().map(|change| (number, change.clone())));
            }
        }
        history.trim();
        let (rows, folders) = (self.rows.clone(), self.folders.clone());
        let mut after = Self { rows, folders, ..Self::default() };
        after.apply(commit.clone());
        let folders: Vec<_> = after.folders.iter().collect();
        let mut files = Vec::new();
        each_file(self.base.as_ref(), &after.rows, |path, row| files.push((path, row)));
        base::render(root, head, &folders, files.into_iter(), &history)
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
        self.each(|path, row| files.push((path, row)));
        files
    }

    /// Hands out all files in the order of their paths, without a list of them.
    pub fn each<'a>(&'a self, take: impl FnMut(&'a str, FileRow)) {
        each_file(self.base.as_ref(), &self.rows, take);
    }

    /// The place of a file among all, in the order of their paths.
    pub fn position(&self, path: &str) -> Option<usize> {
        self.find(path)?;
        let in_base = |path: &str| self.base.as_ref().map_or(Err(0), |base| base.position(path));
        let before = match in_base(path) {
            Ok(before) | Err(before) => before,
        };
        let changed = self.rows.iter().take_while(|(known, _)| known.as_str() < path);
        let (mut n_more, mut n_less) = (0, 0);
        for (path, row) in changed {
            match (in_base(path).is_ok(), row.is_some()) {
                (false, true) => n_more += 1,
                (true, false) => n_less += 1,
                (true, true) | (false, false) => {}
            }
        }
        (before + n_more).checked_sub(n_less)
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

    /// What was changed since a number; `None` where that is not kept any more.
    ///
    /// What the file itself remembers is only looked at for what was before it.
    pub fn changes_since(&self, number: u64) -> Option<Vec<(u64, Change)>> {
        let in_file = self.base.as_ref().map_or(1, |base| base.head.revision.number);
        let is_since = |(at, _): &(u64, Change)| number < *at;
        if in_file <= number {
            return Some(self.changes.iter().filter(|change| is_since(change)).cloned().collect());
        }
        let history = self.history();
        let is_kept = history.since <= number;
        is_kept.then(|| history.changes.into_iter().filter(is_since).collect())
    }

    /// What was changed, as far as it is kept.
    pub fn history(&self) -> History {
        let mut history = match &self.base {
            // Without what came before the log, the log says too little.
            Some(base) => match base.history() {
                Some(history) => history,
                None => return History::since(&self.head),
            },
            None => History::since(&self.first),
        };
        history.changes.extend(self.changes.iter().cloned());
        history
    }
}

/// Hands out the files of a base, with the rows that differ, in the order of their paths.
fn each_file<'a>(
    base: Option<&'a Base>,
    rows: &'a BTreeMap<String, Option<FileRow>>,
    mut take: impl FnMut(&'a str, FileRow),
) {
    let mut over = rows.iter().peekable();
    for (path, row) in base.into_iter().flat_map(Base::files) {
        while let Some((before, row)) = over.next_if(|(over, _)| over.as_str() < path) {
            row.iter().for_each(|row| take(before, *row));
        }
        match over.next_if(|(over, _)| over.as_str() == path) {
            Some((_, over)) => over.iter().for_each(|row| take(path, *row)),
            None => take(path, row),
        }
    }
    for (path, row) in over {
        row.iter().for_each(|row| take(path, *row));
    }
}
