//! A file that nobody else opens: when its opening was told, everything before was told, too.
//!
//! The events of one watch come in their order. The file has no name and no place on any disk, for the opening of a file of the
//! project, such as `.git/HEAD`, may be told late and be somebody else's; then what happened after it would be missed.

use std::path::PathBuf;
use std::time::Duration;

use nacre_core::platform::fd::OwnedFd;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::mailbox::Mailbox;

/// An event takes a thousandth of this, as a rule. When it takes longer, a look does not.
pub(super) const PATIENCE: Duration = Duration::from_millis(200);

/// After so many openings in a row that were not told, none will be.
const MAX_MISSED: usize = 3;

/// The barriers of a watch.
#[derive(Debug)]
pub(super) struct Barriers {
    /// How long one is waited for.
    patience: Duration,
    /// The last one is in use. Those before it were not told of in time; their numbers stay taken, so that a late word of one is
    /// not taken for another's.
    barriers: Vec<Barrier>,
}

#[derive(Debug)]
struct Barrier {
    /// Open for as long as its number is in use.
    _file: OwnedFd,
    path: PathBuf,
}

impl Barriers {
    /// None where the system does not tell of openings.
    pub(super) fn new(watcher: &mut RecommendedWatcher, patience: Duration) -> Self {
        Self { patience, barriers: Barrier::new(watcher).into_iter().collect() }
    }

    /// Whether everything up to now is in the mailbox. `false` when that cannot be known.
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
        let (file, path) = nobodys_file()?;
        watcher.watch(&path, RecursiveMode::NonRecursive).ok()?;
        Some(Self { _file: file, path })
    }
}

#[cfg(target_os = "linux")]
fn nobodys_file() -> Option<(OwnedFd, PathBuf)> {
    use std::os::fd::AsRawFd as _;
    use std::path::Path;

    use super::open_files::OPEN_FILES;

    let file = rustix::fs::memfd_create(c"nacre-watch", rustix::fs::MemfdFlags::CLOEXEC).ok()?;
    let path = Path::new(OPEN_FILES).join(file.as_raw_fd().to_string());
    Some((file, path))
}

#[cfg(not(target_os = "linux"))]
fn nobodys_file() -> Option<(OwnedFd, PathBuf)> {
    None
}
