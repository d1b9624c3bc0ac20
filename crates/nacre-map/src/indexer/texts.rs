//! Texts of files as the map knows them, and what git knows of their past.

use std::io::Read as _;

use nacre_core::base::git::GitProgram;
use nacre_core::platform;
use nacre_core::platform::fd::OwnedFd;
use nacre_core::platform::fs::Mode;

use super::git::head_commit;
use super::look::{READABLE_FILE, open_root};
use super::read::MAX_READ_BYTES;
use super::refresh::Current;
use crate::artifact::{FileHash, FileRow};
use crate::languages::MAX_TEXT_BYTES;

/// Commits that count as recent.
const MAX_COMMITS: &str = "--max-count=500";

/// Reads files of a project as the map knows them.
#[derive(Debug)]
pub struct Texts {
    root: OwnedFd,
}

impl Texts {
    /// The bytes of a file; `None` when they are not, or not any more, those that the map is of.
    pub fn bytes(&self, path: &str, row: &FileRow) -> Option<Vec<u8>> {
        self.read(path, row, MAX_READ_BYTES)
    }

    fn read(&self, path: &str, row: &FileRow, limit: u64) -> Option<Vec<u8>> {
        if row.marks.is_unread {
            return None;
        }
        let file = platform::fs::openat(&self.root, path, READABLE_FILE, Mode::empty()).ok()?;
        let size = usize::try_from(row.stamp.size.min(limit)).unwrap_or_default();
        let mut bytes = Vec::with_capacity(size + 1);
        std::fs::File::from(file).take(limit + 1).read_to_end(&mut bytes).ok()?;
        (FileHash::of(&bytes) == row.hash).then_some(bytes)
    }
}

impl Current {
    /// The text of a file; `None` when it is not, or not any more, the one that the map is of.
    pub fn text(&self, path: &str) -> Option<String> {
        let limit = u64::try_from(MAX_TEXT_BYTES).unwrap_or(u64::MAX);
        String::from_utf8(self.bytes(path, limit)?).ok()
    }

    /// Texts of many files; `None` when the root cannot be opened.
    pub fn texts(&self) -> Option<Texts> {
        Some(Texts { root: open_root(&self.project.root).ok()? })
    }

    /// The bytes of a file, one more than `limit` at most; `None` when they are not those that the map is of.
    pub(super) fn bytes(&self, path: &str, limit: u64) -> Option<Vec<u8>> {
        let row = self.artifact.find(path)?;
        self.texts()?.read(path, &row, limit)
    }

    /// Tells the commit that the history ends with from others; costs a look at one or two short files.
    pub fn commit(&self) -> u64 {
        head_commit(&self.project.root)
    }

    /// The paths of recent commits, as `git log` tells them; empty where there is no history.
    pub fn recent_log(&self, program: &GitProgram) -> String {
        // The first commit made files and changed none, and to tell them all may take long.
        let args = [
            "log",
            MAX_COMMITS,
            "--no-merges",
            "--min-parents=1",
            "--no-renames",
            "--format=",
            "--name-only",
            "-z",
        ];
        let git = program.open_at(&self.project.root);
        let log = git.and_then(|git| git.ask(&args).ok()).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }
}
