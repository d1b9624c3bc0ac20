//! Candidates: memories that wait for a person's word.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BrokenFile, MemoryEntry, MemoryQuote, Outcome, Report, Scope};

/// Which candidates to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReviewListRequest {
    /// At most this many; 0 for all. Without it, the setting `memory.max_results`.
    pub limit: Option<usize>,
    pub scope: Option<Scope>,
}

/// Candidates, the newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewListReport {
    pub candidates: Vec<ReviewCandidate>,
    /// How many there are, listed or not.
    pub total: usize,
    pub broken: Vec<BrokenFile>,
}

impl Report for ReviewListReport {
    fn outcome(&self) -> Outcome {
        Outcome::partial_if(!self.broken.is_empty())
    }
}

/// A candidate with what proves it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewCandidate {
    #[serde(flatten)]
    pub memory: MemoryEntry,
    pub body: String,
    pub quotes: Vec<MemoryQuote>,
    /// Why it is quarantined, where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a person decides about a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewDecision {
    /// It holds.
    Accept,
    /// It is removed, and does not come back by itself.
    Reject,
}

/// What a person decided, and about which candidates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewDecideRequest {
    /// Their ids, or the starts of them.
    pub ids: Vec<String>,
    pub decision: ReviewDecision,
    /// The memory that the one accepted candidate supersedes, by its id or the start of it.
    #[serde(default)]
    pub supersedes: Option<String>,
    #[serde(default)]
    pub scope: Option<Scope>,
}

/// Which candidates hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewAcceptRequest {
    /// Their ids, or the starts of them.
    pub ids: Vec<String>,
    /// The memory that the one candidate supersedes, by its id or the start of it.
    #[serde(default)]
    pub supersedes: Option<String>,
    #[serde(default)]
    pub scope: Option<Scope>,
}
