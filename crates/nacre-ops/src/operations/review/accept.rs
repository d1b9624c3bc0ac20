//! Makes candidates active: a person stands behind them.

use nacre_api::wire::{MemoryChange, MemoryChangesReport, MemoryIdsRequest, ReviewAcceptRequest};
use nacre_engine::flows::run::RunMode;

use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;
use crate::operations::memory::{Change, change_each};

pub fn accept(
    host: &Host,
    request: &ReviewAcceptRequest,
    events: &Events,
) -> Result<MemoryChangesReport, OpError> {
    let ReviewAcceptRequest { ids, supersedes, scope } = request;
    if supersedes.is_some() && ids.len() > 1 {
        return Err(OpError::usage("`--supersedes` goes with one candidate")
            .hint("Accept the others in a command of their own"));
    }
    let change = Change {
        done: MemoryChange::Accepted,
        mode: RunMode::Review,
        command: "review accept",
        apply: &|_, batch, id| Ok(batch.accept(id, supersedes.as_deref(), host.now())?),
        after: None,
    };
    let request = MemoryIdsRequest { ids: ids.clone(), scope: *scope };
    change_each(host, &request, &change, events)
}
