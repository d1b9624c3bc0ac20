//! Notices that something below a project changed, by the system's own events or by looking now and then.
//!
//! An event says only where to look: what changed is found by the indexer, so that an event that was told twice makes no answer
//! wrong. Whether all events were seen is not hoped for but made certain ([`Live`]); where that cannot be, everything is looked at.
//! Only folders that belong to the map are watched, one by one; a tree of a million ignored files costs nothing.

mod barrier;
mod live;
mod local;
mod mailbox;
mod open_files;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher as _};

pub use live::{Live, Looked, Now};

use barrier::{Barriers, PATIENCE};
use local::is_local;
use mailbox::{Mailbox, Teller};

/// How changes are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Events,
    /// Nobody tells of changes: who wants to know looks every now and then.
    Polling,
}

/// Why events are not to be had.
#[derive(Debug, thiserror::Error)]
pub enum WatchFault {
    #[error("The system watches {n_watched} folders and allows no more")]
    Limit { n_watched: usize },
    #[error("The system cannot watch this folder")]
    Refused(#[source] notify::Error),
}

/// A watch over a project.
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
    /// Whether all of them are on disks of this machine.
    is_local: bool,
}

/// What happened since it was last asked.
#[derive(Debug, PartialEq, Eq)]
enum News {
    /// Here, and nowhere else.
    At(BTreeSet<PathBuf>),
    /// More than the system could tell.
    Lost,
    /// Nobody knows.
    Unknown,
}

impl Watch {
    /// Prepares a watch over the project at `root`. The bell rings, on another thread, when something happened for the first
    /// time since the news were taken; it must not wait.
    pub fn new(root: &Path, bell: impl Fn() + Send + 'static) -> Self {
        Self { root: root.to_owned(), native: Native::new(bell, PATIENCE) }
    }

    /// The same, without asking the system for events.
    pub fn polling(root: &Path) -> Self {
        Self { root: root.to_owned(), native: None }
    }

    pub fn mode(&self) -> Mode {
        if self.native.is_some() { Mode::Events } else { Mode::Polling }
    }

    pub fn n_watched(&self) -> usize {
        self.native.as_ref().map_or(0, |native| native.watched.len())
    }

    /// How many events there were; while it grows, more is to come.
    pub fn n_told(&self) -> u64 {
        self.native.as_ref().map_or(0, |native| native.mailbox.n_told())
    }

    /// Watches these folders, seen from the root or absolute, and no others; says how many are new, in which something may have
    /// happened unseen. When that cannot be had, the watch goes on by polling and says why.
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

    /// Takes what happened up to now. Folders that it happened to must be followed again.
    fn news(&mut self) -> News {
        let Some(native) = &mut self.native else { return News::Unknown };
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
            // Git's folder is known by its whole name.
            for name in inside.into_iter().chain(place.to_str()) {
                native.forget(&self.root, name);
            }
        }
        if is_certain && native.is_local { News::At(heard.places) } else { News::Unknown }
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

    /// Takes a folder, where it is one that is watched, and all below it for not watched: it may be another one now.
    fn forget(&mut self, root: &Path, folder: &str) {
        let lost: Vec<String> = if folder.is_empty() {
            std::mem::take(&mut self.watched).into_iter().collect()
        } else if self.watched.remove(folder) {
            // The sign after a slash is a zero.
            let below = format!("{folder}/")..format!("{folder}0");
            let below = self.watched.extract_if(below, |_| true);
            below.chain([folder.to_owned()]).collect()
        } else {
            Vec::new()
        };
        for folder in lost {
            // One that is gone took its watch along.
            let _ = self.watcher.unwatch(&root.join(folder));
        }
    }

    fn follow(&mut self, root: &Path, wanted: BTreeSet<String>) -> Result<usize, WatchFault> {
        let mut n_new = 0;
        for gone in self.watched.difference(&wanted) {
            // A folder that is gone took its watch along.
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
        // A folder that went away between the look and the watch is noticed by the one above it.
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
