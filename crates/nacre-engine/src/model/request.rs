//! What a model is asked: instructions, the conversation, tools, and the shape of the answer.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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
                Content::Reasoning(_) | Content::HiddenReasoning(_) | Content::ToolUse(_) => None,
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

/// A piece of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    Text(String),
    Reasoning(Reasoning),
    /// Reasoning that its provider sends encrypted; it is only ever handed back.
    HiddenReasoning(String),
    ToolUse(ToolCall),
    ToolResult(ToolResult),
}

/// What a model thought before it answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    pub text: String,
    /// The provider's proof that the text is the model's own.
    pub signature: Option<String>,
}

/// A call that a model wants made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    pub arguments: Arguments,
}

/// The arguments of a call. Malformed ones are a value, because the model can be told and try again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    Object(Value),
    Malformed { text: String, error: String },
}

impl Arguments {
    /// Reads the text that a model wrote; no text at all is an empty object.
    pub fn parse(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::Object(json!({}));
        }
        match serde_json::from_str::<Value>(text) {
            Ok(value) if value.is_object() => Self::Object(value),
            // Some servers encode the arguments twice.
            Ok(Value::String(inner)) => match serde_json::from_str::<Value>(&inner) {
                Ok(value) if value.is_object() => Self::Object(value),
                Ok(_) | Err(_) => Self::malformed(text, "not a JSON object"),
            },
            Ok(_) => Self::malformed(text, "not a JSON object"),
            Err(error) => Self::malformed(text, &error.to_string()),
        }
    }

    /// Returns an object that every API accepts in the place of the arguments.
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

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
                (got, expected) => panic!("{text}: {got:?}, not {expected:?}"),
            }
        }
    }
}
