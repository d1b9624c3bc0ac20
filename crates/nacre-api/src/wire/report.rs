//! What a store learned, merged, archived and used.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;

/// Since when, and where to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReportRequest {
    /// A day, a moment or an age. Without it, `30d`.
    pub since: Option<String>,
    /// Also write it as one HTML page to this file.
    pub html: Option<String>,
    /// Write it over a file that is not such a page.
    pub force: bool,
}

/// What happened in the store of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectReport {
    /// Its name, or `global`.
    pub project: String,
    /// The page that was written.
    pub html: Option<String>,
    pub report: StoreFigures,
}

impl Report for ProjectReport {}

/// What is in a store, and what was done since a moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoreFigures {
    pub since: String,
    pub until: String,
    /// How many memories there are now, by status.
    pub memories: BTreeMap<String, usize>,
    /// And by stage of life.
    pub stages: BTreeMap<String, usize>,
    /// What was learned since, by type and kind.
    pub learned: BTreeMap<String, usize>,
    /// What became of it: in use, to review, archived, superseded or stale. Adds up to what was learned.
    #[serde(default)]
    pub learned_now: BTreeMap<String, usize>,
    /// What runs learned since and is not there any more: undone, rejected or forgotten. Not in the sums above.
    #[serde(default)]
    pub n_taken_back: usize,
    /// By the Monday of each week.
    pub learned_by_week: BTreeMap<String, usize>,
    pub sessions: usize,
    pub merged: Vec<ReportedAction>,
    pub archived: Vec<ReportedAction>,
    /// Overturned by a newer memory.
    pub contradictions: Vec<ReportedAction>,
    /// How many contradictions a person has to decide.
    pub open_contradictions: usize,
    pub most_used: Vec<MemoryUse>,
    pub never_used: Vec<MemoryUse>,
    /// How many of the memories that hold were used, were never used in two weeks, and are younger than that. Adds up to all.
    #[serde(default)]
    pub n_used: usize,
    pub n_never_used: usize,
    #[serde(default)]
    pub n_young: usize,
    /// Memories by tenths of what is left of their confidence.
    pub confidence: Vec<usize>,
    pub n_broken: usize,
}

/// How often a memory was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryUse {
    pub id: String,
    pub title: String,
    pub uses: u64,
    pub citations: u64,
    pub confirmations: u64,
    /// What age and use left of its confidence.
    pub effective: f64,
}

/// Something that a run did to a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedAction {
    pub run: String,
    pub target: String,
    pub with: Option<String>,
    pub title: String,
    pub reason: String,
}
