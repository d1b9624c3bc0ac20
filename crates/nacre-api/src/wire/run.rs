//! Runs: what they did, and why. The files of a run folder have the same keys.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DropReason, Strategy};

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunMode {
    Sync,
    /// A sync of a session that just ended.
    Hot,
    /// A sync of sessions from before Nacre was there.
    Cold,
    Maintain,
    Undo,
}

/// What a run over one session did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRun {
    pub run_id: String,
    pub mode: RunMode,
    pub outcome: SessionOutcome,
    pub trace_path: String,
    /// The session's own id.
    pub session: String,
    pub agent: String,
    pub memory_root: String,
    pub workspace_root: String,
    pub run_folder: String,
    pub finished_at: String,
    pub checklist: Vec<ChecklistStep>,
    pub actions: Vec<SessionAction>,
    pub counts: ActionCounts,
    pub dropped: BTreeMap<DropReason, u64>,
    pub written_paths: Vec<String>,
    pub summary_path: Option<String>,
    pub cost_usd: f64,
    pub strategy: Strategy,
    /// Why the session was not read as it should have been.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// The limit that was reached, by its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// Why the lead decided nothing, so that the rule did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead_error: Option<String>,
}

/// Whether a session had anything to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionOutcome {
    Done,
    /// It was read to its end before.
    Unchanged,
}

/// A step of a run, and how far it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChecklistStep {
    pub step: String,
    pub state: String,
}

/// What became of one candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionAction {
    pub candidate: String,
    pub title: String,
    pub signal: String,
    pub action: String,
    /// The memory that was made, changed or found to say it.
    pub target: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// The memory that it was compared with.
    pub nearest: Option<String>,
    pub band: String,
    pub relation: Option<String>,
    pub likelihood: Option<f32>,
    pub scores: Option<BTreeMap<String, f32>>,
    pub reason: String,
    /// `rule` or `lead`.
    pub by: String,
    /// The lead's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The words of the memory or candidate that the lead goes by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

/// How many candidates became what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionCounts {
    pub add: u64,
    pub update: u64,
    pub no_op: u64,
    pub supersede: u64,
}
