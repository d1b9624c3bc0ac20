//! What a model is asked: instructions, the conversation, tools, and the shape of the answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::content::{Content, ToolResult};
use super::names::{ModelRef, Role};
use super::response::Response;

/// The tool by which a model hands in structured output where its API has no native way.
///
/// A `Response` never holds a call of it: its arguments are the response's text.
pub const OUTPUT_TOOL: &str = "submit_answer";

/// One question to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub role: Role,
    pub system: String,
    pub messages: Vec<Message>,
    pub tools: Vec<ToolDef>,
    pub tool_choice: ToolChoice,
    /// The shape that the final text must have, if any.
    pub output: Option<OutputSchema>,
    pub max_tokens: u32,
    pub temperature: Option<f32>,
    pub effort: Effort,
    pub cache: Cache,
    /// Requests with the same key share a beginning; some providers route by it.
    pub cache_key: Option<String>,
}

impl Request {
    /// Returns a question without tools.
    pub fn new(role: Role, system: &str, user: &str) -> Self {
        Self {
            role,
            system: system.to_owned(),
            messages: vec![Message::user(user)],
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            output: None,
            max_tokens: 4096,
            temperature: None,
            effort: Effort::Unset,
            cache: Cache::Conversation,
            cache_key: None,
        }
    }
}

/// Which tools a model may or must call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolChoice {
    Auto,
    /// No tool may be called, though the conversation has calls in it.
    None,
    /// Some tool must be called.
    Required,
    Named(String),
}

/// How long a model may think before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Whatever the model does by itself.
    Unset,
    Off,
    Low,
    Medium,
    High,
}

/// What of a request will be sent again, and is worth a place in the provider's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    Off,
    /// Instructions and tools.
    Prefix,
    /// Instructions, tools and the conversation so far.
    Conversation,
}

/// A tool as it is described to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDef {
    pub name: String,
    pub description: String,
    pub schema: Value,
}

/// The shape of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputSchema {
    pub name: String,
    pub description: String,
    pub schema: Value,
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub speaker: Speaker,
    pub content: Vec<Content>,
    /// Who said it. Reasoning is returned only to the model it came from, because its signature holds only there.
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

    /// Returns the turn that a response adds to the conversation.
    pub fn assistant(response: &Response) -> Self {
        Self {
            speaker: Speaker::Assistant,
            content: response.content.clone(),
            model: Some(response.model.clone()),
        }
    }

    /// Returns all text of the message, tool results included.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .content
            .iter()
            .filter_map(|content| match content {
                Content::Text(text) => Some(text.as_str()),
                Content::ToolResult(result) => Some(result.text.as_str()),
                Content::Reasoning(_)
                | Content::HiddenReasoning(_)
                | Content::ToolUse(_)
                | Content::Image(_) => None,
            })
            .collect();
        texts.join("\n")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    User,
    Assistant,
}
