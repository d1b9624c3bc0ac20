//! The chat protocol: requests, answers and approvals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Attachment, EmptyRequest, Failure, LimitRequest, PathProblem, SessionChangeRequest,
    SessionCreateRequest, SessionForkRequest, SessionItemsRequest, SessionListRequest,
    SessionRequest, SessionSearchRequest, TaskMessage, TaskRef, TaskShowRequest,
};

/// Version of the protocol. It increases with every incompatible change.
pub const RPC_VERSION: u32 = 1;

/// One request. The client chooses the ID, which is repeated in the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RpcRequest {
    pub id: u64,
    #[serde(flatten)]
    pub call: RpcCall,
}

/// The method of a request and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "method", content = "params")]
pub enum RpcCall {
    #[serde(rename = "hello")]
    Hello(HelloRequest),
    #[serde(rename = "session.create")]
    SessionCreate(SessionCreateRequest),
    #[serde(rename = "session.list")]
    SessionList(SessionListRequest),
    #[serde(rename = "session.get")]
    SessionGet(SessionRequest),
    #[serde(rename = "session.items")]
    SessionItems(SessionItemsRequest),
    #[serde(rename = "session.fork")]
    SessionFork(SessionForkRequest),
    #[serde(rename = "session.change")]
    SessionChange(SessionChangeRequest),
    #[serde(rename = "session.remove")]
    SessionRemove(SessionRequest),
    #[serde(rename = "session.search")]
    SessionSearch(SessionSearchRequest),
    #[serde(rename = "session.export")]
    SessionExport(SessionRequest),
    #[serde(rename = "chat.start")]
    ChatStart(ChatStartRequest),
    #[serde(rename = "chat.steer")]
    ChatSteer(ChatSteerRequest),
    #[serde(rename = "chat.abort")]
    ChatAbort(TaskRef),
    #[serde(rename = "chat.undo")]
    ChatUndo(ChatUndoRequest),
    #[serde(rename = "task.list")]
    TaskList(LimitRequest),
    #[serde(rename = "task.get")]
    TaskGet(TaskShowRequest),
    /// Sends the updates of a task, starting at a given number.
    #[serde(rename = "task.follow")]
    TaskFollow(TaskFollowRequest),
    #[serde(rename = "skill.list")]
    SkillList(EmptyRequest),
    #[serde(rename = "approval.answer")]
    ApprovalAnswer(ApprovalAnswerRequest),
}

/// One line sent to a client: the answer to a request, or an update of a followed task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RpcMessage {
    Task(TaskMessage),
    Answer(RpcAnswer),
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RpcAnswer {
    /// ID of the request; absent if it could not be read.
    pub id: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// Identifies the client and its protocol version. It must be the first request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HelloRequest {
    pub version: u32,
    /// Display name of the client, such as `nacre chat`.
    #[serde(default)]
    pub client: String,
}

/// Identifies the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HelloReport {
    pub version: u32,
    /// Version of the server program.
    pub nacre: String,
    /// Supported methods.
    pub methods: Vec<String>,
}

/// Starts a turn with a message of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatStartRequest {
    /// ID of the session, or a prefix of it.
    pub session: String,
    pub text: String,
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// Policy for this turn only. Defaults to the session's policy.
    pub policy: Option<ApprovalPolicy>,
    /// Name of a skill to apply first.
    pub skill: Option<String>,
}

/// An accepted turn. Its updates follow on the same connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatStartReport {
    pub task: String,
    pub session: String,
}

/// A message for a running task, which is delivered with its next step. A finished task rejects it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatSteerRequest {
    pub task: String,
    pub text: String,
}

/// Whether there was a task to stop. The task itself reports how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatAbortReport {
    pub task: String,
    pub was_running: bool,
}

/// The session whose last changes are undone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatUndoRequest {
    pub session: String,
    /// ID of the turn. Defaults to the last turn that changed a file.
    pub task: Option<String>,
}

/// The changes that were undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatUndoReport {
    pub task: String,
    pub restored: Vec<String>,
    pub kept: Vec<PathProblem>,
}

/// The task to follow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskFollowRequest {
    pub task: String,
    /// Number of the last update received; 0 returns all updates.
    #[serde(default)]
    pub after: u64,
}

/// Current state of a followed task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskFollowReport {
    pub task: String,
    pub session: String,
    /// Number of updates so far.
    pub messages: u64,
}

names! {
    /// Which actions require approval. With every policy, programs run in the sandbox and protected
    /// files remain protected.
    #[derive(Default)]
    pub enum ApprovalPolicy {
        /// Every file change, program and network address.
        #[default]
        Ask = "ask",
        /// Programs and network addresses. Files in the workspace are changed without approval.
        AutoEdit = "auto_edit",
        /// No action.
        Full = "full",
    }
}

impl ApprovalPolicy {
    pub fn label(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AutoEdit => "auto-edit",
            Self::Full => "full",
        }
    }
}

/// An approval request. The tool call blocks until it is answered and is denied after five minutes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalRequest {
    pub approval: String,
    /// ID of the tool call.
    pub call: String,
    pub tool: String,
    /// One-line description of the action.
    pub summary: String,
    /// Affected resources, one sentence each.
    pub touches: Vec<String>,
    /// Proposed file changes as a unified diff.
    pub diff: Option<String>,
    /// Whether the diff is truncated.
    pub is_diff_cut: bool,
    /// The program to be started.
    pub command: Option<String>,
    /// The host to be contacted.
    pub host: Option<String>,
}

/// The user's decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum ApprovalAnswer {
    /// Approve this call only.
    Once,
    /// Approve this and similar calls until the session ends.
    Session,
    /// Deny the call. The agent receives the reason.
    Deny {
        #[serde(default)]
        reason: String,
    },
}

/// An answer to an approval request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalAnswerRequest {
    pub approval: String,
    #[serde(flatten)]
    pub answer: ApprovalAnswer,
}

/// Confirms that this answer was the first one and was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalAnswerReport {
    pub approval: String,
}

names! {
    /// Who answered an approval request.
    pub enum AnsweredBy {
        Person = "person",
        /// The request timed out.
        Timeout = "timeout",
        /// No user was connected.
        Nobody = "nobody",
    }
}
