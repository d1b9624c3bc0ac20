//! Handles a client's requests.

use std::sync::atomic::Ordering;

use nacre_engine::lifecycle::{self, Item, TurnEnd};
use nacre_engine::model::{Arguments, ToolStatus};
use nacre_engine::record::state::{ItemRecord, TaskStore as _};
use nacre_engine::record::{CancelledBy, TaskId};
use nacre_team::people::Caller;
use nacre_types::{
    Attachment, ChatAbortReport, ChatItem, ChatItemKind, ChatSteerRequest, ChecklistItem,
    HelloReport, RPC_VERSION, Report, RpcAnswer, RpcCall, RpcRequest, TaskFollowReport,
    TaskFollowRequest, TaskRef, ToolOutcome,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinSet;

use super::log::{TaskLog, follow};
use super::{CallOrigin, ChatShared, MAX_LINE_BYTES, Workspaces, open_state, sessions, turn, undo};
use crate::prelude::*;
use crate::skill;
use crate::tasks::{self, task_state};

const METHODS: &str = "hello session.create session.list session.get session.items session.change \
    session.fork session.remove session.search session.export chat.start chat.steer chat.abort \
    chat.undo task.list task.get task.follow skill.list approval.answer";

pub(super) struct Answered {
    result: Value,
    follows: Vec<FollowWish>,
}

struct FollowWish {
    pub(super) task: TaskId,
    /// `None` if the task is running in another process.
    pub(super) log: Option<Arc<TaskLog>>,
    pub(super) after: u64,
}

impl Answered {
    fn new(report: &impl Report) -> Self {
        // Protocol types have only string keys, so serialization cannot fail.
        Self { result: serde_json::to_value(report).unwrap_or_default(), follows: Vec::new() }
    }
}

pub(super) async fn answer(
    chats: &Arc<ChatShared>,
    caller: Caller,
    folder: &Path,
    workspaces: Workspaces,
    call: RpcCall,
) -> Result<Answered> {
    let here = CallOrigin { folder: Some(folder.to_owned()), caller };
    match call {
        RpcCall::Hello(_) => Ok(Answered::new(&HelloReport {
            version: RPC_VERSION,
            nacre: env!("CARGO_PKG_VERSION").to_owned(),
            methods: METHODS.split(' ').map(str::to_owned).collect(),
        })),
        RpcCall::SessionCreate(request) => {
            let shared = Arc::clone(chats);
            let create =
                move |host: &_, request: &_| sessions::create(&shared, host, workspaces, request);
            reply(chats, here, request, create).await
        }
        RpcCall::SessionList(request) => reply(chats, here, request, sessions::list).await,
        RpcCall::SessionGet(request) => reply(chats, here, request, sessions::get).await,
        RpcCall::SessionItems(request) => reply(chats, here, request, sessions::items).await,
        RpcCall::SessionChange(request) => reply(chats, here, request, sessions::change).await,
        RpcCall::SessionFork(request) => reply(chats, here, request, sessions::fork).await,
        RpcCall::SessionRemove(request) => reply(chats, here, request, sessions::remove).await,
        RpcCall::SessionSearch(request) => reply(chats, here, request, sessions::search).await,
        RpcCall::SessionExport(request) => reply(chats, here, request, sessions::export).await,
        RpcCall::ChatStart(request) => {
            let (report, log) = turn::start(chats, here, request).await?;
            let wish = FollowWish { task: log.task.clone(), log: Some(log), after: 0 };
            Ok(Answered { follows: vec![wish], ..Answered::new(&report) })
        }
        RpcCall::ChatSteer(request) => Ok(Answered::new(&steer(chats, &here.caller, &request)?)),
        RpcCall::ChatAbort(request) => Ok(Answered::new(&abort(chats, request).await?)),
        RpcCall::ChatUndo(request) => reply(chats, here, request, undo::undo).await,
        RpcCall::TaskList(request) => reply(chats, here, request, tasks::list).await,
        RpcCall::TaskGet(request) => {
            let show = |host: &_, request: &_| tasks::show(host, request, &Events::discard());
            reply(chats, here, request, show).await
        }
        RpcCall::TaskFollow(request) => follow_task(chats, request).await,
        RpcCall::SkillList(request) => reply(chats, here, request, skill::list).await,
        RpcCall::ApprovalAnswer(request) => Ok(Answered::new(&chats.approvals.answer(&request)?)),
    }
}

async fn reply<Q: Send + 'static, R: Report + Send + 'static>(
    chats: &Arc<ChatShared>,
    origin: CallOrigin,
    request: Q,
    work: impl FnOnce(&Host, &Q) -> Result<R> + Send + 'static,
) -> Result<Answered> {
    Ok(Answered::new(&chats.call(origin, move |host| work(host, &request)).await?))
}

fn task_id(text: &str) -> Result<TaskId> {
    text.parse().map_err(|error: nacre_engine::record::BadId| OpError::usage(error.to_string()))
}

fn steer(chats: &ChatShared, caller: &Caller, request: &ChatSteerRequest) -> Result<TaskRef> {
    let ChatSteerRequest { task, text } = request;
    if text.trim().is_empty() {
        return Err(OpError::usage("The message is empty"));
    }
    let id = task_id(task)?;
    let is_taken = chats.turn(&id).is_some_and(|turn| {
        if !caller.is_owner() {
            turn.is_guests.store(true, Ordering::Relaxed);
        }
        turn.handle.steer(text).is_ok()
    });
    if is_taken {
        return Ok(TaskRef { task: id.to_string() });
    }
    Err(OpError::not_found(format!("Task `{id}` is not running in this process"))
        .hint("Send the message in a new turn"))
}

/// Cancels a turn. A turn that runs in another process is marked for cancellation, and that process
/// then cancels it.
async fn abort(chats: &Arc<ChatShared>, request: TaskRef) -> Result<ChatAbortReport> {
    let id = task_id(&request.task)?;
    if let Some(turn) = chats.turn(&id) {
        turn.handle.cancel(CancelledBy::Person);
        return Ok(ChatAbortReport { task: id.to_string(), was_running: !turn.log.is_over() });
    }
    let task = id.clone();
    let was_running = chats.call(CallOrigin::default(), move |host| {
        let mut state = open_state(host)?;
        let report = state.cancel(&task, CancelledBy::Person, host.now())?;
        Ok(!report.ended.is_empty() || !report.asked.is_empty())
    });
    Ok(ChatAbortReport { task: id.to_string(), was_running: was_running.await? })
}

async fn follow_task(chats: &Arc<ChatShared>, request: TaskFollowRequest) -> Result<Answered> {
    let TaskFollowRequest { task, after } = request;
    let id = task_id(&task)?;
    let log = chats.turn(&id).map(|turn| Arc::clone(&turn.log));
    let report = match &log {
        Some(log) => TaskFollowReport {
            task: id.to_string(),
            session: log.session.to_string(),
            messages: log.n_lines(),
        },
        None => {
            let task = id.clone();
            let found = chats
                .call(CallOrigin::default(), move |host| Ok(open_state(host)?.task(&task)?))
                .await?;
            let messages = super::log::count(chats, &id).await?;
            TaskFollowReport { task: id.to_string(), session: found.session.to_string(), messages }
        }
    };
    let wish = FollowWish { task: id, log, after };
    Ok(Answered { follows: vec![wish], ..Answered::new(&report) })
}

pub(super) fn chat_item(record: ItemRecord) -> ChatItem {
    let ItemRecord { sequence, task, at, kind: _, json } = record;
    let kind = kind(Item::from_json(&json));
    ChatItem { sequence, task: Some(task.to_string()), at: at.to_string(), kind }
}

fn kind(item: Item) -> ChatItemKind {
    match item {
        Item::User { text, attachments } => {
            let attachments = attachments.into_iter().map(attachment).collect();
            ChatItemKind::User { text, attachments, is_steering: false }
        }
        Item::Steering { text, .. } => {
            ChatItemKind::User { text, attachments: Vec::new(), is_steering: true }
        }
        Item::Assistant { text, .. } => ChatItemKind::Assistant { text, is_interrupted: false },
        Item::Interrupted { text } => ChatItemKind::Assistant { text, is_interrupted: true },
        Item::Reasoning { text, .. } => ChatItemKind::Reasoning { text },
        Item::HiddenReasoning { .. } => ChatItemKind::Reasoning { text: String::new() },
        Item::ToolCall { call, tool, arguments, .. } => {
            ChatItemKind::ToolCall { call, tool, arguments: value(&arguments) }
        }
        Item::ToolResult { call, tool, status, text, .. } => {
            let outcome = outcome(status, &text);
            ChatItemKind::ToolResult { call, tool, outcome, text }
        }
        Item::Remark { text, .. } | Item::Notice { text } => ChatItemKind::Notice { text },
        Item::Summary(summary) => ChatItemKind::Summary { text: summary.text },
        Item::Checklist { items } => ChatItemKind::Checklist { items: checklist(&items) },
        Item::End(TurnEnd { state, text }) => {
            ChatItemKind::Ended { state: task_state(state), reason: text }
        }
        Item::Unknown => ChatItemKind::Notice {
            text: "This entry was written by a newer version of Nacre".to_owned(),
        },
    }
}

fn attachment(attachment: lifecycle::Attachment) -> Attachment {
    let lifecycle::Attachment { name, text, picture } = attachment;
    let text = picture.map_or(text, |picture| {
        format!("[a picture, {}, {} bytes]", picture.media_type, picture.n_bytes)
    });
    Attachment::Text { name, text }
}

/// Returns the arguments of a call as JSON. Invalid JSON becomes a string.
pub(super) fn value(arguments: &Arguments) -> Value {
    match arguments {
        Arguments::Object(value) => value.clone(),
        Arguments::Malformed { text, .. } => Value::String(text.clone()),
    }
}

pub(super) fn outcome(status: ToolStatus, text: &str) -> ToolOutcome {
    if status == ToolStatus::Done {
        ToolOutcome::Done
    } else if text.starts_with("Error (denied)") {
        ToolOutcome::Denied
    } else {
        ToolOutcome::Failed
    }
}

/// Returns an empty list if the checklist is invalid.
pub(super) fn checklist(items: &impl Serialize) -> Vec<ChecklistItem> {
    serde_json::to_value(items).and_then(serde_json::from_value).unwrap_or_default()
}

const MAX_FOLLOWED: usize = 64;

/// A connected client. Dropping it ends its subscriptions, but not its turns.
pub struct Client {
    chats: Arc<ChatShared>,
    folder: PathBuf,
    workspaces: Workspaces,
    out: Sender<Arc<str>>,
    is_greeted: bool,
    following: JoinSet<()>,
}

impl Client {
    /// `folder` is the client's default directory, and messages are sent to `out`.
    pub fn new(
        chats: Arc<ChatShared>,
        folder: PathBuf,
        workspaces: Workspaces,
        out: Sender<Arc<str>>,
    ) -> Self {
        Self { chats, folder, workspaces, out, is_greeted: false, following: JoinSet::new() }
    }

    /// Handles one line from a caller and sends exactly one line in response. Messages of followed
    /// tasks are sent after the response.
    pub async fn receive(&mut self, caller: Caller, line: &str) {
        let answered = self.answer(caller, line).await;
        let (answer, follows) = match answered {
            Ok((id, Answered { result, follows })) => {
                (RpcAnswer { id: Some(id), result: Some(result), error: None }, follows)
            }
            Err((id, error)) => {
                (RpcAnswer { id, result: None, error: Some(error.into()) }, Vec::new())
            }
        };
        // Protocol types have only string keys, so serialization cannot fail.
        let text = serde_json::to_string(&answer).unwrap_or_default();
        if self.out.send(text.into()).await.is_err() {
            return;
        }
        while self.following.try_join_next().is_some() {}
        for wish in follows {
            let (chats, out) = (Arc::clone(&self.chats), self.out.clone());
            self.following.spawn(follow(chats, wish.task, wish.log, wish.after, out));
        }
    }

    async fn answer(
        &mut self,
        caller: Caller,
        line: &str,
    ) -> Result<(u64, Answered), (Option<u64>, OpError)> {
        if MAX_LINE_BYTES < line.len() {
            let error = OpError::new(ErrorCode::TooLarge, "The request is too long");
            return Err((None, error));
        }
        let RpcRequest { id, call } = parse(line)?;
        let refused = |error: OpError| (Some(id), error);
        if let RpcCall::Hello(hello) = &call {
            if hello.version != RPC_VERSION {
                let message = format!(
                    "This program uses version {RPC_VERSION} of the protocol, not {}",
                    hello.version
                );
                return Err(refused(
                    OpError::new(ErrorCode::Conflict, message)
                        .hint("Use the same version of Nacre on both sides"),
                ));
            }
            self.is_greeted = true;
        }
        if !self.is_greeted {
            return Err(refused(OpError::usage("The first request must be `hello`")));
        }
        if MAX_FOLLOWED <= self.following.len() {
            let message = "This client is following too many tasks";
            return Err(refused(OpError::new(ErrorCode::LimitReached, message)));
        }
        let answered = answer(&self.chats, caller, &self.folder, self.workspaces, call).await;
        answered.map(|answered| (id, answered)).map_err(refused)
    }
}

/// Errors include the request's id if it could be parsed.
fn parse(line: &str) -> Result<RpcRequest, (Option<u64>, OpError)> {
    let cannot = |id, error: serde_json::Error| {
        (id, OpError::usage("The request is not a valid protocol message").because(error))
    };
    let value: Value = serde_json::from_str(line).map_err(|error| cannot(None, error))?;
    let id = value.get("id").and_then(Value::as_u64);
    RpcRequest::deserialize(value).map_err(|error| cannot(id, error))
}
