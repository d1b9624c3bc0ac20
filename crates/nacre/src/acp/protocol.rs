//! The Agent Client Protocol types that Nacre reads, and the messages it writes.
//!
//! The types are handwritten because the protocol's official crate has 66 dependencies.
//! `tools/e2e-acp.sh` checks them against the protocol's schema.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// The version in every reply to `initialize`. The protocol requires it even if the client asked
/// for another one; the client then decides whether to continue.
pub(super) const VERSION: u16 = 1;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeParams {
    /// Malformed capabilities are ignored rather than rejected.
    #[serde(default)]
    pub(super) client_capabilities: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewSessionParams {
    pub(super) cwd: String,
    #[serde(default)]
    pub(super) mcp_servers: Option<Vec<IgnoredAny>>,
}

/// Parameters of `session/load` and `session/resume`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenSessionParams {
    pub(super) session_id: String,
    pub(super) cwd: String,
    #[serde(default)]
    pub(super) mcp_servers: Option<Vec<IgnoredAny>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ListSessionsParams {
    pub(super) cwd: Option<String>,
    pub(super) cursor: Option<String>,
}

/// Parameters of `session/cancel`, `session/close` and `session/delete`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionParams {
    pub(super) session_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetModeParams {
    pub(super) session_id: String,
    pub(super) mode_id: String,
}

/// Parameters of `session/set_config_option`. Every option is a selection.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetOptionParams {
    pub(super) session_id: String,
    pub(super) config_id: String,
    pub(super) value: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PromptParams {
    pub(super) session_id: String,
    pub(super) prompt: Vec<PromptBlock>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum PromptBlock {
    Text { text: String },
    Image,
    Audio,
    ResourceLink { name: String, uri: String },
    Resource { resource: EmbeddedResource },
}

/// An embedded text resource. Binary content is ignored.
#[derive(Debug, Deserialize)]
pub(super) struct EmbeddedResource {
    pub(super) uri: String,
    pub(super) text: Option<String>,
}

/// Builds a session update that contains part of a message. `kind` is the update's name.
pub(super) fn chunk(kind: &str, text: impl Into<String>, message_id: &str) -> Value {
    json!({ "sessionUpdate": kind, "content": text_content(text), "messageId": message_id })
}

pub(super) fn text_content(text: impl Into<String>) -> Value {
    json!({ "type": "text", "text": text.into() })
}
