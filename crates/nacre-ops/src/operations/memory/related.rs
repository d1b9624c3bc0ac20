//! The memories that belong to one: by its own links, and by what it shares with others.

use nacre_api::wire::{MemoryRelatedReport, MemoryRelatedRequest, RelatedMemory};

use super::wire::{edge, entry};
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Holding, Host};

pub fn related(
    host: &Host,
    request: &MemoryRelatedRequest,
    events: &Events,
) -> Result<MemoryRelatedReport, OpError> {
    let MemoryRelatedRequest { id, limit, scope } = request;
    let Holding { scoped, also_in } = host.store_of(events, *scope, id)?;
    let id = scoped.store.locate(id)?.id;
    let searchable = host.searchable(scoped, "memory related")?;
    let mut found = searchable.index()?.related(id.as_str());
    let total = found.len();
    match limit.unwrap_or(host.settings().memory.max_results) {
        0 => {}
        limit => found.truncate(limit),
    }
    let related = found.iter().map(|(kin, memory)| RelatedMemory {
        edge: edge(kin),
        memory: entry(memory, &searchable.scoped),
    });
    Ok(MemoryRelatedReport { id: id.to_string(), related: related.collect(), total, also_in })
}
