//! What a pass over the queue comes to.

use nacre_api::wire::{PausedSession, SyncedSession};

/// What became of the queue.
#[derive(Default)]
pub(super) struct QueueReport {
    pub(super) sessions: Vec<SyncedSession>,
    /// The first waiting session of each project; those behind it wait for their turn.
    pub(super) paused: Vec<PausedSession>,
    /// Another process holds a store.
    pub(super) is_busy: bool,
    /// The caller stopped it; what is not done waits.
    pub(super) is_cancelled: bool,
}
