//! What reports of syncs and of maintenances share: what a run is for, and how its explorers did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// A person added, changed or removed memories.
    Memory,
    /// A person accepted or rejected candidates.
    Review,
    Import,
    /// A person connected agents, or disconnected them.
    Connect,
    /// A person changed a setting.
    Config,
    /// A person wrote memories into a file of instructions.
    Export,
    /// A person changed the register of projects.
    Project,
    /// A person trusted memories that came from elsewhere.
    Trust,
}

/// How one explorer did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplorerMetrics {
    pub task: String,
    pub candidates: Vec<String>,
    pub state: String,
    pub findings: Vec<ExplorerFinding>,
    pub ms: u64,
    pub model_calls: u32,
}

/// What an explorer found about one candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplorerFinding {
    pub candidate_id: String,
    /// What it would do; the lead decides.
    pub action_hint: LeadAction,
    pub matched_file: Option<String>,
    /// How much of the candidate the file says, from 0 to 1, as the explorer sees it.
    pub overlap: f64,
    /// Words of the file.
    pub evidence: String,
}

/// What a lead or an explorer would do with a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeadAction {
    Add,
    Update,
    NoOp,
    Supersede,
}
