//! Compares two claims and determines how they are related.
//!
//! Three logistic regressions over the same measures answer three questions. The weights were
//! fitted with `cargo run -p nacre-lab -- fit policy 0.003` on the even-numbered topics of the 440
//! labeled pairs in `crates/nacre-memory/tests/fixtures/decisions.jsonl`, using cosine similarities
//! from the built-in embedding. Using a different embedding requires refitting the weights. A test
//! requires at least 95 % correct and at most 15 % unclear results on the other half.

use std::collections::{BTreeMap, BTreeSet};

use super::profile::{Profile, opposites};
pub use nacre_types::{ActionScores as Scores, Relation};

/// The cosine similarities between two claims, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Likeness {
    pub whole: f32,
    pub titles: f32,
}

pub(super) const N_MEASURES: usize = 27;

/// What a comparison measures. [`measure`] explains each number.
pub type Measures = [f32; N_MEASURES];

pub fn measure(candidate: &Profile, memory: &Profile, likeness: Likeness) -> Measures {
    let kept = share(&memory.terms, &candidate.terms);
    let known = share(&candidate.terms, &memory.terms);
    let title_kept = share(&memory.title, &candidate.terms);
    let title_known = share(&candidate.title, &memory.terms);
    let n_shared = candidate.specifics.intersection(&memory.specifics).count() as f32;
    let n_new = candidate.specifics.difference(&memory.specifics).count() as f32;
    let n_lost = memory.specifics.difference(&candidate.specifics).count() as f32;
    let (own, known_values) = (&candidate.title_values, &memory.title_values);
    let values = f32::from(!own.is_subset(known_values) && !known_values.is_subset(own));
    let (turned, title_turned) = measure_negation(candidate, memory);
    let change = (candidate.change - 0.5 * memory.change).clamp(0.0, 2.0);
    let longer = (candidate.n_terms as f32 / memory.n_terms.max(1) as f32).min(3.0);
    let is_freed = memory.is_duty && !memory.is_freedom && candidate.is_freedom;
    let new_terms = candidate.terms.iter().filter(|(term, _)| !memory.terms.contains_key(*term));
    let news: f32 = new_terms.map(|(_, weight)| weight).sum();
    [
        likeness.whole,
        likeness.titles,
        // The share of terms that the candidate repeats from the memory and from its title, and
        // vice versa.
        kept,
        known,
        title_kept,
        title_known,
        kept.max(known),
        share(&memory.title, &candidate.title),
        // How many names, flags and numbers are in both texts, only in the candidate, and only in
        // the memory.
        n_shared.min(4.0),
        n_new.min(5.0),
        n_lost.min(5.0),
        f32::from(n_new > 0.0 && n_lost > 0.0) * likeness.titles,
        // Whether the titles contain conflicting numbers.
        values,
        values * title_kept,
        // The share of terms that one text negates and the other affirms.
        turned,
        title_turned,
        // Phrases that announce a change, in the complete text and in the title; opposite words;
        // and a permission that replaces an obligation.
        change,
        candidate.title_change.min(1.5),
        opposites(candidate, memory).min(2.0),
        f32::from(is_freed),
        score_swap(&candidate.order, &memory.order),
        // How much of the candidate is new, by length and by weight, and how many words introduce
        // additional information.
        longer,
        (1.0 - known) * longer,
        (news / 8.0).min(2.0),
        (candidate.n_additions - memory.n_additions).clamp(0.0, 3.0),
        (candidate.title_change.min(1.0) + title_turned) * (1.0 - title_kept),
        change.min(1.0) * title_kept,
    ]
}

/// Returns 1 if two titles start the same but end differently, such as "store times in UTC" and
/// "store times in local time"; otherwise 0.
fn score_swap(a: &[String], b: &[String]) -> f32 {
    let n_same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let is_swap = n_same >= 2
        && n_same < a.len()
        && n_same < b.len()
        && !b[n_same..].iter().all(|term| a.contains(term));
    f32::from(is_swap)
}

/// Returns the weight of the terms in `of` that also occur in `within`, as a share of all terms in
/// `of`.
fn share(of: &BTreeMap<String, f32>, within: &BTreeMap<String, f32>) -> f32 {
    let all: f32 = of.values().sum();
    let both: f32 = of.iter().filter(|(term, _)| within.contains_key(*term)).map(|(_, w)| w).sum();
    if all > 0.0 { both / all } else { 0.0 }
}

