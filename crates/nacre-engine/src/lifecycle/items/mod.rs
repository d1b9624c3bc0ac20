//! A conversation as items: what is appended to a session while a run goes on, and read back when it is resumed.
//!
//! Every call keeps its arguments and every result its status, so that a resumed conversation is sent to the model as
//! it was and not as a retelling. Items are only appended: what was taken back or summed up later is said by a later
//! item.

mod read;
mod write;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::parts::{Attachment, Summary, TurnEnd};
use crate::model::{Arguments, ModelRef, ToolStatus};

/// One appended thing of a conversation. Names are stable: they stand in databases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Item {
    /// What a person asked; it begins a turn.
    User {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
    },
    /// What the model said in a step.
    Assistant { step: u32, model: Option<ModelRef>, text: String },
    /// What the model thought in a step.
    Reasoning {
        step: u32,
        model: Option<ModelRef>,
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// The same, encrypted by its provider.
    HiddenReasoning { step: u32, model: Option<ModelRef>, data: String },
    /// A call that the model wanted made.
    ToolCall {
        step: u32,
        model: Option<ModelRef>,
        call: String,
        tool: String,
        arguments: Arguments,
    },
    /// What came of a call.
    ToolResult {
        step: u32,
        call: String,
        tool: String,
        status: ToolStatus,
        text: String,
        /// Where `file_read` finds all of it, while the run lasts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spill: Option<String>,
    },
    /// What the host told the model about a step.
    Remark { step: u32, text: String },
    /// What a person said while the run went on; the model was told behind the results of the step.
    Steering { step: u32, text: String },
    /// The run was stopped while the model spoke; this is what it had said.
    Interrupted { text: String },
    /// A summary in the place of the beginning of the conversation.
    Summary(Summary),
    /// How a turn ended.
    End(TurnEnd),
    /// Something that a person should know; the model was not told.
    Notice { text: String },
    /// The checklist as it is now; the model knows it from its calls.
    Checklist { items: Value },
    /// What a newer version wrote. It is kept and passed over.
    #[serde(other)]
    Unknown,
}

impl Item {
    /// The word that readers choose by; also the `kind` of its JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::User { .. } => "user",
            Self::Assistant { .. } => "assistant",
            Self::Reasoning { .. } => "reasoning",
            Self::HiddenReasoning { .. } => "hidden_reasoning",
            Self::ToolCall { .. } => "tool_call",
            Self::ToolResult { .. } => "tool_result",
            Self::Remark { .. } => "remark",
            Self::Steering { .. } => "steering",
            Self::Interrupted { .. } => "interrupted",
            Self::Summary(_) => "summary",
            Self::End(_) => "end",
            Self::Notice { .. } => "notice",
            Self::Checklist { .. } => "checklist",
            Self::Unknown => "unknown",
        }
    }

    /// The item as the state keeps it.
    pub fn to_json(&self) -> Value {
        // Plain data always has a JSON form.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Reads what `to_json` wrote. What cannot be read is `Unknown`: one bad item must not cost a conversation.
    pub fn from_json(json: &Value) -> Self {
        serde_json::from_value(json.clone()).unwrap_or(Self::Unknown)
    }
}
