//! Measurements on data sets with known answers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Report, SearchMode};

/// The shape of a data set's file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DatasetFormat {
    Locomo,
    LongMemEval,
    DevMemBench,
    #[default]
    Jsonl,
    /// Questions about what was said in a folder of traces.
    Messages,
}

/// Which questions to ask, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvalRetrievalRequest {
    /// The data set's file; of DevMemBench the one with the questions.
    pub dataset: String,
    #[serde(default)]
    pub format: DatasetFormat,
    /// The folder of traces that the questions of `messages` are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traces: Option<String>,
    #[serde(default)]
    pub mode: SearchMode,
    /// List the questions whose answers are not all among the first five.
    #[serde(default)]
    pub missed: bool,
}

/// How often the answer was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EvalRetrievalReport {
    pub dataset: String,
    /// The embedding model.
    pub model: String,
    pub records: usize,
    pub overall: RetrievalScores,
    pub categories: BTreeMap<String, RetrievalScores>,
    /// The same questions asked of plain BM25, where the data set has a baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<RetrievalBaseline>,
    /// Questions that cannot be asked, by the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, usize>,
    pub latency_ms: LatencyMillis,
    pub missed: Vec<MissedQuestion>,
}

impl Report for EvalRetrievalReport {}

/// Means over questions, from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RetrievalScores {
    pub questions: usize,
    pub recall_1: f64,
    pub recall_5: f64,
    pub recall_10: f64,
    pub any_5: f64,
    pub mrr: f64,
    pub ndcg_10: f64,
    /// How often the newer of two answers comes first.
    pub newer_first: Option<f64>,
    /// The questions with two such answers.
    pub ordered: usize,
}

/// What plain BM25 reaches when the person's words count 1.6 times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RetrievalBaseline {
    pub overall: RetrievalScores,
    pub categories: BTreeMap<String, RetrievalScores>,
}

/// How long a question takes, in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyMillis {
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
}

/// A question whose answers are not all among the first five.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissedQuestion {
    pub id: String,
    /// Where the first right answer is, from 0.
    pub place: Option<usize>,
}

/// Which sessions to extract from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvalExtractionRequest {
    /// The data set's file.
    pub dataset: String,
    /// List what was kept without a label, and labels that were not found.
    #[serde(default)]
    pub slips: bool,
}

/// What was rightly kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EvalExtractionReport {
    pub dataset: String,
    pub halves: ExtractionHalves,
    pub slips: Vec<Slip>,
}

impl Report for EvalExtractionReport {}

/// Odd lines of a data set are for tuning, even lines are held out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtractionHalves {
    pub tune: ExtractionScores,
    pub held_out: ExtractionScores,
    pub all: ExtractionScores,
}

/// Counts over sessions, and shares from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtractionScores {
    pub sessions: usize,
    /// Candidates, and those of them that match a label.
    pub kept: usize,
    pub right: usize,
    pub precision: f64,
    /// Sessions with nothing to keep, and those of them that gave nothing.
    pub empty: usize,
    pub stayed_empty: usize,
    pub empty_stays_empty: f64,
    pub explicit: usize,
    pub explicit_found: usize,
    pub explicit_recall: f64,
    pub labels: usize,
    pub labels_found: usize,
    pub recall: f64,
}

/// What went otherwise than labelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Slip {
    /// Kept, by its title, and no label says so.
    Wrong { session: String, wrong: String },
    /// Labelled, by its quote, and not found.
    Missed { session: String, missed: String },
}
