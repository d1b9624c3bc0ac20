//! A writable directory, held open as a handle.
//!
//! Paths below the directory are walked one component at a time. Each component is opened relative
//! to the previous handle and never through a symbolic link. Replacing a directory after a check
//! has no effect, because the checked handle is also the one that is used.

use std::io;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use xxhash_rust::xxh3::xxh3_64;

use super::error::{FsAction, FsError, Result};
use super::path::RelPath;
use super::sys;
use super::sys::{FileBytes, FileMode};
use crate::platform;
use crate::platform::fs::{AtFlags, FileType, Mode, OFlags};
use crate::platform::io::Errno;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Readable by everyone and writable by the owner, regardless of the umask. Used for a
    /// repository's own files.
    Shared,
    /// Accessible only to the owner. Used for data in the user's home directory.
    Private,
    /// A store inside a repository. Files that this `.gitignore` excludes are `Private`; all others
    /// are `Shared`.
    ByGit(&'static str),
}

impl Access {
    pub(super) fn is_private(self, path: &str) -> bool {
        match self {
            Self::Shared => false,
            Self::Private => true,
            // As in git, the last matching line applies.
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

/// Matches one line of our own `.gitignore` files: `/a/` matches the directory and its contents,
/// `/a/*` only the contents.
fn covers(line: &str, path: &str) -> bool {
    let Some(pattern) = line.trim_start_matches('!').strip_prefix('/') else { return false };
    match pattern.strip_suffix('*') {
        Some(folder) => path.len() > folder.len() && path.starts_with(folder),
        None => Path::new(path).starts_with(pattern),
    }
}

#[derive(Debug)]
pub struct WriteScope {
    pub(super) dir: Dir,
    pub(super) path: PathBuf,
    pub(super) access: Access,
    pub(super) seal: Option<Seal>,
}

#[derive(Debug)]
pub struct Folder {
    dir: Dir,
    path: PathBuf,
}

impl Folder {
    pub fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>> {
        read_file(&self.dir, name, limit).map_err(|fault| fault.at(&self.path.join(name)))
    }

    pub fn open_file(&self, name: &str) -> Result<OpenFile> {
        open_file(&self.dir, name).map_err(|fault| fault.at(&self.path.join(name)))
    }

    pub fn mode(&self, name: &str) -> Option<u32> {
        mode_of(&self.dir, name).ok()
    }

    pub fn folder(&self, path: &RelPath) -> Result<Option<Self>> {
        let full = self.path.join(path.as_str());
        ignore_missing(open_below(&self.dir, &self.path, path), full)
    }

    pub fn open(&self, name: &str) -> Result<Self> {
        let path = self.path.join(name);
        match platform::open_folder(&self.dir, name) {
            Ok(dir) => Ok(Self { dir, path }),
            Err(source) => Err(io_error(FsAction::OpenFolder, &path, source)),
        }
    }

    pub fn list(&self) -> Result<Vec<FolderEntry>> {
        list_dir(&self.dir, &self.path)
    }

    pub fn stamp(&self, name: &str) -> Option<FileStamp> {
        stamp_of(&self.dir, name)
    }

    /// Returns the stamp of the entry at `path` if it has the given kind. Follows links in parent
    /// directories, which is safe because no content is read.
    pub fn glance(&self, path: &str, kind: EntryKind) -> Option<FileStamp> {
        let stat = platform::fs::statat(&self.dir, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (kind_of(FileType::from_raw_mode(stat.st_mode)) == kind).then(|| file_stamp(&stat))
    }

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
        modified: time(platform::modification_time(stat)),
        changed: time(platform::change_time(stat)),
    }
}

/// File metadata that changes with every write, unless two writes happen within one tick of the
/// file system's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileStamp {
    pub size: u64,
    pub inode: u64,
    /// Nanoseconds since 1970.
    pub modified: i128,
    /// Time of the last metadata change in nanoseconds since 1970. Programs cannot set it.
    pub changed: i128,
}

impl FileStamp {
    /// Hashes the stamp for compact storage. The result is at least 2.
    pub fn number(self) -> u64 {
        let mut bytes = [0; 48];
        bytes[..8].copy_from_slice(&self.size.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.inode.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.modified.to_le_bytes());
        bytes[32..].copy_from_slice(&self.changed.to_le_bytes());
        xxh3_64(&bytes) | 2
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// The name, with invalid UTF-8 replaced.
    pub name: String,
    pub kind: EntryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    /// A link, device, pipe or socket, which is never read or followed.
    Other,
}

impl WriteScope {
    /// Opens a directory specified by the user. Links in its path are trusted.
    pub fn open(path: &Path, access: Access) -> Result<Self> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())
            .map_err(|source| io_error(FsAction::OpenFolder, path, source))?;
        Ok(Self { dir, path: path.to_owned(), access, seal: None })
    }

    /// Opens `name` inside `parent`. Links are refused because they may come from the repository.
    pub fn open_inside(parent: &Path, name: &str, access: Access) -> Result<Self> {
        let parent_scope = Self::open(parent, access)?;
        let dir = open_child(&parent_scope.dir, &parent.join(name), name)?;
        Ok(Self { dir, path: parent.join(name), access, seal: None })
    }

    pub fn create_inside(parent: &Path, name: &str, access: Access) -> Result<Self> {
        let parent_scope = Self::open(parent, access)?;
        let made = match sys::make_dir(&parent_scope.dir, name, access.folder_mode("")) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
            Ok(()) => sys::sync_dir(&parent_scope.dir),
        };
        made.map_err(|error| io_error(FsAction::MakeFolder, &parent.join(name), error))?;
        Self::open_inside(parent, name, access)
    }

