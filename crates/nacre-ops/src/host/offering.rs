//! Notes which memories were offered to somebody for the first time: only those can be ignored, and so grow old.

use std::time::Duration;

use jiff::Timestamp;
use nacre_core::memory::{MemoryId, Store};
use nacre_core::safefs::Owner;

/// A note must not make an answer wait.
const PATIENCE: Duration = Duration::from_millis(500);

/// Notes it in the local state of each memory. Best effort: a store that cannot be written to now is noted the next time.
pub fn note_offered(store: &Store, owner: &Owner, ids: &[MemoryId], now: Timestamp) {
    if store.never_offered(ids).is_empty() {
        return;
    }
    let _ = store.begin(owner, PATIENCE).and_then(|mut batch| {
        batch.offer(ids, now)?;
        batch.commit()
    });
}
