//! Removes candidates for good; what they said does not come back by itself. Only a whole id will do.

use nacre_api::wire::{MemoryChange, MemoryChangesReport, MemoryIdsRequest};

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
        command: "review reject",
        apply: &|scoped, batch, id| {
            let whole = scoped.store.locate(id)?.id;
            if whole.as_str() != id {
                return Err(OpError::usage(format!("`{id}` is only the start of an id"))
                    .hint(format!("nacre review reject {whole}")));
            }
            Ok(batch.reject(id, host.now())?)
        },
    };
    change_each(host, request, &change, events)
}
