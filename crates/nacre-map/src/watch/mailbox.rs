//! Passes event paths from the watcher's thread to the refreshing thread, up to a limit.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind};

/// Maximum number of queued paths. Beyond this limit, events count as lost.
const MAX_PLACES: usize = 1 << 16;

#[derive(Debug, Default)]
pub(super) struct Mailbox {
    heard: Mutex<Heard>,
    is_news: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) places: BTreeSet<PathBuf>,
    pub(super) is_lost: bool,
    pub(super) is_over: bool,
    n_told: u64,
    passed: Option<PathBuf>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning<'e> {
    /// A read, or a change to one of git's temporary files.
    Nothing,
    Passed(&'e Path),
    Changed,
    Lost,
}

impl Mailbox {
    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event. Returns whether this is the first event since the mailbox was emptied.
    pub(super) fn put(&self, event: &notify::Result<Event>) -> bool {
        let mut heard = self.heard();
        let was_quiet = heard.is_quiet();
        match meaning(event) {
            Meaning::Nothing => return false,
            Meaning::Passed(barrier) => heard.passed = Some(barrier.to_owned()),
            Meaning::Changed => {
                let places = event.iter().flat_map(|event| &event.paths).cloned();
                heard.places.extend(places);
                heard.n_told += 1;
            }
            Meaning::Lost => heard.is_lost = true,
        }
        if MAX_PLACES < heard.places.len() {
            heard.places.clear();
            heard.is_lost = true;
        }
        let is_quiet = heard.is_quiet();
        drop(heard);
        self.is_news.notify_all();
        was_quiet && !is_quiet
    }

    pub(super) fn empty(&self) -> Heard {
        let mut heard = self.heard();
        let (n_told, is_over) = (heard.n_told, heard.is_over);
        std::mem::replace(&mut *heard, Heard { n_told, is_over, ..Heard::default() })
    }

    pub(super) fn n_told(&self) -> u64 {
        self.heard().n_told
    }

    /// Opens a barrier and waits for its event. Returns whether the event arrived, which proves
    /// that all earlier events were received.
    pub(super) fn hears(&self, barrier: &Path, patience: Duration) -> bool {
        self.heard().passed = None;
        if std::fs::File::open(barrier).is_err() {
            return false;
        }
        let is_waiting =
            |heard: &mut Heard| heard.passed.as_deref() != Some(barrier) && !heard.is_over;
        let waited = self.is_news.wait_timeout_while(self.heard(), patience, is_waiting);
        let (heard, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        !waited.timed_out() && !heard.is_over
    }

    fn close(&self) {
        self.heard().is_over = true;
        self.is_news.notify_all();
    }
}

impl Heard {
    fn is_quiet(&self) -> bool {
        self.places.is_empty() && !self.is_lost
    }
}

/// Puts events into a mailbox and calls the bell. The watcher owns this value; dropping it closes
/// the mailbox.
pub(super) struct Teller<B: Fn()> {
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) bell: B,
}

impl<B: Fn()> Teller<B> {
    pub(super) fn tell(&self, event: &notify::Result<Event>) {
        if self.mailbox.put(event) {
            (self.bell)();
        }
    }
}

impl<B: Fn()> Drop for Teller<B> {
    fn drop(&mut self) {
        self.mailbox.close();
        (self.bell)();
    }
}

/// Returns what an event means. Reads are ignored, because the indexer itself reads files. Closing
/// a file after writing counts as a change, because a write through a memory mapping causes no
/// earlier event.
pub(super) fn meaning(event: &notify::Result<Event>) -> Meaning<'_> {
    let Ok(event) = event else { return Meaning::Lost };
    if event.need_rescan() {
        return Meaning::Lost;
    }
    if let Some(barrier) = event.paths.iter().find(|path| path.starts_with(OPEN_FILES)) {
        let is_opened = matches!(event.kind, EventKind::Access(AccessKind::Open(_)));
        return if is_opened { Meaning::Passed(barrier) } else { Meaning::Nothing };
    }
    let is_written = event.kind == EventKind::Access(AccessKind::Close(AccessMode::Write));
    let is_read = event.kind.is_access() && !is_written;
    if is_read || event.paths.iter().all(|path| is_passing(path)) {
        return Meaning::Nothing;
    }
    Meaning::Changed
}

/// Temporary files that every git command creates.
const PASSING: &[&str] =
    &["HEAD.lock", "ORIG_HEAD.lock", "config.lock", "index.lock", "packed-refs.lock"];

fn is_passing(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| PASSING.contains(&name))
        && path.components().any(|part| part.as_os_str() == ".git")
}

/// Lists this process's open files by descriptor. Barriers are watched here.
pub(super) const OPEN_FILES: &str = "/proc/self/fd";
