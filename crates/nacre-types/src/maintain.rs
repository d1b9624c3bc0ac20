//! Requests and reports for store maintenance: merging and archiving memories, and finding
//! contradictions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ExplorerMetrics, Outcome, PlannedChange, Report, RunMode};

/// Options for a maintenance run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MaintainRequest {
    /// Report the changes without making them.
    pub dry_run: bool,
    /// Run even if nothing has changed.
    pub force: bool,
    /// Maintain all registered projects and the global memories.
    pub all: bool,
    /// Let the model with the role `lead` write the merged memories.
    pub rewrite: bool,
    /// Path of a file with scripted model responses, for tests.
    pub scripted: Option<String>,
}

/// The result for each store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MaintainReport {
    pub dry_run: bool,
    pub projects: Vec<MaintainedStore>,
}

impl Report for MaintainReport {
    fn outcome(&self) -> Outcome {
        let is_failed = |store: &MaintainedStore| store.state == MaintainState::Failed;
        Outcome::partial_if(self.projects.iter().any(is_failed))
    }
}

names! {
    /// How a store's maintenance ended.
    pub enum MaintainState {
        Done = "done",
        /// No action was necessary.
        Clean = "clean",
        /// Nothing has changed since the last run.
        Skipped = "skipped",
        Failed = "failed",
    }
}

/// The result for one store: its report, or why it has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MaintainedStore {
    /// Name of the project, or `global`.
    pub project: String,
    pub state: MaintainState,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub report: Option<StoreMaintenance>,
    /// The planned changes of a dry run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub changes: Option<Vec<PlannedChange>>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub causes: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hints: Option<Vec<String>>,
    pub ms: u64,
}

names! {
    /// A kind of action on a memory.
    pub enum MaintainVerb {
        Merge = "merge",
        Consolidate = "consolidate",
        Supersede = "supersede",
        Archive = "archive",
        Stale = "stale",
        Restore = "restore",
        Freshen = "freshen",
        Establish = "establish",
        Validate = "validate",
        Doubt = "doubt",
        Relink = "relink",
    }

}

/// What a maintenance run did in one store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoreMaintenance {
    pub outcome: MaintainState,
    pub mode: RunMode,
    /// ID of the run. Absent if nothing changed.
    pub run_id: Option<String>,
    pub finished_at: String,
    pub memories: usize,
    /// Number of unreadable files, which were left unchanged.
    pub broken: usize,
    /// Number of actions, by kind.
    pub counts: BTreeMap<MaintainVerb, usize>,
    pub actions: Vec<MaintainAction>,
    pub contradictions: Vec<OpenContradiction>,
    pub written_paths: Vec<String>,
    pub model_calls: u64,
    pub tokens: u64,
    pub cost_usd: f64,
}

/// An action on a memory, with its reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MaintainAction {
    pub action: MaintainVerb,
    /// ID of the memory.
    pub target: String,
    pub title: String,
    /// ID of the memory that it was merged into or superseded by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<String>,
    pub reason: String,
    /// Confidence from 0 to 1, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likelihood: Option<f32>,
    /// Key that identifies the action. An action undone by the user is not repeated.
    pub key: String,
}

/// Two contradictory memories that need the user's decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenContradiction {
    pub newer: String,
    pub older: String,
    pub likelihood: f32,
    pub reason: String,
}

/// Resources that a maintenance run used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MaintainMetrics {
    pub run_id: String,
    pub memories: usize,
    pub broken: usize,
    /// Number of memory pairs compared.
    pub pairs: usize,
    pub counts: BTreeMap<MaintainVerb, usize>,
    pub model_calls: u64,
    pub tokens: u64,
    pub cost_usd: f64,
    pub denied_writes: usize,
    /// Always empty, because maintenance never starts explorers.
    pub explorers: Vec<ExplorerMetrics>,
    pub durations_ms: MaintainDurations,
}

/// How long each step of a maintenance run took, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MaintainDurations {
    pub read: u64,
    pub compare: u64,
    pub whole: u64,
}
