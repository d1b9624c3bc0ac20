//! Brings archived memories back.

use nacre_api::wire::{MemoryChange, MemoryChangesReport, MemoryIdsRequest};
use nacre_engine::flows::run::RunMode;

use super::changes::{Change, change_each};
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

pub fn restore(
    host: &Host,
    request: &MemoryIdsRequest,
    events: &Events,
) -> Result<MemoryChangesReport, OpError> {
    let change = Change {
        done: MemoryChange::Restored,
        mode: RunMode::Memory,
        command: "memory restore",
        apply: &|_, batch, id| Ok(batch.restore(id, host.now())?),
        after: None,
    };
    change_each(host, request, &change, events)
}
