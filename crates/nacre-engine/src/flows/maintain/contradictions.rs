//! Memories of which the newer says otherwise: the older one is overturned, and says by what.
//!
//! What cannot be decided is told and left to a person: two claims of the same time, a newer one that rests on less, one
//! that this machine did not write, or one that says itself that it overturns the older.

use std::collections::{BTreeMap, BTreeSet};

use nacre_core::memory::{Kinship, StoreArea};

use super::compare::Compared;
use super::gather::Collection;
use super::ledger::Ledger;
use super::report::MaintainVerb;

/// A contradiction between two memories; places in the collection.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Contradiction {
    pub(super) newer: usize,
    pub(super) older: usize,
    pub(super) likelihood: f32,
    /// Why it is left to a person; decided where there is nothing.
    pub(super) open: Option<&'static str>,
}

/// The contradictions between memories that stay; each memory is overturned at most once, by the surest.
pub(super) fn contradictions(
    collection: &Collection,
    compared: &[Compared],
    merged: &BTreeSet<usize>,
    ledger: &Ledger,
) -> Vec<Contradiction> {
    let held = &collection.held;
    let mut found: BTreeMap<usize, Contradiction> = BTreeMap::new();
    let is_free =
        |idx: usize| !merged.contains(&idx) && held[idx].memory.at.area == StoreArea::Active;
    let against = compared.iter().filter(|pair| pair.kinship == Kinship::Against);
    for pair in against.filter(|pair| is_free(pair.newer) && is_free(pair.older)) {
        let (newer, older) = (&held[pair.newer], &held[pair.older]);
        if ledger.is_refused(&MaintainVerb::Supersede.key(newer.id(), older.id())) {
            continue;
        }
        let open = if newer.memory.claims(older.id()) {
            Some("only the newer file says that it overturns the older")
        } else if !newer.is_own {
            Some("the newer one was not written on this machine")
        } else if newer.said == older.said {
            Some("both were said at the same time")
        } else if newer.memory.is_candidate() && !older.memory.is_candidate() {
            Some("the newer one is in review")
        } else if newer.trust < older.trust || !newer.level.can_replace(older.level) {
            Some("the newer one rests on less than the older")
        } else {
            None
        };
        let (newer, older, likelihood) = (pair.newer, pair.older, pair.likelihood);
        let contradiction = Contradiction { newer, older, likelihood, open };
        let known = found.get(&older);
        let is_surer = known.is_none_or(|known| known.likelihood < contradiction.likelihood);
        if is_surer {
            found.insert(older, contradiction);
        }
    }
    found.into_values().collect()
}
