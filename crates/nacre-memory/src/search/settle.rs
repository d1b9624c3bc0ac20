//! Ranks superseded memories below their successors.
//!
//! A query may match a superseded decision's words better than its successor's. Hits are therefore
//! grouped under the newest memory in their chain, at the position of the group's best hit.

use std::cmp::Reverse;
use std::collections::HashMap;

use nacre_types::{EdgeKind, MemoryEdge};

use super::rank::Ranked;
use super::recency::Terms;
use super::record::{LinkKind, Standing};
use super::snapshot::Snapshot;

/// Maximum length of a chain of successors. A longer chain is a loop or spam.
const MAX_LINE: usize = 16;

const MAX_LINKED: usize = 64;

const MAX_CLAIMANTS: usize = 64;

/// The bonus that a hit receives from each hit that links to it, as a share of the linking hit's
/// score.
const NEIGHBOR_SHARE: f32 = 0.08;

const MAX_COMPARED: usize = 20;

/// Minimum similarity for two memories to be treated as versions of the same claim.
const MIN_ALIKE: f32 = 0.14;

const MIN_SHARE: f32 = 0.6;

const SUMMARIES: &str = "memory/summaries/";

pub(crate) fn edge_of_link(kind: LinkKind) -> EdgeKind {
    [EdgeKind::Related, EdgeKind::Supersedes, EdgeKind::SupersededBy, EdgeKind::Contradicts]
        [usize::from(kind.code())]
}

pub(crate) fn reverse(kind: EdgeKind) -> EdgeKind {
    if kind == EdgeKind::Supersedes {
        EdgeKind::SupersededBy
    } else if kind == EdgeKind::SupersededBy {
        EdgeKind::Supersedes
    } else {
        kind
    }
}

pub(super) fn edge(kind: EdgeKind, id: &str) -> MemoryEdge {
    MemoryEdge { kind, id: id.to_owned(), shared: None }
}

/// A current memory and the memories that it superseded.
#[derive(Debug)]
pub struct Group {
    pub best: Ranked,
    pub older: Vec<usize>,
    pub(super) edges: Vec<MemoryEdge>,
}

impl Group {
    fn new(snapshot: &Snapshot, hit: Ranked, head: usize) -> Self {
        let mut group = Self { best: hit, older: older_of(snapshot, head), edges: Vec::new() };
        if group.best.row != head {
            group.note_older(snapshot, group.best.row);
            group.best.row = head;
        }
        group
    }

    /// Adds another row from the same chain. Rows must be added in order of descending score.
    fn add(&mut self, snapshot: &Snapshot, hit: Ranked, head: usize) {
        if hit.row == head {
            self.best = Ranked { score: self.best.score, ..hit };
        } else {
            self.note_older(snapshot, hit.row);
        }
    }

    fn note_older(&mut self, snapshot: &Snapshot, row: usize) {
        // A malicious file may claim to supersede thousands of others.
        if !self.older.contains(&row) && self.older.len() < MAX_LINE {
            self.older.push(row);
        }
        self.edges.push(edge(EdgeKind::Supersedes, snapshot.key(row)));
    }
}

/// Returns all rows that `head` supersedes, directly or indirectly, newest first. Archived memories
/// do not supersede others.
fn older_of(snapshot: &Snapshot, head: usize) -> Vec<usize> {
    if snapshot.row(head).standing == Standing::Archived {
        return Vec::new();
    }
    let mut line = vec![head];
    let mut next = 0;
    while next < line.len() && line.len() < MAX_LINE {
        for id in snapshot.links_of(line[next], LinkKind::Supersedes) {
            let older = snapshot.row_of(id).filter(|row| !line.contains(row));
            line.extend(older);
        }
        next += 1;
    }
    line.remove(0);
    line.sort_by_key(|row| Reverse(snapshot.row(*row).time_ms));
    line
}

/// Facts about rows that are not in the index.
pub struct RowFacts<'a> {
    pub is_wanted: &'a dyn Fn(usize) -> bool,
    pub text_of: &'a dyn Fn(usize) -> Option<String>,
    /// Returns whether a row's memory is foreign. Foreign memories never replace others.
    pub is_foreign: &'a dyn Fn(usize) -> bool,
}

/// Groups hits under the newest memory of their chain, best group first.
pub fn settle(snapshot: &Snapshot, ranked: Vec<Ranked>, facts: &RowFacts<'_>) -> Vec<Group> {
    let lines = Lines::new(snapshot, facts);
    let unproven = snapshot.find_unproven();
    let mut groups: Vec<Group> = Vec::new();
    let mut by_head: HashMap<usize, usize> = HashMap::new();
    for hit in ranked {
        let head = lines.head_of(hit.row);
        match by_head.get(&head) {
            Some(idx) => groups[*idx].add(snapshot, hit, head),
            None => {
                by_head.insert(head, groups.len());
                groups.push(Group::new(snapshot, hit, head));
            }
        }
    }
    lift_linked(snapshot, &mut groups);
    // Dates in files are unverified, so a newer date alone must not rank a memory without evidence
    // above one with evidence. A summary replaces nothing: it only describes a session.
    let may_pass = |newer: usize, older: usize| {
        let is_summary = snapshot.unit_key(newer).starts_with(SUMMARIES);
        !is_summary && (!unproven.contains(&newer) || unproven.contains(&older))
    };
    put_newer_first(snapshot, &mut groups, facts.text_of, &may_pass);
    lower_contradicted(snapshot, &mut groups, &may_pass);
    groups
}

