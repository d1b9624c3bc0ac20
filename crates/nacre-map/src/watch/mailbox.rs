//! What the system has told, until somebody takes it: from the thread that hears events to the one that looks.
//!
//! It holds places and no events, and not more of them than fit: who does not ask for long pays with one whole look.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind};

use super::open_files::is_barrier;

/// More places than these are as good as all.
const MAX_PLACES: usize = 1 << 16;

/// Where a watch finds what it was told.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    heard: Mutex<Heard>,
    is_news: Condvar,
}

/// What was told, and not taken yet.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Where something happened.
    pub(super) places: BTreeSet<PathBuf>,
    /// More happened than is known.
    pub(super) is_lost: bool,
    /// Nothing will be told any more.
    pub(super) is_over: bool,
    /// How much was ever told.
    n_told: u64,
    /// The barrier that was passed last.
    passed: Option<PathBuf>,
}

/// What an event says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning<'e> {
    /// Somebody read, or git came and went.
    Nothing,
    Passed(&'e Path),
    Changed,
    Lost,
}

impl Mailbox {
    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an event in; says whether it is the first news since the box was emptied.
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

    /// Takes everything out.
    pub(super) fn empty(&self) -> Heard {
        let mut heard = self.heard();
        let (n_told, is_over) = (heard.n_told, heard.is_over);
        std::mem::replace(&mut *heard, Heard { n_told, is_over, ..Heard::default() })
    }

    pub(super) fn n_told(&self) -> u64 {
        self.heard().n_told
    }

    /// Opens a barrier, and waits until that was told: then everything before it was told, too.
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

/// Puts events into a mailbox, and rings when there is news. The system's side holds it; when that ends, it says so.
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

/// That somebody read a file is no news: the indexer itself does. That somebody who wrote closed it is, for who writes by a
/// mapping is not heard before.
pub(super) fn meaning(event: &notify::Result<Event>) -> Meaning<'_> {
    let Ok(event) = event else { return Meaning::Lost };
    if event.need_rescan() {
        return Meaning::Lost;
    }
    if let Some(barrier) = event.paths.iter().find(|path| is_barrier(path)) {
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

/// What comes and goes with every command of git.
const PASSING: &[&str] =
    &["HEAD.lock", "ORIG_HEAD.lock", "config.lock", "index.lock", "packed-refs.lock"];

/// Whether a file comes and goes with every command of git.
fn is_passing(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| PASSING.contains(&name))
        && path.components().any(|part| part.as_os_str() == ".git")
}
