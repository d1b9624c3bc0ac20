//! Memories that say the same: found by their words and by their nearest in meaning, merged into the best of them.
//!
//! Only memories that are compared directly are merged: what is like a memory that is like a third may have drifted. The
//! best is chosen by what stands in the files, never by use, so it is the same one whenever it is asked.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use nacre_core::memory::{Kinship, MemoryId, Profile};

use super::compare::Compared;
use super::gather::{Collection, Held, Trust, are_kept_apart};
use super::ledger::Ledger;
use super::report::MaintainVerb;
use crate::flows::sync::stage::sentences;

/// One memory that goes into another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Merge {
    /// Places in the collection.
    pub(super) kept: usize,
    pub(super) gone: usize,
    pub(super) kinship: Kinship,
    pub(super) likelihood: f32,
}

/// The merges of a collection, in the order of what is kept.
pub(super) fn merges(
    collection: &Collection,
    compared: &[Compared],
    ledger: &Ledger,
) -> Vec<Merge> {
    let held = &collection.held;
    let mut twins: BTreeMap<usize, Vec<Merge>> = BTreeMap::new();
    let mut add = |a: usize, b: usize, kinship, likelihood| {
        let (kept, gone) = if is_better(&held[a], &held[b]) { (a, b) } else { (b, a) };
        if may_merge(&held[kept], &held[gone], kinship, ledger) {
            let merge = Merge { kept, gone, kinship, likelihood };
            twins.entry(kept).or_default().push(merge);
        }
    };
    for (a, b) in same_words(held) {
        add(a, b, Kinship::Exact, 1.0);
    }
    for pair in compared {
        match pair.kinship {
            Kinship::Twins => add(pair.newer, pair.older, pair.kinship, pair.likelihood),
            Kinship::Exact | Kinship::Against | Kinship::Apart => {}
        }
    }
    let mut best: Vec<usize> = twins.keys().copied().collect();
    best.sort_by(|a, b| rank(&held[*a]).cmp(&rank(&held[*b])));
    let (mut taken, mut chosen) = (BTreeSet::new(), Vec::new());
    for kept in best {
        if taken.contains(&kept) {
            continue;
        }
        for merge in twins.remove(&kept).unwrap_or_default() {
            if taken.insert(merge.gone) {
                chosen.push(merge);
            }
        }
    }
    chosen
}

/// Pairs with the same words: the first of a group with each of the others.
fn same_words(held: &[Held]) -> Vec<(usize, usize)> {
    let mut groups: HashMap<(&str, nacre_core::memory::MemoryType), Vec<usize>> = HashMap::new();
    for (idx, one) in held.iter().enumerate().filter(|(_, one)| one.is_standing()) {
        let words = one.profile.plain();
        if !words.is_empty() {
            groups.entry((words, one.memory.at.memory_type)).or_default().push(idx);
        }
    }
    let mut pairs = Vec::new();
    for mut group in groups.into_values().filter(|group| group.len() > 1) {
        group.sort_by(|a, b| rank(&held[*a]).cmp(&rank(&held[*b])));
        pairs.extend(group[1..].iter().map(|other| (group[0], *other)));
    }
    pairs.sort_unstable();
    pairs
}

type Rank<'a> = (bool, Reverse<bool>, Reverse<Trust>, Reverse<usize>, Reverse<usize>, &'a MemoryId);

/// The better first: not in review, written on this machine, more trusted, naming more, longer, older.
fn rank(one: &Held) -> Rank<'_> {
    (
        one.memory.is_candidate(),
        Reverse(one.is_own),
        Reverse(one.trust),
        Reverse(one.profile.n_named()),
        Reverse(one.profile.plain().len()),
        one.id(),
    )
}

fn is_better(a: &Held, b: &Held) -> bool {
    rank(a) < rank(b)
}

fn may_merge(kept: &Held, gone: &Held, kinship: Kinship, ledger: &Ledger) -> bool {
    let is_same_type = kept.memory.at.memory_type == gone.memory.at.memory_type;
    // What a stranger's memory says beyond a person's own is not handed on.
    let is_handed_on = is_of_one_hand(kept, gone) && gone.trust >= kept.trust;
    let is_lossless =
        kinship == Kinship::Exact || is_handed_on || !gone.profile.names_beyond(&kept.profile);
    let is_kept_better = kept.level.can_replace(gone.level)
        && (!kept.memory.is_candidate() || gone.memory.is_candidate());
    is_same_type
        && is_lossless
        && is_kept_better
        && kept.is_standing()
        && gone.is_standing()
        && !are_kept_apart(kept, gone)
        && !ledger.is_refused(&MaintainVerb::Merge.key(kept.id(), gone.id()))
}

/// Whether both were written on this machine, or neither.
fn is_of_one_hand(a: &Held, b: &Held) -> bool {
    a.is_own == b.is_own
}

/// What the memory that goes says beyond the one that stays: its sentences that name something new. Nothing of a stranger's goes into
/// a person's own.
pub(super) fn beyond(kept: &Held, gone: &Held) -> Vec<String> {
    if !is_of_one_hand(kept, gone) {
        return Vec::new();
    }
    let claimed = gone.claimed();
    let is_new = |sentence: &&str| Profile::of("", sentence).names_beyond(&kept.profile);
    sentences(&claimed).into_iter().filter(is_new).map(str::to_owned).collect()
}
