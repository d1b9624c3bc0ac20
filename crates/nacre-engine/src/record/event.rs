//! What a task tells while it runs: one closed list of events, numbered per task.
//!
//! Whoever emits does not know who hears. An event is built for storage: every text in it is cut to a bound by its
//! type, and what may be long, the words of a model as they come, is in the one kind that is handed to listeners and
//! never stored.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use nacre_core::base::redact::redact;
use serde::{Deserialize, Serialize};

use super::tasks::{CancelledBy, Signal, TaskId, TaskState};
use crate::model::{Cost, ModelRef, StopReason, Usage};
use crate::record::{Category, Change, Fault, FilePatch};

/// Something that happened in a task. Names are stable: they stand in databases, logs and scripts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event")]
pub enum Event {
    /// The task is in another state; the last one that a task tells.
    #[serde(rename = "task.state")]
    TaskState(TaskState),
    #[serde(rename = "run.prepare")]
    RunPrepare { agent: BoundedText, model: ModelRef, n_tools: usize },
    #[serde(rename = "context.plan")]
    ContextPlan { kept: usize, shortened: usize, dropped: usize, tokens: usize, limit: usize },
    /// The beginning of the conversation was replaced by a summary.
    #[serde(rename = "context.summary")]
    ContextSummary {
        /// How many turns it covers, and steps of the turn behind them.
        n_turns: usize,
        n_steps: usize,
        tokens_before: usize,
        tokens_after: usize,
        duration_us: u64,
    },
    #[serde(rename = "step.start")]
    StepStart { step: u32 },
    #[serde(rename = "step.end")]
    StepEnd { step: u32, n_calls: usize, duration_us: u64 },
    #[serde(rename = "model.call")]
    ModelCall { step: u32, model: ModelRef },
    /// A piece of an answer, as it comes.
    #[serde(rename = "model.delta")]
    ModelDelta { kind: DeltaKind, text: String },
    #[serde(rename = "model.retry")]
    ModelRetry { step: u32, why: BoundedText, wait_ms: u64 },
    #[serde(rename = "model.fallback")]
    ModelFallback { step: u32, why: BoundedText, to: ModelRef },
    #[serde(rename = "model.finish")]
    ModelFinish(Box<ModelFacts>),
    #[serde(rename = "model.error")]
    ModelError { step: u32, model: ModelRef, why: BoundedText, duration_us: u64 },
    /// Joined to its result by `call`, for calls run side by side.
    #[serde(rename = "tool.call")]
    ToolCall { step: u32, call: BoundedText, tool: BoundedText, arguments: BoundedText },
    #[serde(rename = "tool.result")]
    ToolResult(Box<ToolFacts>),
    /// What the call did to files, for whoever watches.
    #[serde(rename = "tool.patches")]
    ToolPatches { call: BoundedText, patches: Vec<FilePatch> },
    #[serde(rename = "tool.denied")]
    ToolDenied { call: BoundedText, tool: BoundedText, why: BoundedText },
    /// A person is asked whether a call may be made.
    #[serde(rename = "approval.request")]
    ApprovalRequest { call: BoundedText, tool: BoundedText, summary: BoundedText },
    #[serde(rename = "approval.decision")]
    ApprovalDecision {
        call: BoundedText,
        tool: BoundedText,
        decision: ApprovalDecision,
        why: Option<BoundedText>,
    },
    /// Most of the budget is spent.
    #[serde(rename = "budget.notice")]
    BudgetNotice { used: u32, limit: u32 },
    /// Nothing of it is left.
    #[serde(rename = "budget.block")]
    BudgetBlock { limit: u32 },
    #[serde(rename = "effect.end")]
    EffectEnd { call: BoundedText, effect: BoundedText, outcome: EffectOutcome, duration_us: u64 },
    #[serde(rename = "agent.spawn")]
    AgentSpawn { child: TaskId, agent: BoundedText },
    #[serde(rename = "agent.end")]
    AgentEnd { child: TaskId, state: TaskState },
    #[serde(rename = "skill.on")]
    SkillOn { skill: BoundedText },
    /// What the agent said about its end, and what the host made of it.
    #[serde(rename = "signal.verdict")]
    SignalVerdict { said: Signal, taken_as: Signal, why: Option<BoundedText> },
    /// The end was not accepted, and the agent was told why.
    #[serde(rename = "completion.reopen")]
    CompletionReopen { attempt: u32, why: BoundedText },
    #[serde(rename = "run.yield")]
    RunYield { step: u32 },
    #[serde(rename = "run.cancel")]
    RunCancel { by: CancelledBy },
    /// A person said something while the agent worked, and it was told behind this step.
    #[serde(rename = "run.steer")]
    RunSteer { step: u32, text: BoundedText },
    #[serde(rename = "notice")]
    Notice { text: BoundedText },
    #[serde(rename = "error")]
    Error { what: BoundedText, hint: Option<BoundedText> },
    #[serde(rename = "run.summary")]
    RunSummary(Box<RunFacts>),
    /// The writer fell behind, and this many events were not kept.
    #[serde(rename = "events.lost")]
    EventsLost { n_events: u64 },
}

