//! What a task tells its clients: numbered, stored, and then handed on, in that order.
//!
//! A message is stored before anybody sees it, and what is sent are the very bytes that were stored. Whoever was away
//! gets the same lines again, from memory while the task lives and from the state afterwards.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nacre_api::wire::{TaskMessage, TaskUpdate};
use nacre_core::base::redact::{ExtraWords, LiveRedactor, LiveText};
use nacre_engine::record::state::{MessageEnd, NewMessages, State};
use nacre_engine::record::{Clock, SessionId, TaskId};
use tokio::sync::watch;

/// Lines that a living task keeps in memory; older ones are read from the state.
const MAX_LINES: usize = 2048;
const MAX_BYTES: usize = 4 << 20;

/// The messages of one task of this process.
pub(super) struct TaskLog {
    pub(super) task: TaskId,
    pub(super) session: SessionId,
    clock: Clock,
    kept: Mutex<Kept>,
    latest: watch::Sender<u64>,
    n_followers: AtomicUsize,
}

struct Kept {
    state: State,
    words: ExtraWords,
    /// The number of the first line in memory.
    first: u64,
    lines: VecDeque<Arc<str>>,
    bytes: usize,
    is_over: bool,
    /// Words that came and were not told yet.
    speech: Speech,
}

/// Words of a model on their way: joined so that not every token is a message, and held back while they may be a part of
/// a secret, which one message alone would not show.
struct Speech {
    text: LiveRedactor,
    reasoning: LiveRedactor,
    /// What was told of the text in this step before it was interrupted by something else.
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

    /// What is told of the next piece of text.
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

    /// The same of what it thinks. There is no message that takes a thought back; the item has it as it should be.
    fn reasoning(text: LiveText) -> Option<TaskUpdate> {
        match text {
            LiveText::Nothing | LiveText::Instead(_) => None,
            LiveText::More(text) => Some(TaskUpdate::Reasoning { text }),
        }
    }

    /// What may be told now.
    fn ready(&mut self) -> Vec<TaskUpdate> {
        let thought = Self::reasoning(self.reasoning.ready());
        let text = self.text.ready();
        thought.into_iter().chain(self.text(text)).collect()
    }

    /// Everything that is left, because something else comes.
    fn finish(&mut self) -> Vec<TaskUpdate> {
        let thought = Self::reasoning(self.reasoning.finish());
        let text = self.text.finish();
        let left = thought.into_iter().chain(self.text(text)).collect();
        self.told_before.push_str(&std::mem::take(&mut self.told));
        left
    }

    /// A step of its own begins, or what was said is void.
    fn begin_step(&mut self, said: &str) {
        self.told_before = said.to_owned();
    }
}

/// What there is behind a number.
pub(super) enum Behind {
    Lines(Vec<Arc<str>>),
    /// They are not in memory any more; the state has them.
    Stored,
    /// Nothing yet.
    Nothing,
    /// Nothing, and nothing will come.
    Over,
}

impl TaskLog {
    /// `words` are those of the project that nobody is sent.
    pub(super) fn new(
        (task, session): (TaskId, SessionId),
        state: State,
        words: ExtraWords,
        clock: Clock,
    ) -> Self {
        let state = state.without_words(words.clone());
        let kept = Kept {
            state,
            speech: Speech::new(&words),
            words,
            first: 1,
            lines: VecDeque::new(),
            bytes: 0,
            is_over: false,
        };
        let latest = watch::Sender::new(0);
        Self {
            task,
            session,
            clock,
            kept: Mutex::new(kept),
            latest,
            n_followers: AtomicUsize::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells something, after the words that came before it. Nothing is told after the end.
    pub(super) fn tell(&self, update: TaskUpdate) {
        let mut kept = self.lock();
        self.finish_speech(&mut kept);
        if let TaskUpdate::TextReplaced { text } = &update {
            kept.speech.begin_step(text);
        } else if matches!(update, TaskUpdate::Step { .. }) {
            kept.speech.begin_step("");
        }
        self.put(&mut kept, update);
    }

    /// Takes words of the model; they are told with the next flush.
    pub(super) fn say(&self, text: &str) {
        let mut kept = self.lock();
        if !kept.speech.reasoning.is_empty() {
            self.finish_speech(&mut kept);
        }
        kept.speech.text.push(text);
    }

    /// The same for what it thinks.
    pub(super) fn think(&self, text: &str) {
        let mut kept = self.lock();
        if !kept.speech.text.is_empty() {
            self.finish_speech(&mut kept);
        }
        kept.speech.reasoning.push(text);
    }

    /// Tells the words that came since the last time, as far as they cannot be the beginning of a secret.
    pub(super) fn flush(&self) {
        let mut kept = self.lock();
        for update in kept.speech.ready() {
            self.put(&mut kept, update);
        }
    }

    fn finish_speech(&self, kept: &mut Kept) {
        for update in kept.speech.finish() {
            self.put(kept, update);
        }
    }

    fn put(&self, kept: &mut Kept, update: TaskUpdate) {
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
        // Wire types have only text as keys, so that writing them cannot fail.
        let text = serde_json::to_string(&message).unwrap_or_default();
        let end = if is_over { MessageEnd::Last } else { MessageEnd::MoreFollow };
        let texts = [text];
        let new = NewMessages { task: &self.task, first: sequence, texts: &texts, end };
        let stored =
            kept.state.append_messages(new).ok().and_then(|texts| texts.into_iter().next());
        // A state that cannot be written takes nothing away from those who are there.
        let [text] = texts;
        let line: Arc<str> = stored.unwrap_or_else(|| kept.words.redact(&text).into_owned()).into();
        kept.is_over = is_over;
        kept.keep(line);
        self.latest.send_replace(sequence);
    }

    /// The lines behind a number.
    pub(super) fn behind(&self, seen: u64) -> Behind {
        let kept = self.lock();
        if kept.last() <= seen {
            return if kept.is_over { Behind::Over } else { Behind::Nothing };
        }
        match usize::try_from(seen + 1 - kept.first.min(seen + 1)) {
            Ok(skip) if kept.first <= seen + 1 => {
                Behind::Lines(kept.lines.iter().skip(skip).cloned().collect())
            }
            _ => Behind::Stored,
        }
    }

    /// How many lines there are.
    pub(super) fn n_lines(&self) -> u64 {
        self.lock().last()
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }

    /// Somebody who could answer a question.
    pub(super) fn follower(self: &Arc<Self>) -> Follower {
        self.n_followers.fetch_add(1, Ordering::Relaxed);
        Follower { log: Arc::clone(self) }
    }

    pub(super) fn n_followers(&self) -> usize {
        self.n_followers.load(Ordering::Relaxed)
    }
}

impl Kept {
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

/// A place among those who follow a task, given back when it is dropped.
pub(super) struct Follower {
    pub(super) log: Arc<TaskLog>,
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.log.n_followers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
