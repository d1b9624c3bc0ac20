//! Shows the contents of the search indexes, and rebuilds them from the memories.

use nacre_memory::search::{IndexStatus, clear_index, index_path, index_status};
use nacre_types::{IndexRebuildReport, IndexState, IndexStatusReport, RebuiltIndex, Scope};

use crate::prelude::*;

/// Lock timeout if another process is writing the index.
const PATIENCE: Duration = Duration::from_secs(10);

pub fn rebuild(host: &Host, scope: Option<Scope>, events: &Events) -> Result<IndexRebuildReport> {
    let mut indexes = Vec::new();
    for scoped in host.stores_to_read(scope)? {
        let searchable = host.searchable(scoped, "index rebuild");
        clear_index(&searchable.scoped.store, &searchable.owner, PATIENCE)?;
        events.step(format!("{}: memories indexed", searchable.scoped.scope.as_str()));
        let mut watch = |done: usize, total: usize| events.progress(done as u64, total as u64, 0);
        let records = searchable.index_watched(&mut watch)?.n_records();
        indexes.push(RebuiltIndex { scope: searchable.scoped.scope, records });
    }
    Ok(IndexRebuildReport { done: "rebuilt".to_owned(), indexes })
}

pub fn status(host: &Host, scope: Option<Scope>) -> Result<IndexStatusReport> {
    let mut indexes = Vec::new();
    for scoped in host.stores_to_read(scope)? {
        let status = index_status(&scoped.store, host.now())?;
        indexes.push(index_state(&scoped, status));
    }
    Ok(IndexStatusReport { indexes })
}

fn index_state(scoped: &ScopedStore, status: IndexStatus) -> IndexState {
    IndexState {
        scope: scoped.scope,
        path: index_path(&scoped.store).unwrap_or_default().display().to_string(),
        records: status.n_records,
        segments: status.n_segments,
        bytes: status.n_bytes,
        model: status.model,
        outdated: status.n_outdated,
    }
}
