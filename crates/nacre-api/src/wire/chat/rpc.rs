//! Requests and answers of the protocol, one line of JSON each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{Failure, Report, SkillListRequest, TaskListRequest, TaskShowRequest};
use super::{
    ApprovalAnswer, ApprovalPolicy, Attachment, SessionChangeRequest, SessionCreateRequest,
    SessionForkRequest, SessionItemsRequest, SessionListRequest, SessionRenameRequest,
    SessionRequest, SessionSearchRequest, TaskMessage,
};

/// The version of the protocol. It grows when something is no longer understood.
pub const RPC_VERSION: u32 = 1;

/// One request. The id is the client's own and comes back with the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RpcRequest {
    pub id: u64,
    #[serde(flatten)]
    pub call: RpcCall,
}

/// What is asked for.
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
    #[serde(rename = "session.rename")]
    SessionRename(SessionRenameRequest),
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
    ChatAbort(ChatAbortRequest),
    #[serde(rename = "chat.undo")]
    ChatUndo(ChatUndoRequest),
    #[serde(rename = "task.list")]
    TaskList(TaskListRequest),
    #[serde(rename = "task.get")]
    TaskGet(TaskShowRequest),
    /// Sends what the task tells, from a number on.
    #[serde(rename = "task.follow")]
    TaskFollow(TaskFollowRequest),
    #[serde(rename = "skill.list")]
    SkillList(SkillListRequest),
    #[serde(rename = "approval.answer")]
    ApprovalAnswer {
        approval: String,
        #[serde(flatten)]
        answer: ApprovalAnswer,
    },
}

/// One line to a client: the answer of a request, or a message about a task that it follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RpcMessage {
    Task(TaskMessage),
    Answer(RpcAnswer),
}

/// The answer of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RpcAnswer {
    /// The request's; absent where it could not be read.
    pub id: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// Who speaks, and which version of the protocol. Other requests are refused before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HelloRequest {
    pub version: u32,
    /// A name for people, such as `nacre chat`.
    #[serde(default)]
    pub client: String,
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HelloReport {
    pub version: u32,
    /// The version of the program.
    pub nacre: String,
    /// The methods that it knows.
    pub methods: Vec<String>,
}

impl Report for HelloReport {}

/// What the agent is to do next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatStartRequest {
    /// The session's id, or the start of it.
    pub session: String,
    pub text: String,
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// For this turn only; else the session's.
    #[serde(default)]
    pub policy: Option<ApprovalPolicy>,
    /// A skill to take up first.
    #[serde(default)]
    pub skill: Option<String>,
}

/// A turn that was taken in. Its messages follow on the same line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatStartReport {
    pub task: String,
    pub session: String,
}

impl Report for ChatStartReport {}

/// Words for a task that runs; they are taken up with its next step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatSteerRequest {
    pub task: String,
    pub text: String,
}

/// Which task to stop, running or waiting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatAbortRequest {
    pub task: String,
}

/// Whether there was something to stop. How it ended is told by the task itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatAbortReport {
    pub task: String,
    pub was_running: bool,
}

impl Report for ChatAbortReport {}

/// Whose last changes to take back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatUndoRequest {
    pub session: String,
    /// The turn; without it the last one that changed something.
    #[serde(default)]
    pub task: Option<String>,
}

/// What was taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChatUndoReport {
    pub task: String,
    pub restored: Vec<String>,
    pub kept: Vec<KeptPath>,
}

impl Report for ChatUndoReport {}

/// A file that was left as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptPath {
    pub path: String,
    pub why: String,
}

/// Which task to follow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskFollowRequest {
    pub task: String,
    /// The number of the last message that was seen; 0 for all of them.
    #[serde(default)]
    pub after: u64,
}

/// Where a task that is followed is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskFollowReport {
    pub task: String,
    pub session: String,
    /// How many messages there are so far.
    pub messages: u64,
}

impl Report for TaskFollowReport {}
