//! What a batch is given: new memories, and new values for one.

use super::id::MemoryId;
use super::kinds::{Basis, Claim, Status};
use super::sidecar::Quote;
use super::trust::Trust;

/// A decision or learning to be added. Code fills in id and times.
#[derive(Clone, Debug)]
pub struct Draft {
    pub claim: Claim,
    pub title: String,
    pub body: String,
    pub tags: Vec<String>,
    /// Situations in which it should be told.
    pub applies: Vec<String>,
    pub related: Vec<MemoryId>,
    pub source: String,
    pub confidence: f64,
    /// How it comes to be known, where somebody judged that.
    pub basis: Option<Basis>,
    pub quotes: Vec<Quote>,
    /// The highest level that its author claims for it. An agent that puts the user's point into words of
    /// its own claims `Assistant`, whoever is quoted.
    pub limit: Trust,
}

/// A summary to be added. Code fills in id, day and time.
#[derive(Clone, Debug)]
pub struct SummaryDraft {
    pub title: String,
    pub description: String,
    pub body: String,
    pub coding_agent: String,
    pub raw_trace_path: String,
    pub run_id: String,
    pub repo_name: String,
    pub related: Vec<MemoryId>,
    pub tags: Vec<String>,
}

/// New values for some keys of a memory; the others stay as they are.
#[derive(Clone, Debug, Default)]
pub struct Change {
    pub title: Option<String>,
    pub body: Option<String>,
    pub tags: Option<Vec<String>>,
    pub applies: Option<Vec<String>>,
    pub related: Option<Vec<MemoryId>>,
    pub confidence: Option<f64>,
    pub status: Option<Status>,
    /// Added to the evidence.
    pub quotes: Vec<Quote>,
}
