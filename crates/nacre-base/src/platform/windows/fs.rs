//! Unix calls on open directories, implemented with `cap-std`.
//!
//! Windows has no permission bits or numeric owners, so these are constants. Programs can set a
//! file's change time, so the time of the last write is used instead.

use std::ops::BitOr;
use std::path::Path;

use cap_fs_ext::{DirExt as _, FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions, OpenOptionsExt as _};
use cap_std::time::SystemTime;

use super::fd::{AsFd, BorrowedFd, OwnedFd};
use super::io::Errno;

const KIND_BITS: u32 = 0o170_000;
const FILE: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OFlags(u32);

impl OFlags {
    pub const RDONLY: Self = Self(0);
    pub const DIRECTORY: Self = Self(1);
    pub const NOFOLLOW: Self = Self(2);
    pub const CLOEXEC: Self = Self(0);
    pub const NONBLOCK: Self = Self(0);
    pub const NOCTTY: Self = Self(0);

    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for OFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode;

impl Mode {
    pub const fn empty() -> Self {
        Self
    }
}

/// Lookup flags. A link in the last component is never followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtFlags(u32);

impl AtFlags {
    pub const SYMLINK_NOFOLLOW: Self = Self(1);
    pub const REMOVEDIR: Self = Self(2);

    pub const fn empty() -> Self {
        Self(0)
    }
}

/// Rename flags. Windows supports neither of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenameFlags {
    NOREPLACE,
    EXCHANGE,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    RegularFile,
    Directory,
    Symlink,
    Fifo,
    Socket,
    CharacterDevice,
    BlockDevice,
    Unknown,
}

impl FileType {
    pub const fn from_raw_mode(mode: u32) -> Self {
        match mode & KIND_BITS {
            FILE => Self::RegularFile,
            FOLDER => Self::Directory,
            LINK => Self::Symlink,
            _ => Self::Unknown,
        }
    }

    pub fn is_file(self) -> bool {
        self == Self::RegularFile
    }

    pub fn is_dir(self) -> bool {
        self == Self::Directory
    }

