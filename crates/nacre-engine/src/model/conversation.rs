//! The types of a model call: request, messages, events and response.

use std::sync::Arc;
use std::time::Duration;

use nacre_base::config::EffortChoice;
use nacre_types::ModelRole as Role;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::model::error::ErrorKind;
use crate::model::price::Usage;
use crate::model::roles::ModelRef;

/// The tool used for structured output with APIs that do not support it natively.
///
/// A `Response` never contains a call to this tool: the arguments become the response's text.
pub const OUTPUT_TOOL: &str = "submit_answer";

#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub role: Role,
    pub system: String,
    pub messages: Vec<Message>,
    pub tools: Vec<ToolDef>,
    /// Whether the model may call tools. Even if it may not, the conversation can contain earlier
    /// calls.
    pub may_call: bool,
    pub output: Option<OutputSchema>,
    pub max_tokens: u32,
    pub temperature: Option<f32>,
    /// How long the model may think; `None` uses the model's default.
    pub effort: Option<EffortChoice>,
    /// Whether the provider should cache the conversation so far.
    pub is_cached: bool,
    /// Requests with the same key have the same prefix. Some providers use the key for routing.
    pub cache_key: Option<String>,
}

impl Request {
    pub fn new(role: Role, system: &str, user: &str) -> Self {
        Self {
            role,
            system: system.to_owned(),
            messages: vec![Message::user(user)],
            tools: Vec::new(),
            may_call: true,
            output: None,
            max_tokens: 4096,
            temperature: None,
            effort: None,
            is_cached: true,
            cache_key: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToolDef {
    pub name: String,
    pub description: String,
    pub schema: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OutputSchema {
    pub name: String,
    pub description: String,
    pub schema: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub speaker: Speaker,
    pub content: Vec<Content>,
    /// The model that wrote the message. Reasoning is sent back only to this model, because its
    /// signature is invalid for any other.
    pub model: Option<ModelRef>,
}

impl Message {
    pub fn user(text: &str) -> Self {
        Self { speaker: Speaker::User, content: vec![Content::Text(text.to_owned())], model: None }
    }

    pub fn results(results: Vec<ToolResult>) -> Self {
        let content = results.into_iter().map(Content::ToolResult).collect();
        Self { speaker: Speaker::User, content, model: None }
    }

    pub fn assistant(response: &Response) -> Self {
        Self {
            speaker: Speaker::Assistant,
            content: response.content.clone(),
            model: Some(response.model.clone()),
        }
    }

    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|content| match content {
            Content::Text(text) => Some(text.as_str()),
            Content::ToolResult(result) => Some(result.text.as_str()),
            Content::Reasoning(_)
            | Content::HiddenReasoning(_)
            | Content::ToolUse(_)
            | Content::Image(_) => None,
        });
        texts.collect::<Vec<&str>>().join("\n")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    User,
    Assistant,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Text(String),
    Reasoning(Reasoning),
    /// Reasoning that the provider encrypted. It is kept only so that it can be sent back.
    HiddenReasoning(String),
    ToolUse(ToolCall),
    ToolResult(ToolResult),
    Image(Image),
}

impl Content {
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    fn as_reasoning(&self) -> Option<&str> {
        if let Self::Reasoning(reasoning) = self { Some(&reasoning.text) } else { None }
    }

    pub fn as_call(&self) -> Option<&ToolCall> {
        if let Self::ToolUse(call) = self { Some(call) } else { None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Media type, for example `image/png`.
    pub media_type: String,
    /// The content in base64. Clones share the data, because the conversation is sent again at
    /// every step.
    pub data: Arc<str>,
}

impl Image {
    /// Estimated cost of an image in tokens. The estimate ignores the image size, because providers
    /// scale large images down.
    pub const TOKENS: usize = 1_600;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reasoning {
    pub text: String,
    /// The provider's proof that the model wrote the text.
    pub signature: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    pub arguments: Arguments,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    Object(Value),
    Malformed { text: String, error: String },
}

impl Arguments {
    /// Parses arguments written by a model. An empty string is parsed as an empty object.
    pub fn parse(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::Object(json!({}));
        }
        let value = match serde_json::from_str(text) {
            // Some servers encode the arguments twice.
            Ok(Value::String(inner)) => serde_json::from_str(&inner).unwrap_or_default(),
            Ok(value) => value,
            Err(error) => return Self::malformed(text, &error.to_string()),
        };
        if value.is_object() {
            Self::Object(value)
        } else {
            Self::malformed(text, "not a JSON object")
        }
    }

    /// Returns the arguments as an object, because every API accepts objects.
    pub fn as_object(&self) -> Value {
        match self {
            Self::Object(value) => value.clone(),
            Self::Malformed { text, error: _ } => json!({ "malformed_arguments": text }),
        }
    }

    fn malformed(text: &str, error: &str) -> Self {
        Self::Malformed { text: text.to_owned(), error: error.to_owned() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    pub call_id: String,
    pub text: String,
    pub status: ToolStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    Done,
    Failed,
}

/// Events emitted while a model responds, in order of arrival.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// The model has begun to respond. A `Retry` or `Fallback` and then another `Started` may
    /// follow.
    Started {
        model: ModelRef,
    },
    Text(String),
    Reasoning(String),
    /// The signature for the reasoning so far, if the provider sends one.
    ReasoningSigned {
        signature: String,
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
    /// The text generated in this attempt contained tool calls. This is that text with the calls
    /// removed.
    TextReplaced {
        text: String,
    },
    /// The number of tokens used so far. Each event replaces the previous one.
    Usage(Usage),
    Stop(StopReason),
    /// The attempt failed. The same model is called again from the start after `wait`.
    Retry {
        why: ErrorKind,
        wait: Duration,
        /// Whether part of the failed attempt was shown and must be discarded.
        shown: bool,
    },
    /// The model has failed, and the next model for the role is called from the start.
    Fallback {
        why: ErrorKind,
        to: ModelRef,
        /// Whether part of the failed attempt was shown and must be discarded.
        shown: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    End,
    ToolUse,
    MaxTokens,
    /// The conversation filled the model's context window.
    ContextFull,
    Refusal,
    ContentFilter,
    Other(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    pub model: ModelRef,
    pub content: Vec<Content>,
    pub stop: StopReason,
    pub usage: Usage,
}

impl Response {
    pub fn text(&self) -> String {
        self.content.iter().filter_map(Content::as_text).collect()
    }

    pub fn reasoning(&self) -> String {
        self.content.iter().filter_map(Content::as_reasoning).collect()
    }

    pub fn calls(&self) -> Vec<&ToolCall> {
        self.content.iter().filter_map(Content::as_call).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_an_object_or_malformed() {
        for (text, expected) in [
            ("", Some(json!({}))),
            ("{\"a\": 1}", Some(json!({ "a": 1 }))),
            ("\"{\\\"a\\\": 1}\"", Some(json!({ "a": 1 }))),
            ("[1]", None),
            ("{\"a\": ", None),
            ("\"text\"", None),
        ] {
            match (Arguments::parse(text), expected) {
                (Arguments::Object(value), Some(expected)) => assert_eq!(value, expected),
                (Arguments::Malformed { text: kept, error }, None) => {
                    assert_eq!(kept, text);
                    assert!(!error.is_empty());
                }
                (got, expected) => panic!("{text}: {got:?}, expected {expected:?}"),
            }
        }
    }
}
