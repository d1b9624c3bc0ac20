//! A folder that may be written, held open as a handle.
//!
//! Paths below it are walked one component at a time, each opened relative to the last and never
//! through a symbolic link. There is no check that a swap could outrun: the handle that was opened
//! is the handle that is used.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use xxhash_rust::xxh3::xxh3_64;

use super::error::{FsAction, FsError};
use super::mapped::Mapped;
use super::path::RelPath;
use super::seal::Seal;
use super::sys::{self, FileMode};
use crate::platform;
use crate::platform::fs::{AtFlags, FileType, Mode, OFlags};
use crate::platform::io::Errno;

/// Who may read what is made below a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Others read and the owner writes, whatever the umask says: a repository's own files.
    Shared,
    /// The owner alone: a person's home data.
    Private,
    /// A store inside a repository: what this `.gitignore` shares is shared, the rest is private.
    ByGit(&'static str),
}

impl Access {
    /// Whether the owner alone reads what is at `path`; the empty path is the scope itself.
    pub(super) fn is_private(self, path: &str) -> bool {
        match self {
            Self::Shared => false,
            Self::Private => true,
            // As in git, the last line that matches decides.
            Self::ByGit(ignore) => ignore
                .lines()
                .rfind(|line| covers(line, path))
                .is_some_and(|line| !line.starts_with('!')),
        }
    }

    pub(super) fn folder_mode(self, path: &str) -> u32 {
        if self.is_private(path) { 0o700 } else { 0o755 }
    }

    pub(super) fn file_mode(self, path: &RelPath) -> FileMode {
        FileMode(if self.is_private(path.as_str()) { 0o600 } else { 0o644 })
    }
}

/// Whether a line of a `.gitignore` of ours matches a path: `/a/` with all below it, `/a/*` only what is below it.
fn covers(line: &str, path: &str) -> bool {
    let Some(pattern) = line.trim_start_matches('!').strip_prefix('/') else { return false };
    match pattern.strip_suffix('*') {
        Some(folder) => path.len() > folder.len() && path.starts_with(folder),
        None => Path::new(path).starts_with(pattern),
    }
}

/// A folder below which files may be read, and, while its lock is held, written.
#[derive(Debug)]
pub struct WriteScope {
    pub(super) dir: Dir,
    pub(super) path: PathBuf,
    pub(super) access: Access,
    /// Proves that a journaled change was begun by this person.
    pub(super) seal: Option<Seal>,
}

/// An open folder of a scope, for reading many files of it.
#[derive(Debug)]
pub struct Folder {
    dir: Dir,
    path: PathBuf,
}

impl Folder {
    /// Reads the plain file `name` of at most `limit` bytes.
    pub fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>, FsError> {
        read_file(&self.dir, name, limit).map_err(|fault| fault.at(&self.path.join(name)))
    }

    /// Opens the plain file `name`, to be read piece by piece.
    pub fn open_file(&self, name: &str) -> Result<OpenFile, FsError> {
        open_file(&self.dir, name).map_err(|fault| fault.at(&self.path.join(name)))
    }

    /// The permission bits of the plain file `name`; `None` when there is none.
    pub fn mode(&self, name: &str) -> Option<u32> {
        mode_of(&self.dir, name).ok()
    }

    /// Opens a folder below this one; `None` when it is not there.
    pub fn folder(&self, path: &RelPath) -> Result<Option<Self>, FsError> {
        let full = self.path.join(path.as_str());
        found(open_below(&self.dir, &self.path, path), full)
    }

    /// Opens the folder `name` inside this one, never through a link.
    pub fn open(&self, name: &str) -> Result<Self, FsError> {
        let path = self.path.join(name);
        match self.dir.open_dir_nofollow(name) {
            Ok(dir) => Ok(Self { dir, path }),
            Err(source) => Err(io_error(FsAction::OpenFolder, &path, source)),
        }
    }

    /// Lists the folder in name order.
    pub fn list(&self) -> Result<Vec<Entry>, FsError> {
        list_dir(&self.dir, &self.path)
    }

