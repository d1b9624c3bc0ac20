//! Builds the indexes again from the memories.

use std::time::Duration;

use nacre_api::wire::{IndexChange, IndexRebuildReport, IndexRebuildRequest, RebuiltIndex};
use nacre_core::search::clear_index;

use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

/// How long another process's index write is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

pub fn rebuild(
    host: &Host,
    request: &IndexRebuildRequest,
    events: &Events,
) -> Result<IndexRebuildReport, OpError> {
    let mut indexes = Vec::new();
    for scoped in host.stores_to_read(request.scope)? {
        let searchable = host.searchable(scoped, "index rebuild")?;
        clear_index(&searchable.scoped.store, &searchable.owner, PATIENCE)?;
        events.step(format!("{}: memories indexed", searchable.scoped.scope.as_str()));
        let mut watch = |done: usize, total: usize| events.progress(done as u64, total as u64, 0);
        let records = searchable.index_watched(&mut watch)?.snapshot().n_records();
        indexes.push(RebuiltIndex { scope: searchable.scoped.scope, records });
    }
    Ok(IndexRebuildReport { done: IndexChange::Rebuilt, indexes })
}
