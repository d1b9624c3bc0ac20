//! What the callers of `platform` need beyond single calls.

use std::ffi::OsString;
use std::io::Read as _;

use cap_std::fs::{Dir, DirBuilder, File, Metadata, OpenOptions};

use super::fd::{AsFd, BorrowedFd};
use super::fs::{FileType, Stat};
use super::io::Errno;
use crate::platform::ListedName;

/// The permission bits of a file: only its owner is known.
pub const fn mode_bits(_: &Stat) -> u32 {
    0o700
}

/// When a file was last written: seconds since 1970, and nanoseconds.
pub const fn modified(stat: &Stat) -> (i64, i64) {
    stat.modified
}

/// When a file's facts last changed: the system tells only of its last write, which programs can set.
pub const fn changed(stat: &Stat) -> (i64, i64) {
    stat.modified
}

/// Calls `each` with every name in an open folder.
pub fn list(folder: impl AsFd, mut each: impl FnMut(ListedName<'_>)) -> Result<(), Errno> {
    let BorrowedFd::Folder(folder) = folder.as_fd() else { return Err(Errno::NOTDIR) };
    for entry in folder.entries()? {
        let entry = entry?;
        let kind = entry.file_type().map_or(FileType::Unknown, |kind| match () {
            () if kind.is_dir() => FileType::Directory,
            () if kind.is_file() => FileType::RegularFile,
            () if kind.is_symlink() => FileType::Symlink,
            () => FileType::Unknown,
        });
        let name = entry.file_name();
        let is_unicode = name.to_str().is_some();
        each(ListedName { name: name.to_string_lossy(), is_unicode, kind });
    }
    Ok(())
}

/// What makes a folder; it gets the permissions of the one that it lies in.
pub fn folder_builder(_: u32) -> DirBuilder {
    DirBuilder::new()
}

/// A new file gets the permissions of its folder.
pub const fn set_create_mode(_: &mut OpenOptions, _: u32) {}

/// A folder keeps the permissions that it got from the one that it lies in.
pub const fn set_folder_mode(_: &Dir, _: &str, _: u32) -> std::io::Result<()> {
    Ok(())
}

/// A file keeps the permissions that it got from its folder.
pub const fn set_file_mode(_: &File, _: u32) -> std::io::Result<()> {
    Ok(())
}

/// There are no permission bits to differ.
pub const fn has_file_mode(_: &Metadata, _: u32) -> bool {
    true
}

/// The permission bits of a file: only its owner is known.
pub const fn file_mode(_: &Metadata) -> u32 {
    0o600
}

/// What lies in a person's profile is closed to others by the folder.
pub const fn is_private(_: &Metadata) -> bool {
    true
}

/// Files of a person's own folder are closed to others by its list of rights, which is not looked at.
pub const fn is_private_file(_: &std::fs::File) -> std::io::Result<bool> {
    Ok(true)
}

/// Folders cannot be flushed here; the file system keeps a journal of names.
pub const fn sync_folder(_: &Dir) -> std::io::Result<()> {
    Ok(())
}

/// Whether a plain file has more names than the one it is looked at by. What cannot be looked at may have.
pub fn has_other_names(file: &std::path::Path) -> bool {
    use cap_fs_ext::MetadataExt as _;
    let opened = std::fs::File::open(file).and_then(|file| Metadata::from_file(&file));
    opened.map_or(true, |metadata| 1 < metadata.nlink())
}

/// Reads into the free room of a buffer; 0 at the end of the file.
pub fn read_more(file: &std::fs::File, buffer: &mut Vec<u8>) -> std::io::Result<usize> {
    let room = (buffer.capacity() - buffer.len()).max(1) as u64;
    file.take(room).read_to_end(buffer)
}

/// A text of the system from bytes that another program printed.
pub fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// There are no sessions to leave: a process that was started apart goes on.
pub const fn leave_session() -> std::io::Result<()> {
    Ok(())
}

/// Holes are not told here.
pub const fn size_of_holes(_: &std::fs::File, _: u64) -> u64 {
    0
}

/// How long this process has run, in nanoseconds: what one thread has used is not told here.
pub fn thread_nanos() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let elapsed = START.get_or_init(std::time::Instant::now).elapsed();
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}