    /// The stamp of the plain file `name`; `None` when there is none.
    pub fn stamp(&self, name: &str) -> Option<FileStamp> {
        stamp_of(&self.dir, name)
    }

    /// The stamp of what stands at `path` below this folder, if it is of that kind. It only looks: a link on
    /// the way there is followed, one at its end is not.
    pub fn glance(&self, path: &str, kind: EntryKind) -> Option<FileStamp> {
        let stat = platform::fs::statat(&self.dir, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (kind_of(FileType::from_raw_mode(stat.st_mode)) == kind).then(|| file_stamp(&stat))
    }

    /// The stamp of the folder itself, which changes when a name in it does.
    pub fn own_stamp(&self) -> Option<FileStamp> {
        platform::fs::fstat(&self.dir).ok().map(|stat| file_stamp(&stat))
    }
}

pub(super) fn stamp_of(dir: &Dir, name: &str) -> Option<FileStamp> {
    let stat = platform::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_file = FileType::from_raw_mode(stat.st_mode).is_file();
    is_file.then(|| file_stamp(&stat))
}

fn file_stamp(stat: &platform::fs::Stat) -> FileStamp {
    let time =
        |(seconds, nanos): (i64, i64)| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    FileStamp {
        size: stat.st_size.unsigned_abs(),
        inode: stat.st_ino,
        modified: time(platform::modified(stat)),
        changed: time(platform::changed(stat)),
    }
}

/// What the file system says of a file: any write changes it, unless two fall into one tick of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileStamp {
    pub size: u64,
    pub inode: u64,
    /// Nanoseconds since 1970.
    pub modified: i128,
    /// When its metadata last changed; no program can set it back.
    pub changed: i128,
}

impl FileStamp {
    /// A number that changes with the stamp, for those who keep many; never one below 2.
    pub fn number(self) -> u64 {
        let mut bytes = [0; 48];
        bytes[..8].copy_from_slice(&self.size.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.inode.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.modified.to_le_bytes());
        bytes[32..].copy_from_slice(&self.changed.to_le_bytes());
        xxh3_64(&bytes) | 2
    }
}

/// What stands in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, with invalid bytes replaced.
    pub name: String,
    pub kind: EntryKind,
}

/// Kinds of things in a folder, as far as they matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    /// A link, device, pipe or socket: never read, never followed.
    Other,
}

