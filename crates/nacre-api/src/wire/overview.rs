//! What happened lately, day by day: sessions, memories, runs, and what they took.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ModelStats, Report, ToolStats};

/// How far to look back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OverviewRequest {
    /// A day, a moment or an age, such as `2026-11-15` or `7d`. Without it, 30 days. Ten years at most.
    pub since: Option<String>,
}

/// What happened in the project, or in all of them where there is none. Days are those of UTC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverviewReport {
    pub since: String,
    pub until: String,
    /// Every day, the oldest first, also where nothing happened.
    pub days: Vec<OverviewDay>,
    /// The agents that had sessions, by name.
    pub agents: Vec<AgentActivity>,
    /// Decisions and learnings now, by status.
    pub memories: BTreeMap<String, usize>,
    /// How many of today's memories there were at the end of each day, archived ones left out.
    pub growth: Vec<MemoryGrowth>,
    /// What models used, over all time.
    pub models: Vec<ModelStats>,
    /// How tools fared, over all time.
    pub tools: Vec<ToolStats>,
}

impl Report for OverviewReport {}

/// What happened on one day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverviewDay {
    /// As `YYYY-MM-DD`.
    pub day: String,
    /// Sessions whose last activity was on that day, by agent.
    pub sessions: BTreeMap<String, u64>,
    /// Memories of today that came on that day.
    pub learned: usize,
    /// Of the agents' sessions, without what came from a cache.
    pub input_tokens: u64,
    /// Read from a cache or written to it.
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// What Nacre's own model calls cost, in billionths of a dollar; `None` where one of them has no known price.
    pub cost_nano_dollars: Option<u64>,
    /// Runs of sync and maintain whose folders are kept.
    pub runs: usize,
}

/// What one agent did in the whole time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentActivity {
    pub agent: String,
    pub sessions: u64,
    /// Without what came from a cache.
    pub input_tokens: u64,
    /// Read from a cache or written to it.
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// When it was last active.
    pub last: String,
}

/// How many memories there were at the end of a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryGrowth {
    /// As `YYYY-MM-DD`.
    pub day: String,
    pub total: usize,
}
