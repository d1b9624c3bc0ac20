//! What was overturned goes below what overturned it.
//!
//! A question matches the words of a decision, and the words of an overturned one are as good as those of
//! its successor. So rows are gathered under the newest of their line, which stands where the best of them
//! stood: whoever asks in the old words gets the new answer.

use std::collections::HashMap;

use super::alike;
use super::group::{Group, MAX_LINE};
use super::kin::{self, Kin, KinKind};
use super::rank::Ranked;
use super::record::{LinkKind, Standing};
use super::snapshot::Snapshot;
use super::words;

/// Links are followed for as many of the best rows.
const MAX_LINKED: usize = 64;

/// More memories than this do not overturn one.
const MAX_CLAIMANTS: usize = 64;

/// What a hit gains from a hit that names it.
const NEIGHBOUR_SHARE: f32 = 0.08;

/// What the index does not know of a row.
pub(super) struct RowFacts<'a> {
    /// Whether it may be shown.
    pub(super) is_wanted: &'a dyn Fn(usize) -> bool,
    /// Its text, as it is now.
    pub(super) text_of: &'a dyn Fn(usize) -> Option<String>,
    /// Whether it came from elsewhere: then it takes the place of nothing that did not.
    pub(super) is_foreign: &'a dyn Fn(usize) -> bool,
}

/// Gathers ranked rows into groups, best first.
pub(super) fn settle(snapshot: &Snapshot, ranked: Vec<Ranked>, facts: &RowFacts<'_>) -> Vec<Group> {
    let lines = Lines::new(snapshot, facts);
    let unproven = snapshot.unproven();
    let mut groups: Vec<Group> = Vec::new();
    let mut by_head: HashMap<usize, usize> = HashMap::new();
    for hit in ranked {
        let head = lines.head_of(hit.row);
        match by_head.get(&head) {
            Some(idx) => groups[*idx].take(snapshot, hit, head),
            None => {
                by_head.insert(head, groups.len());
                groups.push(Group::new(snapshot, hit, head));
            }
        }
    }
    lift_neighbours(snapshot, &mut groups);
    // Its own date is a file's own word: without evidence it puts nothing above what has some.
    let may_pass =
        |newer: usize, older: usize| !unproven.contains(&newer) || unproven.contains(&older);
    alike::newer_first(snapshot, &mut groups, facts.text_of, &may_pass);
    lower_contradicted(snapshot, &mut groups, &may_pass);
    groups
}

/// Who overturned whom.
struct Lines<'a> {
    snapshot: &'a Snapshot,
    facts: &'a RowFacts<'a>,
    /// The newer row by the id of what it says it overturned: few, so they are gathered once and not looked up for
    /// each row.
    claimed: HashMap<&'a [u8], Vec<usize>>,
}

impl<'a> Lines<'a> {
    fn new(snapshot: &'a Snapshot, facts: &'a RowFacts<'a>) -> Self {
        let mut claimed: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for (id, newer) in snapshot.rows_under(&words::facet("supersedes", "")) {
            if snapshot.row(newer).standing != Standing::Archived {
                claimed.entry(id).or_default().push(newer);
            }
        }
        Self { snapshot, facts, claimed }
    }

    /// The newest of a row's line that is wanted; the row itself when nothing overturned it.
    fn head_of(&self, row: usize) -> usize {
        let mut line = vec![row];
        while let Some(next) = line.last().and_then(|row| self.successor(*row)) {
            if line.contains(&next) || line.len() == MAX_LINE {
                break;
            }
            line.push(next);
        }
        line.iter().rev().copied().find(|row| (self.facts.is_wanted)(*row)).unwrap_or(row)
    }

    /// The row that overturned another: as that says itself, or as the newer one says.
    fn successor(&self, row: usize) -> Option<usize> {
        let mut named = self.snapshot.links_of(row, LinkKind::SupersededBy);
        let named = named.find_map(|id| kin::row_of(self.snapshot, id));
        named.or_else(|| self.claimant(row))
    }

    /// The row that claims to have overturned another.
    fn claimant(&self, row: usize) -> Option<usize> {
        if self.claimed.is_empty() {
            return None;
        }
        let id = self.snapshot.key(row).to_lowercase();
        let claimants = self.claimed.get(id.as_bytes())?;
        let may_claim = |newer: &usize| {
            *newer != row && (!(self.facts.is_foreign)(*newer) || (self.facts.is_foreign)(row))
        };
        claimants.iter().copied().take(MAX_CLAIMANTS).find(may_claim)
    }
}

/// A hit that another hit names is a little more likely to be meant.
fn lift_neighbours(snapshot: &Snapshot, groups: &mut [Group]) {
    let n_linked = groups.len().min(MAX_LINKED);
    let places: HashMap<String, usize> = groups[..n_linked]
        .iter()
        .enumerate()
        .map(|(idx, group)| (snapshot.key(group.best.row).to_owned(), idx))
        .collect();
    let mut gains: Vec<(usize, f32, Kin)> = Vec::new();
    for group in &groups[..n_linked] {
        for link in kin::linked(snapshot, group.best.row) {
            let target = places.get(&link.id).filter(|_| link.kind == KinKind::Related);
            gains.extend(target.map(|idx| {
                let id = snapshot.key(group.best.row).to_owned();
                (*idx, group.best.score, Kin { kind: KinKind::Related, id, shared: None })
            }));
        }
    }
    for (idx, score, kin) in gains {
        groups[idx].best.score += NEIGHBOUR_SHARE * score;
        groups[idx].edges.push(kin);
    }
    groups[..n_linked].sort_by(|a, b| b.best.score.total_cmp(&a.best.score));
}

/// Of two that contradict each other the newer stands first, where it may pass the older.
fn lower_contradicted(
    snapshot: &Snapshot,
    groups: &mut Vec<Group>,
    may_pass: &dyn Fn(usize, usize) -> bool,
) {
    let n_linked = groups.len().min(MAX_LINKED);
    for idx in 0..n_linked {
        let row = groups[idx].best.row;
        for id in snapshot.links_of(row, LinkKind::Contradicts) {
            let other = groups.iter().position(|group| snapshot.key(group.best.row) == id);
            let own = groups.iter().position(|group| group.best.row == row);
            if let (Some(own), Some(other)) = (own, other) {
                let (upper, lower) = (own.min(other), own.max(other));
                if may_pass(groups[lower].best.row, groups[upper].best.row) {
                    put_newer_first(snapshot, groups, upper, lower);
                }
            }
        }
    }
}

fn put_newer_first(snapshot: &Snapshot, groups: &mut Vec<Group>, upper: usize, lower: usize) {
    let time = |idx: usize| snapshot.row(groups[idx].best.row).time_ms;
    if time(upper) < time(lower) {
        let newer = groups.remove(lower);
        groups.insert(upper, newer);
    }
}
