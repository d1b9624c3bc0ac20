//! What all files of a project amount to: counted once, and changed with each of them.

use crate::artifact::{Artifact, FileRow};

/// What all files of a project amount to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) n_files: usize,
    pub(super) n_bytes: u64,
    pub(super) n_unread: usize,
}

impl Totals {
    pub(super) fn of_all(artifact: &Artifact) -> Self {
        let mut totals = Self::default();
        artifact.each(|_, row| totals.add(&row));
        totals
    }

    pub(super) fn of(files: &[(&str, FileRow)]) -> Self {
        let mut totals = Self::default();
        files.iter().for_each(|(_, row)| totals.add(row));
        totals
    }

    pub(super) fn add(&mut self, row: &FileRow) {
        self.n_files += 1;
        self.n_bytes += row.stamp.size;
        self.n_unread += usize::from(row.marks.is_unread);
    }

    pub(super) fn remove(&mut self, row: &FileRow) {
        self.n_files = self.n_files.saturating_sub(1);
        self.n_bytes = self.n_bytes.saturating_sub(row.stamp.size);
        self.n_unread = self.n_unread.saturating_sub(usize::from(row.marks.is_unread));
    }
}
