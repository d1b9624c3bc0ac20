//! What a turn of a conversation has besides words and steps, the same in memory and in items.

use serde::{Deserialize, Serialize};

use crate::record::TaskState;

/// A text that a person handed in beside the words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Its path, or what else it is called by.
    pub name: String,
    pub text: String,
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
