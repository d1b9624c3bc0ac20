//! The weights of the three questions, and what they make of two claims.
//!
//! Fitted by `cargo run -p nacre-core --example fit_policy -- 0.003` on the topics of even number among the 440
//! labelled pairs of `crates/nacre-core/tests/fixtures/decisions.jsonl`: logistic regression, both answers weighed
//! alike. Cross-validated within that half, 97 % are right from a likelihood of 0.65 on, and one pair in seven is less
//! likely than that; a test holds the other half to 95 % and 15 %. The cosines are those of the built-in embedding: with
//! another one, fit again.

use serde::{Deserialize, Serialize};

use super::measure::{Likeness, Measures, N_MEASURES, measure};
use super::profile::Profile;

/// A relation less likely than this is grey.
const MIN_LIKELY: f32 = 0.65;

struct Weights {
    bias: f32,
    of: [f32; N_MEASURES],
}

/// Is it about the same thing?
const ABOUT: Weights = Weights {
    bias: -5.54,
    of: [
        1.72, 1.34, 1.79, 1.36, 2.01, 0.88, 1.67, 0.52, 0.58, -0.33, -0.36, 0.88, 0.24, 0.15, 0.28,
        0.88, 0.76, 0.28, 0.35, 0.16, -0.08, 1.28, -0.31, 0.08, 0.40, 0.38, 0.38,
    ],
};

/// If so, does it say otherwise?
const AGAINST: Weights = Weights {
    bias: 0.04,
    of: [
        -0.91, -0.19, -1.13, -1.34, -0.04, 2.02, -1.15, -1.23, -0.76, -0.27, 0.24, 0.21, 0.60,
        0.14, 1.93, 2.25, 2.54, 1.16, 0.61, 1.19, 0.93, -0.11, 1.37, 0.99, -1.15, 0.64, 1.27,
    ],
};

/// If not, does it say more?
const MORE: Weights = Weights {
    bias: -6.38,
    of: [
        -0.96, -0.34, 0.52, -0.99, 1.52, -0.86, 0.31, 1.11, -0.12, 1.08, 0.16, -0.71, 0.39, 0.39,
        -0.66, -0.06, -0.43, -0.13, -0.88, -0.05, 0.02, 2.03, 1.76, 2.89, 1.37, -0.02, -0.39,
    ],
};

/// How a candidate stands to a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    Different,
    Contradicts,
    Refines,
    Same,
}

impl Relation {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Different => "different",
            Self::Contradicts => "contradicts",
            Self::Refines => "refines",
            Self::Same => "same",
        }
    }
}

/// How likely each question is answered with yes, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    pub about: f32,
    pub against: f32,
    pub more: f32,
}

/// The most likely relation of two claims.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    pub relation: Relation,
    pub likelihood: f32,
    pub scores: Scores,
}

impl Judgement {
    /// The same words.
    pub(super) const CERTAIN: Self = Self {
        relation: Relation::Same,
        likelihood: 1.0,
        scores: Scores { about: 1.0, against: 0.0, more: 0.0 },
    };

    /// Whether it decides by itself.
    pub fn is_clear(&self) -> bool {
        self.likelihood >= MIN_LIKELY
    }
}

/// Judges what a candidate says against a memory.
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
