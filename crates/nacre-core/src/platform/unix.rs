//! Linux and macOS: the system's own calls, under the names that all systems share.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use cap_std::fs::{Dir, DirBuilder, File, Metadata, OpenOptions, Permissions};
use cap_std::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use rustix::fs::{AtFlags, FileType, Stat};
pub use rustix::{fs, io, process};

use super::ListedName;

/// Open files and folders.
pub mod fd {
    pub use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
}

/// What this system adds to types of the standard library.
pub mod ext {
    pub use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
    pub use std::os::unix::process::CommandExt;
}

/// How much of a folder's listing is asked for at once.
#[cfg(target_os = "linux")]
const LISTING_BYTES: usize = 32 << 10;

/// The permission bits of a file.
#[cfg(target_os = "linux")]
pub fn mode_bits(stat: &Stat) -> u32 {
    stat.st_mode & 0o7777
}

/// The permission bits of a file.
#[cfg(not(target_os = "linux"))]
pub fn mode_bits(stat: &Stat) -> u32 {
    u32::from(stat.st_mode) & 0o7777
}

/// When a file was last written: seconds since 1970, and nanoseconds.
pub fn modified(stat: &Stat) -> (i64, i64) {
    (stat.st_mtime, nanos(stat.st_mtime_nsec))
}

/// When a file's facts last changed; no program can set it back.
pub fn changed(stat: &Stat) -> (i64, i64) {
    (stat.st_ctime, nanos(stat.st_ctime_nsec))
}

#[cfg(target_os = "linux")]
fn nanos(nanos: u64) -> i64 {
    nanos.cast_signed()
}

#[cfg(not(target_os = "linux"))]
fn nanos(nanos: i64) -> i64 {
    nanos
}

/// Calls `each` with every name in an open folder.
#[cfg(target_os = "linux")]
pub fn list(folder: impl fd::AsFd, mut each: impl FnMut(ListedName<'_>)) -> Result<(), io::Errno> {
    let mut buffer = Vec::with_capacity(LISTING_BYTES);
    let mut listing = fs::RawDir::new(folder.as_fd(), buffer.spare_capacity_mut());
    while let Some(entry) = listing.next() {
        let entry = entry?;
        tell(folder.as_fd(), entry.file_name(), entry.file_type(), &mut each);
    }
    Ok(())
}

/// Calls `each` with every name in an open folder.
#[cfg(not(target_os = "linux"))]
pub fn list(folder: impl fd::AsFd, mut each: impl FnMut(ListedName<'_>)) -> Result<(), io::Errno> {
    for entry in fs::Dir::read_from(folder.as_fd())? {
        let entry = entry?;
        tell(folder.as_fd(), entry.file_name(), entry.file_type(), &mut each);
    }
    Ok(())
}

fn tell(
    folder: fd::BorrowedFd<'_>,
    name: &std::ffi::CStr,
    mut kind: FileType,
    each: &mut impl FnMut(ListedName<'_>),
) {
    if matches!(name.to_bytes(), b"." | b"..") {
        return;
    }
    // Not every file system tells it in the listing.
    if kind == FileType::Unknown {
        let stat = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        kind = stat.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode));
    }
    let is_unicode = name.to_str().is_ok();
    each(ListedName { name: name.to_string_lossy(), is_unicode, kind });
}

/// What makes a folder with these permissions, less what the umask takes away.
pub fn folder_builder(mode: u32) -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(mode);
    builder
}

/// Gives a file these permissions when it is made, less what the umask takes away.
pub fn set_create_mode(options: &mut OpenOptions, mode: u32) {
    options.mode(mode);
}

/// Gives the folder `name` these permissions.
pub fn set_folder_mode(parent: &Dir, name: &str, mode: u32) -> std::io::Result<()> {
    parent.set_permissions(name, Permissions::from_mode(mode))
}

/// Gives an open file these permissions.
pub fn set_file_mode(file: &File, mode: u32) -> std::io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
}

/// Whether a file has exactly these permissions.
pub fn has_file_mode(metadata: &Metadata, mode: u32) -> bool {
    file_mode(metadata) == mode
}

/// The permission bits of a file.
pub fn file_mode(metadata: &Metadata) -> u32 {
    metadata.permissions().mode() & 0o7777
}

/// Whether a file is closed to everybody but its owner.
pub fn is_private(metadata: &Metadata) -> bool {
    metadata.permissions().mode() & 0o077 == 0
}

/// Whether an open file is closed to everybody but its owner.
pub fn is_private_file(file: &std::fs::File) -> std::io::Result<bool> {
    use ext::MetadataExt as _;
    Ok(file.metadata()?.mode() & 0o077 == 0)
}

/// Flushes a folder's entries to the disk.
pub fn sync_folder(folder: &Dir) -> std::io::Result<()> {
    // The handle may be a path-only one; a fresh descriptor can be flushed.
    let fresh = folder.open_with(".", OpenOptions::new().read(true))?;
    match fresh.sync_all() {
        // Some file systems cannot flush folders, and then need not.
        Err(error) if error.raw_os_error() == Some(io::Errno::INVAL.raw_os_error()) => Ok(()),
        flushed => flushed,
    }
}

/// Whether a plain file has more names than the one it is looked at by.
pub fn has_other_names(file: &std::path::Path) -> bool {
    use ext::MetadataExt as _;
    file.symlink_metadata().is_ok_and(|metadata| 1 < metadata.nlink())
}

/// Reads into the free room of a buffer; 0 at the end of the file.
pub fn read_more(file: &std::fs::File, buffer: &mut Vec<u8>) -> std::io::Result<usize> {
    Ok(io::read(file, rustix::buffer::spare_capacity(buffer))?)
}

/// A text of the system from bytes that another program printed.
pub fn os_string(bytes: &[u8]) -> OsString {
    OsStr::from_bytes(bytes).to_owned()
}

/// Leaves the session and the terminal of whoever started this process.
pub fn leave_session() -> std::io::Result<()> {
    process::setsid()?;
    Ok(())
}

/// How many bytes of a file are holes; counting ends beyond `limit`.
#[cfg(target_os = "linux")]
pub fn size_of_holes(file: &std::fs::File, limit: u64) -> u64 {
    use fs::{SeekFrom, seek};

    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let (mut at, mut n_bytes) = (0, 0);
    while at < size && n_bytes <= limit {
        let data = match seek(file, SeekFrom::Data(at)) {
            Ok(data) => data,
            // Nothing but a hole follows.
            Err(io::Errno::NXIO) => size,
            // A file system that does not tell.
            Err(_) => return n_bytes,
        };
        n_bytes += data.saturating_sub(at);
        match seek(file, SeekFrom::Hole(data)) {
            Ok(hole) if at < hole => at = hole,
            Ok(_) | Err(_) => break,
        }
    }
    // What reads on in the file begins where it did.
    let _ = seek(file, SeekFrom::Start(0));
    n_bytes
}

/// The same where only the blocks on the disk tell.
#[cfg(not(target_os = "linux"))]
pub fn size_of_holes(file: &std::fs::File, _: u64) -> u64 {
    use ext::MetadataExt as _;

    file.metadata().map_or(0, |found| found.len().saturating_sub(found.blocks() * 512))
}

/// How long this thread has kept the processor busy, in nanoseconds.
pub fn thread_nanos() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanos) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}
