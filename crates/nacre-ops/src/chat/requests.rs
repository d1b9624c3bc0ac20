//! What is done for each request.

use std::path::Path;
use std::sync::Arc;

use nacre_api::wire::{
    ChatAbortReport, ChatAbortRequest, ChatSteerReport, ChatSteerRequest, HelloReport, RPC_VERSION,
    Report, RpcCall, TaskFollowReport, TaskFollowRequest,
};
use nacre_engine::record::{CancelledBy, TaskId};
use serde_json::Value;

use super::Workspaces;
use super::log::TaskLog;
use super::queue;
use super::sessions;
use super::shared::{ChatShared, open_state};
use super::undo;
use crate::error::OpError;
use crate::events::Events;
use crate::operations::{skill, tasks};

/// Every method, in the order of the documents.
const METHODS: &[&str] = &[
    "hello",
    "session.create",
    "session.list",
    "session.get",
    "session.items",
    "session.change",
    "session.fork",
    "session.remove",
    "session.search",
    "session.export",
    "chat.start",
    "chat.steer",
    "chat.abort",
    "chat.undo",
    "task.list",
    "task.get",
    "task.follow",
    "skill.list",
    "approval.answer",
];

/// An answer, and what the client is sent from now on.
pub(super) struct Answered {
    pub(super) result: Value,
    pub(super) follows: Vec<FollowWish>,
}

/// A task that a client wants to follow.
pub(super) struct FollowWish {
    pub(super) task: TaskId,
    /// Where the task lives in this process.
    pub(super) log: Option<Arc<TaskLog>>,
    pub(super) after: u64,
}

impl Answered {
    fn new(report: &impl Report) -> Self {
        // Wire types have only text as keys, so that writing them cannot fail.
        Self { result: serde_json::to_value(report).unwrap_or_default(), follows: Vec::new() }
    }
}

pub(super) async fn answer(
    chats: &Arc<ChatShared>,
    (folder, workspaces): (&Path, Workspaces),
    call: RpcCall,
) -> Result<Answered, OpError> {
    let place = folder.to_owned();
    let here = Some(place.clone());
    Ok(match call {
        RpcCall::Hello(_) => Answered::new(&hello()),
        RpcCall::SessionCreate(request) => {
            let shared = Arc::clone(chats);
            let work =
                move |host: &_| sessions::create(&shared, host, (&place, workspaces), &request);
            Answered::new(&chats.call(here, work).await?)
        }
        RpcCall::SessionList(request) => {
            Answered::new(&chats.call(here, move |host| sessions::list(host, &request)).await?)
        }
        RpcCall::SessionGet(request) => {
            let work = move |host: &_| sessions::get(host, &place, &request);
            Answered::new(&chats.call(here, work).await?)
        }
        RpcCall::SessionItems(request) => {
            Answered::new(&chats.call(here, move |host| sessions::items(host, &request)).await?)
        }
        RpcCall::SessionChange(request) => {
            Answered::new(&chats.call(here, move |host| sessions::change(host, &request)).await?)
        }
        RpcCall::SessionFork(request) => {
            let shared = Arc::clone(chats);
            let work = move |host: &_| sessions::fork(&shared, host, &request);
            Answered::new(&chats.call(here, work).await?)
        }
        RpcCall::SessionRemove(request) => {
            Answered::new(&chats.call(here, move |host| sessions::remove(host, &request)).await?)
        }
        RpcCall::SessionSearch(request) => {
            Answered::new(&chats.call(here, move |host| sessions::search(host, &request)).await?)
        }
        RpcCall::SessionExport(request) => {
            let work = move |host: &_| super::export::export(host, &place, &request);
            Answered::new(&chats.call(here, work).await?)
        }
        RpcCall::ChatStart(request) => {
            let (report, log) = queue::start(chats, place, request).await?;
            let wish = FollowWish { task: log.task.clone(), log: Some(log), after: 0 };
            Answered { follows: vec![wish], ..Answered::new(&report) }
        }
        RpcCall::ChatSteer(request) => Answered::new(&steer(chats, &request)?),
        RpcCall::ChatAbort(request) => Answered::new(&abort(chats, request).await?),
        RpcCall::ChatUndo(request) => {
            Answered::new(&chats.call(here, move |host| undo::undo(host, &request)).await?)
        }
        RpcCall::TaskList(request) => {
            Answered::new(&chats.call(here, move |host| tasks::list(host, &request)).await?)
        }
        RpcCall::TaskGet(request) => {
            let work = move |host: &_| tasks::show(host, &request, &Events::ignored());
            Answered::new(&chats.call(here, work).await?)
        }
        RpcCall::TaskFollow(request) => follow(chats, request).await?,
        RpcCall::SkillList(request) => {
            Answered::new(&chats.call(here, move |host| skill::list(host, &request)).await?)
        }
        RpcCall::ApprovalAnswer(request) => Answered::new(&chats.approvals.answer(&request)?),
    })
}

fn hello() -> HelloReport {
    HelloReport {
        version: RPC_VERSION,
        nacre: env!("CARGO_PKG_VERSION").to_owned(),
        methods: METHODS.iter().map(|method| (*method).to_owned()).collect(),
    }
}

fn task_id(text: &str) -> Result<TaskId, OpError> {
    text.parse().map_err(|error: nacre_engine::record::BadId| OpError::usage(error.to_string()))
}

/// Hands words to a turn that runs.
fn steer(chats: &ChatShared, request: &ChatSteerRequest) -> Result<ChatSteerReport, OpError> {
    let ChatSteerRequest { task, text } = request;
    if text.trim().is_empty() {
        return Err(OpError::usage("There are no words to hand over"));
    }
    let id = task_id(task)?;
    let is_taken = chats.turn(&id).is_some_and(|turn| turn.handle.steer(text).is_ok());
    match is_taken {
        true => Ok(ChatSteerReport { task: id.to_string() }),
        false => Err(OpError::not_found(format!("`{id}` does not run here"))
            .hint("Start a new turn with these words")),
    }
}

/// Stops a turn. One of this process is stopped at once; another process is asked.
async fn abort(
    chats: &Arc<ChatShared>,
    request: ChatAbortRequest,
) -> Result<ChatAbortReport, OpError> {
    let id = task_id(&request.task)?;
    if let Some(turn) = chats.turn(&id) {
        turn.handle.cancel(CancelledBy::Person);
        return Ok(ChatAbortReport { task: id.to_string(), was_running: !turn.log.is_over() });
    }
    let task = id.clone();
    let was_running = chats.call(None, move |host| {
        let mut state = open_state(host)?;
        let report = state.cancel(&task, CancelledBy::Person, host.now())?;
        Ok(!report.ended.is_empty() || !report.asked.is_empty())
    });
    Ok(ChatAbortReport { task: id.to_string(), was_running: was_running.await? })
}

async fn follow(chats: &Arc<ChatShared>, request: TaskFollowRequest) -> Result<Answered, OpError> {
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
            let found = chats.call(None, move |host| Ok(open_state(host)?.task(&task)?)).await?;
            let messages = super::follow::count(chats, &id).await?;
            TaskFollowReport { task: id.to_string(), session: found.session.to_string(), messages }
        }
    };
    let wish = FollowWish { task: id, log, after };
    Ok(Answered { follows: vec![wish], ..Answered::new(&report) })
}
