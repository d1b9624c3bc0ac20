//! What a server offers of a project's memories, and hands over.

use nacre_api::wire::{
    HandOverReport, HandOverRequest, MovedMemory, OfferReport, OfferRequest, OfferedMemory,
};
use nacre_core::base::ContentHash;
use nacre_core::memory::{Memory, MemoryId, MemoryType, Status, Store, StoreArea, Trust};

use super::take_in::MAX_MEMORIES;
use crate::error::OpError;
use crate::host::Host;
use crate::operations::memory::memory_type;

/// Memories that are offered at once.
const PAGE: usize = 1000;

/// The memories that hold, in the order of their ids.
pub fn offer(host: &Host, request: &OfferRequest) -> Result<OfferReport, OpError> {
    let OfferRequest { after } = request;
    let store = host.project_store()?.ok_or_else(|| host.no_project())?.store;
    let mut ids = claims(&store)?;
    ids.retain(|id| after.as_deref().is_none_or(|after| after < id.as_str()));
    ids.sort_unstable();
    let more = PAGE < ids.len();
    ids.truncate(PAGE);
    let memories = ids.iter().filter_map(|id| {
        let memory = moving(&store, id)?;
        let hash = ContentHash::of(memory.document.as_str().as_bytes()).to_string();
        Some(OfferedMemory { id: id.to_string(), hash })
    });
    // A page of which nothing holds does not end the list.
    let memories: Vec<OfferedMemory> = memories.collect();
    let last = ids.last().filter(|_| more).map(ToString::to_string);
    Ok(OfferReport { memories, more: last })
}

/// The files of memories. One that is gone meanwhile is left out.
pub fn hand_over(host: &Host, request: &HandOverRequest) -> Result<HandOverReport, OpError> {
    let HandOverRequest { ids } = request;
    if MAX_MEMORIES < ids.len() {
        return Err(OpError::usage(format!("At most {MAX_MEMORIES} memories at once")));
    }
    let store = host.project_store()?.ok_or_else(|| host.no_project())?.store;
    let ids = ids.iter().filter_map(|id| id.parse::<MemoryId>().ok());
    let memories = ids.filter_map(|id| Some(moved(&store, &moving(&store, &id)?, None)));
    Ok(HandOverReport { memories: memories.collect() })
}

/// The ids of the decisions and learnings that are not archived.
pub(super) fn claims(store: &Store) -> Result<Vec<MemoryId>, OpError> {
    let located = store.located()?.into_iter();
    let claims =
        located.filter(|at| at.area == StoreArea::Active && at.memory_type != MemoryType::Summary);
    Ok(claims.map(|at| at.id).collect())
}

/// A memory that may go to another machine: it holds, and gives no order that nobody agreed to.
pub(super) fn moving(store: &Store, id: &MemoryId) -> Option<Memory> {
    let memory = store.get(id.as_str()).ok().filter(|memory| memory.at.id == *id)?;
    let is_claim =
        memory.at.area == StoreArea::Active && memory.at.memory_type != MemoryType::Summary;
    let may_go = memory.status == Status::Active && store.trust_of(&memory) != Trust::Quarantined;
    (is_claim && may_go).then_some(memory)
}

/// A memory on its way, without secrets: a person may have written one into the file.
pub(super) fn moved(store: &Store, memory: &Memory, replaces: Option<String>) -> MovedMemory {
    let evidence = store.evidence(&memory.at.id).ok().flatten();
    let evidence = evidence.and_then(|evidence| serde_json::to_string(&evidence).ok());
    let clean = |text: &str| store.redacted(&store.shareable(text));
    MovedMemory {
        id: memory.at.id.to_string(),
        r#type: memory_type(memory.at.memory_type),
        text: clean(memory.document.as_str()),
        evidence: evidence.as_deref().map(clean),
        replaces,
    }
}
