//! The level and the status of a new memory.

use super::draft::Draft;
use super::hazard::{Hazard, hazards};
use super::kinds::Status;
use super::sidecar::{Quote, Speaker};
use super::trust::{Actor, Trust};

/// What may become of something new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Admission {
    pub(super) trust: Trust,
    pub(super) status: Status,
}

/// Computes the level of a draft from its verified quotes, limited by the actor. An order that is not in
/// the user's own words goes to review.
pub(super) fn admit(actor: Actor, draft: &Draft, status: Status) -> Admission {
    let Draft { title, body, quotes, limit, .. } = draft;
    let trust = Trust::of_evidence(quotes).min(*limit).min(actor.limit());
    // Somebody with a token is not the user, so their words excuse no order.
    let quotes = if actor == Actor::Person { &[] } else { quotes.as_slice() };
    if trust == Trust::Human || hazards_of(title, body, quotes).is_empty() {
        return Admission { trust, status };
    }
    Admission { trust: Trust::Quarantined, status: Status::Candidate }
}

/// What could do harm in a text, beyond what the person says in the quotes.
pub fn hazards_of(title: &str, body: &str, quotes: &[Quote]) -> Vec<Hazard> {
    hazards(&format!("{title}\n{body}"), said_by_person(quotes))
}

pub(super) fn said_by_person(quotes: &[Quote]) -> impl Iterator<Item = &str> {
    let is_persons = |quote: &&Quote| matches!(quote.speaker, Speaker::Human | Speaker::User);
    quotes.iter().filter(is_persons).map(|quote| quote.text.as_str())
}