/// Returns the share of common terms that only one claim negates, in the complete texts and in the
/// titles.
fn measure_negation(a: &Profile, b: &Profile) -> (f32, f32) {
    let of = |shared: Vec<&String>, a: &BTreeSet<String>, b: &BTreeSet<String>| {
        let n_turned =
            shared.iter().filter(|term| a.contains(**term) != b.contains(**term)).count();
        if shared.is_empty() { 0.0 } else { n_turned as f32 / shared.len() as f32 }
    };
    let shared: Vec<&String> = a.terms.keys().filter(|term| b.terms.contains_key(*term)).collect();
    let titles: Vec<&String> = a.title.keys().filter(|term| b.title.contains_key(*term)).collect();
    (of(shared, &a.denied, &b.denied), of(titles, &a.denied_title, &b.denied_title))
}

/// A relation with a lower likelihood is unclear.
const MIN_LIKELY: f32 = 0.65;

struct Weights {
    bias: f32,
    of: [f32; N_MEASURES],
}

/// Determines whether the claims are about the same topic.
const ABOUT: Weights = Weights {
    bias: -5.54,
    of: [
        1.72, 1.34, 1.79, 1.36, 2.01, 0.88, 1.67, 0.52, 0.58, -0.33, -0.36, 0.88, 0.24, 0.15, 0.28,
        0.88, 0.76, 0.28, 0.35, 0.16, -0.08, 1.28, -0.31, 0.08, 0.40, 0.38, 0.38,
    ],
};

/// Determines whether claims on the same topic contradict each other.
const AGAINST: Weights = Weights {
    bias: 0.04,
    of: [
        -0.91, -0.19, -1.13, -1.34, -0.04, 2.02, -1.15, -1.23, -0.76, -0.27, 0.24, 0.21, 0.60,
        0.14, 1.93, 2.25, 2.54, 1.16, 0.61, 1.19, 0.93, -0.11, 1.37, 0.99, -1.15, 0.64, 1.27,
    ],
};

/// Determines whether a candidate that does not contradict the memory adds information.
const MORE: Weights = Weights {
    bias: -6.38,
    of: [
        -0.96, -0.34, 0.52, -0.99, 1.52, -0.86, 0.31, 1.11, -0.12, 1.08, 0.16, -0.71, 0.39, 0.39,
        -0.66, -0.06, -0.43, -0.13, -0.88, -0.05, 0.02, 2.03, 1.76, 2.89, 1.37, -0.02, -0.39,
    ],
};

/// How two claims are most likely related.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    pub relation: Relation,
    pub likelihood: f32,
    pub scores: Scores,
}

impl Judgement {
    pub(super) const CERTAIN: Self = Self {
        relation: Relation::Same,
        likelihood: 1.0,
        scores: Scores { about: 1.0, against: 0.0, more: 0.0 },
    };

    pub fn is_clear(&self) -> bool {
        self.likelihood >= MIN_LIKELY
    }
}

pub fn judge(candidate: &Profile, memory: &Profile, likeness: Likeness) -> Judgement {
    let measures = measure(candidate, memory, likeness);
    let scores = Scores {
        about: answer(&ABOUT, &measures),
        against: answer(&AGAINST, &measures),
        more: answer(&MORE, &measures),
    };
    let agreeing = scores.about * (1.0 - scores.against);
    let likely = [
        (Relation::Different, 1.0 - scores.about),
        (Relation::Contradicts, scores.about * scores.against),
        (Relation::Refines, agreeing * scores.more),
        (Relation::Same, agreeing * (1.0 - scores.more)),
    ];
    let most =
        |best: (Relation, f32), next: (Relation, f32)| if next.1 > best.1 { next } else { best };
    let (relation, likelihood) = likely.into_iter().fold(likely[0], most);
    Judgement { relation, likelihood, scores }
}

fn answer(weights: &Weights, measures: &Measures) -> f32 {
    let sum: f32 = weights.of.iter().zip(measures).map(|(weight, x)| weight * x).sum();
    1.0 / (1.0 + (-(weights.bias + sum)).exp())
}
