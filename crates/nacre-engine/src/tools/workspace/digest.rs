//! What a part of the workspace looks like now, as one hash.
//!
//! A file counts by its stamp: size, inode, and the times of its last change, which no program can set back. A stamp
//! proves nothing while its clock could still tick the same, so a file that changed less than `SLACK` before `since`, or
//! after it, counts by its bytes as well. Two digests can only be compared when they have the same `since`.

use std::ops::ControlFlow;

use jiff::Timestamp;
use nacre_core::base::ContentHash;
use nacre_core::safefs::{FileStamp, Folder, RelPath};

use super::super::footprint::Area;
use super::walk::{Walk, WalkedFile};
use super::{MAX_FILE_BYTES, Workspace};
use crate::model::Cancel;

/// The coarsest clock of a file system that is still in use.
const SLACK_NANOS: i128 = 2_000_000_000;

/// Larger trees are not watched: looking would cost more than asking again.
const MAX_TREE_ENTRIES: usize = 20_000;

/// So much of fresh files is read for one digest.
const MAX_FRESH_BYTES: u64 = 64 << 20;

impl Workspace {
    /// The digest of the areas; `None` when they are too much to look at or cannot be read.
    pub(crate) fn digest(&self, areas: &[Area], since: Timestamp) -> Option<ContentHash> {
        let fresh_from = since.as_nanosecond() - SLACK_NANOS;
        let mut digest =
            Digest { fresh_from, fresh_bytes: 0, hash: ContentHash::of(b""), text: Vec::new() };
        for area in areas {
            match area {
                Area::File(path) => digest.path(self, path)?,
                Area::Tree(under) => digest.tree(self, under.as_ref())?,
            }
        }
        digest.fold();
        Some(digest.hash)
    }
}

struct Digest {
    fresh_from: i128,
    fresh_bytes: u64,
    hash: ContentHash,
    /// What is not in the hash yet.
    text: Vec<u8>,
}

impl Digest {
    fn path(&mut self, workspace: &Workspace, path: &RelPath) -> Option<()> {
        let folder = match path.parent() {
            Some(parent) => workspace.scope.folder(&parent).ok()?,
            None => Some(workspace.scope.root().ok()?),
        };
        match folder {
            Some(folder) => self.file(&folder, path),
            None => self.add(&[path.as_str().as_bytes(), b"nowhere"]),
        }
    }

    fn tree(&mut self, workspace: &Workspace, under: Option<&RelPath>) -> Option<()> {
        let never = Cancel::never();
        let mut is_whole = true;
        let walk = Walk::new(workspace, &never).at_most(MAX_TREE_ENTRIES);
        let end = walk.run(under, &mut |found| {
            let added = match found {
                WalkedFile::File { path, folder } => self.file(folder, path),
                WalkedFile::Folder(folder) => self.folder(folder),
                WalkedFile::Rules(hash) => self.add(&[b"rules", hash.to_string().as_bytes()]),
                WalkedFile::Other(name) => self.add(&[b"other", name.as_bytes()]),
            };
            is_whole = added.is_some();
            if is_whole { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let end = end.ok().filter(|end| is_whole && !end.is_cut)?;
        self.add(&[b"end", end.n_skipped.to_string().as_bytes()])
    }

    fn folder(&mut self, folder: &Folder) -> Option<()> {
        let stamp = folder.own_stamp()?;
        self.stamp(&stamp);
        Some(())
    }

    fn file(&mut self, folder: &Folder, path: &RelPath) -> Option<()> {
        let Some(stamp) = folder.stamp(path.name()) else {
            return self.add(&[path.as_str().as_bytes(), b"none"]);
        };
        self.add(&[path.as_str().as_bytes()])?;
        self.stamp(&stamp);
        if stamp.changed.max(stamp.modified) < self.fresh_from {
            return Some(());
        }
        self.fresh_bytes += stamp.size;
        if MAX_FRESH_BYTES < self.fresh_bytes {
            return None;
        }
        let bytes = folder.read(path.name(), MAX_FILE_BYTES).ok()?;
        self.add(&[ContentHash::of(&bytes).to_string().as_bytes()])
    }

    fn stamp(&mut self, stamp: &FileStamp) {
        let FileStamp { size, inode, modified, changed } = stamp;
        self.text.extend_from_slice(&size.to_le_bytes());
        self.text.extend_from_slice(&inode.to_le_bytes());
        self.text.extend_from_slice(&modified.to_le_bytes());
        self.text.extend_from_slice(&changed.to_le_bytes());
    }

    #[expect(clippy::unnecessary_wraps, reason = "the other ways to add something can fail")]
    fn add(&mut self, parts: &[&[u8]]) -> Option<()> {
        for part in parts {
            self.text.extend_from_slice(&part.len().to_le_bytes());
            self.text.extend_from_slice(part);
        }
        if 1 << 16 < self.text.len() {
            self.fold();
        }
        Some(())
    }

    fn fold(&mut self) {
        let before = self.hash.to_string();
        self.text.extend_from_slice(before.as_bytes());
        self.hash = ContentHash::of(&self.text);
        self.text.clear();
    }
}
