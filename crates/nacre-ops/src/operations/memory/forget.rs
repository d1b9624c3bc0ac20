//! Removes memories for good. Only a whole id will do: nothing brings them back.

use nacre_api::wire::{MemoryChange, MemoryChangesReport, MemoryIdsRequest};
use nacre_engine::flows::run::RunMode;

use super::changes::{Change, change_each};
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;
use crate::operations::shared_index::forget_shared;

pub fn forget(
    host: &Host,
    request: &MemoryIdsRequest,
    events: &Events,
) -> Result<MemoryChangesReport, OpError> {
    let change = Change {
        done: MemoryChange::Forgotten,
        mode: RunMode::Memory,
        command: "memory forget",
        apply: &|scoped, batch, id| {
            let whole = scoped.store.locate(id)?.id;
            if whole.as_str() != id {
                return Err(OpError::usage(format!("`{id}` is only the start of an id"))
                    .hint(format!("nacre memory forget {whole} --yes")));
            }
            Ok(batch.forget(id, host.now())?)
        },
    };
    let report = change_each(host, request, &change, events)?;
    forget_shared(host, events);
    Ok(report)
}