/// What a delta is a piece of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeltaKind {
    Text,
    Reasoning,
    /// The text so far held tool calls; this is what remains of all of it.
    Replacement,
}

/// One answered model call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelFacts {
    pub step: u32,
    pub model: ModelRef,
    pub stop: StopReason,
    pub usage: Usage,
    /// Unknown for a model without a price, which is not the same as nothing.
    pub cost: Option<Cost>,
    pub first_token_us: Option<u64>,
    pub duration_us: u64,
}

/// One tool call that came back, well or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolFacts {
    pub step: u32,
    pub call: BoundedText,
    pub tool: BoundedText,
    /// None for a tool that does not exist.
    pub category: Option<Category>,
    pub fault: Option<Fault>,
    pub cache: CacheUse,
    pub duration_us: u64,
    /// Bytes of the arguments.
    pub bytes_in: u64,
    /// Bytes of the whole output, and of what the model was shown of it.
    pub bytes_out: u64,
    pub shown_bytes: u64,
    /// The first files that changed, and how many did.
    pub changed: Vec<Change>,
    pub n_changed: usize,
}

impl ToolFacts {
    /// More paths than this are counted, not listed.
    pub const MAX_CHANGED: usize = 20;
}

/// Whether an answer was known already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheUse {
    /// Calls like this are never kept.
    Off,
    Miss,
    Hit,
}

impl CacheUse {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Miss => "miss",
            Self::Hit => "hit",
        }
    }
}

/// What an effect did after a tool changed a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectOutcome {
    Clean,
    Changed,
    /// The model was told what it found.
    Complained,
    Failed,
    TimedOut,
}

/// What became of a question to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    Once,
    /// Calls like it are not asked about again.
    Session,
    /// It is like one that was allowed for the session.
    Remembered,
    Denied,
}

/// A whole run in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    pub steps: u32,
    pub model_calls: u32,
    pub tool_calls: u32,
    pub failed_calls: u32,
    pub denied_calls: u32,
    pub cache_hits: u32,
    pub usage: Usage,
    pub cost: Option<Cost>,
    pub model_us: u64,
    pub tool_us: u64,
    pub wall_us: u64,
    pub n_changed: usize,
    pub children: u32,
}

impl Event {
    /// The stable name; also the `event` of its JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TaskState(_) => "task.state",
            Self::RunPrepare { .. } => "run.prepare",
            Self::ContextPlan { .. } => "context.plan",
            Self::ContextSummary { .. } => "context.summary",
            Self::StepStart { .. } => "step.start",
            Self::StepEnd { .. } => "step.end",
            Self::ModelCall { .. } => "model.call",
            Self::ModelDelta { .. } => "model.delta",
            Self::ModelRetry { .. } => "model.retry",
            Self::ModelFallback { .. } => "model.fallback",
            Self::ModelFinish(_) => "model.finish",
            Self::ModelError { .. } => "model.error",
            Self::ToolCall { .. } => "tool.call",
            Self::ToolResult(_) => "tool.result",
            Self::ToolPatches { .. } => "tool.patches",
            Self::ToolDenied { .. } => "tool.denied",
            Self::ApprovalRequest { .. } => "approval.request",
            Self::ApprovalDecision { .. } => "approval.decision",
            Self::BudgetNotice { .. } => "budget.notice",
            Self::BudgetBlock { .. } => "budget.block",
            Self::EffectEnd { .. } => "effect.end",
            Self::AgentSpawn { .. } => "agent.spawn",
            Self::AgentEnd { .. } => "agent.end",
            Self::SkillOn { .. } => "skill.on",
            Self::SignalVerdict { .. } => "signal.verdict",
            Self::CompletionReopen { .. } => "completion.reopen",
            Self::RunYield { .. } => "run.yield",
            Self::RunCancel { .. } => "run.cancel",
            Self::RunSteer { .. } => "run.steer",
            Self::Notice { .. } => "notice",
            Self::Error { .. } => "error",
            Self::RunSummary(_) => "run.summary",
            Self::EventsLost { .. } => "events.lost",
        }
    }

    /// Whether it is kept; what is not goes to listeners only.
    pub fn is_stored(&self) -> bool {
        !matches!(self, Self::ModelDelta { .. } | Self::ToolPatches { .. })
    }

    /// Whether it holds a text of somebody else's that is no `BoundedText`, and so may hold a secret.
    pub fn has_foreign_text(&self) -> bool {
        let has_own_words =
            matches!(self, Self::ModelFinish(facts) if matches!(facts.stop, StopReason::Other(_)));
        has_own_words || matches!(self, Self::ToolResult(facts) if !facts.changed.is_empty())
    }

    /// Whether it is the last one of its task.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::TaskState(state) if state.is_terminal())
    }
}

