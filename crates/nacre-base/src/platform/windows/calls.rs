//! Functions that wrap single system calls, with the same names as on Unix.

use std::ffi::OsString;
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use cap_std::fs::{Dir, DirBuilder, File, Metadata, OpenOptions};

use super::fd::{AsFd, BorrowedFd};
use super::fs::{FileType, Stat};
use super::io::Errno;
use crate::platform::ListedName;

/// Windows has no permission bits, so this always returns bits that allow access only to the owner.
pub const fn mode_bits(_: &Stat) -> u32 {
    0o700
}

/// Time of the last write, as seconds since 1970 and nanoseconds.
pub const fn modification_time(stat: &Stat) -> (i64, i64) {
    stat.modified
}

/// Time of the last write, because the time of the last metadata change is not available. Unlike on
/// Unix, programs can set this time.
pub const fn change_time(stat: &Stat) -> (i64, i64) {
    stat.modified
}

pub fn list(folder: impl AsFd, mut each: impl FnMut(ListedName<'_>)) -> Result<(), Errno> {
    let BorrowedFd::Folder(folder) = folder.as_fd() else { return Err(Errno::NOTDIR) };
    for entry in folder.entries()? {
        let entry = entry?;
        let kind = entry.file_type().map_or(FileType::Unknown, |kind| {
            if kind.is_dir() {
                FileType::Directory
            } else if kind.is_file() {
                FileType::RegularFile
            } else if kind.is_symlink() {
                FileType::Symlink
            } else {
                FileType::Unknown
            }
        });
        let name = entry.file_name();
        let is_unicode = name.to_str().is_some();
        each(ListedName { name: name.to_string_lossy(), is_unicode, kind });
    }
    Ok(())
}

/// The mode is ignored: directories inherit the permissions of their parent.
pub fn folder_builder(_: u32) -> DirBuilder {
    DirBuilder::new()
}

/// The mode is ignored: new files inherit the permissions of their directory.
pub const fn set_create_mode(_: &mut OpenOptions, _: u32) {}

/// Does nothing: directories keep the permissions that they inherited.
pub const fn set_folder_mode(_: &Dir, _: &str, _: u32) -> std::io::Result<()> {
    Ok(())
}

/// Does nothing: files keep the permissions that they inherited.
pub const fn set_file_mode(_: &File, _: u32) -> std::io::Result<()> {
    Ok(())
}

/// Always true, because Windows has no permission bits.
pub const fn has_file_mode(_: &Metadata, _: u32) -> bool {
    true
}

pub const fn file_mode(_: &Metadata) -> u32 {
    0o600
}

/// Always true, because other users have no access to the user's profile directory.
pub const fn is_private(_: &Metadata) -> bool {
    true
}

/// Always true, because other users have no access to the user's own directory. The access control
/// list is not checked.
pub const fn is_private_file(_: &std::fs::File) -> std::io::Result<bool> {
    Ok(true)
}

/// Does nothing: directories cannot be flushed on Windows, and the file system journals name
/// changes.
pub const fn sync_folder(_: &Dir) -> std::io::Result<()> {
    Ok(())
}

/// Returns whether a plain file has more than one hard link, or true if that cannot be determined.
pub fn has_other_names(file: &std::path::Path) -> bool {
    use cap_fs_ext::MetadataExt as _;
    let opened = std::fs::File::open(file).and_then(|file| Metadata::from_file(&file));
    opened.map_or(true, |metadata| 1 < metadata.nlink())
}

pub fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Does nothing, because a detached process on Windows has no session to leave.
pub const fn leave_session() -> std::io::Result<()> {
    Ok(())
}

/// Always 0, because holes cannot be queried.
pub const fn size_of_holes(_: &std::fs::File, _: u64) -> u64 {
    0
}

/// Total CPU time of the process in nanoseconds, because the time of a single thread is not
/// available.
pub fn thread_nanos() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let elapsed = START.get_or_init(std::time::Instant::now).elapsed();
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns a command that runs a shell's command line, with a file as its last argument.
pub fn shell(line: &str, file: Option<&Path>) -> Command {
    let mut command = Command::new("cmd");
    command.arg("/C").raw_arg(line).args(file);
    command
}
