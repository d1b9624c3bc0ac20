//! Detects changes in a project through file system events or by polling.
//!
//! An event only indicates that something changed; the indexer determines what. [`Live`] checks
//! that all events were received, and otherwise refreshes the map. Only the map's directories are
//! watched, each one separately, so ignored files cost nothing.

mod barrier;
mod live;
mod mailbox;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nacre_types::WatchMode;
use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher as _};

pub use live::{Live, Now};

use barrier::{Barriers, EVENT_TIMEOUT};
use mailbox::{Mailbox, Teller};

#[derive(Debug, thiserror::Error)]
pub enum WatchFault {
    #[error("The system limit of {n_watched} watched directories is reached")]
    Limit { n_watched: usize },
    #[error("The system cannot watch this directory")]
    Refused(#[source] notify::Error),
}

#[derive(Debug)]
pub struct Watch {
    root: PathBuf,
    native: Option<Native>,
}

#[derive(Debug)]
struct Native {
    watcher: RecommendedWatcher,
    mailbox: Arc<Mailbox>,
    barriers: Barriers,
    watched: BTreeSet<String>,
    /// Whether all watched directories are on local file systems.
    is_local: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum News {
    Nothing,
    Something,
    Lost,
}

impl Watch {
    /// Prepares to watch the project at `root`. `bell` is called on another thread when the first
    /// event since the last [`Self::news`] arrives. It must not block.
    pub fn new(root: &Path, bell: impl Fn() + Send + 'static) -> Self {
        Self { root: root.to_owned(), native: Native::new(bell, EVENT_TIMEOUT) }
    }

    pub fn polling(root: &Path) -> Self {
        Self { root: root.to_owned(), native: None }
    }

    /// Returns the watch mode. In polling mode, the caller must refresh regularly.
    pub fn mode(&self) -> WatchMode {
        if self.native.is_some() { WatchMode::Events } else { WatchMode::Polling }
    }

    pub fn n_watched(&self) -> usize {
        self.native.as_ref().map_or(0, |native| native.watched.len())
    }

    /// Returns the number of events so far. While it is growing, more events may follow.
    pub fn n_told(&self) -> u64 {
        self.native.as_ref().map_or(0, |native| native.mailbox.n_told())
    }

    /// Watches exactly these directories, given as absolute paths or relative to the root. Returns
    /// how many are newly watched; these may have changed before they were watched. If an error
    /// occurs, the watch falls back to polling.
    fn follow<'f>(
        &mut self,
        folders: impl Iterator<Item = &'f str> + Clone,
    ) -> Result<usize, WatchFault> {
        let Some(native) = &mut self.native else { return Ok(0) };
        let is_followed = native.watched.len() == folders.clone().count()
            && folders.clone().all(|folder| native.watched.contains(folder));
        if is_followed {
            return Ok(0);
        }
        let followed = native.follow(&self.root, folders.map(str::to_owned).collect());
        if followed.is_err() {
            self.native = None;
        }
        followed
    }

    /// Returns and clears the collected events. Their directories must be passed to `follow` again.
    fn news(&mut self) -> News {
        let Some(native) = &mut self.native else { return News::Something };
        let is_certain = native.barriers.pass(&mut native.watcher, &native.mailbox);
        let heard = native.mailbox.empty();
        if heard.is_over {
            self.native = None;
            return News::Lost;
        }
        if heard.is_lost {
            native.forget(&self.root, "");
            return News::Lost;
        }
        for place in &heard.places {
            let inside = place.strip_prefix(&self.root).ok().and_then(Path::to_str);
            // Git's directory is watched by its absolute path.
            for name in inside.into_iter().chain(place.to_str()) {
                native.forget(&self.root, name);
            }
        }
        let is_nothing = is_certain && native.is_local && heard.places.is_empty();
        if is_nothing { News::Nothing } else { News::Something }
    }
}

impl Native {
    fn new(bell: impl Fn() + Send + 'static, patience: Duration) -> Option<Self> {
        let mailbox = Arc::new(Mailbox::default());
        let teller = Teller { mailbox: Arc::clone(&mailbox), bell };
        let tell = move |event: notify::Result<Event>| teller.tell(&event);
        let mut watcher = notify::recommended_watcher(tell).ok()?;
        let barriers = Barriers::new(&mut watcher, patience);
        Some(Self { watcher, mailbox, barriers, watched: BTreeSet::new(), is_local: true })
    }

    /// Stops watching a directory and everything below it, because the directory may have been
    /// replaced.
    fn forget(&mut self, root: &Path, folder: &str) {
        let lost: Vec<String> = if folder.is_empty() {
            std::mem::take(&mut self.watched).into_iter().collect()
        } else if self.watched.remove(folder) {
            // `0` is the character after `/`.
            let below = format!("{folder}/")..format!("{folder}0");
            let below = self.watched.extract_if(below, |_| true);
            below.chain([folder.to_owned()]).collect()
        } else {
            Vec::new()
        };
        for folder in lost {
            // The watch may have ended already because the directory was removed.
            let _ = self.watcher.unwatch(&root.join(folder));
        }
    }

    fn follow(&mut self, root: &Path, wanted: BTreeSet<String>) -> Result<usize, WatchFault> {
        let mut n_new = 0;
        for gone in self.watched.difference(&wanted) {
            // The watch may have ended already because the directory was removed.
            let _ = self.watcher.unwatch(&root.join(gone));
        }
        self.watched.retain(|folder| wanted.contains(folder));
        for folder in wanted {
            if self.watched.contains(&folder) {
                continue;
            }
            let full = root.join(&folder);
            match self.watcher.watch(&full, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.is_local &= is_local(&full);
                    self.watched.insert(folder);
                    n_new += 1;
                }
                Err(error) => self.judge(error)?,
            }
        }
        Ok(n_new)
    }

    fn judge(&self, error: notify::Error) -> Result<(), WatchFault> {
        let is_io = |kind| matches!(&error.kind, ErrorKind::Io(io) if io.kind() == kind);
        let is_full = matches!(error.kind, ErrorKind::MaxFilesWatch)
            || is_io(std::io::ErrorKind::StorageFull);
        // A directory's removal is reported by the watch on its parent.
        let is_gone = matches!(error.kind, ErrorKind::PathNotFound | ErrorKind::WatchNotFound)
            || is_io(std::io::ErrorKind::NotFound)
            || is_io(std::io::ErrorKind::NotADirectory);
        match (is_full, is_gone) {
            (true, _) => Err(WatchFault::Limit { n_watched: self.watched.len() }),
            (_, true) => Ok(()),
            (false, false) => Err(WatchFault::Refused(error)),
        }
    }
}

#[cfg(target_os = "linux")]
const LOCAL: &[u64] = &[
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683e, // Btrfs
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x794c_7630, // overlayfs
    0x2fc1_2fc1, // ZFS
    0xf2f5_2010, // F2FS
    0xca45_1a4e, // bcachefs
    0x3153_464a, // JFS
    0x5265_4973, // ReiserFS
];

/// Returns whether every change in a directory causes an event. Network and FUSE file systems do
/// not guarantee this.
#[cfg(target_os = "linux")]
fn is_local(folder: &Path) -> bool {
    let kind = |stat: rustix::fs::StatFs| stat.f_type as u64 & 0xffff_ffff;
    rustix::fs::statfs(folder).is_ok_and(|stat| LOCAL.contains(&kind(stat)))
}

#[cfg(not(target_os = "linux"))]
fn is_local(_folder: &Path) -> bool {
    false
}
