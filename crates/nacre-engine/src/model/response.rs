//! What comes back: events while it comes, and the whole at the end.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::cost::Cost;
use super::error::ErrorKind;
use super::names::ModelRef;
use super::request::{Content, ToolCall};

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

/// Tokens of one or more calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input that came neither from the cache nor went into it.
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// Output, reasoning included.
    pub output: u64,
    pub reasoning: u64,
    /// What the provider itself says it costs, where it says so.
    pub reported: Option<Cost>,
}

impl Usage {
    pub fn total(&self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
            .saturating_add(self.output)
    }

    /// Returns the sum; the reported cost is known only when both are.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            reported: self.reported.zip(other.reported).map(|(one, two)| one.plus(two)),
        }
    }
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