impl WriteScope {
    /// Opens a folder that a person named. Links on the way to it are the person's own.
    pub fn open(path: &Path, access: Access) -> Result<Self, FsError> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())
            .map_err(|source| io_error(FsAction::OpenFolder, path, source))?;
        Ok(Self { dir, path: path.to_owned(), access, seal: None })
    }

    /// Opens `name` inside `parent`, refusing a link in its place: a repository may ship one.
    pub fn open_inside(parent: &Path, name: &str, access: Access) -> Result<Self, FsError> {
        let parent_scope = Self::open(parent, access)?;
        let dir = open_child(&parent_scope.dir, &parent.join(name), name)?;
        Ok(Self { dir, path: parent.join(name), access, seal: None })
    }

    /// Makes the folder `name` inside `parent` where it is missing, and opens it.
    pub fn create_inside(parent: &Path, name: &str, access: Access) -> Result<Self, FsError> {
        let parent_scope = Self::open(parent, access)?;
        let made = match sys::make_dir(&parent_scope.dir, name, access.folder_mode("")) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
            Ok(()) => sys::sync_dir(&parent_scope.dir),
        };
        made.map_err(|error| io_error(FsAction::MakeFolder, &parent.join(name), error))?;
        Self::open_inside(parent, name, access)
    }

    /// Opens a folder that a person named, and makes it where only its last part is missing.
    pub fn create(path: &Path, access: Access) -> Result<Self, FsError> {
        match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
            (Some(parent), Some(name)) if !path.is_dir() => {
                Self::create_inside(parent, name, access)
            }
            _ => Self::open(path, access),
        }
    }

    /// Whether only its owner reads it: a person's home data, which no repository brings.
    pub fn is_private(&self) -> bool {
        self.access == Access::Private
    }

    /// The folder, for messages and for programs that are started in it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where `path` lies, for messages.
    pub fn full(&self, path: &RelPath) -> PathBuf {
        self.path.join(path.as_str())
    }

    /// Reads a plain file of at most `limit` bytes.
    pub fn read(&self, path: &RelPath, limit: u64) -> Result<Vec<u8>, FsError> {
        let dir = self.parent_of(path)?;
        read_file(&dir, path.name(), limit).map_err(|fault| fault.at(&self.full(path)))
    }

    /// Opens a plain file, to be read piece by piece.
    pub fn open_file(&self, path: &RelPath) -> Result<OpenFile, FsError> {
        let dir = self.parent_of(path)?;
        open_file(&dir, path.name()).map_err(|fault| fault.at(&self.full(path)))
    }

    /// Maps a derived file: one that is only ever replaced as a whole.
    pub fn map_derived(&self, path: &RelPath, limit: u64) -> Result<Mapped, FsError> {
        let dir = self.parent_of(path)?;
        let fault = |fault: ReadFault| fault.at(&self.full(path));
        let (file, metadata) = open_plain(&dir, path.name()).map_err(fault)?;
        let size = metadata.len();
        if size > limit {
            return Err(fault(ReadFault::TooLarge { size, limit }));
        }
        Mapped::new(&file.into_std()).map_err(|error| fault(ReadFault::Io(error)))
    }

    /// Reads a plain file, or nothing when it is not there.
    pub fn read_optional(&self, path: &RelPath, limit: u64) -> Result<Option<Vec<u8>>, FsError> {
        match self.read(path, limit) {
            Err(error) if error.is_missing() => Ok(None),
            read => read.map(Some),
        }
    }

    /// Opens a folder for reading; `None` when it is not there.
    pub fn folder(&self, path: &RelPath) -> Result<Option<Folder>, FsError> {
        found(self.open_dir(path), self.full(path))
    }

    /// The scope's own folder, for reading.
    pub fn root(&self) -> Result<Folder, FsError> {
        Ok(Folder { dir: clone_dir(&self.dir, &self.path)?, path: self.path.clone() })
    }

    /// Lists a folder in name order; a folder that is not there is empty.
    pub fn list(&self, path: &RelPath) -> Result<Vec<Entry>, FsError> {
        self.folder(path)?.map_or_else(|| Ok(Vec::new()), |folder| folder.list())
    }

    /// Whether something stands at `path`, whatever it is.
    pub fn has(&self, path: &RelPath) -> Result<bool, FsError> {
        let dir = match self.parent_of(path) {
            Err(error) if error.is_missing() => return Ok(false),
            dir => dir?,
        };
        match dir.symlink_metadata(path.name()) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(io_error(FsAction::Read, &self.full(path), source)),
        }
    }

    /// Opens a folder below the scope.
    pub(super) fn open_dir(&self, path: &RelPath) -> Result<Dir, FsError> {
        open_below(&self.dir, &self.path, path)
    }

    /// Opens the folder that `path` lies in.
    pub(super) fn parent_of(&self, path: &RelPath) -> Result<Dir, FsError> {
        match path.parent() {
            Some(parent) => self.open_dir(&parent),
            None => clone_dir(&self.dir, &self.path),
        }
    }
}

/// Opens a folder below `dir`, one component at a time.
fn open_below(dir: &Dir, full: &Path, path: &RelPath) -> Result<Dir, FsError> {
    let mut full = full.to_owned();
    let mut open = None;
    for name in path.components() {
        full.push(name);
        open = Some(open_child(open.as_ref().unwrap_or(dir), &full, name)?);
    }
    open.map_or_else(|| clone_dir(dir, &full), Ok)
}

