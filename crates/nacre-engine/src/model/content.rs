//! What turns of a conversation are made of: text, reasoning, calls of tools and what came of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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
    /// Shown by a person.
    Image(Image),
}

/// A picture, as it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Such as `image/png`.
    pub media_type: String,
    pub data: ImageData,
}

impl Image {
    /// What it costs in tokens, whatever its size: providers make larger ones smaller.
    pub const TOKENS: usize = 1_600;
}

/// The bytes of a picture as base64. Clones share them: a conversation is sent again with every step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct ImageData(Arc<str>);

impl ImageData {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for ImageData {
    fn from(data: String) -> Self {
        Self(data.into())
    }
}

impl From<ImageData> for String {
    fn from(data: ImageData) -> Self {
        data.0.as_ref().to_owned()
    }
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
