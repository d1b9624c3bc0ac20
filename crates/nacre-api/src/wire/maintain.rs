//! Maintenance: memories are kept few and true.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Outcome, PlannedChange, Report, StoreMaintenance};

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
