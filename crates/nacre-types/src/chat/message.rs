//! The content of a chat session, and the updates sent during a turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{AnsweredBy, ApprovalAnswer, ApprovalRequest, Attachment, Failure, TaskState};

/// A task update.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskMessage {
    pub task: String,
    pub session: String,
    /// Number of the update within its task. Updates are numbered from 1, without gaps.
    pub sequence: u64,
    pub at: String,
    #[serde(flatten)]
    pub update: TaskUpdate,
}

/// The content of an update.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
pub enum TaskUpdate {
    #[serde(rename = "task.accepted")]
    Accepted { text: String },
    /// The task is queued. `position` is the number of tasks ahead of it, including the running
    /// one. The update is sent again when the position changes.
    #[serde(rename = "task.queued")]
    Queued { position: u32 },
    #[serde(rename = "task.running")]
    Running { model: String },
    /// The agent sends a request to the model.
    #[serde(rename = "step")]
    Step { step: u32 },
    /// The next part of the agent's text.
    #[serde(rename = "text")]
    Text { text: String },
    /// New text that replaces the agent's text in this step.
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
        /// The first lines of the result.
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
    /// Memories that the agent received or found.
    #[serde(rename = "memory")]
    Memory { recalled: Vec<RecalledNote> },
    #[serde(rename = "skill")]
    Skill { skill: String },
    /// An additional user message was passed to the agent.
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
    /// Returns whether this is the last update of a task.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed(_) | Self::Failed { .. } | Self::Cancelled { .. })
    }
}

/// A memory that an agent received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecalledNote {
    pub id: String,
    pub title: String,
}

/// Resources that a turn has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnUsage {
    pub input: u64,
    pub output: u64,
    /// Number of tokens that the conversation takes up in the model's context window.
    pub context: u64,
    pub window: u64,
    /// Cost in US dollars; absent if the model's price is unknown.
    pub cost_usd: Option<f64>,
}

/// How a completed turn ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskEnd {
    /// `done`, `no_op` or `blocked`.
    pub signal: String,
    pub reason: Option<String>,
    /// The agent's last message.
    pub text: String,
    /// Paths of files changed by the turn.
    pub changed: Vec<String>,
    pub usage: TurnUsage,
}

/// One item of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChatItem {
    /// Number of the item in the session, starting at 1.
    pub sequence: u64,
    /// ID of the task that the item belongs to.
    pub task: Option<String>,
    pub at: String,
    #[serde(flatten)]
    pub kind: ChatItemKind,
}

/// The content of an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ChatItemKind {
    /// A user message.
    User {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        /// Whether the message was sent while the agent was working.
        #[serde(default)]
        is_steering: bool,
    },
    /// An agent message.
    Assistant {
        text: String,
        /// Whether the agent was interrupted.
        #[serde(default)]
        is_interrupted: bool,
    },
    Reasoning {
        text: String,
    },
    ToolCall {
        call: String,
        tool: String,
        arguments: Value,
    },
    ToolResult {
        call: String,
        tool: String,
        outcome: ToolOutcome,
        text: String,
    },
    /// A note from Nacre to the agent.
    Notice {
        text: String,
    },
    Checklist {
        items: Vec<ChecklistItem>,
    },
    /// A summary that replaces all earlier items.
    Summary {
        text: String,
    },
    /// A turn's changes were undone.
    Undone {
        paths: Vec<String>,
    },
    /// A turn ended.
    Ended {
        state: TaskState,
        reason: Option<String>,
    },
}

names! {
    /// Result of a tool call.
    pub enum ToolOutcome {
        Done = "done",
        Failed = "failed",
        /// Denied by the policy or the user.
        Denied = "denied",
    }
}

/// A change to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FilePatch {
    pub path: String,
    /// A unified diff, truncated if it is long.
    pub diff: String,
    pub added: u32,
    pub removed: u32,
}

/// One item of the agent's plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChecklistItem {
    pub id: String,
    pub label: String,
    pub state: ChecklistState,
}

names! {
    /// State of a plan item.
    pub enum ChecklistState {
        Pending = "pending",
        InProgress = "in_progress",
        Done = "done",
        Failed = "failed",
    }
}