struct Lines<'a> {
    snapshot: &'a Snapshot,
    facts: &'a RowFacts<'a>,
    /// For each ID, the rows that claim to supersede it.
    claimed: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Lines<'a> {
    fn new(snapshot: &'a Snapshot, facts: &'a RowFacts<'a>) -> Self {
        let mut claimed: HashMap<&str, Vec<usize>> = HashMap::new();
        for (id, newer) in snapshot.values_of("supersedes") {
            if snapshot.row(newer).standing != Standing::Archived {
                claimed.entry(id).or_default().push(newer);
            }
        }
        Self { snapshot, facts, claimed }
    }

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

    /// Returns the row that supersedes `row`, preferring the link in the older file.
    fn successor(&self, row: usize) -> Option<usize> {
        let mut named = self.snapshot.links_of(row, LinkKind::SupersededBy);
        named.find_map(|id| self.snapshot.row_of(id)).or_else(|| self.claimant(row))
    }

    fn claimant(&self, row: usize) -> Option<usize> {
        if self.claimed.is_empty() {
            return None;
        }
        let claimants = self.claimed.get(self.snapshot.key(row).to_lowercase().as_str())?;
        let is_foreign = self.facts.is_foreign;
        let may_claim = |newer: &usize| *newer != row && (!is_foreign(*newer) || is_foreign(row));
        claimants.iter().copied().take(MAX_CLAIMANTS).find(may_claim)
    }
}

fn lift_linked(snapshot: &Snapshot, groups: &mut [Group]) {
    let n_linked = groups.len().min(MAX_LINKED);
    let places: HashMap<String, usize> = groups[..n_linked]
        .iter()
        .enumerate()
        .map(|(idx, group)| (snapshot.key(group.best.row).to_owned(), idx))
        .collect();
    let mut gains: Vec<(usize, f32, MemoryEdge)> = Vec::new();
    for group in &groups[..n_linked] {
        for id in snapshot.links_of(group.best.row, LinkKind::Related) {
            if let Some(target) = places.get(id) {
                let kin = edge(EdgeKind::Related, snapshot.key(group.best.row));
                gains.push((*target, group.best.score, kin));
            }
        }
    }
    for (idx, score, kin) in gains {
        groups[idx].best.score += NEIGHBOR_SHARE * score;
        groups[idx].edges.push(kin);
    }
    groups[..n_linked].sort_by(|a, b| b.best.score.total_cmp(&a.best.score));
}

fn put_newer_first(
    snapshot: &Snapshot,
    groups: &mut Vec<Group>,
    text_of: &dyn Fn(usize) -> Option<String>,
    may_pass: &dyn Fn(usize, usize) -> bool,
) {
    let mut rarities = HashMap::new();
    let mut terms: HashMap<usize, Terms> = HashMap::new();
    let mut are_alike = |a: usize, b: usize| {
        for row in [a, b] {
            terms.entry(row).or_insert_with(|| {
                Terms::of(snapshot, &text_of(row).unwrap_or_default(), &mut rarities)
            });
        }
        terms[&a].likeness(&terms[&b], 0.0) >= MIN_ALIKE
    };
    let n_compared = groups.len().min(MAX_COMPARED);
    let time = |group: &Group| snapshot.row(group.best.row).time_ms;
    for upper in 0..n_compared {
        // The loop ends because each move puts a newer memory in this position.
        while let Some(lower) = (upper + 1..n_compared).find(|lower| {
            let (top, other) = (&groups[upper], &groups[*lower]);
            time(other) > time(top)
                && may_pass(other.best.row, top.best.row)
                && other.best.score >= MIN_SHARE * top.best.score
                && are_alike(top.best.row, other.best.row)
        }) {
            let older = edge(EdgeKind::NewerThan, snapshot.key(groups[upper].best.row));
            let score = groups[upper].best.score;
            let mut newer = groups.remove(lower);
            newer.edges.push(older);
            newer.best.score = score;
            groups.insert(upper, newer);
        }
    }
}

/// If two memories contradict each other, ranks the newer one first, provided that it is allowed to
/// outrank the older one.
fn lower_contradicted(
    snapshot: &Snapshot,
    groups: &mut Vec<Group>,
    may_pass: &dyn Fn(usize, usize) -> bool,
) {
    for idx in 0..groups.len().min(MAX_LINKED) {
        let row = groups[idx].best.row;
        for id in snapshot.links_of(row, LinkKind::Contradicts) {
            let other = groups.iter().position(|group| snapshot.key(group.best.row) == id);
            let own = groups.iter().position(|group| group.best.row == row);
            let Some((own, other)) = own.zip(other) else { continue };
            let (upper, lower) = (own.min(other), own.max(other));
            let time = |idx: usize| snapshot.row(groups[idx].best.row).time_ms;
            if may_pass(groups[lower].best.row, groups[upper].best.row) && time(upper) < time(lower)
            {
                let score = groups[upper].best.score;
                let mut newer = groups.remove(lower);
                newer.best.score = newer.best.score.max(score);
                groups.insert(upper, newer);
            }
        }
    }
}
