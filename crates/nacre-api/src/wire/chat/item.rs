//! What a session consists of: items, appended and never changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::TaskState;
use super::Attachment;

/// One item of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChatItem {
    /// Its place in the session, from 1.
    pub sequence: u64,
    /// The task that it belongs to.
    pub task: Option<String>,
    pub at: String,
    #[serde(flatten)]
    pub kind: ChatItemKind,
}

/// What an item is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ChatItemKind {
    /// What the person said.
    User {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        /// It was said while the agent worked.
        #[serde(default)]
        is_steering: bool,
    },
    /// What the agent said.
    Assistant {
        text: String,
        /// It was stopped in the middle of it.
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
    /// What the host told the agent.
    Notice {
        text: String,
    },
    Checklist {
        items: Vec<ChecklistItem>,
    },
    /// Stands for everything before it.
    Summary {
        text: String,
    },
    /// The changes of a turn were taken back.
    Undone {
        paths: Vec<String>,
    },
    /// A turn is over.
    Ended {
        state: TaskState,
        reason: Option<String>,
    },
}

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    Done,
    Failed,
    /// It was not allowed, by the policy or by the person.
    Denied,
}

/// How a file changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FilePatch {
    pub path: String,
    /// A unified diff, cut where it is long.
    pub diff: String,
    pub added: u32,
    pub removed: u32,
}

/// One line of the agent's plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChecklistItem {
    pub id: String,
    pub label: String,
    pub state: ChecklistState,
}

/// How far a line of the plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChecklistState {
    Pending,
    InProgress,
    Done,
    Failed,
}
