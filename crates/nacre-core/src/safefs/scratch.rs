//! Copies to try something out on, and empty folders to work in: made quickly, and removed with everything in them.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::platform::process::{Pid, test_kill_process};

use super::error::{FsAction, FsError};
use super::path::{PathFault, RelPath};
use super::scope::{Access, EntryKind, WriteScope, io_error};
use super::sys::{self, Flush};
use super::writer::{Writer, remove_if_there};

/// Folders deeper than this are none of ours. A path below a scope has four more components at most.
const MAX_DEPTH: usize = 28;

impl WriteScope {
    /// Copies the plain files of at most `limit` bytes below `folder` of another scope to the same places here, where
    /// nothing stands yet. Links and whatever else lies there are left out, and nothing is flushed.
    pub fn copy_from(&self, other: &Self, folder: &RelPath, limit: u64) -> Result<(), FsError> {
        let mut waiting = vec![(folder.clone(), 0)];
        while let Some((folder, depth)) = waiting.pop() {
            for entry in other.list(&folder)? {
                // A name that is no path of ours is nothing that we would look at either.
                let Ok(path) = folder.join(&entry.name) else { continue };
                match entry.kind {
                    EntryKind::Folder if depth < MAX_DEPTH => waiting.push((path, depth + 1)),
                    EntryKind::File => self.copy_file(other, &path, limit)?,
                    EntryKind::Folder | EntryKind::Other => {}
                }
            }
        }
        Ok(())
    }

    fn copy_file(&self, other: &Self, path: &RelPath, limit: u64) -> Result<(), FsError> {
        let bytes = match other.read_optional(path, limit) {
            Err(FsError::TooLarge { .. } | FsError::NotAFile { .. }) => return Ok(()),
            read => read?,
        };
        let Some(bytes) = bytes else { return Ok(()) };
        let dir = self.make_parents(path)?;
        let mode = self.access.file_mode(path);
        sys::write_new_with(&dir, path.name(), &bytes, mode, Flush::Later)
            .map_err(|error| io_error(FsAction::Write, &self.full(path), error))
    }
}

impl Writer<'_> {
    /// Removes a folder with everything below it. Links are removed, and not followed.
    pub fn remove_scratch(&self, path: &RelPath) -> Result<(), FsError> {
        self.scope().remove_below(path, MAX_DEPTH)
    }
}

impl WriteScope {
    fn remove_below(&self, path: &RelPath, depth: usize) -> Result<(), FsError> {
        let failed = |error| io_error(FsAction::Remove, &self.full(path), error);
        let dir = match self.open_dir(path) {
            Err(error) if error.is_missing() => return Ok(()),
            dir => dir?,
        };
        for entry in self.list(path)? {
            match entry.kind {
                EntryKind::Folder if depth > 0 => {
                    self.remove_below(&path.join(&entry.name)?, depth - 1)?;
                }
                EntryKind::Folder => {}
                EntryKind::File | EntryKind::Other => {
                    remove_if_there(&dir, &entry.name).map_err(failed)?;
                }
            }
        }
        sys::remove_dir(&self.parent_of(path)?, path.name()).map_err(failed)
    }
}

/// An empty folder for one piece of work, removed with everything in it when it is dropped. Its name is new, so that nobody
/// else writes there and no lock is needed.
#[derive(Debug)]
pub struct ScratchFolder {
    parent: WriteScope,
    scope: WriteScope,
    name: RelPath,
}

impl ScratchFolder {
    /// How the names of such folders begin; the process and a number follow.
    const PREFIX: &str = "work-";

    /// Makes a folder inside `parent`, which is made where it is missing. Those that ended processes left there are removed.
    pub fn create(parent: &Path) -> Result<Self, FsError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let parent = WriteScope::create(parent, Access::Private)?;
        remove_left_behind(&parent);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = RelPath::new(&format!("{}{}-{number}", Self::PREFIX, std::process::id()))?;
        // A process of the same number may have left one.
        parent.remove_below(&name, MAX_DEPTH)?;
        let scope = WriteScope::create_inside(parent.path(), name.as_str(), Access::Private)?;
        Ok(Self { parent, scope, name })
    }

    pub fn path(&self) -> &Path {
        self.scope.path()
    }

    /// How many components a path in it may have, so that all of it can be removed again.
    pub const MAX_COMPONENTS: usize = 24;

    /// Makes a file in it where nothing stands yet. Nothing is flushed: nobody needs it after the process.
    pub fn write(&self, path: &RelPath, bytes: &[u8]) -> Result<(), FsError> {
        if Self::MAX_COMPONENTS < path.components().count() {
            return Err(FsError::BadPath { path: path.to_string(), why: PathFault::TooDeep });
        }
        let dir = self.scope.make_parents(path)?;
        let mode = self.scope.access.file_mode(path);
        sys::write_new_with(&dir, path.name(), bytes, mode, Flush::Later)
            .map_err(|error| io_error(FsAction::Write, &self.scope.full(path), error))
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // Best effort: what is left is removed by the next one.
        let _ = self.parent.remove_below(&self.name, MAX_DEPTH);
    }
}

