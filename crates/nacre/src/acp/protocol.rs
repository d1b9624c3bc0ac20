//! The types of the Agent Client Protocol that Nacre uses.
//!
//! They are handwritten, because the protocol's official crate has 66 dependencies.
//! `tools/e2e-acp.sh` checks them against the protocol's schema.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) const VERSIONS: &[u16] = &[LATEST_VERSION];

pub(super) const LATEST_VERSION: u16 = 1;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeParams {
    pub(super) protocol_version: u16,
    /// Parsed leniently: malformed capabilities count as absent.
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

/// Parameters of `session/set_config_option`. All options are selections.
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

/// Binary content is ignored.
#[derive(Debug, Deserialize)]
pub(super) struct EmbeddedResource {
    pub(super) uri: String,
    pub(super) text: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Cost {
    pub(super) amount: f64,
    pub(super) currency: &'static str,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "sessionUpdate", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum SessionUpdate {
    UserMessageChunk {
        content: TextContent,
        message_id: String,
    },
    AgentMessageChunk {
        content: TextContent,
        message_id: String,
    },
    AgentThoughtChunk {
        content: TextContent,
        message_id: String,
    },
    ToolCall(ToolCall),
    ToolCallUpdate(ToolCall),
    Plan {
        entries: Vec<Value>,
    },
    AvailableCommandsUpdate {
        available_commands: Vec<Value>,
    },
    CurrentModeUpdate {
        current_mode_id: &'static str,
    },
    SessionInfoUpdate {
        title: String,
        updated_at: String,
    },
    ConfigOptionUpdate {
        config_options: Vec<Value>,
    },
    UsageUpdate {
        used: u64,
        size: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        cost: Option<Cost>,
    },
    Notice {
        severity: &'static str,
        title: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename = "text")]
pub(super) struct TextContent {
    pub(super) text: String,
}

impl From<String> for TextContent {
    fn from(text: String) -> Self {
        Self { text }
    }
}

/// A new tool call, or only the changed fields of an existing one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolCall {
    pub(super) tool_call_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<Vec<ToolContent>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) locations: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) raw_input: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum ToolContent {
    Content {
        content: TextContent,
    },
    Diff {
        path: String,
        /// `null` for a new file.
        old_text: Option<String>,
        new_text: String,
    },
}
