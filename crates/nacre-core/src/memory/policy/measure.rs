//! Two claims measured against each other: what they share, what each has alone, where they say no.

use std::collections::{BTreeMap, BTreeSet};

use super::profile::{Profile, opposites};

/// How near two texts are in meaning, from 0 to 1, as whoever has an embedding measured it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Likeness {
    /// Of the titles with their bodies.
    pub whole: f32,
    /// Of the titles alone.
    pub titles: f32,
}

/// How many numbers a comparison has.
pub(super) const N_MEASURES: usize = 27;

/// The numbers of a comparison; what each means stands in [`measure`].
pub type Measures = [f32; N_MEASURES];

/// Measures what a candidate says against a memory.
pub fn measure(candidate: &Profile, memory: &Profile, likeness: Likeness) -> Measures {
    let kept = share(&memory.terms, &candidate.terms);
    let known = share(&candidate.terms, &memory.terms);
    let title_kept = share(&memory.title, &candidate.terms);
    let title_known = share(&candidate.title, &memory.terms);
    let n_shared = candidate.specifics.intersection(&memory.specifics).count() as f32;
    let n_new = candidate.specifics.difference(&memory.specifics).count() as f32;
    let n_lost = memory.specifics.difference(&candidate.specifics).count() as f32;
    let values = conflicting(&candidate.title_values, &memory.title_values);
    let (turned, title_turned) = turned(candidate, memory);
    let change = (candidate.change - 0.5 * memory.change).clamp(0.0, 2.0);
    let longer = (candidate.n_terms as f32 / memory.n_terms.max(1) as f32).min(3.0);
    let is_freed = memory.is_duty && !memory.is_freedom && candidate.is_freedom;
    let news: f32 = alone(&candidate.terms, &memory.terms);
    [
        likeness.whole,
        likeness.titles,
        // Of the memory's words, and of its title's, the share that the candidate repeats; and the other way.
        kept,
        known,
        title_kept,
        title_known,
        kept.max(known),
        share(&memory.title, &candidate.title),
        // Names, flags and numbers in both, in the candidate alone and in the memory alone.
        n_shared.min(4.0),
        n_new.min(5.0),
        n_lost.min(5.0),
        f32::from(u8::from(n_new > 0.0 && n_lost > 0.0)) * likeness.titles,
        // Numbers of the titles that exclude each other.
        values,
        values * title_kept,
        // What one denies and the other states.
        turned,
        title_turned,
        // Words of change, of the title alone, opposite words, and leave where there was duty.
        change,
        candidate.title_change.min(1.5),
        opposites(candidate, memory).min(2.0),
        f32::from(u8::from(is_freed)),
        swapped(&candidate.order, &memory.order),
        // What is new, by length and by weight, and words that add.
        longer,
        (1.0 - known) * longer,
        (news / 8.0).min(2.0),
        (candidate.n_additions - memory.n_additions).clamp(0.0, 3.0),
        (candidate.title_change.min(1.0) + title_turned) * (1.0 - title_kept),
        change.min(1.0) * title_kept,
    ]
}

/// The weight of `of`'s terms that `within` lacks.
fn alone(of: &BTreeMap<String, f32>, within: &BTreeMap<String, f32>) -> f32 {
    of.iter().filter(|(term, _)| !within.contains_key(*term)).map(|(_, weight)| weight).sum()
}

/// Whether two titles begin alike and end differently, both: "store times in UTC", "store times in local time".
fn swapped(a: &[String], b: &[String]) -> f32 {
    let n_same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let is_swap = n_same >= 2
        && n_same < a.len()
        && n_same < b.len()
        && !b[n_same..].iter().all(|term| a.contains(term));
    f32::from(u8::from(is_swap))
}

/// The weight of `of`'s terms that `within` holds, too, as a share of all of `of`.
fn share(of: &BTreeMap<String, f32>, within: &BTreeMap<String, f32>) -> f32 {
    let all: f32 = of.values().sum();
    let both: f32 = of.iter().filter(|(term, _)| within.contains_key(*term)).map(|(_, w)| w).sum();
    if all > 0.0 { both / all } else { 0.0 }
}

/// 1 when each has a number that the other lacks.
fn conflicting(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f32 {
    f32::from(u8::from(a.difference(b).next().is_some() && b.difference(a).next().is_some()))
}

/// The share of the words of both claims, and of both titles, that only one of them denies.
fn turned(a: &Profile, b: &Profile) -> (f32, f32) {
    let of = |shared: Vec<&String>, a: &BTreeSet<String>, b: &BTreeSet<String>| {
        let n_turned =
            shared.iter().filter(|term| a.contains(**term) != b.contains(**term)).count();
        if shared.is_empty() { 0.0 } else { n_turned as f32 / shared.len() as f32 }
    };
    let shared: Vec<&String> = a.terms.keys().filter(|term| b.terms.contains_key(*term)).collect();
    let titles: Vec<&String> = a.title.keys().filter(|term| b.title.contains_key(*term)).collect();
    (of(shared, &a.denied, &b.denied), of(titles, &a.denied_title, &b.denied_title))
}
