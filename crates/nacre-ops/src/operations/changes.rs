//! What a rehearsal would change, as it goes over the wire.

use nacre_api::wire;
use nacre_core::memory::PlannedChange;

/// The changes that git would show, as texts.
pub fn shared_changes(changes: Vec<PlannedChange>) -> Vec<wire::PlannedChange> {
    let text =
        |bytes: Option<Vec<u8>>| bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let shared = changes.into_iter().filter(|change| is_shared(change.path.as_str()));
    let planned = shared.map(|change| wire::PlannedChange {
        path: change.path.as_str().to_owned(),
        before: text(change.before),
        after: text(change.after),
    });
    planned.collect()
}

fn is_shared(path: &str) -> bool {
    path.starts_with("memory/") || path.starts_with("meta/evidence/")
}
