//! Requests and reports about chat sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ApprovalPolicy, ChatItem, Failure, Outcome, Report, TaskState, TurnUsage};

/// A chat session without its messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatSession {
    pub id: String,
    /// The beginning of the user's first message, unless the session was renamed.
    pub title: String,
    /// The session's working directory.
    pub workspace: String,
    pub model: Option<String>,
    pub policy: ApprovalPolicy,
    /// ID of the session that this one was forked from.
    pub parent: Option<String>,
    pub created: String,
    pub updated: String,
    pub items: u64,
    /// ID of the running task.
    pub running: Option<String>,
    pub waiting: u32,
}

/// Creates a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionCreateRequest {
    /// The session's working directory. Defaults to the directory where the request was made.
    pub workspace: Option<String>,
    pub title: Option<String>,
    /// Model to use instead of the one configured for `chat`.
    pub model: Option<String>,
    pub policy: Option<ApprovalPolicy>,
}

/// Filter for a list of sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionListRequest {
    /// Only sessions in this directory.
    pub workspace: Option<String>,
    /// Maximum number of sessions; 0 means all. Defaults to 20.
    pub limit: Option<usize>,
}

/// Sessions, most recent first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionListReport {
    pub sessions: Vec<ChatSession>,
}

/// Selects a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionRequest {
    /// The session ID or a prefix of it. Defaults to the directory's most recent session.
    pub session: Option<String>,
    pub workspace: Option<String>,
}

/// One session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionReport {
    pub session: ChatSession,
}

/// Selects items of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionItemsRequest {
    pub session: String,
    /// Only items numbered higher than this.
    #[serde(default)]
    pub after: u64,
    /// Maximum number of items; 0 means all. Defaults to 1000.
    pub limit: Option<usize>,
}

/// Items in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionItemsReport {
    pub session: ChatSession,
    pub items: Vec<ChatItem>,
    /// Whether there are more items.
    pub more: bool,
}

/// Creates an independent copy of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionForkRequest {
    pub session: String,
    /// Number of the last item to copy. Defaults to the last item of the session.
    pub until: Option<u64>,
}

/// Changes the title, model or policy. Absent fields are left unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionChangeRequest {
    pub session: String,
    pub title: Option<String>,
    pub model: Option<String>,
    pub policy: Option<ApprovalPolicy>,
}

/// The deleted session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRemoveReport {
    pub session: String,
    pub items: u64,
}

/// A search of session messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionSearchRequest {
    pub query: String,
    /// Search only this session.
    pub session: Option<String>,
    /// Maximum number of matches. Defaults to 20.
    pub limit: Option<usize>,
}

/// Matches, most recent first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSearchReport {
    pub hits: Vec<SessionSearchHit>,
}

/// One match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSearchHit {
    pub session: String,
    pub title: String,
    pub sequence: u64,
    /// The text around the match.
    pub excerpt: String,
}

/// A session in the transcript format that `sync` reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionExportReport {
    pub session: String,
    /// The transcript as JSON lines.
    pub transcript: String,
}

/// The result of one turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChatTurnReport {
    pub session: String,
    pub task: String,
    pub state: TaskState,
    /// `done`, `no_op` or `blocked`.
    pub signal: Option<String>,
    /// Why the turn ended.
    pub reason: Option<String>,
    /// The agent's last message.
    pub text: String,
    /// Paths of changed files.
    pub changed: Vec<String>,
    /// Actions that were denied.
    pub denied: Vec<String>,
    pub usage: TurnUsage,
    pub failure: Option<Failure>,
}

impl ChatTurnReport {
    pub fn new(session: String, task: String) -> Self {
        Self {
            session,
            task,
            state: TaskState::Accepted,
            signal: None,
            reason: None,
            text: String::new(),
            changed: Vec::new(),
            denied: Vec::new(),
            usage: TurnUsage::default(),
            failure: None,
        }
    }
}

impl Report for ChatTurnReport {
    fn outcome(&self) -> Outcome {
        if self.state != TaskState::Completed {
            return Outcome::Failed;
        }
        let is_blocked = self.signal.as_deref() == Some("blocked");
        Outcome::partial_if(is_blocked || !self.denied.is_empty())
    }
}

/// A message attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "attachment", rename_all = "snake_case")]
pub enum Attachment {
    /// A path in the workspace, for the agent to read.
    File { path: String },
    /// A long pasted text.
    Text { name: String, text: String },
    /// An image in base64.
    Image { media_type: String, data: String },
}
