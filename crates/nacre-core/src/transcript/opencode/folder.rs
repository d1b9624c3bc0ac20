//! Folders of the JSON tree, opened one below the other and never through a link.
//!
//! The ids of messages name folders, and they come from inside files that a stranger may have written. So a name is used only
//! where it is one plain name, and a link in the place of a folder or a file is not followed: nothing outside of the tree can
//! be reached.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path};

use jiff::Timestamp;

use super::super::adapter::Stamp;
use crate::platform::fd::OwnedFd;
use crate::platform::fs::{self, AtFlags, FileType, Mode, OFlags};
use crate::platform::{list, modified};

/// The most entries of one folder.
const MAX_ENTRIES: usize = 200_000;

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder(OwnedFd);

impl Folder {
    /// Opens the tree's own folder. Links on the way to it are the person's.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        fs::open(path, flags, Mode::empty()).ok().map(Self)
    }

    /// Opens a folder below this one; `None` where there is none, or a part of `path` is a link or not a name.
    pub(super) fn below(&self, path: &Path) -> Option<Self> {
        let mut opened: Option<Self> = None;
        for part in path.components() {
            let Component::Normal(name) = part else { return None };
            opened = Some(opened.as_ref().unwrap_or(self).child(name)?);
        }
        opened
    }

    fn child(&self, name: &OsStr) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        fs::openat(&self.0, name, flags, Mode::empty()).ok().map(Self)
    }

    /// The names of the folders in it, sorted.
    pub(super) fn folders(&self) -> Vec<OsString> {
        self.names(FileType::Directory, |_| true)
    }

    /// The names of the JSON files in it, sorted.
    pub(super) fn json_files(&self) -> Vec<OsString> {
        let is_json = |name: &OsStr| Path::new(name).extension() == Some(OsStr::new("json"));
        self.names(FileType::RegularFile, is_json)
    }

    fn names(&self, kind: FileType, is_wanted: impl Fn(&OsStr) -> bool) -> Vec<OsString> {
        let mut names: Vec<(OsString, FileType)> = Vec::new();
        // A listing begins where the last one of the same handle ended.
        let Some(fresh) = self.child(OsStr::new(".")) else { return Vec::new() };
        let listed = list(&fresh.0, |entry| {
            let name = OsStr::new(entry.name.as_ref());
            if entry.is_unicode && names.len() < MAX_ENTRIES && is_wanted(name) {
                names.push((name.to_owned(), entry.kind));
            }
        });
        if listed.is_err() {
            return Vec::new();
        }
        // Not every file system tells it in the listing.
        let is_of_kind = |(name, found): &(OsString, FileType)| {
            let is_untold = *found == FileType::Unknown;
            *found == kind || (is_untold && self.kind_of(name) == Some(kind))
        };
        names.retain(is_of_kind);
        let mut names: Vec<OsString> = names.into_iter().map(|(name, _)| name).collect();
        names.sort();
        names
    }

    fn kind_of(&self, name: &OsStr) -> Option<FileType> {
        let stat = fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(FileType::from_raw_mode(stat.st_mode))
    }

    /// The outside of a file; `None` where there is none.
    pub(super) fn stamp(&self, name: &OsStr) -> Option<Stamp> {
        let stat = fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        if !FileType::from_raw_mode(stat.st_mode).is_file() {
            return None;
        }
        let (seconds, nanos) = modified(&stat);
        let modified =
            i32::try_from(nanos).ok().and_then(|nanos| Timestamp::new(seconds, nanos).ok());
        Some(Stamp { size: stat.st_size.unsigned_abs(), modified, inode: stat.st_ino })
    }

    /// The content of a file of at most `limit` bytes; never waits for a pipe.
    pub(super) fn read(&self, name: &OsStr, limit: u64) -> Option<Vec<u8>> {
        let flags =
            OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = File::from(fs::openat(&self.0, name, flags, Mode::empty()).ok()?);
        let is_small = |size: u64| size <= limit;
        file.metadata().ok().filter(|found| found.is_file() && is_small(found.len()))?;
        let mut bytes = Vec::new();
        file.take(limit + 1).read_to_end(&mut bytes).ok()?;
        is_small(bytes.len() as u64).then_some(bytes)
    }
}

/// Whether a text from a trace can name one file or folder, and no way to another.
pub(super) fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0'])
}
