//! What a maintenance of memories did, and what it took.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ExplorerMetrics, RunMode};

/// What is done to a memory.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum MaintainVerb {
    Merge,
    Consolidate,
    Supersede,
    Archive,
    Stale,
    Restore,
    Freshen,
    Establish,
    Validate,
    Doubt,
    Relink,
}

impl MaintainVerb {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Consolidate => "consolidate",
            Self::Supersede => "supersede",
            Self::Archive => "archive",
            Self::Stale => "stale",
            Self::Restore => "restore",
            Self::Freshen => "freshen",
            Self::Establish => "establish",
            Self::Validate => "validate",
            Self::Doubt => "doubt",
            Self::Relink => "relink",
        }
    }
}

/// How a maintenance ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaintainOutcome {
    Done,
    /// It was looked at, and there was nothing to do.
    Clean,
    /// Nothing changed since the last run, so it was not looked at.
    Skipped,
}

/// What a maintenance of one store did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoreMaintenance {
    pub outcome: MaintainOutcome,
    pub mode: RunMode,
    /// Where something was done, the run that did it.
    pub run_id: Option<String>,
    pub finished_at: String,
    pub memories: usize,
    /// Files that could not be read; they were left alone.
    pub broken: usize,
    /// Of every verb.
    pub counts: BTreeMap<MaintainVerb, usize>,
    pub actions: Vec<MaintainAction>,
    pub contradictions: Vec<OpenContradiction>,
    pub written_paths: Vec<String>,
    pub model_calls: u64,
    pub tokens: u64,
    pub cost_usd: f64,
}

/// One thing that was done to a memory, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MaintainAction {
    pub action: MaintainVerb,
    /// The memory that it was done to.
    pub target: String,
    pub title: String,
    /// The memory it went into, or the one that overturned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<String>,
    pub reason: String,
    /// How sure it is, from 0 to 1, where that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likelihood: Option<f32>,
    /// Names this very action, so that what a person undoes is not done again.
    pub key: String,
}

/// Two memories that contradict each other, for a person to decide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenContradiction {
    pub newer: String,
    pub older: String,
    pub likelihood: f32,
    pub reason: String,
}

/// What a maintenance took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MaintainMetrics {
    pub run_id: String,
    pub memories: usize,
    pub broken: usize,
    /// Memories that were compared, two by two.
    pub pairs: usize,
    pub counts: BTreeMap<MaintainVerb, usize>,
    pub model_calls: u64,
    pub tokens: u64,
    pub cost_usd: f64,
    pub denied_writes: usize,
    /// A maintenance sends out none.
    pub explorers: Vec<ExplorerMetrics>,
    pub durations_ms: MaintainDurations,
}

/// How long each step of a maintenance took, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MaintainDurations {
    pub read: u64,
    pub compare: u64,
    pub whole: u64,
}
