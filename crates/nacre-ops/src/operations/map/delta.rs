//! Lists which files and symbols changed, and which files are affected.

use nacre_api::wire::{CodeDelta, DeltaQuestion, DeltaReport, DeltaRequest, MapCommand, Since};

use super::changes::{Page, fit};
use super::code_map::{CodeMap, MapAccess};
use super::kept_map;
use super::payload::{cost, longest_payload};
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

pub fn delta(host: &Host, request: &DeltaRequest, events: &Events) -> Result<DeltaReport, OpError> {
    let DeltaRequest { project, refresh, strict, client, since, limit, after, budget } = request;
    let access = MapAccess::requested(project.as_deref(), *refresh, *strict);
    let question = DeltaQuestion {
        client: client.clone(),
        since: since.clone(),
        limit: *limit,
        after: after.clone(),
        budget: *budget,
    };
    kept_map::ask(host, access, MapCommand::Delta, events, |map| answer(map, &question, events))
}

/// Answers a question of a client about a map that is open.
pub(super) fn answer(
    map: &CodeMap,
    question: &DeltaQuestion,
    events: &Events,
) -> Result<DeltaReport, OpError> {
    let DeltaQuestion { client, since, limit, after, budget } = question;
    let (since, delta) = match since {
        Some(since) => (since.clone(), map.delta(since)?),
        None => map.delta_by_default()?,
    };
    let seen_by = match &since {
        Since::Client(name) => Some(name.clone()),
        Since::Beginning | Since::Revision(_) | Since::Git(_) => client.clone(),
    };
    let mut delta = map.page(since, delta, Page::new(*limit, after.as_ref()));
    let header = map.header(MapCommand::Delta);
    if let Some(budget) = budget {
        let report = |delta: &CodeDelta| DeltaReport { map: header.clone(), delta: delta.clone() };
        delta = fit(delta, *budget, &|delta| cost(&longest_payload(&report(delta))))?;
    }
    // A client has seen what changed when it was given the last page.
    if let Some(client) = seen_by.filter(|_| delta.next.is_none()) {
        map.mark_seen(&client, events)?;
    }
    Ok(DeltaReport { map: header, delta })
}
