//! Puts memories away; `restore` brings them back.

use nacre_api::wire::{MemoryChange, MemoryChangesReport, MemoryIdsRequest};
use nacre_engine::flows::run::RunMode;

use super::changes::{Change, change_each};
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

pub fn archive(
    host: &Host,
    request: &MemoryIdsRequest,
    events: &Events,
) -> Result<MemoryChangesReport, OpError> {
    let change = Change {
        done: MemoryChange::Archived,
        mode: RunMode::Memory,
        command: "memory archive",
        apply: &|_, batch, id| Ok(batch.archive(id, host.now())?),
        after: None,
    };
    change_each(host, request, &change, events)
}
