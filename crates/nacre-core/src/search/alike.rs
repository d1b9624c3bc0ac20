//! Of two records that say nearly the same, the newer goes first.
//!
//! A decision and its later amendment share their rare words; two decisions about one component share few.
//! So likeness is the share of words that both hold, each weighed by how rare it is in this index: a
//! measure that needs no model and no tuning to a scale.

use std::cell::OnceCell;
use std::collections::HashSet;

use super::kin::{Kin, KinKind};
use super::settle::Group;
use super::snapshot::Snapshot;
use super::words;

/// As many of the best hits are compared.
const MAX_COMPARED: usize = 20;

/// From this likeness on two records are taken for versions of one claim.
const MIN_ALIKE: f32 = 0.14;

/// A newer one must match the question at least so well, as a share of the older one's score.
const MIN_SHARE: f32 = 0.6;

/// What is known of a hit; its text is read only when there is something to compare it with.
struct Compared {
    row: usize,
    time_ms: i64,
    terms: OnceCell<HashSet<String>>,
}

impl Compared {
    fn terms(&self, text_of: &dyn Fn(usize) -> Option<String>) -> &HashSet<String> {
        self.terms.get_or_init(|| {
            let text = text_of(self.row).unwrap_or_default();
            words::terms(&text).into_iter().collect()
        })
    }
}

/// Puts newer records above older ones that say nearly the same. `text_of` gives a row's text.
pub(super) fn newer_first(
    snapshot: &Snapshot,
    groups: &mut Vec<Group>,
    text_of: &dyn Fn(usize) -> Option<String>,
) {
    let n_compared = groups.len().min(MAX_COMPARED);
    let mut compared: Vec<Compared> = groups[..n_compared]
        .iter()
        .map(|group| Compared {
            row: group.best.row,
            time_ms: snapshot.row(group.best.row).time_ms,
            terms: OnceCell::new(),
        })
        .collect();
    for upper in 0..n_compared {
        // Each move puts a newer one here, so there are at most as many as there are below.
        while let Some(lower) = newer_below(snapshot, groups, &compared, upper, text_of) {
            let older = snapshot.key(groups[upper].best.row).to_owned();
            let score = groups[upper].best.score;
            let mut newer = groups.remove(lower);
            newer.edges.push(Kin { kind: KinKind::Newer, id: older, shared: None });
            newer.best.score = score;
            groups.insert(upper, newer);
            let moved = compared.remove(lower);
            compared.insert(upper, moved);
        }
    }
}

/// The best hit below `upper` that is newer, says nearly the same and matches well enough.
fn newer_below(
    snapshot: &Snapshot,
    groups: &[Group],
    compared: &[Compared],
    upper: usize,
    text_of: &dyn Fn(usize) -> Option<String>,
) -> Option<usize> {
    let top = &compared[upper];
    (upper + 1..compared.len()).find(|lower| {
        let other = &compared[*lower];
        other.time_ms > top.time_ms
            && groups[*lower].best.score >= MIN_SHARE * groups[upper].best.score
            && likeness(snapshot, top.terms(text_of), other.terms(text_of)) >= MIN_ALIKE
    })
}

/// The weight of the terms that both hold, as a share of the weight of all.
fn likeness(snapshot: &Snapshot, a: &HashSet<String>, b: &HashSet<String>) -> f32 {
    let texts = &snapshot.layout().rows;
    let weight = |term: &String| texts.rarity(snapshot.n_holding(term.as_bytes()) as usize);
    let shared: f32 = a.intersection(b).map(weight).sum();
    let all: f32 = a.union(b).map(weight).sum();
    if all > 0.0 { shared / all } else { 0.0 }
}
