//! The types of the Agent Client Protocol, as far as Nacre speaks it. Fields that Nacre does not use are not read.
//!
//! They are written by hand: the protocol's own crate brings 66 others. `tools/e2e-acp.sh` checks what is written here
//! against the protocol's schema.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The versions of the protocol that are spoken here.
pub(super) const VERSIONS: &[u16] = &[LATEST_VERSION];

pub(super) const LATEST_VERSION: u16 = 1;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeParams {
    pub(super) protocol_version: u16,
    /// Kept as it came: what is malformed in it counts as absent.
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

/// `session/load` and `session/resume`.
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
    /// Where the page before ended.
    pub(super) cursor: Option<String>,
}

/// `session/cancel`, `session/close` and `session/delete`.
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

/// `session/set_config_option`; all options are lists to choose from.
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
#[serde(rename_all = "camelCase")]
pub(super) struct CancelRequestParams {
    pub(super) request_id: Value,
}

/// One piece of what a person says.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum PromptBlock {
    Text { text: String },
    Image,
    Audio,
    ResourceLink { name: String, uri: String },
    Resource { resource: EmbeddedResource },
}

/// The contents of a resource. Bytes are not read.
#[derive(Debug, Deserialize)]
pub(super) struct EmbeddedResource {
    pub(super) uri: String,
    pub(super) text: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModeState {
    pub(super) current_mode_id: &'static str,
    pub(super) available_modes: Vec<Mode>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Mode {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) description: &'static str,
}

/// Something that a person can set for a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConfigOption {
    pub(super) r#type: &'static str,
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    /// Which of the usual things it is, so that an editor shows it where people look for it.
    pub(super) category: &'static str,
    pub(super) current_value: String,
    pub(super) options: Vec<ConfigChoice>,
}

/// One of the values of an option.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ConfigChoice {
    pub(super) value: String,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<&'static str>,
}

/// What a session cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Cost {
    pub(super) amount: f64,
    pub(super) currency: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionInfo {
    pub(super) session_id: String,
    pub(super) cwd: String,
    pub(super) title: Option<String>,
    pub(super) updated_at: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StopReason {
    EndTurn,
    Cancelled,
}

/// What is sent about a session.
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
        entries: Vec<PlanEntry>,
    },
    AvailableCommandsUpdate {
        available_commands: Vec<Command>,
    },
    CurrentModeUpdate {
        current_mode_id: &'static str,
    },
    SessionInfoUpdate {
        title: String,
        updated_at: String,
    },
    ConfigOptionUpdate {
        config_options: Vec<ConfigOption>,
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

/// Content that is text; nothing else is sent.
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

/// A tool call, or what changed in one: what is absent stays as it was.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolCall {
    pub(super) tool_call_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<ToolKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<ToolStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<Vec<ToolContent>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) locations: Option<Vec<Location>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) raw_input: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToolKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToolStatus {
    Pending,
    InProgress,
    Completed,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ToolContent {
    Content { content: TextContent },
    Diff(Diff),
}

/// A part of a file before and after a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Diff {
    /// Absolute.
    pub(super) path: String,
    /// `null` for a new file.
    pub(super) old_text: Option<String>,
    pub(super) new_text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Location {
    /// Absolute.
    pub(super) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PlanEntry {
    pub(super) content: String,
    pub(super) priority: &'static str,
    pub(super) status: PlanStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PlanStatus {
    Pending,
    InProgress,
    Completed,
}

/// Something that a person can start with `/name`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Command {
    pub(super) name: String,
    pub(super) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<CommandInput>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct CommandInput {
    pub(super) hint: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionRequest {
    pub(super) session_id: String,
    pub(super) tool_call: ToolCall,
    pub(super) options: Vec<PermissionOption>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionOption {
    pub(super) option_id: &'static str,
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
}

/// The answer to a permission request.
#[derive(Debug, Deserialize)]
pub(super) struct PermissionAnswer {
    pub(super) outcome: PermissionOutcome,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum PermissionOutcome {
    Cancelled,
    Selected { option_id: String },
}