    pub fn is_symlink(self) -> bool {
        self == Self::Symlink
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Stat {
    pub st_mode: u32,
    pub st_size: i64,
    pub st_ino: u64,
    pub st_dev: u64,
    pub st_nlink: u64,
    pub st_uid: u32,
    pub(super) modified: (i64, i64),
}

fn mode(is_dir: bool, is_link: bool, is_file: bool) -> u32 {
    if is_link {
        LINK
    } else if is_dir {
        FOLDER
    } else if is_file {
        FILE
    } else {
        0
    }
}

fn stat_of(metadata: &Metadata) -> Stat {
    Stat {
        st_mode: mode(metadata.is_dir(), metadata.is_symlink(), metadata.is_file()),
        st_size: metadata.len().cast_signed(),
        st_ino: metadata.ino(),
        st_dev: metadata.dev(),
        st_nlink: metadata.nlink(),
        st_uid: 0,
        modified: metadata.modified().map_or((0, 0), |time| since_1970(time)),
    }
}

fn since_1970(time: SystemTime) -> (i64, i64) {
    let epoch = SystemTime::from_std(std::time::UNIX_EPOCH);
    let since = time.duration_since(epoch).unwrap_or_default();
    (since.as_secs().cast_signed(), i64::from(since.subsec_nanos()))
}

/// Metadata for a path specified by the user. The inode number and link count are missing.
fn stat_of_path(metadata: &std::fs::Metadata) -> Stat {
    let modified = metadata.modified().map(SystemTime::from_std);
    Stat {
        st_mode: mode(metadata.is_dir(), metadata.is_symlink(), metadata.is_file()),
        st_size: metadata.len().cast_signed(),
        st_ino: 0,
        st_dev: 0,
        st_nlink: 1,
        st_uid: 0,
        modified: modified.map_or((0, 0), since_1970),
    }
}

fn folder_of<'f>(fd: &'f BorrowedFd<'f>) -> Result<&'f Dir, Errno> {
    match fd {
        BorrowedFd::Folder(folder) => Ok(folder),
        BorrowedFd::File(_) => Err(Errno::NOTDIR),
    }
}

pub fn open(path: impl AsRef<Path>, flags: OFlags, _: Mode) -> Result<OwnedFd, Errno> {
    let path = path.as_ref();
    let is_link = || path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    if flags.has(OFlags::NOFOLLOW) && is_link() {
        return Err(Errno::LOOP);
    }
    if flags.has(OFlags::DIRECTORY) {
        return Ok(OwnedFd::Folder(Dir::open_ambient_dir(path, ambient_authority())?));
    }
    Ok(OwnedFd::File(std::fs::File::open(path)?))
}

pub fn openat(
    folder: impl AsFd,
    path: impl AsRef<Path>,
    flags: OFlags,
    _: Mode,
) -> Result<OwnedFd, Errno> {
    let folder = folder.as_fd();
    let folder = folder_of(&folder)?;
    if flags.has(OFlags::DIRECTORY) {
        let opened = match path.as_ref() == Path::new(".") {
            true => folder.try_clone(),
            false if flags.has(OFlags::NOFOLLOW) => open_folder(folder, path),
            false => folder.open_dir(path),
        };
        return Ok(OwnedFd::Folder(opened?));
    }
    let mut options = OpenOptions::new();
    options.read(true);
    if flags.has(OFlags::NOFOLLOW) {
        options.follow(FollowSymlinks::No);
    }
    Ok(OwnedFd::File(folder.open_with(path, &options)?.into_std()))
}

/// Opens a directory so that it can be renamed while it is open, which `cap-std` forbids. Refuses
/// links.
pub fn open_folder(parent: &Dir, name: impl AsRef<Path>) -> std::io::Result<Dir> {
    const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    let folder = parent.open_with(name, &options)?.into_std();
    match folder.metadata()?.file_type() {
        kind if kind.is_dir() => Ok(Dir::from_std_file(folder)),
        _ => Err(std::io::ErrorKind::NotADirectory.into()),
    }
}

pub fn statat(folder: impl AsFd, path: impl AsRef<Path>, _: AtFlags) -> Result<Stat, Errno> {
    let folder = folder.as_fd();
    let folder = folder_of(&folder)?;
    if path.as_ref() == Path::new(".") {
        return Ok(stat_of(&folder.dir_metadata()?));
    }
    Ok(stat_of(&folder.symlink_metadata(path)?))
}

pub fn fstat(file: impl AsFd) -> Result<Stat, Errno> {
    match file.as_fd() {
        BorrowedFd::Folder(folder) => Ok(stat_of(&folder.dir_metadata()?)),
        BorrowedFd::File(file) => Ok(stat_of(&Metadata::from_file(file)?)),
    }
}

pub fn lstat(path: impl AsRef<Path>) -> Result<Stat, Errno> {
    Ok(stat_of_path(&path.as_ref().symlink_metadata()?))
}

pub fn stat(path: impl AsRef<Path>) -> Result<Stat, Errno> {
    Ok(stat_of_path(&path.as_ref().metadata()?))
}

pub fn renameat(from: &Dir, name: &str, to: &Dir, new_name: &str) -> Result<(), Errno> {
    Ok(from.rename(name, to, new_name)?)
}

/// Always fails. Callers then fall back to a hard link or to two renames.
pub fn renameat_with(_: &Dir, _: &str, _: &Dir, _: &str, _: RenameFlags) -> Result<(), Errno> {
    Err(Errno::NOTSUP)
}

pub fn linkat(from: &Dir, name: &str, to: &Dir, new_name: &str, _: AtFlags) -> Result<(), Errno> {
    Ok(from.hard_link(name, to, new_name)?)
}

pub fn unlinkat(folder: &Dir, name: &str, flags: AtFlags) -> Result<(), Errno> {
    Ok(match flags == AtFlags::REMOVEDIR {
        true => folder.remove_dir(name)?,
        false => folder.remove_file_or_symlink(name)?,
    })
}
