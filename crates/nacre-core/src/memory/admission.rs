//! Admits a new text: the level of a new text, and whether it may hold at once.

use super::hazard::{Hazard, hazards};
use super::kinds::Status;
use super::sidecar::{Quote, Speaker};
use super::trust::Trust;

/// What may become of something new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Admission {
    pub(super) trust: Trust,
    pub(super) status: Status,
}

/// The level of a text by its verified quotes, and its status: what could do harm and is not in the person's own words waits.
pub(super) fn admit((title, body): (&str, &str), quotes: &[Quote], status: Status) -> Admission {
    let trust = Trust::of_evidence(quotes);
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
