//! A turn from the moment it is asked for until it is over: taken in, kept waiting, run, ended.
//!
//! Whose turn it is, is decided by the state, so that two processes on one session wait for each other too.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use nacre_api::wire::{ChatStartReport, ChatStartRequest, TaskUpdate, TurnUsage};
use nacre_engine::lifecycle::{RunHandle, Stopped};
use nacre_engine::record::state::SessionRecord;
use nacre_engine::record::{
    CancelledBy, Failure, NewTask, Runner, Start, TaskClass, TaskId, TaskState,
};

use super::asked::Asked;
use super::log::TaskLog;
use super::recovery::recover;
use super::sessions::named;
use super::shared::{ChatShared, LiveTurn, open_state, random};
use super::turn;
use crate::error::OpError;
use crate::host::{Host, clock, words};

/// Nobody types more, and what is pasted is an attachment.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// How often a turn looks whether another process is done.
const POLL: Duration = Duration::from_millis(300);

/// Takes a turn in, and lets it run when it is its turn.
pub(super) async fn start(
    chats: &Arc<ChatShared>,
    folder: PathBuf,
    request: ChatStartRequest,
) -> Result<(ChatStartReport, Arc<TaskLog>), OpError> {
    if request.text.trim().is_empty() && request.skill.is_none() {
        return Err(OpError::usage("There is nothing to do: the text is empty"));
    }
    if MAX_TEXT_BYTES < request.text.len() {
        return Err(OpError::usage("The text is too long").hint("Attach it as a file"));
    }
    let (shared, asked) = (Arc::clone(chats), request.clone());
    let (session, turn) =
        chats.call(Some(folder), move |host| accept(&shared, host, &asked)).await?;
    let log = Arc::clone(&turn.log);
    log.tell(TaskUpdate::Accepted { text: request.text.clone() });
    let report = ChatStartReport { task: log.task.to_string(), session: log.session.to_string() };
    tokio::spawn(live(Arc::clone(chats), turn, Asked { session, request }));
    Ok((report, log))
}

fn accept(
    chats: &ChatShared,
    host: &Host,
    request: &ChatStartRequest,
) -> Result<(SessionRecord, Arc<LiveTurn>), OpError> {
    let mut state = open_state(host)?;
    recover(host, &mut state)?;
    let session = named(&state, &request.session)?;
    let task = TaskId::from_random(random(&chats.environment)?);
    let hidden = words(host.settings());
    let new = NewTask {
        id: task.clone(),
        session: session.id.clone(),
        parent: None,
        project: session.project.clone(),
        agent: "chat".to_owned(),
        class: TaskClass::Interactive,
        // Redacted before it is cut: half a word would not be found.
        title: hidden.redact(&request.text).chars().take(200).collect(),
    };
    state.accept(&new, &Runner::here(host.environment.pid), host.now())?;
    let log = TaskLog::new((task, session.id.clone()), state, hidden, clock(host));
    let turn = Arc::new(LiveTurn { log: Arc::new(log), handle: RunHandle::new() });
    chats.add_turn(&turn);
    Ok((session, turn))
}

/// Waits for its turn, runs, and ends with one last message, whatever happens.
async fn live(chats: Arc<ChatShared>, turn: Arc<LiveTurn>, asked: Asked) {
    let task = turn.log.task.clone();
    let last = match wait(&chats, &turn).await {
        Ok(Waited::ItsTurn) => {
            let (shared, running) = (Arc::clone(&chats), Arc::clone(&turn));
            let work = tokio::task::spawn_blocking(move || turn::run(&shared, &running, &asked));
            work.await.unwrap_or_else(|_| broke_down())
        }
        Ok(Waited::Cancelled(by)) => TaskUpdate::Cancelled { by: by.as_str().to_owned() },
        Err(error) => TaskUpdate::Failed { error: error.into(), usage: TurnUsage::default() },
    };
    end(&chats, &task, &last).await;
    turn.log.tell(last);
    chats.remove_turn(&task);
}

fn broke_down() -> TaskUpdate {
    let error = OpError::failed("The turn broke down inside")
        .hint("What was done until then is kept; say how to go on");
    TaskUpdate::Failed { error: error.into(), usage: TurnUsage::default() }
}

/// Writes the end down where the run itself could not: it never began, or broke down.
async fn end(chats: &Arc<ChatShared>, task: &TaskId, last: &TaskUpdate) {
    let (task, was_cancelled) = (task.clone(), matches!(last, TaskUpdate::Cancelled { .. }));
    let ended = chats.call(None, move |host| {
        let mut state = open_state(host)?;
        let record = state.task(&task)?;
        if record.state.is_terminal() {
            return Ok(());
        }
        match (record.state, was_cancelled) {
            (TaskState::Accepted | TaskState::Queued, _) => {
                state.cancel(&task, CancelledBy::Person, host.now())?;
            }
            (_, true) => {
                let by = CancelledBy::Person;
                state.go(&task, TaskState::Cancelled { by }, host.now())?;
            }
            (_, false) => {
                let why = Failure::Internal;
                state.go(&task, TaskState::Failed { why }, host.now())?;
            }
        }
        Ok(())
    });
    // A state that cannot be written is mended by whoever opens it next.
    let _ = ended.await;
}

enum Waited {
    ItsTurn,
    Cancelled(CancelledBy),
}

async fn wait(chats: &Arc<ChatShared>, turn: &LiveTurn) -> Result<Waited, OpError> {
    let control = turn.handle.control();
    let mut told = None;
    loop {
        let ended = chats.turn_ended.notified();
        if control.stopped() == Some(Stopped::Cancelled) {
            return Ok(Waited::Cancelled(control.cancelled_by()));
        }
        let task = turn.log.task.clone();
        let looked = chats.call(None, move |host| {
            let runner = Runner::here(host.environment.pid);
            Ok(open_state(host)?.start(&task, &runner, host.now())?)
        });
        match looked.await? {
            Start::Now => return Ok(Waited::ItsTurn),
            Start::Waits { position } if told == Some(position) => {}
            Start::Waits { position } => {
                told = Some(position);
                let position = u32::try_from(position).unwrap_or(u32::MAX);
                turn.log.tell(TaskUpdate::Queued { position });
            }
        }
        tokio::select! {
            () = ended => {}
            () = control.cancel().cancelled() => {}
            () = tokio::time::sleep(POLL) => {}
        }
    }
}
