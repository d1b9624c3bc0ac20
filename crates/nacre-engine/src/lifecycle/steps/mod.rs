//! Runs any agent: resolves the spec, prepares the request, takes steps, and finishes.
//!
//! A run always returns an outcome, never an error, and ends its task exactly once.

mod compact;
mod generate;
mod react;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::lifecycle::completion::{answer_tool, signal_tool};
use crate::lifecycle::context::tokens_in;
use crate::lifecycle::steps::generate::Run;
use crate::lifecycle::steps::react::Repeats;
use crate::lifecycle::{
    AgentSpec, Attachment, Completion, Conversation, Item, RunControl, TooLong, Turn, TurnEnd,
};
use crate::model::{
    Cost, EffortChoice, Limits, ModelError, ModelRef, Models, RetryPolicy, RolesError, Route,
    StopReason, ToolDef, Usage,
};
use crate::record::{
    CancelledBy, Clock, Event, Events, Failure, RunEffects, RunFacts, Signal, TaskState,
};
use crate::tools::{ActiveSkills, Pipeline};

#[derive(Clone, Copy)]
pub struct Engine<'a> {
    pub models: &'a Models,
    pub policy: &'a RetryPolicy,
    pub limits: &'a Limits,
    pub clock: &'a Clock,
}

pub type CheckpointError = Box<dyn std::error::Error + Send + Sync>;

/// Saves the items that a run adds to its conversation. If saving fails, the run ends as
/// `failed(internal)`.
pub type Checkpoint<'a> = dyn Fn(&[Item]) -> Result<(), CheckpointError> + Send + Sync + 'a;

pub struct Job<'a> {
    pub spec: &'a AgentSpec,
    pub history: Conversation,
    pub asked: &'a str,
    pub attachments: Vec<Attachment>,
    /// Saves the conversation. `None` if the conversation is not stored.
    pub checkpoint: Option<&'a Checkpoint<'a>>,
    pub events: Events,
    /// Skills activated by the agent's tools. A skill may remove tools.
    pub skills: Option<Arc<ActiveSkills>>,
    pub children: Arc<AtomicU32>,
    pub seed: u64,
}

/// Runs a job. `tools` must be the spec's tools, limited by its permissions and budgets.
pub async fn run(
    engine: Engine<'_>,
    job: Job<'_>,
    tools: &mut Pipeline,
    control: &RunControl,
) -> Outcome {
    let begun = Instant::now();
    let mut job = job;
    tools.leave_out(engine.models.words());
    let terminal = Terminal { events: job.events.clone(), is_over: false };
    job.events.emit(Event::TaskState(TaskState::Running));
    let control = control.within(job.spec.budgets.wall);
    let mut progress = begin(&mut job);
    let prepared = progress.save(&job).and_then(|()| prepare(engine, &job, tools));
    let ending = match prepared {
        Ok(prepared) => {
            let run = Run {
                engine,
                job: &job,
                tools,
                control: &control,
                prepared,
                progress: &mut progress,
            };
            run.generate().await
        }
        Err(error) => Ending::Failed(error),
    };
    let ending = progress.close(&job, ending);
    progress.children = job.children.load(Ordering::Relaxed);
    let unheard = control.close_steering();
    let facts = progress.facts(tools.tally(), begun.elapsed());
    terminal.end(&ending, &facts);
    let effects = tools.tally().clone();
    let Progress { text, answer, doubts, rejected, conversation, .. } = progress;
    Outcome { ending, text, answer, doubts, rejected, effects, facts, conversation, unheard }
}

fn begin(job: &mut Job<'_>) -> Progress {
    let attachments = std::mem::take(&mut job.attachments);
    let turn = Turn { attachments, ..Turn::new(job.asked) };
    let mut progress = Progress {
        conversation: std::mem::take(&mut job.history),
        cost: Some(Cost::default()),
        unsaved: vec![turn.opening_item()],
        ..Progress::default()
    };
    progress.conversation.turns.push(turn);
    progress
}

#[derive(Debug)]
pub struct Outcome {
    pub ending: Ending,
    /// The agent's last text, even if the run failed.
    pub text: String,
    pub answer: Option<Value>,
    /// Problems that validators found in the accepted answer.
    pub doubts: Vec<String>,
    /// The last rejected answer, parts of which may be valid.
    pub rejected: Option<Value>,
    pub effects: RunEffects,
    pub facts: RunFacts,
    pub conversation: Conversation,
    pub unheard: Vec<String>,
}

#[derive(Debug)]
pub enum Ending {
    Completed { signal: Signal, reason: Option<String> },
    Failed(RunError),
    Cancelled(CancelledBy),
}

impl Ending {
    fn done() -> Self {
        Self::Completed { signal: Signal::Done, reason: None }
    }

    fn words(&self) -> Option<String> {
        match self {
            Self::Completed { signal: _, reason } => reason.clone(),
            Self::Failed(error) => Some(error.to_string()),
            Self::Cancelled(_) => None,
        }
    }

