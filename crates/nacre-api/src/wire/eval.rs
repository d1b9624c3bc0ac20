//! Measurements on data sets with known answers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Report, SearchMode, StrategyChoice};

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

/// Which labelled sessions to read, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EvalExtractionRequest {
    /// The file of labels.
    pub dataset: String,
    /// The folder that the traces of the labels lie in; that of the labels where it is not said.
    pub traces: Option<String>,
    /// How sessions are read.
    pub strategy: Option<StrategyChoice>,
    /// A file with what people said of entries that match no label.
    pub verdicts: Option<String>,
    /// List labels that were not found, and entries that match no label.
    pub missed: bool,
    /// How many sessions are read at a time.
    pub jobs: Option<usize>,
}

/// What a reader of sessions is worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EvalExtractionReport {
    pub dataset: String,
    pub sessions: usize,
    /// What became memories that hold.
    pub active: KeptEntries,
    /// What waits for a person.
    pub candidates: KeptEntries,
    /// Sessions with nothing to keep, and those of them that gave nothing active.
    pub empty: usize,
    pub silent: usize,
    /// Labels by importance, speaker and kind.
    pub found: Vec<FoundLabels>,
    /// Calls of a model, and the tokens of all of them.
    pub cost: ReadingCost,
    /// What went otherwise than labelled, where it was asked for.
    pub missed: Vec<MissedEntry>,
}

impl Report for EvalExtractionReport {}

/// What was kept with one status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeptEntries {
    pub entries: usize,
    /// Those that match a label, or that a person found right.
    pub right: usize,
    /// Those that must not be kept, or that a person found wrong.
    pub wrong: usize,
    /// Those that nobody judged.
    pub unknown: usize,
}

impl KeptEntries {
    /// The share that is right, of those that are known; 1 where there are none.
    pub fn precision(&self) -> f64 {
        share(self.right, self.right + self.wrong)
    }
}

/// Labels of one group, and how many of them were found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundLabels {
    /// Such as `importance 3`, `speaker user`, `kind pitfall`.
    pub group: String,
    pub labels: usize,
    pub found_active: usize,
    /// Also by what waits for a person.
    pub found: usize,
}

impl FoundLabels {
    pub fn recall(&self) -> f64 {
        share(self.found_active, self.labels)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of a data set")]
    let share = part as f64 / whole as f64;
    if whole == 0 { 1.0 } else { share }
}

/// What reading cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadingCost {
    pub calls: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub usd: Option<f64>,
}

/// What went otherwise than labelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum MissedEntry {
    /// Labelled, and not found.
    Label { file: String, importance: u8, claim: String, quote: String },
    /// Kept, and it must not be.
    Tempting { file: String, title: String, why: String },
    /// Kept, and it matches no label; beside it the label that it is nearest to.
    Unknown {
        file: String,
        title: String,
        body: String,
        quotes: Vec<String>,
        nearest: Option<String>,
    },
    /// A session that could not be read.
    Unread { file: String, reason: String },
}

/// Labelled prompts, and the memories they are about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvalHookRequest {
    /// A folder with `.nacre/memory/` and `prompts.jsonl`, or a folder of such folders.
    pub dataset: String,
    /// The most tokens for one prompt. Without it, those of `hooks.prompt_tokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<usize>,
    /// List the prompts that were answered wrongly.
    #[serde(default)]
    pub missed: bool,
}

/// How often the prompt hook is right to speak and right to be silent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EvalHookReport {
    pub dataset: String,
    pub memories: usize,
    /// Prompts that have a fitting memory.
    pub fitting: usize,
    /// Those of them that got it.
    pub helped: usize,
    /// Those of them that got something else alone.
    pub misled: usize,
    /// Prompts that have none.
    pub other: usize,
    /// Those of them that got nothing.
    pub silent: usize,
    /// What was told counts so many tokens on average, where something was.
    pub mean_tokens: f64,
    /// Memories that were told, and those of them that were wanted.
    pub told: usize,
    pub told_wanted: usize,
    pub latency_ms: LatencyMillis,
    pub missed: Vec<MissedPrompt>,
}

impl Report for EvalHookReport {}

/// A prompt that was answered wrongly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissedPrompt {
    pub prompt: String,
    pub want: Vec<String>,
    pub told: Vec<String>,
}
