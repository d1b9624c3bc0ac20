//! Tasks: what agents were asked to do, what happened, and how tools and models fared.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Report;

/// Where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    Accepted,
    Queued,
    Running,
    Completed,
    Failed,
    Cancelled,
}

impl TaskState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether it cannot change any more.
    pub fn is_over(self) -> bool {
        match self {
            Self::Accepted | Self::Queued | Self::Running => false,
            Self::Completed | Self::Failed | Self::Cancelled => true,
        }
    }
}

/// Which others a task has to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskClass {
    Interactive,
    Background,
}

/// A task without its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskEntry {
    pub id: String,
    pub session: String,
    /// The task that started it.
    pub parent: Option<String>,
    pub project: Option<String>,
    pub agent: String,
    pub class: TaskClass,
    pub title: String,
    pub state: TaskState,
    /// Why it ended.
    pub reason: Option<String>,
    pub created: String,
    pub started: Option<String>,
    pub ended: Option<String>,
    /// How many events it has.
    pub events: u64,
}

/// How many tasks to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TaskListRequest {
    /// At most this many; 0 for all. Without it, 20.
    pub limit: Option<usize>,
}

/// Tasks, the latest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskListReport {
    pub tasks: Vec<TaskEntry>,
}

impl Report for TaskListReport {}

/// Which events of which task to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskShowRequest {
    /// Its id, or the start of it.
    pub task: String,
    /// At most this many events; 0 for all. Without it, 1000.
    #[serde(default)]
    pub limit: Option<usize>,
    /// Only events with a higher number.
    #[serde(default)]
    pub after: u64,
    /// Wait until there are any, or the task is over.
    #[serde(default)]
    pub wait: bool,
}

/// A task and its events, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskShowReport {
    pub task: TaskEntry,
    pub events: Vec<TaskEvent>,
}

impl Report for TaskShowReport {}

/// One event. Its fields are what the version that ran the task wrote; `event` is its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskEvent {
    pub sequence: u64,
    pub at: String,
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// Which task to cancel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskCancelRequest {
    /// Its id, or the start of it.
    pub task: String,
}

/// What became of a task that was cancelled, and of those that it had started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskCancelReport {
    pub task: String,
    /// They were waiting, and are over.
    pub ended: Vec<String>,
    /// They are running; the process that runs them ends them.
    pub asked: Vec<String>,
}

impl Report for TaskCancelReport {}

/// How tools fared, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolStatsReport {
    pub tools: Vec<ToolStats>,
}

impl Report for ToolStatsReport {}

/// How one tool fared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolStats {
    pub tool: String,
    pub calls: u64,
    pub p50_us: u64,
    pub p95_us: u64,
    /// Failed calls by their fault.
    pub errors: BTreeMap<String, u64>,
    pub cache_hits: u64,
    pub bytes_out: u64,
    /// What of it models were shown.
    pub shown_bytes: u64,
}

/// What models used, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelStatsReport {
    pub models: Vec<ModelStats>,
}

impl Report for ModelStatsReport {}

/// How tools and models fared, over all tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunStatsReport {
    pub models: Vec<ModelStats>,
    pub tools: Vec<ToolStats>,
}

impl Report for RunStatsReport {}

/// What one model used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelStats {
    pub model: String,
    pub calls: u64,
    pub input: u64,
    pub cached: u64,
    pub output: u64,
    /// In billionths of a dollar; `None` where one of the calls has no known price.
    pub cost_nano_dollars: Option<u64>,
}
