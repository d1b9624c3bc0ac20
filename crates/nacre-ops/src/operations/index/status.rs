//! What the indexes hold, and whether they are up to date.

use nacre_api::wire::{IndexState, IndexStatusReport, IndexStatusRequest};
use nacre_core::search::{IndexStatus, index_path, index_status};

use crate::error::OpError;
use crate::host::{Host, ScopedStore};

pub fn status(host: &Host, request: &IndexStatusRequest) -> Result<IndexStatusReport, OpError> {
    let mut indexes = Vec::new();
    for scoped in host.stores_to_read(request.scope)? {
        let embedder = host.embedder(&scoped.settings)?;
        let status = index_status(&scoped.store, &*embedder, host.now())?;
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
