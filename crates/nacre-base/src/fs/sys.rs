//! One function for each mutating system call, taking an open directory handle and a single name.
//!
//! All disk changes go through this file, so tests can inject an error or a crash at each call
//! (`fault`). Names are single components, and handles are opened without following links, so no
//! call can affect files outside its directory.

use std::io;
use std::io::Write as _;
use std::ops::Deref;

use cap_fs_ext::{
    FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _,
};
use cap_std::fs::{Dir, File, OpenOptions};
use memmap2::Mmap;

use crate::platform;
use crate::platform::fs::{AtFlags, RenameFlags};
use crate::platform::io::Errno;
use crate::threads::on_threads;

pub(super) fn make_dir(parent: &Dir, name: &str, mode: u32) -> io::Result<()> {
    gate()?;
    parent.create_dir_with(name, &platform::folder_builder(mode))?;
    // The umask may have cleared some permission bits.
    set_dir_mode(parent, name, mode).map(drop)
}

/// Returns whether the permissions changed.
pub(super) fn set_dir_mode(parent: &Dir, name: &str, mode: u32) -> io::Result<bool> {
    let made = platform::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if platform::mode_bits(&made) & 0o777 == mode {
        return Ok(false);
    }
    gate()?;
    platform::set_folder_mode(parent, name, mode).map(|()| true)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flush {
    Now,
    /// The operating system flushes the file later. Used for files that can be rebuilt.
    Later,
}

pub(super) fn write_new(
    dir: &Dir,
    name: &str,
    bytes: &[u8],
    mode: FileMode,
    flush: Flush,
) -> io::Result<File> {
    gate()?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).follow(FollowSymlinks::No);
    let FileMode(bits) = mode;
    platform::set_create_mode(&mut options, bits);
    let mut file = dir.open_with(name, &options)?;
    if !platform::has_file_mode(&file.metadata()?, bits) {
        gate()?;
        platform::set_file_mode(&file, bits)?;
    }
    gate()?;
    file.write_all(bytes)?;
    if flush == Flush::Now {
        sync(&file)?;
    }
    Ok(file)
}

/// The exact permissions of a written file, regardless of the umask.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileMode(pub(super) u32);

pub(super) const PRIVATE_FILE: FileMode = FileMode(0o600);

/// Overwrites the start of an open file. Only used for the lock's owner record, where a partial
/// write is harmless.
pub(super) fn write_record(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    gate()?;
    file.set_len(0)?;
    gate()?;
    file.write_all(bytes)
}

/// Returns whether the open file is a plain file with a single hard link. Archives can contain hard
/// links, so a file in an unpacked repository may share its data with a file elsewhere.
pub(super) fn is_written_alone(file: &File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    Ok(metadata.is_file() && metadata.nlink() <= 1)
}

/// Appends to a file, creating it if it is missing. Returns the new size, or `None` if it is not a
/// plain file or has a second hard link.
pub(super) fn append(
    dir: &Dir,
    name: &str,
    bytes: &[u8],
    FileMode(bits): FileMode,
) -> io::Result<Option<u64>> {
    gate()?;
    let mut options = OpenOptions::new();
    options.append(true).create(true).follow(FollowSymlinks::No).nonblock(true);
    platform::set_create_mode(&mut options, bits);
    let mut file = dir.open_with(name, &options)?;
    if !is_written_alone(&file)? {
        return Ok(None);
    }
    gate()?;
    file.write_all(bytes)?;
    Ok(Some(file.metadata()?.len()))
}

pub(super) fn sync(file: &File) -> io::Result<()> {
    gate()?;
    file.sync_all()
}

/// Flushes the files at the same time. Most file systems then write them in one commit of their own
/// journal, which takes little longer than flushing one file.
pub(super) fn sync_all(files: &[File]) -> io::Result<()> {
    files.iter().try_for_each(|_| gate())?;
    let flushed =
        on_threads(files, files.len(), |files| files.iter().map(File::sync_all).collect());
    flushed.into_iter().collect()
}

pub(super) fn sync_dir(dir: &Dir) -> io::Result<()> {
    gate()?;
    platform::sync_folder(dir)
}

pub(super) fn rename(from: &Dir, name: &str, to: &Dir, new_name: &str) -> io::Result<()> {
    gate()?;
    Ok(platform::fs::renameat(from, name, to, new_name)?)
}

pub(super) fn rename_new(from: &Dir, name: &str, to: &Dir, new_name: &str) -> io::Result<()> {
    gate()?;
    match rename_with(from, name, to, new_name, RenameFlags::NOREPLACE) {
        Err(error) if is_unsupported(error) => link_then_unlink(from, name, to, new_name),
        renamed => Ok(renamed?),
    }
}

/// Fallback for file systems without `RENAME_NOREPLACE`: creating a link fails if the target
/// exists.
fn link_then_unlink(from: &Dir, name: &str, to: &Dir, new_name: &str) -> io::Result<()> {
    gate()?;
    match platform::fs::linkat(from, name, to, new_name, AtFlags::empty()) {
        // A crash between the two calls left the file under both names.
        Err(Errno::EXIST) if is_same_file(from, name, to, new_name) => {}
        linked => linked?,
    }
    gate()?;
    Ok(platform::fs::unlinkat(from, name, AtFlags::empty())?)
}