    /// Opens a directory specified by the user. If only the last component is missing, creates the
    /// directory.
    pub fn create(path: &Path, access: Access) -> Result<Self> {
        match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
            (Some(parent), Some(name)) if !path.is_dir() => {
                Self::create_inside(parent, name, access)
            }
            _ => Self::open(path, access),
        }
    }

    pub fn is_private(&self) -> bool {
        self.access == Access::Private
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn full(&self, path: &RelPath) -> PathBuf {
        self.path.join(path.as_str())
    }

    pub fn read(&self, path: &RelPath, limit: u64) -> Result<Vec<u8>> {
        let dir = self.parent_of(path)?;
        read_file(&dir, path.name(), limit).map_err(|fault| fault.at(&self.full(path)))
    }

    pub fn open_file(&self, path: &RelPath) -> Result<OpenFile> {
        let dir = self.parent_of(path)?;
        open_file(&dir, path.name()).map_err(|fault| fault.at(&self.full(path)))
    }

    /// Memory-maps a derived file. Derived files are always replaced as a whole, never changed in
    /// place.
    pub fn map_derived(&self, path: &RelPath, limit: u64) -> Result<FileBytes> {
        let dir = self.parent_of(path)?;
        let fault = |fault: ReadFault| fault.at(&self.full(path));
        let (file, metadata) = open_plain(&dir, path.name()).map_err(fault)?;
        let size = metadata.len();
        if size > limit {
            return Err(fault(ReadFault::TooLarge { size, limit }));
        }
        FileBytes::map(&file.into_std()).map_err(|error| fault(ReadFault::Io(error)))
    }

    pub fn read_optional(&self, path: &RelPath, limit: u64) -> Result<Option<Vec<u8>>> {
        match self.read(path, limit) {
            Err(error) if error.is_missing() => Ok(None),
            read => read.map(Some),
        }
    }

    pub fn folder(&self, path: &RelPath) -> Result<Option<Folder>> {
        ignore_missing(self.open_dir(path), self.full(path))
    }

    pub fn root(&self) -> Result<Folder> {
        Ok(Folder { dir: clone_dir(&self.dir, &self.path)?, path: self.path.clone() })
    }

    /// Lists a directory, sorted by name. A missing directory is treated as empty.
    pub fn list(&self, path: &RelPath) -> Result<Vec<FolderEntry>> {
        self.folder(path)?.map_or_else(|| Ok(Vec::new()), |folder| folder.list())
    }

    pub fn has(&self, path: &RelPath) -> Result<bool> {
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

    pub(super) fn open_dir(&self, path: &RelPath) -> Result<Dir> {
        open_below(&self.dir, &self.path, path)
    }

    pub(super) fn parent_of(&self, path: &RelPath) -> Result<Dir> {
        match path.parent() {
            Some(parent) => self.open_dir(&parent),
            None => clone_dir(&self.dir, &self.path),
        }
    }
}

fn open_below(dir: &Dir, full: &Path, path: &RelPath) -> Result<Dir> {
    let mut full = full.to_owned();
    let mut open = None;
    for name in path.components() {
        full.push(name);
        open = Some(open_child(open.as_ref().unwrap_or(dir), &full, name)?);
    }
    open.map_or_else(|| clone_dir(dir, &full), Ok)
}

fn ignore_missing(opened: Result<Dir>, path: PathBuf) -> Result<Option<Folder>> {
    match opened {
        Ok(dir) => Ok(Some(Folder { dir, path })),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn open_child(dir: &Dir, full: &Path, name: &str) -> Result<Dir> {
    platform::open_folder(dir, name).map_err(|source| match dir.symlink_metadata(name) {
        Ok(metadata) if !metadata.is_dir() => FsError::NotAFolder { path: full.to_owned() },
        _ => io_error(FsAction::OpenFolder, full, source),
    })
}

pub(super) fn list_dir(dir: &Dir, full: &Path) -> Result<Vec<FolderEntry>> {
    let failed = |error: Errno| io_error(FsAction::Read, full, error.into());
    let mut entries = Vec::new();
    // A path-only handle cannot be listed, so open the directory again for reading.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let listed = platform::fs::openat(dir, ".", flags, Mode::empty()).map_err(failed)?;
    let listing = platform::list(listed, |entry| {
        entries.push(FolderEntry { name: entry.name.into_owned(), kind: kind_of(entry.kind) });
    });
    listing.map_err(failed)?;
    entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

fn kind_of(file_type: FileType) -> EntryKind {
    if file_type.is_file() {
        EntryKind::File
    } else if file_type.is_dir() {
        EntryKind::Folder
    } else {
        EntryKind::Other
    }
}

pub(super) fn clone_dir(dir: &Dir, full: &Path) -> Result<Dir> {
    dir.try_clone().map_err(|source| io_error(FsAction::OpenFolder, full, source))
}

pub(super) fn io_error(action: FsAction, path: &Path, source: io::Error) -> FsError {
    FsError::Io { action, path: path.to_owned(), source }
}

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

/// Reads a plain file without following a link or blocking on a pipe.
pub(super) fn read_file(dir: &Dir, name: &str, limit: u64) -> Result<Vec<u8>, ReadFault> {
    let (file, metadata) = open_plain(dir, name)?;
    let size = metadata.len();
    if size > limit {
        return Err(ReadFault::TooLarge { size, limit });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    // Read one byte past the limit to detect a file that grows while it is read. Converting to the
    // standard library's handle avoids zeroing the buffer first.
    file.into_std().take(limit + 1).read_to_end(&mut bytes).map_err(ReadFault::Io)?;
    match bytes.len() as u64 {
        size if size > limit => Err(ReadFault::TooLarge { size, limit }),
        _ => Ok(bytes),
    }
}

pub(super) fn mode_of(dir: &Dir, name: &str) -> Result<u32, ReadFault> {
    open_plain(dir, name).map(|(_, metadata)| platform::file_mode(&metadata))
}

fn open_plain(dir: &Dir, name: &str) -> Result<(File, Metadata), ReadFault> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    // On Linux, opening a file that is being moved fails with a permission error. A second attempt
    // reports it as missing.
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

pub(super) const KEY_BYTES: usize = 32;

pub(super) type Key = [u8; KEY_BYTES];

/// The key that signs plans. It is created on first use.
#[derive(Clone)]
pub struct Seal {
    pub(super) folder: PathBuf,
    pub(super) known: Arc<OnceLock<Key>>,
}

impl Seal {
    /// Uses the key in `folder`, which must belong to the user rather than to a repository.
    pub fn from_directory(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), known: Arc::default() }
    }
}

debug_only!(Seal { folder });
