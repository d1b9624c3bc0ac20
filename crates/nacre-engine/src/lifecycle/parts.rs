//! What turns and items have in common.

use serde::{Deserialize, Serialize};

use crate::model::ImageData;
use crate::record::TaskState;

/// A text or a picture that a person handed in beside the words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Its path, or what else it is called by.
    pub name: String,
    /// Of a picture empty.
    #[serde(default)]
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Picture>,
}

impl Attachment {
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), picture: None }
    }
}

/// A picture that is kept outside the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// Such as `image/png`, as its first bytes say.
    pub media_type: String,
    /// The name that it is kept by.
    pub file: String,
    pub n_bytes: u64,
    /// Its bytes as base64, where they were looked up; they are not part of the item.
    #[serde(skip)]
    pub data: Option<ImageData>,
}

/// What stands for the beginning of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub text: String,
    /// How many turns it covers, counted from the first of the conversation.
    pub n_turns: usize,
    /// How many steps of the turn behind them.
    pub n_steps: usize,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnd {
    #[serde(flatten)]
    pub state: TaskState,
    /// What the agent said about it, or why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}
