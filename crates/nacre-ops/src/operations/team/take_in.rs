//! Takes in the memories that a person sends to the project of a server.

use nacre_api::wire::{
    MemoryType as WireType, MovedMemory, PushState, TakeInReport, TakeInRequest, TakenMemory,
};
use nacre_core::memory::{Batch, Brought, ForeignMemory, MemoryError, MemoryId, MemoryType};
use nacre_engine::flows::change::Reversal;
use nacre_engine::flows::run::RunMode;

use crate::error::OpError;
use crate::host::Host;
use crate::operations::recording::CommandChange;

/// Memories in one request.
pub(super) const MAX_MEMORIES: usize = 100;

pub fn take_in(host: &Host, request: &TakeInRequest) -> Result<TakeInReport, OpError> {
    let TakeInRequest { memories } = request;
    if MAX_MEMORIES < memories.len() {
        return Err(OpError::usage(format!("At most {MAX_MEMORIES} memories at once")));
    }
    let scoped = host.project_store()?.ok_or_else(|| host.no_project())?;
    let mut batch = scoped.store.begin(&host.owner("push"), host.settings().lock.wait)?;
    let mut taken: Vec<TakenMemory> = Vec::new();
    for memory in memories {
        let state = match taken.iter().any(|before| before.id == memory.id) {
            true => PushState::Invalid,
            false => bring(&mut batch, memory)?,
        };
        taken.push(TakenMemory { id: memory.id.clone(), state });
    }
    if taken.iter().any(|memory| memory.state == PushState::Taken) {
        CommandChange::new(RunMode::Import, "push").commit(host, &scoped, batch, Reversal::Plan)?;
    }
    Ok(TakeInReport { memories: taken })
}

/// Stages one. What makes no sense costs itself alone.
fn bring(batch: &mut Batch<'_>, memory: &MovedMemory) -> Result<PushState, OpError> {
    let replaces = memory.replaces.as_deref().and_then(|hash| hash.parse().ok());
    let (Ok(id), Some(memory_type)) = (memory.id.parse::<MemoryId>(), core_type(memory.r#type))
    else {
        return Ok(PushState::Invalid);
    };
    let (text, evidence) = (memory.text.as_str(), memory.evidence.as_deref());
    let foreign = ForeignMemory { id: &id, memory_type, text, evidence };
    Ok(match batch.bring(&foreign, replaces) {
        Ok(Brought::New | Brought::Updated) => PushState::Taken,
        Ok(Brought::Same) => PushState::Known,
        Ok(Brought::Differs) => PushState::Differs,
        Ok(Brought::Forgotten) => PushState::Forgotten,
        Err(error @ (MemoryError::Fs(_) | MemoryError::Unreadable(_))) => return Err(error.into()),
        Err(_) => PushState::Invalid,
    })
}

/// Summaries tell what people did and asked: they stay where they are.
pub(super) fn core_type(of: WireType) -> Option<MemoryType> {
    match of {
        WireType::Decision => Some(MemoryType::Decision),
        WireType::Learning => Some(MemoryType::Learning),
        WireType::Summary => None,
    }
}
