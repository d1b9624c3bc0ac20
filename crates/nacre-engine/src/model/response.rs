//! What comes back: events while it comes, and the whole at the end.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::content::{Content, ToolCall};
use super::error::ErrorKind;
use super::names::ModelRef;
use super::usage::Usage;

/// What happens while a model answers, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A model begins to answer; a `Retry` or `Fallback` may follow, and then another `Started`.
    Started {
        model: ModelRef,
    },
    Text(String),
    Reasoning(String),
    /// A block of reasoning is complete.
    ReasoningDone {
        signature: Option<String>,
    },
    HiddenReasoning(String),
    ToolStarted {
        index: usize,
        id: String,
        name: String,
    },
    ToolArguments {
        index: usize,
        delta: String,
    },
    ToolDone {
        index: usize,
    },
    /// The text shown in this attempt held tool calls; without them it reads like this.
    TextReplaced {
        text: String,
    },
    /// The tokens used so far; a later one replaces an earlier one.
    Usage(Usage),
    Stop(StopReason),
    /// The attempt failed, and the same model is asked again after `wait`, from the start.
    Retry {
        why: ErrorKind,
        wait: Duration,
        shown: Shown,
    },
    /// The model is given up, and the next one of the role is asked, from the start.
    Fallback {
        why: ErrorKind,
        to: ModelRef,
        shown: Shown,
    },
}

/// What a failed attempt had already shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    Nothing,
    /// What was shown since `Started` is void and comes again.
    Withdrawn,
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    End,
    ToolUse,
    MaxTokens,
    /// The conversation filled the model's window.
    ContextFull,
    Refusal,
    ContentFilter,
    Other(String),
}

/// A complete answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    pub model: ModelRef,
    pub content: Vec<Content>,
    pub stop: StopReason,
    pub usage: Usage,
}

impl Response {
    /// Returns the text of the answer, without reasoning.
    pub fn text(&self) -> String {
        let mut all = String::new();
        for content in &self.content {
            if let Content::Text(text) = content {
                all.push_str(text);
            }
        }
        all
    }

    pub fn reasoning(&self) -> String {
        let mut all = String::new();
        for content in &self.content {
            if let Content::Reasoning(reasoning) = content {
                all.push_str(&reasoning.text);
            }
        }
        all
    }

    pub fn calls(&self) -> Vec<&ToolCall> {
        let mut calls = Vec::new();
        for content in &self.content {
            if let Content::ToolUse(call) = content {
                calls.push(call);
            }
        }
        calls
    }
}