pub(super) fn is_same_file(a: &Dir, a_name: &str, b: &Dir, b_name: &str) -> bool {
    let stat = |dir: &Dir, name: &str| platform::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
    match (stat(a, a_name), stat(b, b_name)) {
        (Ok(a), Ok(b)) => (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino),
        _ => false,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    Done,
    /// The file system does not support swaps, so the caller must use two renames.
    Unsupported,
}

pub(super) fn exchange(a: &Dir, a_name: &str, b: &Dir, b_name: &str) -> io::Result<Exchange> {
    gate()?;
    match rename_with(a, a_name, b, b_name, RenameFlags::EXCHANGE) {
        Err(error) if is_unsupported(error) => Ok(Exchange::Unsupported),
        swapped => Ok(swapped.map(|()| Exchange::Done)?),
    }
}

fn rename_with(
    a: &Dir,
    a_name: &str,
    b: &Dir,
    b_name: &str,
    flags: RenameFlags,
) -> Result<(), Errno> {
    #[cfg(test)]
    if fault::is_plain() {
        return Err(Errno::INVAL);
    }
    platform::fs::renameat_with(a, a_name, b, b_name, flags)
}

fn is_unsupported(error: Errno) -> bool {
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::NOTSUP)
}

pub(super) fn remove_file(dir: &Dir, name: &str) -> io::Result<()> {
    gate()?;
    Ok(platform::fs::unlinkat(dir, name, AtFlags::empty())?)
}

pub(super) fn remove_dir(dir: &Dir, name: &str) -> io::Result<()> {
    gate()?;
    Ok(platform::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?)
}

#[cfg(test)]
fn gate() -> io::Result<()> {
    fault::gate()
}

#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "in tests, this function can fail")]
#[inline]
fn gate() -> io::Result<()> {
    Ok(())
}

/// Injects a fault into a thread's k-th mutating call. For tests.
#[cfg(test)]
pub(super) mod fault {
    use std::cell::RefCell;
    use std::io;
    use std::rc::Rc;

    #[derive(Clone)]
    pub(crate) enum Fault {
        /// Simulates a crash: this call and all later calls do nothing.
        Kill,
        Errno(i32),
        Person(Rc<dyn Fn()>),
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) enum Disk {
        #[default]
        Local,
        /// Simulates a file system that does not support rename flags, such as NFS.
        Plain,
    }

    #[derive(Default)]
    struct Planted {
        fault: Option<(usize, Fault)>,
        disk: Disk,
        n_calls: usize,
    }

    thread_local! {
        static PLANTED: RefCell<Planted> = RefCell::default();
    }

    /// Runs `work` and injects `fault` at call number `at`, counted from 0. Returns the result of
    /// `work` and the number of calls.
    pub(crate) fn with<T>(
        disk: Disk,
        fault: Option<(usize, Fault)>,
        work: impl FnOnce() -> T,
    ) -> (T, usize) {
        PLANTED.set(Planted { fault, disk, n_calls: 0 });
        let result = work();
        (result, PLANTED.take().n_calls)
    }

    pub(super) fn is_plain() -> bool {
        PLANTED.with_borrow(|planted| planted.disk == Disk::Plain)
    }

    pub(super) fn gate() -> io::Result<()> {
        let due = PLANTED.with_borrow_mut(|planted| {
            let call = planted.n_calls;
            planted.n_calls += 1;
            match &planted.fault {
                Some((at, Fault::Kill)) if call >= *at => Some(Fault::Kill),
                Some((at, fault)) if call == *at => Some(fault.clone()),
                _ => None,
            }
        });
        match due {
            None => Ok(()),
            Some(Fault::Kill) => Err(io::Error::other("killed")),
            Some(Fault::Errno(code)) => Err(io::Error::from_raw_os_error(code)),
            Some(Fault::Person(act)) => {
                act();
                Ok(())
            }
        }
    }
}

/// A file's bytes, memory-mapped or read into memory.
#[derive(Debug)]
pub enum FileBytes {
    Mapped(Mmap),
    Memory(Vec<u8>),
}

impl FileBytes {
    pub(super) fn map(file: &std::fs::File) -> io::Result<Self> {
        #[expect(
            unsafe_code,
            reason = "derived files are replaced by a rename and never changed in place"
        )]
        // SAFETY: the mapped bytes do not change. `put_derived` writes a new file and renames it,
        // and the content of a replaced or removed file stays intact for processes that have it
        // open.
        let map = unsafe { Mmap::map(file) };
        map.map(Self::Mapped)
    }
}

impl Default for FileBytes {
    fn default() -> Self {
        Self::Memory(Vec::new())
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(bytes) => bytes,
            Self::Memory(bytes) => bytes,
        }
    }
}
