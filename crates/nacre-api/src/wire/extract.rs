//! One session, read: the candidates that it gives, and its summary.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DropReason, Gate, MemoryQuote, MemoryType, Outcome, Report, Signal, Strategy};

/// How sessions are to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StrategyChoice {
    /// Without a model by rules, else in windows, and by code where the session is long.
    #[default]
    Auto,
    /// By rules alone.
    Offline,
    /// A model reads it, window by window.
    Windows,
    /// A model explores it by code.
    Rlm,
}

/// A claim that may become a memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    pub id: String,
    pub r#type: MemoryType,
    /// What kind of learning it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    pub title: String,
    pub body: String,
    pub tags: Vec<String>,
    /// Situations in which it should be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applies: Vec<String>,
    pub confidence: f64,
    pub signal: Signal,
    /// At least one, each verbatim in the transcript.
    pub quotes: Vec<MemoryQuote>,
}

/// A proposal that a check turned away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DroppedCandidate {
    pub reason: DropReason,
    pub signal: Signal,
    pub title: String,
    /// Where it was said, as `SESSION:SEQUENCE`.
    pub place: String,
}

/// Why a model did not read a session that it should have read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadFallback {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// The limit that was reached, by its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

impl ReadFallback {
    fn outcome(&self) -> Outcome {
        Outcome::partial_if(self.limit.is_some())
    }
}

/// Which session to read, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtractRequest {
    /// A trace of any agent, or the id of a session that was seen.
    pub trace: String,
    #[serde(default)]
    pub strategy: Option<StrategyChoice>,
}

/// What one session gave: the content of `extract.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtractReport {
    /// Of the format.
    pub version: u32,
    /// The session's own id.
    pub session: String,
    pub agent: String,
    pub strategy: Strategy,
    pub gate: Gate,
    /// The strongest first.
    pub candidates: Vec<Candidate>,
    pub dropped_counts: BTreeMap<DropReason, u64>,
    pub dropped: Vec<DroppedCandidate>,
    #[serde(flatten)]
    pub read: ReadFallback,
}

impl Report for ExtractReport {
    fn outcome(&self) -> Outcome {
        self.read.outcome()
    }
}

/// Which session to read, and where to write what it gives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtractFileRequest {
    pub trace: String,
    #[serde(default)]
    pub strategy: Option<StrategyChoice>,
    /// The file to write.
    pub out: String,
    /// Report each candidate, and each proposal that was dropped.
    #[serde(default)]
    pub explain: bool,
    /// Write over a file that is not the result of an earlier call.
    #[serde(default)]
    pub force: bool,
}

/// What was written to a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtractFileReport {
    pub out: String,
    pub session: String,
    pub gate: Gate,
    pub strategy: Strategy,
    /// How many there are.
    pub candidates: usize,
    pub dropped: BTreeMap<DropReason, u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained: Option<ExplainedCandidates>,
    #[serde(flatten)]
    pub read: ReadFallback,
}

impl Report for ExtractFileReport {
    fn outcome(&self) -> Outcome {
        self.read.outcome()
    }
}

/// What became of each proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedCandidates {
    pub candidates: Vec<Candidate>,
    pub dropped: Vec<DroppedCandidate>,
}

/// Which session to summarize, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummarizeRequest {
    /// A trace of any agent, or the id of a session that was seen.
    pub trace: String,
    #[serde(default)]
    pub strategy: Option<StrategyChoice>,
}

/// What a session was about: the content of `summary.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SummarizeReport {
    /// Of the format.
    pub version: u32,
    pub session: String,
    pub agent: String,
    pub strategy: Strategy,
    pub title: String,
    /// One sentence: what it was about and how it ended.
    pub description: String,
    /// What the person wanted.
    pub intent: String,
    /// What happened, in order.
    pub narrative: Vec<String>,
    pub outcome: String,
    /// Files that were changed, most often changed first.
    pub files: Vec<String>,
    /// Commands that were run and worked.
    pub commands: Vec<String>,
    pub started: Option<String>,
    pub ended: Option<String>,
    pub tags: Vec<String>,
    #[serde(flatten)]
    pub read: ReadFallback,
}

impl Report for SummarizeReport {
    fn outcome(&self) -> Outcome {
        self.read.outcome()
    }
}

/// Which session to summarize, and where to write it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummarizeFileRequest {
    pub trace: String,
    #[serde(default)]
    pub strategy: Option<StrategyChoice>,
    /// The file to write.
    pub out: String,
    /// Write over a file that is not the result of an earlier call.
    #[serde(default)]
    pub force: bool,
}

/// What was written to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SummarizeFileReport {
    pub out: String,
    pub session: String,
    pub title: String,
    #[serde(flatten)]
    pub read: ReadFallback,
}

impl Report for SummarizeFileReport {
    fn outcome(&self) -> Outcome {
        self.read.outcome()
    }
}
