//! Changes files in the user's own tree, one at a time, without a lock or journal.
//!
//! A `journal/` directory would clutter the workspace, and other programs would ignore our lock.
//! Each change is therefore a single swap that is checked afterwards and reverted if the replaced
//! file is not the one that was read. A crash can leave a `.nacre-1-2.tmp` file behind, but never a
//! partially written file.

use std::io;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicU32, Ordering};

use cap_std::fs::Dir;

use super::error::{FsAction, FsError, Result};
use super::path::RelPath;
use super::scope::{
    FileStamp, WriteScope, clone_dir, io_error, mode_of, open_child, read_file, stamp_of,
};
use super::sys;
use super::sys::{Exchange, FileMode};
use super::writer::remove_if_there;
use crate::ContentHash;

/// Files larger than this are not replaced, removed or moved.
const MAX_FILE_BYTES: u64 = 64 << 20;

impl WriteScope {
    pub fn stamp(&self, path: &RelPath) -> Result<Option<FileStamp>> {
        match self.parent_of(path) {
            Ok(dir) => Ok(stamp_of(&dir, path.name())),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub fn mode(&self, path: &RelPath) -> Option<u32> {
        mode_of(&self.parent_of(path).ok()?, path.name()).ok()
    }

    /// Creates a new file along with its parent directories. Fails if the file exists.
    pub fn create_file(&self, path: &RelPath, bytes: &[u8]) -> Result<()> {
        self.create_file_as(path, bytes, None)
    }

    pub fn create_file_as(&self, path: &RelPath, bytes: &[u8], mode: Option<u32>) -> Result<()> {
        let dir = self.make_parents(path)?;
        let mode = mode.map_or(self.access.file_mode(path), FileMode);
        let temp = Temp::create(&dir, bytes, mode)
            .map_err(|error| io_error(FsAction::Write, &self.full(path), error))?;
        match sys::rename_new(&dir, &temp.name, &dir, path.name()) {
            Ok(()) => {
                temp.forget();
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(conflict(path)),
            Err(error) => Err(io_error(FsAction::Move, &self.full(path), error)),
        }
    }

    /// Replaces a file if its content is unchanged since it was read. The file mode is kept.
    pub fn replace_file(&self, path: &RelPath, before: ContentHash, bytes: &[u8]) -> Result<()> {
        self.replace_file_as(path, before, bytes, None)
    }

    pub fn replace_file_as(
        &self,
        path: &RelPath,
        before: ContentHash,
        bytes: &[u8],
        mode: Option<u32>,
    ) -> Result<()> {
        let dir = self.parent_of(path)?;
        let failed = |error| io_error(FsAction::Write, &self.full(path), error);
        let kept = || mode_of(&dir, path.name()).map_err(|fault| fault.at(&self.full(path)));
        let mode = mode.map_or_else(kept, Ok)?;
        let temp = Temp::create(&dir, bytes, FileMode(mode)).map_err(failed)?;
        if !holds(&dir, path.name(), before) {
            return Err(conflict(path));
        }
        match sys::exchange(&dir, &temp.name, &dir, path.name()).map_err(failed)? {
            // The swapped-out file is about to be deleted, so check it once more.
            Exchange::Done if holds(&dir, &temp.name, before) => Ok(()),
            Exchange::Done => {
                sys::exchange(&dir, &temp.name, &dir, path.name()).map_err(failed)?;
                Err(conflict(path))
            }
            // Without atomic swaps, there is a short race between the check and the rename.
            Exchange::Unsupported => {
                sys::rename(&dir, &temp.name, &dir, path.name()).map_err(failed)?;
                temp.forget();
                Ok(())
            }
        }
    }

    /// Removes a file if its content is unchanged since it was read.
    pub fn remove_file(&self, path: &RelPath, before: ContentHash) -> Result<()> {
        let dir = self.parent_of(path)?;
        let failed = |error| io_error(FsAction::Remove, &self.full(path), error);
        if !holds(&dir, path.name(), before) {
            return Err(conflict(path));
        }
        let aside = temp_name();
        sys::rename_new(&dir, path.name(), &dir, &aside).map_err(failed)?;
        if holds(&dir, &aside, before) {
            return remove_if_there(&dir, &aside).map_err(failed);
        }
        sys::rename_new(&dir, &aside, &dir, path.name()).map_err(failed)?;
        Err(conflict(path))
    }

    /// Moves a file to a path that does not exist yet, if its content is unchanged since it was
    /// read.
    pub fn move_file(&self, from: &RelPath, to: &RelPath, before: ContentHash) -> Result<()> {
        let source = self.parent_of(from)?;
        if !holds(&source, from.name(), before) {
            return Err(conflict(from));
        }
        let target = self.make_parents(to)?;
        match sys::rename_new(&source, from.name(), &target, to.name()) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(conflict(to)),
            Err(error) => return Err(io_error(FsAction::Move, &self.full(to), error)),
            Ok(()) => {}
        }
        if holds(&target, to.name(), before) {
            return Ok(());
        }
        sys::rename_new(&target, to.name(), &source, from.name())
            .map_err(|error| io_error(FsAction::Move, &self.full(from), error))?;
        Err(conflict(from))
    }

    pub fn remove_empty_folder(&self, path: &RelPath) -> Result<bool> {
        let dir = match self.parent_of(path) {
            Err(error) if error.is_missing() => return Ok(false),
            dir => dir?,
        };
        match sys::remove_dir(&dir, path.name()) {
            Ok(()) => Ok(true),
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::DirectoryNotEmpty | ErrorKind::NotFound | ErrorKind::NotADirectory
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(io_error(FsAction::Remove, &self.full(path), error)),
        }
    }

    pub(super) fn make_parents(&self, path: &RelPath) -> Result<Dir> {
        let Some(folder) = path.parent() else { return clone_dir(&self.dir, &self.path) };
        match self.open_dir(&folder) {
            Err(error) if error.is_missing() => {}
            opened => return opened,
        }
        let (dir, full) = (self.make_parents(&folder)?, self.full(&folder));
        match sys::make_dir(&dir, folder.name(), self.access.folder_mode(folder.as_str())) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(io_error(FsAction::MakeFolder, &full, error))
            }
            Ok(()) | Err(_) => open_child(&dir, &full, folder.name()),
        }
    }
}

