//! Conversations with Nacre's own agent: sessions and their items, and the protocol between a client and the agent.
//!
//! A client sends `RpcRequest`s and gets `RpcMessage`s, over whatever carries lines of JSON. Each request is answered once,
//! by its id. What a task does comes as `TaskMessage`s, numbered from 1 without gaps; the last of them says how it ended,
//! and there is exactly one such message for each task. A client that was away asks for what it missed by the last
//! number that it saw, and gets the same bytes.

mod approval;
mod attachment;
mod item;
mod message;
mod rpc;
mod session;

pub use approval::{AnsweredBy, ApprovalAnswer, ApprovalPolicy, ApprovalRequest, AskedAction};
pub use attachment::Attachment;
pub use item::{ChatItem, ChatItemKind, ChecklistItem, ChecklistState, FilePatch, ToolOutcome};
pub use message::{RecalledNote, TaskEnd, TaskMessage, TaskUpdate, TurnUsage};
pub use rpc::{
    ChatAbortReport, ChatAbortRequest, ChatStartReport, ChatStartRequest, ChatSteerRequest,
    ChatUndoReport, ChatUndoRequest, HelloReport, HelloRequest, KeptPath, RPC_VERSION, RpcAnswer,
    RpcCall, RpcMessage, RpcRequest, TaskFollowReport, TaskFollowRequest,
};
pub use session::{
    ChatSession, SessionChangeRequest, SessionCreateRequest, SessionExportReport,
    SessionForkRequest, SessionItemsReport, SessionItemsRequest, SessionListReport,
    SessionListRequest, SessionRemoveReport, SessionRenameRequest, SessionReport, SessionRequest,
    SessionSearchHit, SessionSearchReport, SessionSearchRequest,
};
