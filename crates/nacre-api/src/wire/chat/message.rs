//! What a client is told of a task while it runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::Failure;
use super::{AnsweredBy, ApprovalAnswer, ApprovalRequest, ChecklistItem, FilePatch, ToolOutcome};

/// One message about a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskMessage {
    pub task: String,
    pub session: String,
    /// Its place in the task, from 1 and without gaps.
    pub sequence: u64,
    pub at: String,
    #[serde(flatten)]
    pub update: TaskUpdate,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
pub enum TaskUpdate {
    #[serde(rename = "task.accepted")]
    Accepted { text: String },
    /// How many are before it, with the one that runs; told again when that changes.
    #[serde(rename = "task.queued")]
    Queued { position: u32 },
    #[serde(rename = "task.running")]
    Running { model: String },
    /// A model is being asked.
    #[serde(rename = "step")]
    Step { step: u32 },
    /// The next piece of what the agent says.
    #[serde(rename = "text")]
    Text { text: String },
    /// What it said in this step so far is void; this stands for it.
    #[serde(rename = "text.replaced")]
    TextReplaced { text: String },
    #[serde(rename = "reasoning")]
    Reasoning { text: String },
    #[serde(rename = "tool.call")]
    ToolCall { call: String, tool: String, summary: String, arguments: Value },
    #[serde(rename = "tool.result")]
    ToolResult {
        call: String,
        tool: String,
        outcome: ToolOutcome,
        /// The first lines of what came back.
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        patches: Vec<FilePatch>,
        duration_ms: u64,
    },
    #[serde(rename = "approval.request")]
    Approval(ApprovalRequest),
    #[serde(rename = "approval.decided")]
    Decided { approval: String, answer: ApprovalAnswer, by: AnsweredBy },
    #[serde(rename = "checklist")]
    Checklist { items: Vec<ChecklistItem> },
    /// Memories that the agent was given or found.
    #[serde(rename = "memory")]
    Memory { recalled: Vec<RecalledNote> },
    #[serde(rename = "skill")]
    Skill { skill: String },
    /// The person's words were taken up.
    #[serde(rename = "steered")]
    Steered { text: String },
    #[serde(rename = "notice")]
    Notice { text: String },
    #[serde(rename = "usage")]
    Usage(TurnUsage),
    #[serde(rename = "task.completed")]
    Completed(TaskEnd),
    #[serde(rename = "task.failed")]
    Failed { error: Failure, usage: TurnUsage },
    #[serde(rename = "task.cancelled")]
    Cancelled { by: String },
}

impl TaskUpdate {
    /// Whether it is the last message of its task.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed(_) | Self::Failed { .. } | Self::Cancelled { .. })
    }
}

/// A memory that an agent was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecalledNote {
    pub id: String,
    pub title: String,
}

/// What a turn used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnUsage {
    pub input: u64,
    pub output: u64,
    /// Tokens that the conversation fills of the model's window.
    pub context: u64,
    pub window: u64,
    /// Unknown where the model's price is.
    pub cost_usd: Option<f64>,
}

/// How a turn ended that was carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskEnd {
    /// `done`, `no_op`, `blocked` or `yielded`.
    pub signal: String,
    pub reason: Option<String>,
    /// What the agent said last.
    pub text: String,
    /// Files that the turn changed.
    pub changed: Vec<String>,
    pub usage: TurnUsage,
}
