//! A person's word on how a memory served; it raises or lowers its confidence.

use nacre_api::wire::{FeedbackReport, FeedbackRequest, Verdict};
use nacre_core::memory;
use nacre_engine::flows::change::Reversal;
use nacre_engine::flows::run::RunMode;

use crate::error::OpError;
use crate::events::Events;
use crate::host::{Holding, Host};
use crate::operations::recording::CommandChange;

pub fn feedback(
    host: &Host,
    request: &FeedbackRequest,
    events: &Events,
) -> Result<FeedbackReport, OpError> {
    let FeedbackRequest { id, verdict, note, scope } = request;
    let Holding { scoped, also_in } = host.store_of(events, *scope, id)?;
    let mut batch = scoped.store.begin(&host.owner("feedback"), host.settings().lock.wait)?;
    let (id, before, after) =
        batch.judge(id, core_verdict(*verdict), note.as_deref(), host.now())?;
    let command = CommandChange::new(RunMode::Memory, "feedback");
    command.commit(host, &scoped, batch, Reversal::Plan)?;
    Ok(FeedbackReport {
        id: id.to_string(),
        verdict: *verdict,
        confidence_before: before,
        confidence: after,
        scope: scoped.scope,
        also_in,
        change: command.id(),
    })
}

fn core_verdict(of: Verdict) -> memory::Verdict {
    match of {
        Verdict::Useful => memory::Verdict::Useful,
        Verdict::Wrong => memory::Verdict::Wrong,
        Verdict::Outdated => memory::Verdict::Outdated,
    }
}
