//! Numbers a task's messages, stores them, and sends them to clients.
//!
//! Each message is stored before it is sent, byte for byte. A client that reconnects therefore
//! receives the same lines, from memory while the task is running and from the database afterwards.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nacre_base::redact::{ExtraWords, LiveRedactor, LiveText};
use nacre_engine::record::state::{MessageRecord, State, TaskStore as _};
use nacre_engine::record::{Clock, SessionId, TaskId};
use nacre_types::{TaskMessage, TaskUpdate};
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;

use super::turn::recover;
use super::{CallOrigin, ChatShared, open_state};
use crate::prelude::*;

/// Number of lines to keep in memory while a task is running. Older lines are read from the
/// database.
const MAX_LINES: usize = 2048;
const MAX_BYTES: usize = 4 << 20;

pub(super) struct TaskLog {
    pub(super) task: TaskId,
    pub(super) session: SessionId,
    clock: Clock,
    kept: Mutex<StoredLog>,
    /// The number of the last line. Followers watch it for new lines.
    pub(super) latest: watch::Sender<u64>,
}

struct StoredLog {
    state: State,
    words: ExtraWords,
    first: u64,
    lines: VecDeque<Arc<str>>,
    bytes: usize,
    is_over: bool,
    speech: Speech,
}

/// Combines streamed tokens into larger messages, and holds back text that could be part of a
/// secret.
struct Speech {
    text: LiveRedactor,
    reasoning: LiveRedactor,
    /// The text that this step had already sent when another message interrupted it.
    told_before: String,
    told: String,
}

impl Speech {
    fn new(words: &ExtraWords) -> Self {
        Self {
            text: LiveRedactor::new(words.clone()),
            reasoning: LiveRedactor::new(words.clone()),
            told_before: String::new(),
            told: String::new(),
        }
    }

    fn text(&mut self, text: LiveText) -> Option<TaskUpdate> {
        match text {
            LiveText::Nothing => None,
            LiveText::More(text) => {
                self.told.push_str(&text);
                Some(TaskUpdate::Text { text })
            }
            LiveText::Instead(text) => {
                self.told.clone_from(&text);
                let text = format!("{}{text}", self.told_before);
                Some(TaskUpdate::TextReplaced { text })
            }
        }
    }

    /// Only appends, because no message type can replace reasoning that was already sent. The
    /// stored item has the correct text.
    fn reasoning(text: LiveText) -> Option<TaskUpdate> {
        match text {
            LiveText::Nothing | LiveText::Instead(_) => None,
            LiveText::More(text) => Some(TaskUpdate::Reasoning { text }),
        }
    }

    fn ready(&mut self) -> Vec<TaskUpdate> {
        let thought = Self::reasoning(self.reasoning.ready());
        let text = self.text.ready();
        thought.into_iter().chain(self.text(text)).collect()
    }

    /// Returns all remaining text. Called before another message is sent.
    fn finish(&mut self) -> Vec<TaskUpdate> {
        let thought = Self::reasoning(self.reasoning.finish());
        let text = self.text.finish();
        let left = thought.into_iter().chain(self.text(text)).collect();
        self.told_before.push_str(&std::mem::take(&mut self.told));
        left
    }
}

enum Backlog {
    Lines(Vec<Arc<str>>),
    /// The lines are no longer in memory. Read them from the database.
    Stored,
    Nothing,
    Over,
}