fn holds(dir: &Dir, name: &str, expected: ContentHash) -> bool {
    read_file(dir, name, MAX_FILE_BYTES).is_ok_and(|bytes| ContentHash::of(&bytes) == expected)
}

fn conflict(path: &RelPath) -> FsError {
    FsError::Conflict { paths: vec![path.clone()] }
}

/// A temporary file next to its target, removed on drop unless it was moved into place.
struct Temp<'d> {
    dir: &'d Dir,
    name: String,
    is_in_place: bool,
}

impl<'d> Temp<'d> {
    fn create(dir: &'d Dir, bytes: &[u8], mode: FileMode) -> io::Result<Self> {
        let temp = Self { dir, name: temp_name(), is_in_place: false };
        sys::write_new(dir, &temp.name, bytes, mode, sys::Flush::Now)?;
        Ok(temp)
    }

    fn forget(mut self) {
        self.is_in_place = true;
    }
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        if !self.is_in_place {
            let _ = remove_if_there(self.dir, &self.name);
        }
    }
}

fn temp_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!(".nacre-{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "the tests simulate the user and create the old state"
)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::{Path, PathBuf};
    use std::rc::Rc;

    use super::*;
    use crate::fs::scope::Access;
    use crate::fs::sys::fault::{self, Disk, Fault};

    fn path(text: &str) -> RelPath {
        RelPath::new(text).unwrap()
    }

    fn scope(root: &Path) -> WriteScope {
        WriteScope::open(root, Access::Shared).unwrap()
    }

    fn names(root: &Path) -> Vec<String> {
        let entries = fs::read_dir(root).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_made_replaced_moved_and_removed() {
        let root = tempfile::tempdir().unwrap();
        let scope = scope(root.path());
        scope.create_file(&path("a/b/c.txt"), b"one").unwrap();
        assert!(
            scope.create_file(&path("a/b/c.txt"), b"two").is_err(),
            "existing files are not overwritten"
        );
        let file = root.path().join("a/b/c.txt");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        scope.replace_file(&path("a/b/c.txt"), ContentHash::of(b"one"), b"two").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o755);
        assert!(scope.replace_file(&path("a/b/c.txt"), ContentHash::of(b"one"), b"x").is_err());
        scope.move_file(&path("a/b/c.txt"), &path("d.txt"), ContentHash::of(b"two")).unwrap();
        assert_eq!(fs::read(root.path().join("d.txt")).unwrap(), b"two");
        assert!(scope.remove_file(&path("d.txt"), ContentHash::of(b"one")).is_err());
        scope.remove_file(&path("d.txt"), ContentHash::of(b"two")).unwrap();
        scope.create_file_as(&path("run"), b"x", Some(0o750)).unwrap();
        assert_eq!(scope.mode(&path("run")).unwrap() & 0o777, 0o750);
        scope.replace_file_as(&path("run"), ContentHash::of(b"x"), b"y", Some(0o700)).unwrap();
        assert_eq!(scope.mode(&path("run")).unwrap() & 0o777, 0o700);
        scope.remove_file(&path("run"), ContentHash::of(b"y")).unwrap();
        assert_eq!(scope.mode(&path("run")), None);
        assert_eq!(names(root.path()), ["a"]);
        assert_eq!(names(&root.path().join("a/b")), [""; 0]);
        assert!(!scope.remove_empty_folder(&path("a")).unwrap(), "the directory is not empty");
        assert!(scope.remove_empty_folder(&path("a/b")).unwrap());
        assert!(!scope.remove_empty_folder(&path("a/b")).unwrap(), "it is gone");
    }

    #[test]
    fn links_are_neither_followed_nor_replaced() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("f"), "safe").unwrap();
        symlink(outside.path(), root.path().join("dir")).unwrap();
        symlink(outside.path().join("f"), root.path().join("link")).unwrap();
        let scope = scope(root.path());
        let hash = ContentHash::of(b"safe");
        assert!(scope.create_file(&path("dir/new"), b"x").is_err());
        assert!(scope.create_file(&path("link"), b"x").is_err());
        assert!(scope.replace_file(&path("link"), hash, b"x").is_err());
        assert!(scope.replace_file(&path("dir/f"), hash, b"x").is_err());
        assert!(scope.remove_file(&path("link"), hash).is_err());
        assert!(scope.move_file(&path("dir/f"), &path("g"), hash).is_err());
        assert!(!scope.remove_empty_folder(&path("link")).unwrap());
        assert!(!scope.remove_empty_folder(&path("dir")).unwrap());
        assert_eq!(names(outside.path()), ["f"]);
        assert_eq!(names(root.path()), ["dir", "link"]);
    }

    type Act = fn(&WriteScope) -> Result<()>;

    const ACTS: [Act; 4] = [
        |scope| scope.create_file(&path("new"), b"new"),
        |scope| scope.replace_file(&path("a"), ContentHash::of(b"old"), b"new"),
        |scope| scope.remove_file(&path("a"), ContentHash::of(b"old")),
        |scope| scope.move_file(&path("a"), &path("b"), ContentHash::of(b"old")),
    ];

    /// Runs every operation with and without atomic swaps, once for each of its system calls,
    /// injecting a fault at that call.
    fn sweep(fault: &dyn Fn(PathBuf) -> Fault, check: &dyn Fn(&Path, Result<()>)) {
        let disks = [Disk::Local, Disk::Plain];
        for (disk, act) in disks.into_iter().flat_map(|disk| ACTS.map(|act| (disk, act))) {
            let mut at = 0;
            while plant(disk, act, at, fault, check) {
                at += 1;
            }
        }
    }

    fn plant(
        disk: Disk,
        act: Act,
        at: usize,
        fault: &dyn Fn(PathBuf) -> Fault,
        check: &dyn Fn(&Path, Result<()>),
    ) -> bool {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("a"), "old").unwrap();
        let scope = scope(root.path());
        let planted = Some((at, fault(root.path().to_owned())));
        let (done, n_calls) = fault::with(disk, planted, || act(&scope));
        check(root.path(), done);
        at < n_calls
    }

    #[test]
    fn a_kill_leaves_whole_files_only() {
        sweep(&|_| Fault::Kill, &|root, _| {
            let contents: Vec<Vec<u8>> = ["a", "b", "new"]
                .iter()
                .filter_map(|name| fs::read(root.join(name)).ok())
                .collect();
            assert!(
                contents.iter().all(|bytes| bytes == b"old" || bytes == b"new"),
                "{contents:?}"
            );
        });
    }

    #[test]
    fn what_a_person_writes_meanwhile_is_not_lost() {
        let save = |root: PathBuf| {
            Fault::Person(Rc::new(move || {
                // Editors save files this way: they write a new file and rename it into place.
                if root.join("a").exists() {
                    fs::write(root.join("saved"), "mine").unwrap();
                    fs::rename(root.join("saved"), root.join("a")).unwrap();
                }
            }))
        };
        sweep(&save, &|root, _| {
            let is_there = |name: &str| fs::read(root.join(name)).is_ok_and(|text| text == b"mine");
            let was_too_late = !root.join("a").exists()
                || fs::read(root.join("a")).is_ok_and(|text| text != b"mine");
            // Either the user's text is in place, or the operation ended before the user could
            // write it.
            assert!(is_there("a") || is_there("b") || was_too_late);
            assert!(!names(root).iter().any(|name| {
                let bytes = fs::read(root.join(name)).unwrap_or_default();
                name.starts_with(".nacre-") && bytes == b"mine"
            }));
        });
    }
}