    pub fn state(&self) -> TaskState {
        match self {
            Self::Completed { signal, reason: _ } => TaskState::Completed { signal: *signal },
            Self::Failed(error) => TaskState::Failed { why: error.failure() },
            Self::Cancelled(by) => TaskState::Cancelled { by: *by },
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Roles(#[from] RolesError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("The model refused to answer")]
    Refused,
    #[error("The provider withheld the answer")]
    Filtered,
    #[error("The model stopped for an unknown reason: {0}")]
    Stopped(String),
    #[error("The model returned two empty answers")]
    Empty,
    #[error("The model invented a tool result twice")]
    MadeUpResult,
    #[error("The answer exceeded {max_tokens} tokens twice")]
    CutOff { max_tokens: u32 },
    #[error("The answer was rejected: {}", faults.join("; "))]
    Invalid { faults: Vec<String> },
    #[error("No answer after {steps} steps")]
    OutOfSteps { steps: u32 },
    #[error("The run exceeded its time limit")]
    OutOfTime,
    #[error("The conversation is too long for the model")]
    TooLong(#[source] TooLong),
    #[error("The conversation could not be saved")]
    Checkpoint(#[source] CheckpointError),
}

impl RunError {
    pub fn failure(&self) -> Failure {
        match self {
            Self::Roles(_) => Failure::Unusable,
            Self::Model(_) | Self::Stopped(_) => Failure::Model,
            Self::Refused | Self::Filtered => Failure::Refused,
            Self::Empty | Self::MadeUpResult | Self::CutOff { .. } | Self::Invalid { .. } => {
                Failure::Output
            }
            Self::OutOfSteps { .. } | Self::TooLong(_) => Failure::Budget,
            Self::OutOfTime => Failure::Deadline,
            Self::Checkpoint(_) => Failure::Internal,
        }
    }

    /// Returns the error for a response that stopped early, or `None` if it ended normally.
    fn of_stop(stop: &StopReason) -> Option<Self> {
        match stop {
            StopReason::Refusal => Some(Self::Refused),
            StopReason::ContentFilter => Some(Self::Filtered),
            StopReason::End
            | StopReason::ToolUse
            | StopReason::MaxTokens
            | StopReason::ContextFull
            | StopReason::Other(_) => None,
        }
    }
}

#[derive(Debug, Default)]
struct Progress {
    steps: u32,
    model_calls: u32,
    usage: Option<Usage>,
    /// Total cost, or `None` if any response's cost is unknown.
    cost: Option<Cost>,
    model_us: u64,
    tool_us: u64,
    calls_are_spent: bool,
    narrowing: Option<BTreeSet<String>>,
    repeats: Repeats,
    /// Whether the next request is for the final answer, without tools.
    asks_finally: bool,
    said_nothing: bool,
    made_up_result: bool,
    was_cut_off: bool,
    repairs: usize,
    children: u32,
    text: String,
    answer: Option<Value>,
    doubts: Vec<String>,
    rejected: Option<Value>,
    conversation: Conversation,
    kept_step: u32,
    partial: String,
    cannot_sum_up: bool,
    unsaved: Vec<Item>,
}

impl Progress {
    fn save(&mut self, job: &Job<'_>) -> Result<(), RunError> {
        let items = std::mem::take(&mut self.unsaved);
        match job.checkpoint {
            Some(checkpoint) if !items.is_empty() => {
                checkpoint(&items).map_err(RunError::Checkpoint)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Stores the end of the turn. If this fails, the run fails.
    fn close(&mut self, job: &Job<'_>, ending: Ending) -> Ending {
        let partial = std::mem::take(&mut self.partial);
        let was_stopped = matches!(ending, Ending::Cancelled(_)) || !partial.is_empty();
        let end = TurnEnd { state: ending.state(), text: ending.words() };
        if matches!(ending, Ending::Cancelled(_)) && !partial.is_empty() {
            self.text.clone_from(&partial);
        }
        if let Some(turn) = self.conversation.turns.last_mut() {
            turn.interrupted = was_stopped.then(|| partial.clone());
            turn.end = Some(end.clone());
        }
        if was_stopped {
            self.unsaved.push(Item::Interrupted { text: partial });
        }
        self.unsaved.push(Item::End(end));
        match self.save(job) {
            Ok(()) => ending,
            Err(error) => Ending::Failed(error),
        }
    }

    fn facts(&self, effects: &RunEffects, wall: Duration) -> RunFacts {
        RunFacts {
            steps: self.steps,
            model_calls: self.model_calls,
            tool_calls: effects.tool_calls,
            failed_calls: effects.failed_calls,
            denied_calls: effects.denied_calls,
            usage: self.usage.unwrap_or_default(),
            cost: self.cost,
            model_us: self.model_us,
            tool_us: self.tool_us,
            wall_us: u64::try_from(wall.as_micros()).unwrap_or(u64::MAX),
            n_changed: effects.changed.len(),
            children: self.children,
        }
    }
}

struct Prepared {
    route: Route,
    model: ModelRef,
    max_tokens: u32,
    temperature: Option<f32>,
    effort: Option<EffortChoice>,
    context_tokens: usize,
    tools: Vec<ToolDef>,
    room: usize,
}

fn prepare(engine: Engine<'_>, job: &Job<'_>, pipeline: &Pipeline) -> Result<Prepared, RunError> {
    let spec = job.spec;
    let settings = engine.models.settings_of(spec.role)?;
    // Settings can lower the answer limit but not raise it. The context window is taken from the
    // settings, because it depends on the model.
    let (most, window) = (spec.budgets.answer_tokens, spec.budgets.context_tokens);
    let mut prepared = Prepared {
        route: engine.models.route(spec.role)?,
        model: settings.model.clone(),
        max_tokens: settings.max_tokens.map_or(most, |set| set.min(most)),
        temperature: settings.temperature,
        effort: settings.effort,
        context_tokens: settings.context_tokens.unwrap_or(window),
        tools: Vec::new(),
        room: 0,
    };
    prepared.tools = collect_tools(job, pipeline, &prepared);
    let described: usize = prepared.tools.iter().map(tool_tokens).sum();
    let tokens = tokens_in(&spec.prompt) + described + prepared.max_tokens as usize;
    let room = prepared.context_tokens;
    prepared.room = room.saturating_sub(tokens);
    if prepared.room == 0 {
        return Err(RunError::TooLong(TooLong { tokens, room }));
    }
    job.events.emit_with(|| Event::RunPrepare {
        agent: spec.name.into(),
        model: prepared.model.clone(),
        n_tools: prepared.tools.len(),
    });
    Ok(prepared)
}

fn collect_tools(job: &Job<'_>, pipeline: &Pipeline, prepared: &Prepared) -> Vec<ToolDef> {
    let mut tools = pipeline.tools();
    if prepared.context_tokens < SMALL_WINDOW {
        tools.iter_mut().for_each(shorten);
    }
    match &job.spec.completion {
        Completion::EndTurn { signals: true } => tools.push(signal_tool()),
        // If there are no other tools, the model is asked for structured output directly.
        Completion::Structured { output, .. } if !tools.is_empty() => {
            tools.push(answer_tool(output));
        }
        Completion::EndTurn { signals: false } | Completion::Structured { .. } => {}
    }
    tools
}

fn tool_tokens(tool: &ToolDef) -> usize {
    tokens_in(&tool.name) + tokens_in(&tool.description) + tokens_in(&tool.schema.to_string())
}

pub const SMALL_WINDOW: usize = 24_000;

/// Tool parameters and list item fields that are offered to small models.
const PARAMETERS: &[(&str, &[&str])] = &[
    ("file_create", &["path", "content"]),
    ("file_edit", &["path", "edits", "find", "replace"]),
    ("file_find", &["pattern", "under"]),
    ("file_read", &["path"]),
    ("file_search", &["pattern", "under"]),
    ("shell_run", &["argv", "script"]),
];

/// Removes rarely needed parts from a tool definition.
fn shorten(tool: &mut ToolDef) {
    if let Some((_, parameters)) = PARAMETERS.iter().find(|(name, _)| *name == tool.name) {
        keep_parameters(&mut tool.schema, parameters);
    }
}

fn keep_parameters(schema: &mut serde_json::Value, parameters: &[&str]) {
    let Some(properties) = schema.get_mut("properties").and_then(|of| of.as_object_mut()) else {
        return;
    };
    properties.retain(|name, _| parameters.contains(&name.as_str()));
    for property in properties.values_mut() {
        if let Some(items) = property.get_mut("items") {
            keep_parameters(items, parameters);
        }
    }
}

/// Emits the end of a run, even if its future is dropped.
struct Terminal {
    events: Events,
    is_over: bool,
}

impl Terminal {
    fn end(mut self, ending: &Ending, facts: &RunFacts) {
        self.is_over = true;
        if let Ending::Failed(error) = ending {
            self.events.emit(Event::Error { what: error.to_string().into(), hint: None });
        }
        self.events.emit(Event::RunSummary(Box::new(facts.clone())));
        self.events.emit(Event::TaskState(ending.state()));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if !self.is_over {
            let by = CancelledBy::Disconnect;
            self.events.emit(Event::RunCancel { by });
            self.events.emit(Event::TaskState(TaskState::Cancelled { by }));
        }
    }
}

#[cfg(test)]
mod parameter_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_seldom_needed_is_left_out() {
        let schema = json!({ "properties": {
            "path": {}, "version": {},
            "edits": { "items": { "properties": { "find": {}, "replace": {}, "after_line": {} } } },
        } });
        let (name, description) = ("file_edit".to_owned(), String::new());
        let mut tool = ToolDef { name, description, schema };
        shorten(&mut tool);
        let expected = json!({ "properties": {
            "path": {}, "edits": { "items": { "properties": { "find": {}, "replace": {} } } },
        } });
        assert_eq!(tool.schema, expected);
    }
}
