//! What is found of sessions, what was learned of them, and what waits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MemoryType;

/// How many sessions of one agent there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentSessions {
    pub agent: String,
    /// The agent as people call it.
    pub title: String,
    pub sessions: u64,
}

/// How many sessions of one folder there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FolderSessions {
    pub path: String,
    pub sessions: u64,
}

/// The sessions that no sync has finished, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaitingSessions {
    /// Due now.
    pub ready: u64,
    /// Written to a moment ago.
    pub active: Option<LaterSessions>,
    /// Failed, and tried again later.
    pub retried: Option<LaterSessions>,
    /// Of folders that are not set up, most sessions first.
    pub not_set_up: Vec<FolderSessions>,
}

/// Sessions that are due later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaterSessions {
    pub sessions: u64,
    /// When the last of them is due.
    pub ready_at: String,
    /// Until then, in seconds.
    pub ready_in: u64,
    /// The id of one of them.
    pub example: String,
}

/// A memory that a sync made or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LearnedMemory {
    pub id: String,
    pub r#type: MemoryType,
    pub title: String,
    /// The project that it belongs to.
    pub project: String,
    pub change: LearnedChange,
    /// Whether it waits for `nacre review`.
    pub is_candidate: bool,
}

/// What a sync did to a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LearnedChange {
    Added,
    Updated,
}

/// The sums of a sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncTotals {
    /// Sessions that were made into memories.
    pub sessions: u64,
    /// Sessions that failed.
    pub failed: u64,
    /// New memories.
    pub added: u64,
    /// Of these, in use at once.
    pub active: u64,
    /// Of these, waiting for `nacre review`.
    pub to_review: u64,
    /// Memories that say more now.
    pub updated: u64,
    /// Memories that were overturned.
    pub superseded: u64,
    /// Summaries of sessions.
    pub summaries: u64,
    /// What models cost.
    pub cost_usd: f64,
}

/// A place where an agent keeps its sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LookedIn {
    pub agent: String,
    pub path: String,
    /// Whether there is anything at that path.
    pub exists: bool,
}
