//! The mutating system calls, one function each, on open folder handles and single names.
//!
//! Everything that changes the disk passes here, so a test can stop the process before, or fail,
//! each call in turn (`fault`). Names are single components; the handles were opened without
//! following links, so no call here can leave its folder.

use std::io::{self, Write as _};

use cap_fs_ext::{
    FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _,
};
use cap_std::fs::{Dir, File, OpenOptions};

use crate::platform;
use crate::platform::fs::{AtFlags, RenameFlags};
use crate::platform::io::Errno;

/// Makes a folder with exactly these permissions.
pub(super) fn make_dir(parent: &Dir, name: &str, mode: u32) -> io::Result<()> {
    gate()?;
    parent.create_dir_with(name, &platform::folder_builder(mode))?;
    // The umask may have taken some away.
    set_dir_mode(parent, name, mode).map(drop)
}

/// Gives a folder exactly these permissions; returns whether it had others.
pub(super) fn set_dir_mode(parent: &Dir, name: &str, mode: u32) -> io::Result<bool> {
    let made = platform::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if platform::mode_bits(&made) & 0o777 == mode {
        return Ok(false);
    }
    gate()?;
    platform::set_folder_mode(parent, name, mode).map(|()| true)
}

/// Makes a file that must not exist yet, writes it and flushes it to the disk.
pub(super) fn write_new(dir: &Dir, name: &str, bytes: &[u8], mode: FileMode) -> io::Result<()> {
    write_new_with(dir, name, bytes, mode, Flush::Now)
}

/// When a written file reaches the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flush {
    Now,
    /// When the system likes: for what can be made again.
    Later,
}

/// Makes a file that must not exist yet and writes it.
pub(super) fn write_new_with(
    dir: &Dir,
    name: &str,
    bytes: &[u8],
    mode: FileMode,
    flush: Flush,
) -> io::Result<()> {
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
    match flush {
        Flush::Now => sync(&file),
        Flush::Later => Ok(()),
    }
}

/// The permissions of a file that is written, whatever the umask says.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileMode(pub(super) u32);

/// A file that its owner alone reads.
pub(super) const PRIVATE_FILE: FileMode = FileMode(0o600);

/// Overwrites the start of an open file; for the lock's owner record, where a torn text harms nobody.
pub(super) fn write_record(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    gate()?;
    file.set_len(0)?;
    gate()?;
    file.write_all(bytes)
}

/// Whether a write to this open file changes no other file: it is a plain one without a second name. Archives keep hard
/// links, so a name in a repository may be that of any file beside it.
pub(super) fn is_written_alone(file: &File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    Ok(metadata.is_file() && metadata.nlink() <= 1)
}

/// Adds to the end of a file, making it where it is missing; returns its size, or `None` for what is not a plain file or
/// has a second name.
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

/// Flushes a file to the disk.
pub(super) fn sync(file: &File) -> io::Result<()> {
    gate()?;
    file.sync_all()
}

/// Flushes a folder's entries to the disk.
pub(super) fn sync_dir(dir: &Dir) -> io::Result<()> {
    gate()?;
    platform::sync_folder(dir)
}

/// Renames within the scope, replacing what is there.
pub(super) fn rename(from: &Dir, name: &str, to: &Dir, new_name: &str) -> io::Result<()> {
    gate()?;
    Ok(platform::fs::renameat(from, name, to, new_name)?)
}

/// Renames only when nothing stands at the target.
pub(super) fn rename_new(from: &Dir, name: &str, to: &Dir, new_name: &str) -> io::Result<()> {
    gate()?;
    match rename_with(from, name, to, new_name, RenameFlags::NOREPLACE) {
        Err(error) if is_unsupported(error) => link_then_unlink(from, name, to, new_name),
        renamed => Ok(renamed?),
    }
}

/// The same for file systems without the flag: a link fails when the target exists.
fn link_then_unlink(from: &Dir, name: &str, to: &Dir, new_name: &str) -> io::Result<()> {
    gate()?;
    match platform::fs::linkat(from, name, to, new_name, AtFlags::empty()) {
        // A kill between the two calls left both names on one file.
        Err(Errno::EXIST) if is_same_file(from, name, to, new_name) => {}
        linked => linked?,
    }
    gate()?;
    Ok(platform::fs::unlinkat(from, name, AtFlags::empty())?)
}

/// Whether both names are there and are one file.
pub(super) fn is_same_file(a: &Dir, a_name: &str, b: &Dir, b_name: &str) -> bool {
    let stat = |dir: &Dir, name: &str| platform::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
    match (stat(a, a_name), stat(b, b_name)) {
        (Ok(a), Ok(b)) => (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino),
        _ => false,
    }
}

/// Whether two files were swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    Done,
    /// This file system cannot swap; use two renames.
    Unsupported,
}

/// Swaps two files in one step, where the file system can.
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

/// Removes a file or link.
pub(super) fn remove_file(dir: &Dir, name: &str) -> io::Result<()> {
    gate()?;
    Ok(platform::fs::unlinkat(dir, name, AtFlags::empty())?)
}

/// Removes an empty folder.
pub(super) fn remove_dir(dir: &Dir, name: &str) -> io::Result<()> {
    gate()?;
    Ok(platform::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?)
}

/// Where a test may end or fail the next call.
#[cfg(test)]
fn gate() -> io::Result<()> {
    fault::gate()
}

#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "the tests' version can fail")]
#[inline]
fn gate() -> io::Result<()> {
    Ok(())
}

/// Faults that tests plant at the k-th mutating call of a thread.
#[cfg(test)]
pub(super) mod fault {
    use std::cell::RefCell;
    use std::io;
    use std::rc::Rc;

    /// What happens at the planted call.
    #[derive(Clone)]
    pub(crate) enum Fault {
        /// The process is gone: this call and all later ones do nothing.
        Kill,
        /// This one call fails with the given error number.
        Errno(i32),
        /// A person does something just before this call.
        Person(Rc<dyn Fn()>),
    }

    /// The file system that a test pretends to have.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) enum Disk {
        #[default]
        Local,
        /// One without rename flags, such as NFS.
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

    /// Runs `work` with `fault` planted at call `at` (0-based); returns its result and how many
    /// calls were made.
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
