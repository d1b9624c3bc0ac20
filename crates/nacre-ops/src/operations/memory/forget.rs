//! Removes memories for good, with every copy of them that can be reached. Only a whole id will do: nothing brings them back.

use std::cell::RefCell;

use nacre_api::wire::{MemoryChange, MemoryChangesReport, MemoryIdsRequest};
use nacre_core::memory::MemoryId;
use nacre_engine::flows::run::RunMode;

use super::changes::{Change, change_each};
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, ScopedStore};
use crate::operations::copies::Copies;

pub fn forget(
    host: &Host,
    request: &MemoryIdsRequest,
    events: &Events,
) -> Result<MemoryChangesReport, OpError> {
    host.check_user("forget a memory")?;
    let copies = RefCell::new(Copies::default());
    let take_out = |scoped: &ScopedStore, id: &MemoryId| {
        copies.borrow_mut().take_out(host, scoped, id, events);
    };
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
        after: Some(&take_out),
    };
    let report = change_each(host, request, &change, events)?;
    Ok(MemoryChangesReport { copies: copies.into_inner().into_list(), ..report })
}
