//! Writes that need no journal: derived files, append-only logs, and scratch directories.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use super::error::{FsAction, FsError, Owner, Result, refuse_journal};
use super::path::{PathFault, RelPath};
use super::scope::{Access, EntryKind, WriteScope, io_error};
use super::sys;
use super::sys::{FileMode, Flush};
use super::writer::{TEMP_TAIL, Writer, remove_if_there};
use crate::platform::process::{Pid, test_kill_process};

/// Nacre never creates deeper directories: scratch paths have at most `MAX_COMPONENTS` components,
/// and the directory that contains them adds at most four.
const MAX_SCRATCH_DEPTH: usize = 28;

impl Writer<'_> {
    pub fn put_derived(&self, path: &RelPath, bytes: &[u8]) -> Result<()> {
        refuse_journal(path)?;
        let temp = format!(".{}{TEMP_TAIL}", path.name());
        let mode = self.scope().access.file_mode(path);
        self.scope().replace(path, &temp, bytes, mode, Flush::Later)
    }

    /// Does not fail if the file is missing.
    pub fn remove_derived(&self, path: &RelPath) -> Result<()> {
        refuse_journal(path)?;
        let dir = self.scope().parent_of(path)?;
        remove_if_there(&dir, path.name())
            .map_err(|error| io_error(FsAction::Write, &self.scope().full(path), error))
    }

    /// Removes a flat directory of derived files. If it contains anything other than plain files,
    /// those entries and the directory are kept.
    pub fn remove_derived_folder(&self, path: &RelPath) -> Result<()> {
        refuse_journal(path)?;
        let failed = |error| io_error(FsAction::Remove, &self.scope().full(path), error);
        let dir = match self.scope().open_dir(path) {
            Err(error) if error.is_missing() => return Ok(()),
            dir => dir?,
        };
        for entry in self.scope().list(path)? {
            if entry.kind == EntryKind::File {
                remove_if_there(&dir, &entry.name).map_err(failed)?;
            }
        }
        match sys::remove_dir(&self.scope().parent_of(path)?, path.name()) {
            Err(error) if error.kind() == std::io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed.map_err(failed),
        }
    }

    /// Appends to a plain file, creating it if it is missing. Returns the new size.
    pub fn append(&self, path: &RelPath, bytes: &[u8]) -> Result<u64> {
        refuse_journal(path)?;
        let dir = self.scope().parent_of(path)?;
        let full = self.scope().full(path);
        match sys::append(&dir, path.name(), bytes, self.scope().access.file_mode(path)) {
            Ok(Some(size)) => Ok(size),
            Ok(None) => Err(FsError::NotAFile { path: full }),
            Err(error) => Err(io_error(FsAction::Write, &full, error)),
        }
    }

    /// Renames `log` to `log.1`, `log.1` to `log.2` and so on, keeping `n_kept` old files.
    pub fn rotate(&self, path: &RelPath, n_kept: u32) -> Result<()> {
        refuse_journal(path)?;
        let dir = self.scope().parent_of(path)?;
        let failed = |error| io_error(FsAction::Move, &self.scope().full(path), error);
        let name = |number: u32| match number {
            0 => path.name().to_owned(),
            number => format!("{}.{number}", path.name()),
        };
        remove_if_there(&dir, &name(n_kept)).map_err(failed)?;
        for number in (0..n_kept).rev() {
            match sys::rename(&dir, &name(number), &dir, &name(number + 1)) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                renamed => renamed.map_err(failed)?,
            }
        }
        Ok(())
    }

    pub fn remove_scratch(&self, path: &RelPath) -> Result<()> {
        self.scope().remove_below(path, MAX_SCRATCH_DEPTH)
    }
}

impl WriteScope {
    /// Writes output to a path that the user requested. Paths outside a store have no lock, so the
    /// temporary file's name includes the process ID to keep it unique.
    pub fn put_output(&self, path: &RelPath, bytes: &[u8], owner: &Owner) -> Result<()> {
        let is_there = self.parent_of(path)?.symlink_metadata(path.name());
        if is_there.is_ok_and(|there| !there.is_file()) {
            return Err(FsError::NotAFile { path: self.full(path) });
        }
        let temp = format!(".{}.{}{TEMP_TAIL}", path.name(), owner.pid);
        self.replace(path, &temp, bytes, self.access.file_mode(path), Flush::Later)
    }

