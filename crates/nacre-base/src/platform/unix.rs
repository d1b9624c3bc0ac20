//! System calls on Linux and macOS, under the names used on all systems.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, DirBuilder, File, Metadata, OpenOptions, Permissions};
use cap_std::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use rustix::fs::{AtFlags, FileType, Stat};
pub use rustix::{fs, io, process};

use super::ListedName;

pub mod fd {
    pub use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
}

pub mod ext {
    pub use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
    pub use std::os::unix::process::CommandExt;
}

/// Opens a directory. Refuses links.
pub fn open_folder(parent: &Dir, name: &str) -> std::io::Result<Dir> {
    parent.open_dir_nofollow(name)
}

/// Returns a command that runs a shell's command line, with a file as its last argument.
pub fn shell(line: &str, file: Option<&Path>) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c");
    match file {
        Some(file) => command.arg(format!("{line} \"$1\"")).arg("nacre").arg(file),
        None => command.arg(line),
    };
    command
}

#[cfg(target_os = "linux")]
const LISTING_BYTES: usize = 32 << 10;

#[cfg(target_os = "linux")]
pub fn mode_bits(stat: &Stat) -> u32 {
    stat.st_mode & 0o7777
}

#[cfg(not(target_os = "linux"))]
pub fn mode_bits(stat: &Stat) -> u32 {
    u32::from(stat.st_mode) & 0o7777
}

/// Time of the last write, as seconds since 1970 and nanoseconds.
pub fn modification_time(stat: &Stat) -> (i64, i64) {
    (stat.st_mtime, nanos(stat.st_mtime_nsec))
}

/// Time of the last metadata change, which programs cannot set.
pub fn change_time(stat: &Stat) -> (i64, i64) {
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
    // Some file systems do not include the type in the listing.
    if kind == FileType::Unknown {
        let stat = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        kind = stat.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode));
    }
    let is_unicode = name.to_str().is_ok();
    each(ListedName { name: name.to_string_lossy(), is_unicode, kind });
}

pub fn folder_builder(mode: u32) -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(mode);
    builder
}

pub fn set_create_mode(options: &mut OpenOptions, mode: u32) {
    options.mode(mode);
}

pub fn set_folder_mode(parent: &Dir, name: &str, mode: u32) -> std::io::Result<()> {
    parent.set_permissions(name, Permissions::from_mode(mode))
}

pub fn set_file_mode(file: &File, mode: u32) -> std::io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
}

pub fn has_file_mode(metadata: &Metadata, mode: u32) -> bool {
    file_mode(metadata) == mode
}

pub fn file_mode(metadata: &Metadata) -> u32 {
    metadata.permissions().mode() & 0o7777
}

pub fn is_private(metadata: &Metadata) -> bool {
    metadata.permissions().mode() & 0o077 == 0
}

pub fn is_private_file(file: &std::fs::File) -> std::io::Result<bool> {
    use ext::MetadataExt as _;
    Ok(file.metadata()?.mode() & 0o077 == 0)
}

pub fn sync_folder(folder: &Dir) -> std::io::Result<()> {
    // A path-only handle cannot be flushed, so open the directory again.
    let fresh = folder.open_with(".", OpenOptions::new().read(true))?;
    match fresh.sync_all() {
        // Some file systems neither support nor need flushing directories.
        Err(error) if error.raw_os_error() == Some(io::Errno::INVAL.raw_os_error()) => Ok(()),
        flushed => flushed,
    }
}

/// Returns whether a plain file has more than one hard link.
pub fn has_other_names(file: &std::path::Path) -> bool {
    use ext::MetadataExt as _;
    file.symlink_metadata().is_ok_and(|metadata| 1 < metadata.nlink())
}

pub fn os_string(bytes: &[u8]) -> OsString {
    OsStr::from_bytes(bytes).to_owned()
}

pub fn leave_session() -> std::io::Result<()> {
    process::setsid()?;
    Ok(())
}

/// Returns the number of bytes in a sparse file's holes. Stops counting once `limit` is exceeded.
#[cfg(target_os = "linux")]
pub fn size_of_holes(file: &std::fs::File, limit: u64) -> u64 {
    use fs::{SeekFrom, seek};

    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let (mut at, mut n_bytes) = (0, 0);
    while at < size && n_bytes <= limit {
        let data = match seek(file, SeekFrom::Data(at)) {
            Ok(data) => data,
            Err(io::Errno::NXIO) => size,
            // The file system does not support `SEEK_DATA`.
            Err(_) => return n_bytes,
        };
        n_bytes += data.saturating_sub(at);
        match seek(file, SeekFrom::Hole(data)) {
            Ok(hole) if at < hole => at = hole,
            Ok(_) | Err(_) => break,
        }
    }
    // Rewind, so that later reads start at the beginning of the file.
    let _ = seek(file, SeekFrom::Start(0));
    n_bytes
}

/// Without `SEEK_HOLE`, compares the size with the number of allocated blocks.
#[cfg(not(target_os = "linux"))]
pub fn size_of_holes(file: &std::fs::File, _: u64) -> u64 {
    use ext::MetadataExt as _;

    file.metadata().map_or(0, |found| found.len().saturating_sub(found.blocks() * 512))
}

pub fn thread_nanos() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanos) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}
