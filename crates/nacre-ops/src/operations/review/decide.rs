//! Carries out what a person decided about candidates: for clients that ask with one request.

use nacre_api::wire::{
    MemoryChangesReport, MemoryIdsRequest, ReviewAcceptRequest, ReviewDecideRequest, ReviewDecision,
};

use super::{accept, reject};
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

pub fn decide(
    host: &Host,
    request: &ReviewDecideRequest,
    events: &Events,
) -> Result<MemoryChangesReport, OpError> {
    let ReviewDecideRequest { ids, decision, supersedes, scope } = request.clone();
    match decision {
        ReviewDecision::Accept => {
            accept(host, &ReviewAcceptRequest { ids, supersedes, scope }, events)
        }
        ReviewDecision::Reject if supersedes.is_some() => {
            Err(OpError::usage("`supersedes` goes with `accept`")
                .hint("What is rejected takes the place of nothing"))
        }
        ReviewDecision::Reject => reject(host, &MemoryIdsRequest { ids, scope }, events),
    }
}