/// Removes the folders of processes that are gone.
fn remove_left_behind(parent: &WriteScope) {
    for entry in parent.root().and_then(|root| root.list()).unwrap_or_default() {
        let rest = entry.name.strip_prefix(ScratchFolder::PREFIX);
        let process = rest.and_then(|rest| rest.split_once('-')?.0.parse().ok());
        let Some(process) = process.and_then(Pid::from_raw) else { continue };
        let is_gone = test_kill_process(process) == Err(crate::platform::io::Errno::SRCH);
        if let Some(path) = is_gone.then(|| RelPath::new(&entry.name).ok()).flatten() {
            // Best effort: the next one tries again.
            let _ = parent.remove_below(&path, MAX_DEPTH);
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests play the person and the old state")]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::time::Duration;

    use super::super::owner::Owner;
    use super::super::scope::Access;
    use super::*;

    fn path(text: &str) -> RelPath {
        RelPath::new(text).unwrap()
    }

    #[test]
    fn a_folder_to_work_in_is_empty_and_goes_with_what_was_put_there() {
        let folder = tempfile::tempdir().unwrap();
        let parent = folder.path().canonicalize().unwrap().join("home").join("scratch");
        fs::create_dir(parent.parent().unwrap()).unwrap();
        // No process has this number.
        let left = parent.join("work-999999999-0");
        fs::create_dir_all(left.join("deep")).unwrap();
        fs::create_dir_all(parent.join("other")).unwrap();
        let one = ScratchFolder::create(&parent).unwrap();
        let two = ScratchFolder::create(&parent).unwrap();
        assert_ne!(one.path(), two.path());
        assert!(!left.exists(), "what an ended process left is removed");
        assert_eq!(fs::read_dir(one.path()).unwrap().count(), 0);
        one.write(&path("a/b.txt"), b"b").unwrap();
        assert_eq!(fs::read(one.path().join("a/b.txt")).unwrap(), b"b");
        let places = [one.path().to_owned(), two.path().to_owned()];
        let deep = |n_components: usize| path(&vec!["d"; n_components].join("/"));
        one.write(&deep(ScratchFolder::MAX_COMPONENTS), b"d").unwrap();
        assert!(one.write(&deep(ScratchFolder::MAX_COMPONENTS + 1), b"d").is_err());
        assert!(one.write(&path("a/b.txt"), b"c").is_err(), "nothing is written over");
        drop((one, two));
        assert!(places.iter().all(|place| !place.exists()));
        assert!(parent.join("other").exists());
    }

    #[test]
    fn what_is_copied_is_the_same_and_what_is_removed_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["one/memory/a/b", "two", "outside"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("one/memory/x.md"), "x").unwrap();
        fs::write(root.join("one/memory/a/b/y.md"), "y").unwrap();
        fs::write(root.join("one/memory/large.md"), "z".repeat(100)).unwrap();
        fs::write(root.join("outside/kept.txt"), "kept").unwrap();
        symlink(root.join("outside"), root.join("one/memory/link")).unwrap();
        let one = WriteScope::open(&root.join("one"), Access::Shared).unwrap();
        let two = WriteScope::open(&root.join("two"), Access::Private).unwrap();
        two.copy_from(&one, &path("memory"), 50).unwrap();
        two.copy_from(&one, &path("nothing"), 50).unwrap();
        assert_eq!(two.read(&path("memory/a/b/y.md"), 10).unwrap(), b"y");
        assert!(!two.has(&path("memory/large.md")).unwrap());
        assert!(!root.join("two/memory/link").exists());
        symlink(root.join("outside"), root.join("two/memory/link")).unwrap();
        let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
        let writer = two.lock(&owner, Duration::ZERO).unwrap();
        writer.remove_scratch(&path("memory")).unwrap();
        writer.remove_scratch(&path("memory")).unwrap();
        assert!(!root.join("two/memory").exists());
        assert_eq!(fs::read_to_string(root.join("outside/kept.txt")).unwrap(), "kept");
        assert!(root.join("one/memory/x.md").exists());
    }
}
