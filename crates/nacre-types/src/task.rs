//! Tasks, their events, and the event streams.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Failure;

names! {
    /// The state of a task.
    pub enum TaskState {
        Accepted = "accepted",
        Queued = "queued",
        Running = "running",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl TaskState {
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

names! {
    /// The priority of a task.
    pub enum TaskClass {
        Interactive = "interactive",
        Background = "background",
    }
}

/// A task without its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskEntry {
    pub id: String,
    pub session: String,
    /// The task that started this one.
    pub parent: Option<String>,
    pub project: Option<String>,
    pub agent: String,
    pub class: TaskClass,
    pub title: String,
    pub state: TaskState,
    /// Why the task ended.
    pub reason: Option<String>,
    pub created: String,
    pub started: Option<String>,
    pub ended: Option<String>,
    /// Number of events.
    pub events: u64,
}

/// Tasks, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskListReport {
    pub tasks: Vec<TaskEntry>,
}

/// The task, and which of its events to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskShowRequest {
    /// The ID of the task, or a prefix of it.
    pub task: String,
    /// Maximum number of events; 0 means all. The default is 1000.
    pub limit: Option<usize>,
    /// Only events with a higher sequence number.
    #[serde(default)]
    pub after: u64,
    /// Wait for new events or the end of the task.
    #[serde(default)]
    pub wait: bool,
}

/// A task and its events, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskShowReport {
    pub task: TaskEntry,
    pub events: Vec<TaskEvent>,
}

/// An event of a task. `event` is its name; the other fields depend on the version of Nacre that
/// ran the task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskEvent {
    pub sequence: u64,
    pub at: String,
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// The result of cancelling a task and its subtasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskCancelReport {
    pub task: String,
    /// Queued tasks that were cancelled immediately.
    pub ended: Vec<String>,
    /// Running tasks, which their own processes will stop.
    pub asked: Vec<String>,
}

/// Tool usage statistics, by tool name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolStatsReport {
    pub tools: Vec<ToolStats>,
}

/// Usage statistics of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolStats {
    pub tool: String,
    pub calls: u64,
    pub p50_us: u64,
    pub p95_us: u64,
    /// Number of failed calls by kind of error.
    pub errors: BTreeMap<String, u64>,
    pub bytes_out: u64,
    /// Size in bytes of the results passed to models.
    pub shown_bytes: u64,
}

/// Model usage statistics, by model name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelStatsReport {
    pub models: Vec<ModelStats>,
}

/// Tool and model usage statistics across all tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunStatsReport {
    pub models: Vec<ModelStats>,
    pub tools: Vec<ToolStats>,
}

/// Usage statistics of one model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelStats {
    pub model: String,
    pub calls: u64,
    pub input: u64,
    pub cached: u64,
    pub output: u64,
    /// Cost in billionths of a dollar, or `None` if the price of a call is unknown.
    pub cost_nano_dollars: Option<u64>,
}

/// An event that occurs during an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The operation runs as a task with this ID.
    Started { task: String, agent: String, title: String },
    /// A warning for the user.
    Warning(Warning),
    /// A short description of the current step.
    Step { text: String },
    /// Progress of the current step.
    Progress { done: u64, total: u64, bytes: u64 },
    /// A note about an agent's work.
    Note { text: String },
    /// Streamed model output that has not been verified yet.
    Words { text: String },
    /// An answer sentence with verified citations. It includes the preceding whitespace, so that
    /// concatenating all sentences produces the answer.
    Sentence { text: String, starts_line: bool },
}

/// A warning for the user, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    pub message: String,
    pub hint: Option<String>,
}

/// The content type of an operation that streams its result as lines.
pub const LINES_TYPE: &str = "application/x-ndjson";

/// A line in a streamed operation: an event or the final result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum CallLine {
    Event {
        event: Event,
    },
    /// The last line of a successful operation.
    Report {
        report: Value,
    },
    /// The last line of a failed operation.
    Error {
        error: Failure,
    },
}

/// An event in the event stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamEvent {
    pub at: String,
    /// The task that the event belongs to.
    pub task: Option<String>,
    /// The project name, if the request specified one.
    pub project: Option<String>,
    /// The user who caused the event. Absent for the owner of this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(flatten)]
    pub event: StreamedEvent,
}

/// The kind of event and its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum StreamedEvent {
    /// The state of a task changed.
    Task { state: TaskState, agent: String, title: String },
    /// A warning for the user.
    Warning(Warning),
    /// A short description of the current step.
    Step { text: String },
    /// Progress of the current step.
    Progress { done: u64, total: u64, bytes: u64 },
    /// A note about an agent's work.
    Note { text: String },
    /// Streamed model output that has not been verified yet.
    Words { text: String },
    /// An answer sentence with verified citations.
    Sentence { text: String, starts_line: bool },
    /// Some data changed, and the client must request it again.
    Changed { what: ChangedThing },
    /// Events were lost, and the client must request all data again.
    Missed {},
}

names! {
    /// The kind of data that changed.
    pub enum ChangedThing {
        Memories = "memories",
        Queue = "queue",
        Projects = "projects",
        Config = "config",
        Map = "map",
        Service = "service",
    }
}
