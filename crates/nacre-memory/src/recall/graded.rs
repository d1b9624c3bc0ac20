//! Orders hits from several stores, and finds hits that a later hit contradicts.

use super::across::{Opposed, ProjectClaim, find_opposed};
use crate::search::MemoryHit;
use crate::{Memory, MemoryId, MemoryType, Status, Store, Trust};

/// Maximum number of hits to compare with each other.
const MAX_CHECKED: usize = 20;

#[derive(Debug)]
pub struct GradedHit {
    pub hit: MemoryHit,
    pub trust: Trust,
    /// Index of the memory's store in the list of searched stores.
    pub store: usize,
    /// Further summaries with the same title.
    pub same: Vec<MemoryId>,
    /// Whether the store is the user's own, rather than a project's.
    is_personal: bool,
}

impl GradedHit {
    pub fn new(hit: MemoryHit, of: &Store, store: usize) -> Self {
        let trust = of.trust_of(&hit.memory);
        Self { hit, trust, store, same: Vec::new(), is_personal: of.rules().is_personal }
    }

    /// Returns whether a stranger may have crafted the memory to match any query.
    fn is_foreign(&self) -> bool {
        self.trust.waits() && !self.is_personal
    }

    /// Returns whether this memory is current and may replace `older`.
    fn may_replace(&self, older: &Self) -> bool {
        let memory = &self.hit.memory;
        let is_current = memory.status == Status::Active && !memory.says_overturned();
        // Two projects may have different rules for good reasons.
        let is_same_place = self.store == older.store || self.is_personal || older.is_personal;
        is_current
            && is_same_place
            && memory.at.memory_type != MemoryType::Summary
            && !self.is_foreign()
            && self.trust.can_replace(older.trust)
    }
}

/// Sorts hits from several stores by score, and merges summaries with the same title. Foreign
/// memories come last; if scores are equal, the first store wins.
pub fn order_hits(hits: &mut Vec<GradedHit>) {
    hits.sort_by(|a, b| {
        let by_trust = a.is_foreign().cmp(&b.is_foreign());
        by_trust.then_with(|| b.hit.score.total_cmp(&a.hit.score))
    });
    for found in std::mem::take(hits) {
        let is_same = |known: &&mut GradedHit| {
            let (one, other) = (&known.hit.memory, &found.hit.memory);
            let is_summary = |memory: &Memory| memory.at.memory_type == MemoryType::Summary;
            is_summary(one) && is_summary(other) && one.title == other.title
        };
        match hits.iter_mut().find(is_same) {
            Some(known) => known.same.push(found.hit.memory.at.id),
            None => hits.push(found),
        }
    }
}

/// Marks each hit that a newer one contradicts, and moves it below the newer one.
pub fn lower_contradicted(hits: &mut Vec<GradedHit>) {
    let checked = &hits[..hits.len().min(MAX_CHECKED)];
    let claim = |found: &GradedHit| ProjectClaim { project: 0, memory: found.hit.memory.clone() };
    let claims: Vec<ProjectClaim> = checked.iter().map(claim).collect();
    let mut pairs = find_opposed(&claims);
    pairs.retain(|pair| hits[pair.newer].may_replace(&hits[pair.older]));
    // A move shifts only the hits after it, so begin with the last one.
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.older));
    for Opposed { newer, older, .. } in pairs {
        let id = claims[newer].memory.at.id.clone();
        let below = hits.iter().position(|found| found.hit.memory.at.id == id);
        hits[older].hit.contradicted_by = Some(id);
        if let Some(below) = below.filter(|below| older < *below) {
            let mut moved = hits.remove(older);
            moved.hit.score = moved.hit.score.min(hits[below - 1].hit.score);
            hits.insert(below, moved);
        }
    }
}
