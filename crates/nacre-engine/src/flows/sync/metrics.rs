//! What a sync of one session took, as it stands in `metrics.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agents::{ExplorerReport, Finding, LeadReport};
use crate::flows::candidate::{DropReason, Gate, Strategy};
use crate::flows::run::RunId;
use crate::record::TaskId;

/// What a run took.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SyncMetrics {
    pub run_id: RunId,
    pub strategy: Strategy,
    pub gate: Gate,
    pub windows: usize,
    /// Windows whose answers could not be used, or that were too many.
    pub unread_windows: usize,
    /// Events that a model did not get to see because the session is too long.
    pub unread_events: u64,
    /// Pieces of code that a model wrote to explore it.
    pub steps: usize,
    pub fallback: Option<String>,
    pub candidates: usize,
    pub dropped: BTreeMap<DropReason, u64>,
    pub denied_writes: usize,
    pub leads: Vec<LeadMetrics>,
    pub explorers: Vec<ExplorerMetrics>,
    pub model_calls: u64,
    pub tokens: TokenCounts,
    pub cost_usd: f64,
    pub unpriced_calls: u64,
    /// Secrets that were kept out, by their kind.
    pub redactions: BTreeMap<String, usize>,
    pub events: u64,
    pub durations_ms: SyncDurations,
}

/// Tokens that models read and wrote.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct TokenCounts {
    pub input: u64,
    pub output: u64,
}

/// How long each step took, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SyncDurations {
    pub read: u64,
    pub decide: u64,
    pub lead: u64,
}

/// How one call of a lead ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LeadMetrics {
    pub task: TaskId,
    /// What it was run with; empty in files from before there was a choice.
    #[serde(default)]
    pub runtime: String,
    pub state: String,
    pub error: Option<String>,
    pub rulings: usize,
    pub ms: u64,
    /// Of the lead alone, as the next two.
    #[serde(default)]
    pub tool_calls: u32,
    #[serde(default)]
    pub tokens: TokenCounts,
    #[serde(default)]
    pub cost_usd: f64,
}

impl LeadMetrics {
    pub(super) fn of(report: &LeadReport) -> Self {
        let usage = &report.facts.usage;
        Self {
            task: report.task.clone(),
            runtime: report.runtime.as_str().to_owned(),
            state: report.state.to_string(),
            error: report.error.clone(),
            rulings: report.rulings.len(),
            ms: report.facts.wall_us / 1000,
            tool_calls: report.facts.tool_calls,
            tokens: TokenCounts {
                input: usage.total().saturating_sub(usage.output),
                output: usage.output,
            },
            cost_usd: report.facts.cost.unwrap_or_default().dollars(),
        }
    }
}

/// How one explorer did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExplorerMetrics {
    pub task: TaskId,
    pub candidates: Vec<String>,
    pub state: String,
    pub findings: Vec<Finding>,
    pub ms: u64,
    pub model_calls: u32,
}

impl ExplorerMetrics {
    pub(super) fn of(report: &ExplorerReport) -> Self {
        Self {
            task: report.task.clone(),
            candidates: report.candidates.clone(),
            state: report.state.to_string(),
            findings: report.findings.clone(),
            ms: report.facts.wall_us / 1000,
            model_calls: report.facts.model_calls,
        }
    }
}