fn found(opened: Result<Dir, FsError>, path: PathBuf) -> Result<Option<Folder>, FsError> {
    match opened {
        Ok(dir) => Ok(Some(Folder { dir, path })),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens the folder `name` in `dir`, a link in its place refused.
pub(super) fn open_child(dir: &Dir, full: &Path, name: &str) -> Result<Dir, FsError> {
    dir.open_dir_nofollow(name).map_err(|source| match dir.symlink_metadata(name) {
        Ok(metadata) if !metadata.is_dir() => FsError::NotAFolder { path: full.to_owned() },
        _ => io_error(FsAction::OpenFolder, full, source),
    })
}

pub(super) fn list_dir(dir: &Dir, full: &Path) -> Result<Vec<Entry>, FsError> {
    let failed = |error: Errno| io_error(FsAction::Read, full, error.into());
    let mut entries = Vec::new();
    // The handle may be a path-only one, which cannot be listed.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let listed = platform::fs::openat(dir, ".", flags, Mode::empty()).map_err(failed)?;
    let listing = platform::list(listed, |entry| {
        entries.push(Entry { name: entry.name.into_owned(), kind: kind_of(entry.kind) });
    });
    listing.map_err(failed)?;
    entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

fn kind_of(file_type: FileType) -> EntryKind {
    match file_type {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => EntryKind::Other,
    }
}

pub(super) fn clone_dir(dir: &Dir, full: &Path) -> Result<Dir, FsError> {
    dir.try_clone().map_err(|source| io_error(FsAction::OpenFolder, full, source))
}

pub(super) fn io_error(action: FsAction, path: &Path, source: io::Error) -> FsError {
    FsError::Io { action, path: path.to_owned(), source }
}

/// Why a file in an open folder could not be read; `at` adds where that was.
#[derive(Debug)]
pub(super) enum ReadFault {
    Io(io::Error),
    NotAFile,
    TooLarge { size: u64, limit: u64 },
}

impl ReadFault {
    pub(super) fn at(self, path: &Path) -> FsError {
        match self {
            Self::Io(source) => io_error(FsAction::Read, path, source),
            Self::NotAFile => FsError::NotAFile { path: path.to_owned() },
            Self::TooLarge { size, limit } => {
                FsError::TooLarge { path: path.to_owned(), size, limit }
            }
        }
    }
}

/// A plain file that is read piece by piece: larger ones need not fit into memory.
#[derive(Debug)]
pub struct OpenFile {
    file: std::fs::File,
    pub size: u64,
}

impl io::Read for OpenFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

fn open_file(dir: &Dir, name: &str) -> Result<OpenFile, ReadFault> {
    let (file, metadata) = open_plain(dir, name)?;
    Ok(OpenFile { file: file.into_std(), size: metadata.len() })
}

/// Reads the plain file `name`, never through a link and never waiting for a pipe's other end.
pub(super) fn read_file(dir: &Dir, name: &str, limit: u64) -> Result<Vec<u8>, ReadFault> {
    let (file, metadata) = open_plain(dir, name)?;
    let size = metadata.len();
    if size > limit {
        return Err(ReadFault::TooLarge { size, limit });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    // A file that grows while it is read is cut off one byte past the limit, and refused.
    // The system's own handle: it reads into memory that was not cleared first.
    file.into_std().take(limit + 1).read_to_end(&mut bytes).map_err(ReadFault::Io)?;
    match bytes.len() as u64 {
        size if size > limit => Err(ReadFault::TooLarge { size, limit }),
        _ => Ok(bytes),
    }
}

/// The permission bits of the plain file `name`.
pub(super) fn mode_of(dir: &Dir, name: &str) -> Result<u32, ReadFault> {
    open_plain(dir, name).map(|(_, metadata)| platform::file_mode(&metadata))
}

fn open_plain(dir: &Dir, name: &str) -> Result<(File, Metadata), ReadFault> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    // Linux says of a file that is moved away while it is opened that it lies outside: a second look says that it is gone.
    let opened = match dir.open_with(name, &options) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            dir.open_with(name, &options)
        }
        opened => opened,
    };
    let file = opened.map_err(|error| match dir.symlink_metadata(name) {
        Ok(metadata) if !metadata.is_file() => ReadFault::NotAFile,
        _ => ReadFault::Io(error),
    })?;
    let metadata = file.metadata().map_err(ReadFault::Io)?;
    if metadata.is_file() { Ok((file, metadata)) } else { Err(ReadFault::NotAFile) }
}
