//! Notices that something below a project changed, by the system's own events or by looking now and then.
//!
//! An event says only that it is time to look: what changed is found by the indexer, so that an event that was lost, or told
//! twice, makes no answer wrong. Only folders that belong to the map are watched, one by one; a tree of a million ignored
//! files costs nothing. Where the system allows no more watches, the watch says so and looks every interval instead.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher as _};

/// Changes come in bursts: a burst ends when nothing comes for so long, or after a few times that.
const QUIET: Duration = Duration::from_millis(20);
const MAX_QUIETS: usize = 4;

/// How changes are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Events,
    Polling,
}

/// Why it is time to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Something changed.
    Changed,
    /// More happened than the system could tell.
    Overflow,
    /// An interval is over.
    Interval,
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
    interval: Duration,
    native: Option<Native>,
}

#[derive(Debug)]
struct Native {
    watcher: RecommendedWatcher,
    events: Receiver<notify::Result<Event>>,
    watched: BTreeSet<String>,
}

impl Watch {
    /// Prepares a watch over the project at `root` that looks every `interval` where there are no events.
    pub fn new(root: &Path, interval: Duration) -> Self {
        let (tell, events) = channel();
        let watcher = notify::recommended_watcher(move |event| {
            // Nobody listens any more: the watch is over.
            let _ = tell.send(event);
        });
        let native =
            watcher.ok().map(|watcher| Native { watcher, events, watched: BTreeSet::new() });
        Self { root: root.to_owned(), interval, native }
    }

    /// The same, without asking the system for events.
    pub fn polling(root: &Path, interval: Duration) -> Self {
        Self { root: root.to_owned(), interval, native: None }
    }

    pub fn mode(&self) -> Mode {
        if self.native.is_some() { Mode::Events } else { Mode::Polling }
    }

    pub fn n_watched(&self) -> usize {
        self.native.as_ref().map_or(0, |native| native.watched.len())
    }

    /// Watches these folders, seen from the root or absolute, and no others; says how many are new, in which something may have happened unseen. When
    /// that cannot be had, the watch goes on by polling and says why.
    pub fn follow<'f>(
        &mut self,
        folders: impl Iterator<Item = &'f str>,
    ) -> Result<usize, WatchFault> {
        let Some(native) = &mut self.native else { return Ok(0) };
        let wanted: BTreeSet<String> = folders.map(str::to_owned).collect();
        let followed = native.follow(&self.root, wanted);
        if followed.is_err() {
            self.native = None;
        }
        followed
    }

    /// Waits until it is time to look.
    pub fn wait(&mut self) -> Wake {
        let Some(native) = &self.native else {
            thread::sleep(self.interval);
            return Wake::Interval;
        };
        match native.wait() {
            Some(wake) => wake,
            // The system's side has ended.
            None => {
                self.native = None;
                Wake::Overflow
            }
        }
    }
}

impl Native {
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
            match self.watcher.watch(&root.join(&folder), RecursiveMode::NonRecursive) {
                Ok(()) => {
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
            || is_io(std::io::ErrorKind::NotFound);
        match (is_full, is_gone) {
            (true, _) => Err(WatchFault::Limit { n_watched: self.watched.len() }),
            (_, true) => Ok(()),
            (false, false) => Err(WatchFault::Refused(error)),
        }
    }

    /// Waits for the end of a burst of changes; `None` when no more can come.
    fn wait(&self) -> Option<Wake> {
        let mut wake = loop {
            if let Some(wake) = wake_by(&self.events.recv().ok()?) {
                break wake;
            }
        };
        for _ in 0..MAX_QUIETS {
            match self.events.recv_timeout(QUIET) {
                Ok(event) if wake_by(&event) == Some(Wake::Overflow) => wake = Wake::Overflow,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        while let Ok(event) = self.events.try_recv() {
            if wake_by(&event) == Some(Wake::Overflow) {
                wake = Wake::Overflow;
            }
        }
        Some(wake)
    }
}

/// Whether an event is a reason to look. That somebody read a file is none: the indexer itself does.
fn wake_by(event: &notify::Result<Event>) -> Option<Wake> {
    match event {
        Ok(event) if event.need_rescan() => Some(Wake::Overflow),
        Ok(event) if event.kind.is_access() => None,
        Ok(event) if event.paths.iter().all(|path| is_passing(path)) => None,
        Ok(_) => Some(Wake::Changed),
        Err(_) => Some(Wake::Overflow),
    }
}

/// Whether a file comes and goes with every command of git.
fn is_passing(path: &Path) -> bool {
    let is_lock = path.extension().is_some_and(|end| end == "lock");
    is_lock && path.components().any(|part| part.as_os_str() == ".git")
}

#[cfg(test)]
mod tests;
