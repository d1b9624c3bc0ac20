//! The lock that allows one writer per scope at a time.
//!
//! The operating system releases the lock when the process ends. Stale locks are therefore
//! impossible, and no timeouts or process checks are needed. The record inside the file is used
//! only in messages.

use std::fs::TryLockError;
use std::io::Read as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, File, OpenOptions};

use super::error::{FsAction, FsError, JOURNAL, Owner, Result};
use super::scope::{WriteScope, io_error};
use super::sys;
use super::sys::PRIVATE_FILE;
use crate::platform;
use crate::platform::fs::{AtFlags, FileType};
use crate::platform::io::Errno;

pub(super) const LOCK_FILE: &str = "lock";

const MIN_PAUSE: Duration = Duration::from_millis(1);
const MAX_PAUSE: Duration = Duration::from_millis(16);

/// An owner record is one line. A file larger than this was not written by Nacre.
const MAX_RECORD_BYTES: u64 = 4096;

/// Acquires the lock in `journal`, waiting for up to about `patience`.
///
/// The first waiting process also locks the journal directory itself, and releases that lock once
/// it has the main lock. A process that writes repeatedly therefore queues behind waiting processes
/// and cannot starve them.
pub(super) fn acquire(
    journal: &Dir,
    full: &Path,
    owner: &Owner,
    patience: Duration,
) -> Result<File> {
    let failed = |source| io_error(FsAction::Lock, &full.join(LOCK_FILE), source);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    platform::set_create_mode(&mut options, PRIVATE_FILE.0);
    options.follow(FollowSymlinks::No).nonblock(true);
    let file = journal.open_with(LOCK_FILE, &options).map_err(failed)?.into_std();
    let turnstile = journal.open_with(".", OpenOptions::new().read(true)).map(File::into_std);
    let mut waited = Duration::ZERO;
    // On systems that cannot lock directories, skip the queue and try the main lock directly.
    let passed = turnstile.map(|turnstile| {
        wait_for(&turnstile, patience, &mut waited, MAX_PAUSE).map(|()| turnstile)
    });
    let got = if matches!(passed, Ok(Err(TryLockError::WouldBlock))) {
        Err(TryLockError::WouldBlock)
    } else {
        wait_for(&file, patience, &mut waited, MIN_PAUSE)
    };
    drop(passed);
    let mut file = match got {
        Ok(()) => File::from_std(file),
        Err(TryLockError::Error(source)) => return Err(failed(source)),
        Err(TryLockError::WouldBlock) => {
            let path = full.parent().unwrap_or(full).to_owned();
            return Err(FsError::Busy { path, owner: read_owner(File::from_std(file)) });
        }
    };
    // The record is optional. Recovery must be possible on a full disk, and a lock file that is a
    // hard link to another file can be locked but must not be written to.
    if let (Ok(record), Ok(true)) = (serde_json::to_vec(owner), sys::is_written_alone(&file)) {
        let _ = sys::write_record(&mut file, &record);
    }
    Ok(file)
}

impl WriteScope {
    /// Returns whether the lock file has a second hard link. Nacre never creates one, so this
    /// indicates tampering.
    pub fn has_linked_lock(&self) -> Result<bool> {
        let lock = format!("{JOURNAL}/{LOCK_FILE}");
        match platform::fs::statat(&self.dir, &lock, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(FileType::from_raw_mode(stat.st_mode).is_file() && stat.st_nlink > 1),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
            Err(error) => Err(io_error(FsAction::Read, &self.path.join(lock), error.into())),
        }
    }
}

fn wait_for(
    file: &std::fs::File,
    patience: Duration,
    waited: &mut Duration,
    longest_pause: Duration,
) -> Result<(), TryLockError> {
    let mut pause = MIN_PAUSE;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if *waited < patience => {}
            ended => return ended,
        }
        thread::sleep(pause);
        *waited += pause;
        pause = (pause * 2).min(longest_pause);
    }
}

fn read_owner(file: File) -> Option<Owner> {
    let mut record = Vec::new();
    file.take(MAX_RECORD_BYTES).read_to_end(&mut record).ok()?;
    serde_json::from_slice(&record).ok()
}
