//! Maintenance: memories are kept few and true.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Outcome, PlannedChange, Report};

/// What to maintain, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MaintainRequest {
    /// Tell what would be done, and change nothing.
    pub dry_run: bool,
    /// Run even if nothing has changed.
    pub force: bool,
    /// Every registered project and the global memories.
    pub all: bool,
    /// Let the model of the role `lead` write what is merged.
    pub rewrite: bool,
    /// A file with the model's answers, for tests.
    pub scripted: Option<String>,
}

/// What was done in each store.
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

/// How the maintenance of a store ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaintainState {
    Done,
    /// There was nothing to do.
    Clean,
    /// Nothing has changed since the last run.
    Skipped,
    Failed,
}

/// One store: a report, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MaintainedStore {
    /// The name of the project, or `global`.
    pub project: String,
    pub state: MaintainState,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub report: Option<StoreMaintenance>,
    /// What would change, where nothing was to be changed.
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

/// What was done in one store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoreMaintenance {
    pub outcome: MaintainState,
    pub mode: String,
    /// The run that did it, where something was done.
    pub run_id: Option<String>,
    pub finished_at: String,
    pub memories: usize,
    /// Files that could not be read; they were left alone.
    pub broken: usize,
    /// How often each thing was done.
    pub counts: BTreeMap<String, usize>,
    pub actions: Vec<MaintainAction>,
    /// What a person has to decide.
    pub contradictions: Vec<OpenContradiction>,
    pub written_paths: Vec<String>,
    pub model_calls: u64,
    pub tokens: u64,
    pub cost_usd: f64,
}

/// One thing that was done to a memory, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MaintainAction {
    pub action: String,
    /// The memory that it was done to.
    pub target: String,
    pub title: String,
    /// The memory that it went into, or that overturned it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub with: Option<String>,
    pub reason: String,
    /// How sure it is, from 0 to 1, where that was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub likelihood: Option<f32>,
    /// Names this very action, so that what a person undoes is not done again.
    pub key: String,
}

/// Two memories that contradict each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenContradiction {
    pub newer: String,
    pub older: String,
    pub likelihood: f32,
    pub reason: String,
}
