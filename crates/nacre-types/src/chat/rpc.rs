//! The chat protocol: requests, responses and approvals.

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

/// One request. The client chooses the ID, and the response repeats it.
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
    /// Streams the updates of a task, starting at the given number.
    #[serde(rename = "task.follow")]
    TaskFollow(TaskFollowRequest),
    #[serde(rename = "skill.list")]
    SkillList(EmptyRequest),
    #[serde(rename = "approval.answer")]
    ApprovalAnswer(ApprovalAnswerRequest),
}

/// One line sent to a client: a response, or an update of a followed task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RpcMessage {
    Task(TaskMessage),
    Answer(RpcAnswer),
}

/// The response to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RpcAnswer {
    /// ID of the request; absent if it could not be read.
    pub id: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// Identifies the client and its protocol version. This must be the first request.
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

/// Starts a turn with a user message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatStartRequest {
    /// The session ID or a prefix of it.
    pub session: String,
    pub text: String,
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// Policy for this turn only. Defaults to the session's policy.
    pub policy: Option<ApprovalPolicy>,
    /// Name of a skill to apply before the message.
    pub skill: Option<String>,
}

/// A turn that was accepted. The turn's updates are sent on the same connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatStartReport {
    pub task: String,
    pub session: String,
}

/// A message for a running task, delivered at its next step. Rejected if the task has finished.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatSteerRequest {
    pub task: String,
    pub text: String,
}

/// Whether a task was running and is now being stopped. The task's last update reports how the task
/// ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatAbortReport {
    pub task: String,
    pub was_running: bool,
}

/// The session whose latest changes should be undone.
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
    /// Number of updates sent so far.
    pub messages: u64,
}

names! {
    /// Which actions require approval. Under every policy, programs run in the sandbox and
    /// protected files stay protected.
    #[derive(Default)]
    pub enum ApprovalPolicy {
        /// File changes, programs and network addresses require approval.
        #[default]
        Ask = "ask",
        /// Programs and network addresses require approval. Workspace files can be changed without
        /// approval.
        AutoEdit = "auto_edit",
        /// Nothing requires approval.
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

/// An approval request. The tool call waits for the decision, and is denied if there is none within
/// five minutes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalRequest {
    pub approval: String,
    /// ID of the tool call.
    pub call: String,
    pub tool: String,
    /// One-line description of the action.
    pub summary: String,
    /// Affected resources, each described in one sentence.
    pub touches: Vec<String>,
    /// Proposed file changes as a unified diff.
    pub diff: Option<String>,
    /// Whether the diff is truncated.
    pub is_diff_cut: bool,
    /// The command to be run.
    pub command: Option<String>,
    /// The network host to be contacted.
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
    /// Deny the call, and pass the reason to the agent.
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

/// Confirms that this was the first decision for the request and that it was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalAnswerReport {
    pub approval: String,
}

names! {
    /// How an approval request was decided.
    pub enum AnsweredBy {
        Person = "person",
        /// The request timed out.
        Timeout = "timeout",
        /// No user was connected.
        Nobody = "nobody",
    }
}