    /// Writes `temp`, a temporary file next to the target, and renames it over the target. If
    /// `temp` already exists, it was left behind by a killed process, because no other writer uses
    /// that name.
    pub(super) fn replace(
        &self,
        path: &RelPath,
        temp: &str,
        bytes: &[u8],
        mode: FileMode,
        flush: Flush,
    ) -> Result<()> {
        let dir = self.parent_of(path)?;
        let failed = |error| io_error(FsAction::Write, &self.full(path), error);
        remove_if_there(&dir, temp).map_err(failed)?;
        let written = sys::write_new(&dir, temp, bytes, mode, flush)
            .map(drop)
            .and_then(|()| sys::rename(&dir, temp, &dir, path.name()))
            .and_then(|()| if flush == Flush::Now { sys::sync_dir(&dir) } else { Ok(()) });
        written.map_err(|error| {
            let _ = remove_if_there(&dir, temp);
            failed(error)
        })
    }

    fn make_file(&self, path: &RelPath, bytes: &[u8]) -> Result<()> {
        let dir = self.make_parents(path)?;
        sys::write_new(&dir, path.name(), bytes, self.access.file_mode(path), Flush::Later)
            .map(drop)
            .map_err(|error| io_error(FsAction::Write, &self.full(path), error))
    }

    /// Copies the plain files below `folder` in another scope to the same paths in this scope,
    /// without flushing them. Links and files larger than `limit` bytes are skipped. The target
    /// paths must not exist.
    pub fn copy_from(&self, other: &Self, folder: &RelPath, limit: u64) -> Result<()> {
        let mut waiting = vec![(folder.clone(), 0)];
        while let Some((folder, depth)) = waiting.pop() {
            for entry in other.list(&folder)? {
                let Ok(path) = folder.join(&entry.name) else { continue };
                match entry.kind {
                    EntryKind::Folder if depth < MAX_SCRATCH_DEPTH => {
                        waiting.push((path, depth + 1));
                    }
                    EntryKind::File => match other.read_optional(&path, limit) {
                        Ok(Some(bytes)) => self.make_file(&path, &bytes)?,
                        Ok(None) | Err(FsError::TooLarge { .. } | FsError::NotAFile { .. }) => {}
                        Err(error) => return Err(error),
                    },
                    EntryKind::Folder | EntryKind::Other => {}
                }
            }
        }
        Ok(())
    }

    fn remove_below(&self, path: &RelPath, depth: usize) -> Result<()> {
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

/// A directory for temporary files that is removed with its contents on drop. Its name is unique,
/// so it needs no lock.
#[derive(Debug)]
pub struct ScratchFolder {
    parent: WriteScope,
    scope: WriteScope,
    name: RelPath,
}

impl ScratchFolder {
    const PREFIX: &str = "work-";

    /// Creates a scratch directory inside `parent`. Creates `parent` if it is missing, and removes
    /// directories left behind by processes that have ended.
    pub fn create(parent: &Path) -> Result<Self> {
        Self::create_as(parent, "")
    }

    /// Like `create`, with `ending` appended to the name, for example to make it unguessable.
    pub fn create_as(parent: &Path, ending: &str) -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let parent = WriteScope::create(parent, Access::Private)?;
        remove_left_behind(&parent);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}{}-{number}{ending}", Self::PREFIX, std::process::id());
        let name = RelPath::new(&name)?;
        // An earlier process with the same ID may have left a directory with this name.
        parent.remove_below(&name, MAX_SCRATCH_DEPTH)?;
        let scope = WriteScope::create_inside(parent.path(), name.as_str(), Access::Private)?;
        Ok(Self { parent, scope, name })
    }

    pub fn path(&self) -> &Path {
        self.scope.path()
    }

    /// Limits path depth so that everything in the directory can be removed again.
    pub const MAX_COMPONENTS: usize = 24;

    /// Writes a file, which must not already exist. Nothing is flushed, because the directory is
    /// removed when the process ends.
    pub fn write(&self, path: &RelPath, bytes: &[u8]) -> Result<()> {
        if Self::MAX_COMPONENTS < path.components().count() {
            return Err(FsError::BadPath { path: path.to_string(), why: PathFault::TooDeep });
        }
        self.scope.make_file(path, bytes)
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let _ = self.parent.remove_below(&self.name, MAX_SCRATCH_DEPTH);
    }
}

