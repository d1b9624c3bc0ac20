//! One look at a file or folder: what the file system says of it, never through a link.

use std::path::Path;

use nacre_core::platform;
use nacre_core::platform::fd::{AsFd, OwnedFd};
use nacre_core::platform::fs::{AtFlags, FileType, Mode, OFlags, Stat};

use crate::artifact::Stamp;

/// A folder that names are looked up in. On Linux it need not be readable for that.
#[cfg(target_os = "linux")]
pub(super) const PASSAGE: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
pub(super) const PASSAGE: OFlags = READABLE_FOLDER;

/// A folder that is listed.
pub(super) const READABLE_FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A file that is read; a pipe in its place does not keep anybody waiting.
pub(super) const READABLE_FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// Opens the folder that everything is looked up from.
pub(super) fn open_root(root: &Path) -> std::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(platform::fs::open(root, flags, Mode::empty())?)
}

pub(super) fn stamp_of(stat: &Stat) -> Stamp {
    let nanos =
        |(seconds, nanos): (i64, i64)| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
    Stamp {
        size: stat.st_size.cast_unsigned(),
        mtime_ns: nanos(platform::modified(stat)),
        ctime_ns: nanos(platform::changed(stat)),
        inode: stat.st_ino,
    }
}

/// The stamp of a plain file; `None` when there is none.
pub(super) fn stamp_at(file: &Path) -> Option<Stamp> {
    let stat = platform::fs::lstat(file).ok()?;
    FileType::from_raw_mode(stat.st_mode).is_file().then(|| stamp_of(&stat))
}

/// The stamp of the plain file `path` below a folder; `None` when there is none.
pub(super) fn file_stamp(folder: impl AsFd, path: &str) -> Option<Stamp> {
    let stat = platform::fs::statat(folder, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    FileType::from_raw_mode(stat.st_mode).is_file().then(|| stamp_of(&stat))
}

/// Whether a plain file has more names than this one.
pub(super) fn has_other_names(folder: impl AsFd, path: &str) -> bool {
    let stat = platform::fs::statat(folder, path, AtFlags::SYMLINK_NOFOLLOW);
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file() && 1 < stat.st_nlink)
}

/// The stamp of the folder `path` below another one; `None` when there is none.
pub(super) fn folder_stamp(root: impl AsFd, path: &str) -> Option<Stamp> {
    let path = if path.is_empty() { "." } else { path };
    let stat = platform::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    FileType::from_raw_mode(stat.st_mode).is_dir().then(|| stamp_of(&stat))
}

/// A file system's clock ticks at least this often.
const TICK_NS: i64 = 20_000_000;

/// One that knows no fractions of a second ticks at least this often.
const COARSE_TICK_NS: i64 = 2_000_000_000;

/// Whether a change after this stamp was taken could have left it as it is: git's rule for racy timestamps, with the one
/// time that no program can set.
pub(super) fn is_racy(stamp: Stamp, looked_ns: i64) -> bool {
    let is_coarse = stamp.ctime_ns % 1_000_000_000 == 0;
    let tick = if is_coarse { COARSE_TICK_NS } else { TICK_NS };
    looked_ns <= stamp.ctime_ns.saturating_add(tick)
}
