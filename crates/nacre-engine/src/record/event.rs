//! All kinds of task events. Events are numbered per task.
//!
//! The text in stored events is limited in length. Streamed model text can be longer, so it has a
//! separate kind that is sent to listeners but never stored.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use nacre_base::redact::redact;
use nacre_types::FilePatch;
use serde::{Deserialize, Serialize};

use crate::model::{Cost, ModelRef, StopReason, Usage};
use crate::record::tasks::{CancelledBy, Signal, TaskId, TaskState};
use crate::record::{Category, Fault, FileChange};

/// Declares the kinds of events with their stored names.
macro_rules! events {
    ($($(#[$meta:meta])* $name:literal: $kind:ident $fields:tt,)+) => {
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "event")]
        pub enum Event {
            $($(#[$meta])* #[serde(rename = $name)] $kind $fields,)+
        }

        impl Event {
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$kind { .. } => $name,)+
                }
            }
        }
    };
}

events! {
    "task.state": TaskState(TaskState),
    "run.prepare": RunPrepare { agent: BoundedText, model: ModelRef, n_tools: usize },
    "context.plan": ContextPlan {
        kept: usize,
        shortened: usize,
        dropped: usize,
        tokens: usize,
        limit: usize,
    },
    "context.summary": ContextSummary {
        n_turns: usize,
        n_steps: usize,
        tokens_before: usize,
        tokens_after: usize,
        duration_us: u64,
    },
    "step.start": StepStart { step: u32 },
    "step.end": StepEnd { step: u32, n_calls: usize, duration_us: u64 },
    "model.call": ModelCall { step: u32, model: ModelRef },
    "model.delta": ModelDelta { kind: DeltaKind, text: String },
    "model.retry": ModelRetry { step: u32, why: BoundedText, wait_ms: u64 },
    "model.fallback": ModelFallback { step: u32, why: BoundedText, to: ModelRef },
    "model.finish": ModelFinish(Box<ModelFacts>),
    "model.error": ModelError { step: u32, model: ModelRef, why: BoundedText, duration_us: u64 },
    /// `call` identifies the matching result, because calls run concurrently.
    "tool.call": ToolCall {
        step: u32,
        call: BoundedText,
        tool: BoundedText,
        arguments: BoundedText,
    },
    "tool.result": ToolResult(Box<ToolFacts>),
    "tool.patches": ToolPatches { call: BoundedText, patches: Vec<FilePatch> },
    "tool.denied": ToolDenied { call: BoundedText, tool: BoundedText, why: BoundedText },
    "approval.request": ApprovalRequest {
        call: BoundedText,
        tool: BoundedText,
        summary: BoundedText,
    },
    "approval.decision": ApprovalDecision {
        call: BoundedText,
        tool: BoundedText,
        decision: ApprovalDecision,
        why: Option<BoundedText>,
    },
    "budget.notice": BudgetNotice { used: u32, limit: u32 },
    "budget.block": BudgetBlock { limit: u32 },
    "effect.end": EffectEnd {
        call: BoundedText,
        effect: BoundedText,
        outcome: EffectOutcome,
        duration_us: u64,
    },
    "agent.spawn": AgentSpawn { child: TaskId, agent: BoundedText },
    "agent.end": AgentEnd { child: TaskId, state: TaskState },
    "skill.on": SkillOn { skill: BoundedText },
    /// The end state that the agent reported and the one that Nacre accepted.
    "signal.verdict": SignalVerdict { said: Signal, taken_as: Signal, why: Option<BoundedText> },
    "completion.reopen": CompletionReopen { attempt: u32, why: BoundedText },
    "run.cancel": RunCancel { by: CancelledBy },
    "run.steer": RunSteer { step: u32, text: BoundedText },
    "notice": Notice { text: BoundedText },
    "error": Error { what: BoundedText, hint: Option<BoundedText> },
    "run.summary": RunSummary(Box<RunFacts>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeltaKind {
    Text,
    Reasoning,
    /// Text that replaces the previous text, which contained tool calls.
    Replacement,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelFacts {
    pub step: u32,
    pub model: ModelRef,
    pub stop: StopReason,
    pub usage: Usage,
    /// `None` if the price of the model is unknown.
    pub cost: Option<Cost>,
    pub first_token_us: Option<u64>,
    pub duration_us: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolFacts {
    pub step: u32,
    pub call: BoundedText,
    pub tool: BoundedText,
    pub category: Option<Category>,
    pub fault: Option<Fault>,
    pub duration_us: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub shown_bytes: u64,
    pub changed: Vec<FileChange>,
    pub n_changed: usize,
}

impl ToolFacts {
    pub const MAX_CHANGED: usize = 20;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectOutcome {
    Clean,
    Changed,
    Complained,
    Failed,
    TimedOut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    Once,
    /// Similar calls are approved for the rest of the session.
    Session,
    /// Approved because a similar call had been approved for the session.
    Remembered,
    Denied,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    pub steps: u32,
    pub model_calls: u32,
    pub tool_calls: u32,
    pub failed_calls: u32,
    pub denied_calls: u32,
    pub usage: Usage,
    pub cost: Option<Cost>,
    pub model_us: u64,
    pub tool_us: u64,
    pub wall_us: u64,
    pub n_changed: usize,
    pub children: u32,
}

impl Event {
    /// Returns whether the event is stored. Other events are only sent to listeners.
    pub fn is_stored(&self) -> bool {
        !matches!(self, Self::ModelDelta { .. } | Self::ToolPatches { .. })
    }

    /// Returns whether the event contains external text that is not a `BoundedText`, and may
    /// therefore contain a secret.
    pub fn has_foreign_text(&self) -> bool {
        let has_own_words =
            matches!(self, Self::ModelFinish(facts) if matches!(facts.stop, StopReason::Other(_)));
        has_own_words || matches!(self, Self::ToolResult(facts) if !facts.changed.is_empty())
    }

    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::TaskState(state) if state.is_terminal())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct BoundedText(String);

impl BoundedText {
    pub const MAX_BYTES: usize = 1024;

    pub fn new(text: &str) -> Self {
        // Redact beyond the truncation point, so that a secret that straddles it is removed
        // entirely.
        let text = redact(&text[..text.floor_char_boundary(2 * Self::MAX_BYTES)]);
        if text.len() <= Self::MAX_BYTES {
            return Self(text.into_owned());
        }
        let end = text.floor_char_boundary(Self::MAX_BYTES - '…'.len_utf8());
        Self(format!("{}…", &text[..end]))
    }
}

impl From<String> for BoundedText {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

impl From<&str> for BoundedText {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<BoundedText> for String {
    fn from(brief: BoundedText) -> Self {
        brief.0
    }
}

nacre_base::text_type!(BoundedText);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub task: TaskId,
    /// Stored events are numbered from 1 without gaps. An event that is not stored has the number
    /// of the last stored event.
    pub sequence: u64,
    pub at: Timestamp,
    #[serde(flatten)]
    pub event: Event,
}

/// Receives events as they happen. It must return quickly, because it blocks the task.
pub trait Listener: Send + Sync {
    fn hear(&self, record: &Arc<Record>);
}

pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Emits the events of one task. Clones share the task and its numbering.
#[derive(Clone)]
pub struct Events {
    task: TaskId,
    listeners: Arc<[Arc<dyn Listener>]>,
    clock: Clock,
    /// Number of the last stored event, or `None` once the task has ended.
    sequence: Arc<Mutex<Option<u64>>>,
}

impl Events {
    pub fn new(task: TaskId, clock: Clock, listeners: Vec<Arc<dyn Listener>>) -> Self {
        Self { task, listeners: listeners.into(), clock, sequence: Self::begin() }
    }

    pub fn silent(task: TaskId) -> Self {
        Self::new(task, Arc::new(|| Timestamp::UNIX_EPOCH), Vec::new())
    }

    #[must_use]
    pub fn of_task(&self, task: TaskId) -> Self {
        Self { task, sequence: Self::begin(), ..self.clone() }
    }

    fn begin() -> Arc<Mutex<Option<u64>>> {
        Arc::new(Mutex::new(Some(0)))
    }

    pub fn task(&self) -> &TaskId {
        &self.task
    }

    pub fn emit(&self, event: Event) {
        let mut last = self.sequence.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sequence) = last.map(|last| last + u64::from(event.is_stored())) else { return };
        *last = Some(sequence).filter(|_| !event.is_terminal());
        if self.listeners.is_empty() {
            return;
        }
        let at = (self.clock)();
        let record = Arc::new(Record { task: self.task.clone(), sequence, at, event });
        // Notify listeners under the lock, so that all of them get the events in order.
        for listener in self.listeners.iter() {
            listener.hear(&record);
        }
    }

    /// Emits the event that `make` returns. `make` is not called if there are no listeners. Do not
    /// use this function for the event that ends a task.
    pub fn emit_with(&self, make: impl FnOnce() -> Event) {
        if !self.listeners.is_empty() {
            self.emit(make());
        }
    }

    pub fn is_over(&self) -> bool {
        self.sequence.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

nacre_base::debug_only!(Events { task });

#[derive(Debug, Default)]
pub struct Heard(Mutex<Vec<Arc<Record>>>);

impl Heard {
    pub fn records(&self) -> Vec<Arc<Record>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Listener for Heard {
    fn hear(&self, record: &Arc<Record>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(record));
    }
}

#[cfg(test)]
pub(crate) mod tests;