fn remove_left_behind(parent: &WriteScope) {
    for entry in parent.root().and_then(|root| root.list()).unwrap_or_default() {
        let rest = entry.name.strip_prefix(ScratchFolder::PREFIX);
        let process = rest.and_then(|rest| rest.split_once('-')?.0.parse().ok());
        let Some(process) = process.and_then(Pid::from_raw) else { continue };
        let is_gone = test_kill_process(process) == Err(crate::platform::io::Errno::SRCH);
        if let Some(path) = is_gone.then(|| RelPath::new(&entry.name).ok()).flatten() {
            let _ = parent.remove_below(&path, MAX_SCRATCH_DEPTH);
        }
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "the tests simulate the user and create the old state"
)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::time::Duration;

    use super::*;
    use crate::fs::Owner;
    use crate::fs::scope::Access;

    fn path(text: &str) -> RelPath {
        RelPath::new(text).unwrap()
    }

    #[test]
    fn a_folder_to_work_in_is_empty_and_goes_with_what_was_put_there() {
        let folder = tempfile::tempdir().unwrap();
        let parent = folder.path().canonicalize().unwrap().join("home").join("scratch");
        fs::create_dir(parent.parent().unwrap()).unwrap();
        let left = parent.join("work-999999999-0");
        fs::create_dir_all(left.join("deep")).unwrap();
        fs::create_dir_all(parent.join("other")).unwrap();
        let one = ScratchFolder::create(&parent).unwrap();
        let two = ScratchFolder::create(&parent).unwrap();
        assert_ne!(one.path(), two.path());
        assert!(!left.exists(), "files left by an ended process are removed");
        assert_eq!(fs::read_dir(one.path()).unwrap().count(), 0);
        one.write(&path("a/b.txt"), b"b").unwrap();
        assert_eq!(fs::read(one.path().join("a/b.txt")).unwrap(), b"b");
        let places = [one.path().to_owned(), two.path().to_owned()];
        let deep = |n_components: usize| path(&vec!["d"; n_components].join("/"));
        one.write(&deep(ScratchFolder::MAX_COMPONENTS), b"d").unwrap();
        assert!(one.write(&deep(ScratchFolder::MAX_COMPONENTS + 1), b"d").is_err());
        assert!(one.write(&path("a/b.txt"), b"c").is_err(), "existing files are not overwritten");
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

#[cfg(test)]
mod append_tests {
    #![expect(clippy::disallowed_methods, reason = "the tests simulate an attacker")]

    use std::time::Duration;

    use super::*;
    use crate::fs::{Access, Owner, WriteScope};

    fn with_writer(work: impl FnOnce(&Writer<'_>, &std::path::Path)) {
        let folder = tempfile::tempdir().unwrap();
        let scope = WriteScope::open(folder.path(), Access::Private).unwrap();
        let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
        work(&scope.lock(&owner, Duration::ZERO).unwrap(), folder.path());
    }

    fn path(text: &str) -> RelPath {
        RelPath::new(text).unwrap()
    }

    #[test]
    fn a_file_grows_and_makes_room_for_the_next() {
        with_writer(|writer, folder| {
            let log = path("a.log");
            for number in 0..6 {
                assert_eq!(writer.append(&log, b"one ").unwrap(), 4);
                assert_eq!(writer.append(&log, format!("{number}").as_bytes()).unwrap(), 5);
                writer.rotate(&log, 3).unwrap();
            }
            let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
            assert_eq!(read("a.log"), None);
            assert_eq!(read("a.log.1").as_deref(), Some("one 5"));
            assert_eq!(read("a.log.3").as_deref(), Some("one 3"));
            assert_eq!(read("a.log.4"), None);
        });
    }

    #[test]
    fn nothing_is_appended_through_a_link_or_to_what_is_no_file() {
        with_writer(|writer, folder| {
            std::fs::write(folder.join("victim"), "mine").unwrap();
            std::os::unix::fs::symlink(folder.join("victim"), folder.join("link")).unwrap();
            std::fs::create_dir(folder.join("dir")).unwrap();
            for name in ["link", "dir", "journal/lock"] {
                assert!(writer.append(&path(name), b"x").is_err(), "{name}");
            }
            assert_eq!(std::fs::read_to_string(folder.join("victim")).unwrap(), "mine");
        });
    }

    #[test]
    fn a_log_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;

        with_writer(|writer, folder| {
            writer.append(&path("a.log"), b"x").unwrap();
            let mode = std::fs::metadata(folder.join("a.log")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        });
    }
}
