//! Barriers prove that all earlier events from a watch have been received. To create a barrier, the
//! process opens a file that no other process opens. A watch's events are ordered, so the event for
//! this open comes after all earlier ones.
//!
//! The barrier's file is in memory and has no name. A file in the project, such as `.git/HEAD`,
//! would not work, because other processes could cause events that look like the barrier's.

use std::path::PathBuf;
use std::time::Duration;

use nacre_base::platform::fd::OwnedFd;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::mailbox::Mailbox;

/// How long to wait for a barrier. An event usually arrives within a thousandth of this time.
pub(super) const EVENT_TIMEOUT: Duration = Duration::from_millis(200);

/// Barriers are disabled after this many in a row without an event.
const MAX_MISSED: usize = 3;

#[derive(Debug)]
pub(super) struct Barriers {
    patience: Duration,
    /// The last barrier in the list is in use; the others were missed. Missed barriers stay open so
    /// that a late event cannot be mistaken for the event of a newer barrier.
    barriers: Vec<Barrier>,
}

#[derive(Debug)]
struct Barrier {
    /// Keeps the file open so that its descriptor number is not reused.
    _file: OwnedFd,
    path: PathBuf,
}

impl Barriers {
    /// Sets up barriers. Creates no barriers if the system does not report file opens.
    pub(super) fn new(watcher: &mut RecommendedWatcher, patience: Duration) -> Self {
        Self { patience, barriers: Barrier::new(watcher).into_iter().collect() }
    }

    /// Waits for a barrier. Returns true only if the mailbox is certain to contain all events so
    /// far.
    pub(super) fn pass(&mut self, watcher: &mut RecommendedWatcher, mailbox: &Mailbox) -> bool {
        let Some(barrier) = self.barriers.pop() else { return false };
        let is_passed = mailbox.hears(&barrier.path, self.patience);
        if is_passed {
            for missed in self.barriers.drain(..) {
                let _ = watcher.unwatch(&missed.path);
            }
        }
        self.barriers.push(barrier);
        if !is_passed {
            self.miss(watcher);
        }
        is_passed
    }

    fn miss(&mut self, watcher: &mut RecommendedWatcher) {
        let may_go_on = self.barriers.len() < MAX_MISSED;
        match may_go_on.then(|| Barrier::new(watcher)).flatten() {
            Some(next) => self.barriers.push(next),
            None => self.barriers.clear(),
        }
    }
}

impl Barrier {
    fn new(watcher: &mut RecommendedWatcher) -> Option<Self> {
        let (file, path) = memory_file()?;
        watcher.watch(&path, RecursiveMode::NonRecursive).ok()?;
        Some(Self { _file: file, path })
    }
}

#[cfg(target_os = "linux")]
fn memory_file() -> Option<(OwnedFd, PathBuf)> {
    use std::os::fd::AsRawFd as _;
    use std::path::Path;

    use super::mailbox::OPEN_FILES;

    let file = rustix::fs::memfd_create(c"nacre-watch", rustix::fs::MemfdFlags::CLOEXEC).ok()?;
    let path = Path::new(OPEN_FILES).join(file.as_raw_fd().to_string());
    Some((file, path))
}

#[cfg(not(target_os = "linux"))]
fn memory_file() -> Option<(OwnedFd, PathBuf)> {
    None
}
