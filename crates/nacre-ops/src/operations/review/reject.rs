//! Removes candidates; what they said does not come back by itself, unless the rejection is undone.

use nacre_api::wire::{MemoryChange, MemoryChangesReport, MemoryIdsRequest};
use nacre_engine::flows::run::RunMode;

use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;
use crate::operations::memory::{Change, change_each};

pub fn reject(
    host: &Host,
    request: &MemoryIdsRequest,
    events: &Events,
) -> Result<MemoryChangesReport, OpError> {
    let change = Change {
        done: MemoryChange::Rejected,
        mode: RunMode::Review,
        command: "review reject",
        apply: &|_, batch, id| Ok(batch.reject(id, host.now())?),
        after: None,
    };
    change_each(host, request, &change, events)
}