/// A text that can be kept with an event: it is short, and secrets were taken out of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct BoundedText(String);

impl BoundedText {
    pub const MAX_BYTES: usize = 1024;

    /// Takes the text, or its beginning with `…` behind it.
    pub fn new(text: &str) -> Self {
        // Looked through beyond the cut, so that no half of a secret is left before it.
        let text = redact(&text[..text.floor_char_boundary(2 * Self::MAX_BYTES)]);
        if text.len() <= Self::MAX_BYTES {
            return Self(text.into_owned());
        }
        let end = text.floor_char_boundary(Self::MAX_BYTES - '…'.len_utf8());
        Self(format!("{}…", &text[..end]))
    }

    pub fn as_str(&self) -> &str {
        &self.0
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

impl fmt::Display for BoundedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An event with its place in its task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub task: TaskId,
    /// Without gaps from 1 for what is stored; what is not has the number of what was stored before it.
    pub sequence: u64,
    pub at: Timestamp,
    #[serde(flatten)]
    pub event: Event,
}

/// Hears events as they happen. It must not block for long: the task waits for it.
pub trait Listener: Send + Sync {
    fn hear(&self, record: &Arc<Record>);
}

/// Where the time comes from.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Sends the events of one task. Clones speak for the same task and share its numbers.
#[derive(Clone)]
pub struct Events {
    task: TaskId,
    shared: Arc<SharedListeners>,
    sequence: Arc<Mutex<Sequence>>,
}

/// What all tasks of a run share.
struct SharedListeners {
    listeners: Vec<Arc<dyn Listener>>,
    clock: Clock,
}

#[derive(Debug, Default)]
struct Sequence {
    last: u64,
    is_over: bool,
    n_late: u64,
}

impl Events {
    pub fn new(task: TaskId, clock: Clock, listeners: Vec<Arc<dyn Listener>>) -> Self {
        Self {
            task,
            shared: Arc::new(SharedListeners { listeners, clock }),
            sequence: Arc::default(),
        }
    }

    /// Events that nobody hears.
    pub fn silent(task: TaskId) -> Self {
        Self::new(task, Arc::new(|| Timestamp::UNIX_EPOCH), Vec::new())
    }

    /// The events of another task, heard by the same listeners.
    #[must_use]
    pub fn of_task(&self, task: TaskId) -> Self {
        Self { task, shared: Arc::clone(&self.shared), sequence: Arc::default() }
    }

    pub fn task(&self) -> &TaskId {
        &self.task
    }

    /// Numbers the event and hands it to everybody who listens.
    ///
    /// A task is over with its terminal event: what comes later is counted and not told, so that there is never a
    /// second end.
    pub fn emit(&self, event: Event) {
        let mut sequence = self.sequence.lock().unwrap_or_else(PoisonError::into_inner);
        if sequence.is_over {
            sequence.n_late += 1;
            return;
        }
        sequence.is_over = event.is_terminal();
        if event.is_stored() {
            sequence.last += 1;
        }
        if self.shared.listeners.is_empty() {
            return;
        }
        let at = (self.shared.clock)();
        let record =
            Arc::new(Record { task: self.task.clone(), sequence: sequence.last, at, event });
        // Still under the lock, so that everybody hears in the order of the numbers.
        for listener in &self.shared.listeners {
            listener.hear(&record);
        }
    }

    /// Emits what `make` returns; where nobody listens it is not even made. Not for the end of a task.
    pub fn emit_with(&self, make: impl FnOnce() -> Event) {
        if !self.shared.listeners.is_empty() {
            self.emit(make());
        }
    }

    /// Whether the task told its end.
    pub fn is_over(&self) -> bool {
        self.sequence.lock().unwrap_or_else(PoisonError::into_inner).is_over
    }

    /// How many events came after the end.
    pub fn n_late(&self) -> u64 {
        self.sequence.lock().unwrap_or_else(PoisonError::into_inner).n_late
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_listeners = self.shared.listeners.len();
        f.debug_struct("Events")
            .field("task", &self.task)
            .field("n_listeners", &n_listeners)
            .finish()
    }
}

/// Keeps everything it hears, for tests and for those who look at a run afterwards.
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