impl TaskLog {
    /// `words` are the project's additional words to redact.
    pub(super) fn new(
        task: TaskId,
        session: SessionId,
        state: State,
        words: ExtraWords,
        clock: Clock,
    ) -> Self {
        let state = state.without_words(words.clone());
        let kept = StoredLog {
            state,
            speech: Speech::new(&words),
            words,
            first: 1,
            lines: VecDeque::new(),
            bytes: 0,
            is_over: false,
        };
        Self { task, session, clock, kept: Mutex::new(kept), latest: watch::Sender::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, StoredLog> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message after any pending text. Messages after the end of the task are ignored.
    pub(super) fn tell(&self, update: TaskUpdate) {
        let mut kept = self.lock();
        self.finish_speech(&mut kept);
        if let TaskUpdate::TextReplaced { text } = &update {
            kept.speech.told_before.clone_from(text);
        } else if matches!(update, TaskUpdate::Step { .. }) {
            kept.speech.told_before.clear();
        }
        self.put(&mut kept, update);
    }

    pub(super) fn say(&self, text: &str) {
        let mut kept = self.lock();
        if !kept.speech.reasoning.is_empty() {
            self.finish_speech(&mut kept);
        }
        kept.speech.text.push(text);
    }

    pub(super) fn think(&self, text: &str) {
        let mut kept = self.lock();
        if !kept.speech.text.is_empty() {
            self.finish_speech(&mut kept);
        }
        kept.speech.reasoning.push(text);
    }

    /// Sends pending text, except for an ending that could be the start of a secret.
    pub(super) fn flush(&self) {
        let mut kept = self.lock();
        for update in kept.speech.ready() {
            self.put(&mut kept, update);
        }
    }

    fn finish_speech(&self, kept: &mut StoredLog) {
        for update in kept.speech.finish() {
            self.put(kept, update);
        }
    }

    fn put(&self, kept: &mut StoredLog, update: TaskUpdate) {
        if kept.is_over {
            return;
        }
        let sequence = kept.last() + 1;
        let is_over = update.is_terminal();
        let message = TaskMessage {
            task: self.task.to_string(),
            session: self.session.to_string(),
            sequence,
            at: (self.clock)().to_string(),
            update,
        };
        // Protocol types have only string keys, so serialization cannot fail.
        let text = serde_json::to_string(&message).unwrap_or_default();
        let texts = [text];
        let stored = kept.state.append_messages(&self.task, sequence, &texts, is_over);
        let stored = stored.ok().and_then(|texts| texts.into_iter().next());
        // Connected clients receive the message even if it cannot be stored.
        let [text] = texts;
        let line: Arc<str> = stored.unwrap_or_else(|| kept.words.redact(&text).into_owned()).into();
        kept.is_over = is_over;
        kept.keep(line);
        self.latest.send_replace(sequence);
    }

    fn behind(&self, seen: u64) -> Backlog {
        let kept = self.lock();
        if kept.last() <= seen {
            return if kept.is_over { Backlog::Over } else { Backlog::Nothing };
        }
        match usize::try_from(seen + 1 - kept.first.min(seen + 1)) {
            Ok(skip) if kept.first <= seen + 1 => {
                Backlog::Lines(kept.lines.iter().skip(skip).cloned().collect())
            }
            _ => Backlog::Stored,
        }
    }

    pub(super) fn n_lines(&self) -> u64 {
        self.lock().last()
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }
}

impl StoredLog {
    fn last(&self) -> u64 {
        self.first + self.lines.len() as u64 - 1
    }

    fn keep(&mut self, line: Arc<str>) {
        self.bytes += line.len();
        self.lines.push_back(line);
        while MAX_LINES < self.lines.len() || MAX_BYTES < self.bytes {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.bytes -= oldest.len();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests;

const PAGE: usize = 256;

const POLL: Duration = Duration::from_millis(150);

/// The database marks a task as ended shortly before its last message is written. A client that
/// never sees this message stops after this many checks.
const LOOKS_AFTER_END: usize = 20;

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
    let mut changes = log.changes();
    let mut seen = after;
    loop {
        match log.behind(seen) {
            Backlog::Lines(lines) => {
                for line in lines {
                    if out.send(line).await.is_err() {
                        return;
                    }
                    seen += 1;
                }
            }
            Backlog::Stored => match page(chats, &log.task, seen).await {
                Ok(messages) if !messages.is_empty() => {
                    if !send(messages, &mut seen, out).await {
                        return;
                    }
                }
                // These lines are no longer in memory. Continue with the remaining lines.
                Ok(_) | Err(_) => seen = seen.max(log.n_lines().saturating_sub(1)),
            },
            Backlog::Nothing => {
                tokio::select! {
                    changed = changes.changed() => if changed.is_err() { return },
                    () = out.closed() => return,
                }
            }
            Backlog::Over => return,
        }
    }
}

async fn follow_state(chats: &Arc<ChatShared>, task: &TaskId, after: u64, out: &Sender<Arc<str>>) {
    let mut seen = after;
    let mut n_looks_after_end = 0;
    while n_looks_after_end < LOOKS_AFTER_END {
        let Ok(messages) = page(chats, task, seen).await else { return };
        if !messages.is_empty() {
            if !send(messages, &mut seen, out).await {
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

async fn send(messages: Vec<MessageRecord>, seen: &mut u64, out: &Sender<Arc<str>>) -> bool {
    for message in messages {
        if out.send(message.text.into()).await.is_err() || message.is_last {
            return false;
        }
        *seen = message.sequence;
    }
    true
}

async fn page(chats: &Arc<ChatShared>, task: &TaskId, after: u64) -> Result<Vec<MessageRecord>> {
    let task = task.clone();
    chats
        .call(CallOrigin::default(), move |host| {
            Ok(open_state(host)?.messages_after(&task, after, PAGE)?)
        })
        .await
}

/// First ends tasks whose processes are no longer running.
async fn is_ended(chats: &Arc<ChatShared>, task: &TaskId) -> bool {
    let task = task.clone();
    let looked = chats.call(CallOrigin::default(), move |host| {
        let mut state = open_state(host)?;
        recover(host, &mut state)?;
        Ok(state.task(&task)?.state.is_terminal())
    });
    looked.await.unwrap_or(true)
}

pub(super) async fn count(chats: &Arc<ChatShared>, task: &TaskId) -> Result<u64> {
    let mut n_messages = 0;
    loop {
        let messages = page(chats, task, n_messages).await?;
        match messages.last() {
            Some(last) => n_messages = last.sequence,
            None => return Ok(n_messages),
        }
    }
}
