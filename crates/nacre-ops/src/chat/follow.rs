//! Sends a client what a task tells, from any number on, whichever process runs it.

use std::sync::Arc;
use std::time::Duration;

use nacre_engine::record::TaskId;
use nacre_engine::record::state::{MessageEnd, MessageRecord};
use tokio::sync::mpsc::Sender;

use super::log::{Behind, TaskLog};
use super::recovery::recover;
use super::shared::{ChatShared, open_state};
use crate::error::OpError;

/// Messages that are read from the state at once.
const PAGE: usize = 256;

/// How often a task of another process is looked at.
const POLL: Duration = Duration::from_millis(150);

/// A task ends in the state shortly before it says so; where it never did, this many looks are enough to know.
const LOOKS_AFTER_END: usize = 20;

/// Sends the messages of a task until its last one, or until the client is gone.
pub(super) async fn follow(
    chats: Arc<ChatShared>,
    task: TaskId,
    log: Option<Arc<TaskLog>>,
    after: u64,
    out: Sender<Arc<str>>,
) {
    match log {
        Some(log) => follow_log(&chats, log, after, &out).await,
        None => follow_state(&chats, &task, after, &out).await,
    }
}

async fn follow_log(
    chats: &Arc<ChatShared>,
    log: Arc<TaskLog>,
    after: u64,
    out: &Sender<Arc<str>>,
) {
    let place = log.follower();
    let mut changes = log.changes();
    let mut seen = after;
    loop {
        match place.log.behind(seen) {
            Behind::Lines(lines) => {
                for line in lines {
                    if out.send(line).await.is_err() {
                        return;
                    }
                    seen += 1;
                }
            }
            Behind::Stored => match page(chats, &log.task, seen).await {
                Ok(messages) if !messages.is_empty() => {
                    if send(messages, &mut seen, out).await != Sent::MoreFollow {
                        return;
                    }
                }
                // Trimmed away: what is still there comes next.
                Ok(_) | Err(_) => seen = seen.max(log.n_lines().saturating_sub(1)),
            },
            Behind::Nothing => {
                tokio::select! {
                    changed = changes.changed() => if changed.is_err() { return },
                    () = out.closed() => return,
                }
            }
            Behind::Over => return,
        }
    }
}

/// A task that is over, or that another process runs.
async fn follow_state(chats: &Arc<ChatShared>, task: &TaskId, after: u64, out: &Sender<Arc<str>>) {
    let mut seen = after;
    let mut n_looks_after_end = 0;
    while n_looks_after_end < LOOKS_AFTER_END {
        let Ok(messages) = page(chats, task, seen).await else { return };
        if !messages.is_empty() {
            if send(messages, &mut seen, out).await == Sent::Over {
                return;
            }
            continue;
        }
        if is_ended(chats, task).await {
            n_looks_after_end += 1;
        }
        tokio::select! {
            () = tokio::time::sleep(POLL) => {}
            () = out.closed() => return,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sent {
    MoreFollow,
    /// The last message, or to nobody.
    Over,
}

async fn send(messages: Vec<MessageRecord>, seen: &mut u64, out: &Sender<Arc<str>>) -> Sent {
    for message in messages {
        if out.send(message.text.into()).await.is_err() || message.end == MessageEnd::Last {
            return Sent::Over;
        }
        *seen = message.sequence;
    }
    Sent::MoreFollow
}

async fn page(
    chats: &Arc<ChatShared>,
    task: &TaskId,
    after: u64,
) -> Result<Vec<MessageRecord>, OpError> {
    let task = task.clone();
    chats.call(None, move |host| Ok(open_state(host)?.messages_after(&task, after, PAGE)?)).await
}

/// Whether a task has ended; those of processes that are gone end here.
async fn is_ended(chats: &Arc<ChatShared>, task: &TaskId) -> bool {
    let task = task.clone();
    let looked = chats.call(None, move |host| {
        let mut state = open_state(host)?;
        recover(host, &mut state)?;
        Ok(state.task(&task)?.state.is_terminal())
    });
    looked.await.unwrap_or(true)
}

/// How many messages a task has that is not of this process.
pub(super) async fn count(chats: &Arc<ChatShared>, task: &TaskId) -> Result<u64, OpError> {
    let mut n_messages = 0;
    loop {
        let messages = page(chats, task, n_messages).await?;
        match messages.last() {
            Some(last) => n_messages = last.sequence,
            None => return Ok(n_messages),
        }
    }
}
