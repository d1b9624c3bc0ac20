//! Several changes to files that happen together or not at all.
//!
//! A replaced or removed file is named with the hash of the bytes that the caller read: that is how
//! an edit made meanwhile is noticed.

use std::collections::BTreeSet;

use super::error::FsError;
use super::path::RelPath;
use super::reserved::refuse_journal;
use crate::base::ContentHash;

/// Creates, replacements, moves and removals to be committed as one unit.
#[derive(Clone, Debug, Default)]
#[must_use = "a change set does nothing until a writer commits it"]
pub struct ChangeSet {
    pub(super) changes: Vec<Change>,
}

#[derive(Clone, Debug)]
pub(super) enum Change {
    Create { path: RelPath, bytes: Vec<u8> },
    Replace { path: RelPath, before: ContentHash, bytes: Vec<u8> },
    Remove { path: RelPath, before: ContentHash },
}

impl Change {
    pub(super) fn path(&self) -> &RelPath {
        match self {
            Self::Create { path, .. } | Self::Replace { path, .. } | Self::Remove { path, .. } => {
                path
            }
        }
    }

    /// What is new comes first and what goes comes last, so that a reader between two steps sees a
    /// moved file twice rather than not at all.
    fn rank(&self) -> u8 {
        match self {
            Self::Create { .. } => 0,
            Self::Replace { .. } => 1,
            Self::Remove { .. } => 2,
        }
    }
}

impl ChangeSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes a file where none may stand.
    pub fn create(&mut self, path: RelPath, bytes: Vec<u8>) {
        self.changes.push(Change::Create { path, bytes });
    }

    /// Replaces the file that was read as `before`.
    pub fn replace(&mut self, path: RelPath, before: &[u8], bytes: Vec<u8>) {
        if before != bytes {
            self.changes.push(Change::Replace { path, before: ContentHash::of(before), bytes });
        }
    }

    /// Writes a file that may or may not have been there when it was read.
    pub fn put(&mut self, path: RelPath, before: Option<&[u8]>, bytes: Vec<u8>) {
        match before {
            Some(before) => self.replace(path, before, bytes),
            None => self.create(path, bytes),
        }
    }

    /// Removes the file that was read as `before`.
    pub fn remove(&mut self, path: RelPath, before: &[u8]) {
        self.changes.push(Change::Remove { path, before: ContentHash::of(before) });
    }

    /// Moves the file that was read as `before` to where none may stand, with new content.
    pub fn relocate(&mut self, from: RelPath, before: &[u8], to: RelPath, bytes: Vec<u8>) {
        self.create(to, bytes);
        self.remove(from, before);
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The paths that will change.
    pub fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.changes.iter().map(Change::path)
    }

    /// What will stand at each path: its new bytes, or nothing.
    pub fn outcomes(&self) -> impl Iterator<Item = (&RelPath, Option<&[u8]>)> {
        self.changes.iter().map(|change| match change {
            Change::Create { path, bytes } | Change::Replace { path, bytes, .. } => {
                (path, Some(bytes.as_slice()))
            }
            Change::Remove { path, .. } => (path, None),
        })
    }

    /// The changes in the order they are applied; no path may occur twice.
    pub(super) fn into_ordered(mut self) -> Result<Vec<Change>, FsError> {
        let mut seen = BTreeSet::new();
        for change in &self.changes {
            refuse_journal(change.path())?;
            if !seen.insert(change.path()) {
                return Err(FsError::TwiceChanged { path: change.path().clone() });
            }
        }
        self.changes.sort_by_key(Change::rank);
        Ok(self.changes)
    }
}
