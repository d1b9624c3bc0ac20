//! The one way that every tool call takes: registry → permission → budget → approval → cache → execute → effects →
//! shape → record.
//!
//! Each stage is a file and reads the same `Footprint`. Nothing a call does can end a run: whatever goes wrong becomes
//! a result that the model reads, with a fault that the host counts.

mod approve;
mod broken;
mod budget;
mod cache;
mod effects;
mod execute;
mod job;
mod patches;
mod permission;
mod record;
mod registry;
mod shape;
mod slim;
mod turn;
mod undo;
mod watch;

#[cfg(test)]
mod approval_tests;
#[cfg(test)]
mod freshness;
#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod turn_tests;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_core::base::redact::ExtraWords;
use nacre_core::safefs::FsError;

pub use budget::BudgetState;
pub use cache::Cache;
pub use effects::{EffectDone, EffectReport, EffectRun, EffectRunner};
pub use record::{CallRecord, Tally};
pub use registry::{Registry, RegistryError};
pub use turn::{NotKept, TakenBack, TurnChanges, TurnFile};

use super::approval::Approval;
use super::policy::ToolPolicy;
use super::tool::{AnyTool, SPILL_PREFIX, ToolError};
use super::workspace::Workspace;
use crate::model::{Cancel, ToolCall, ToolDef, ToolResult, ToolStatus};
use crate::record::{BoundedText, Event, Events};
use crate::record::{Change, Fault};
use crate::tools::Permissions;
use approve::Gate;
use budget::CallBudget;
use execute::{Bench, Performed};
use job::Job;
use shape::SpillFolder;
use turn::TurnLog;
use undo::{ChangedFile, UndoLog, UndoStep};
use watch::Watched;

/// What a pipeline is made of, besides the policy of its agent.
pub struct PipelineParts {
    pub tools: Vec<Arc<dyn AnyTool>>,
    pub workspace: Arc<Workspace>,
    /// A folder outside the workspace that exists; long output is kept there.
    pub spill: PathBuf,
    /// Shared by an agent and its helpers.
    pub cache: Arc<Cache>,
    pub effects: Option<Arc<dyn EffectRunner>>,
    /// How calls that change, start or reach something get a person's yes.
    pub approval: Approval,
    pub events: Events,
}

/// Why no pipeline could be made.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    #[error("Cannot offer the tools of the agent")]
    Registry(#[from] RegistryError),
    #[error("Cannot use the folder for long output")]
    Spill(#[source] FsError),
}

/// The tool calls of one run: what may be called, what was, and how much is left.
pub struct Pipeline {
    registry: Registry,
    /// The tools of the agent that its permissions leave any use for.
    offered: BTreeSet<&'static str>,
    /// What an active skill leaves of them.
    narrowed: Option<BTreeSet<String>>,
    permissions: Permissions,
    budget: CallBudget,
    spill: SpillFolder,
    bench: Bench,
    events: Events,
    tally: Tally,
    undo: UndoLog,
    turn: TurnLog,
    words: Arc<ExtraWords>,
}

/// The step that calls belong to.
#[derive(Clone, Debug)]
pub struct StepContext {
    pub number: u32,
    pub cancel: Cancel,
    /// When the step began; nothing that was read before is taken to be newer.
    pub now: Timestamp,
}

/// What came of the calls of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// One result a call, in the order of the calls.
    pub results: Vec<ToolResult>,
    pub records: Vec<CallRecord>,
    pub budget: BudgetState,
    /// A sentence for the model, once, when the budget is nearly spent or is.
    pub notice: Option<String>,
}

impl Pipeline {
    /// Makes the pipeline of one run of an agent.
    pub fn new(policy: ToolPolicy<'_>, parts: PipelineParts) -> Result<Self, PipelineError> {
        let registry = Registry::new(parts.tools)?;
        let is_offered = |name: &&'static str| {
            registry.spec(name).is_some_and(|tool| permission::offers(policy.permissions, tool))
        };
        let offered = policy.tools.iter().copied().filter(is_offered).collect();
        let spill = SpillFolder::open(&parts.spill).map_err(PipelineError::Spill)?;
        let bench = Bench {
            workspace: parts.workspace,
            cache: parts.cache,
            effects: parts.effects,
            spill: Arc::new(parts.spill),
            gate: Gate::new(parts.approval, parts.events.clone()),
            watched: Watched::default(),
            changing: Arc::default(),
        };
        Ok(Self {
            registry,
            offered,
            narrowed: None,
            permissions: policy.permissions.clone(),
            budget: CallBudget::new(policy.tool_calls),
            spill,
            bench,
            events: parts.events,
            tally: Tally::default(),
            undo: UndoLog::default(),
            turn: TurnLog::default(),
            words: Arc::default(),
        })
    }

    /// Takes these words out of what tools say and of what is told about calls.
    pub fn leave_out(&mut self, words: &Arc<ExtraWords>) {
        self.words = Arc::clone(words);
    }

    /// Leaves the agent only these of its tools, or all of them again. Never adds one.
    pub fn narrow(&mut self, names: Option<BTreeSet<String>>) {
        self.narrowed = names;
    }

    /// The tools as the model is told of them, by name.
    pub fn tools(&self) -> Vec<ToolDef> {
        let offered = self.offered.iter().filter(|name| self.is_offered(name));
        offered.filter_map(|name| self.registry.definition(name)).collect()
    }

    /// How long a call of the tool may take, and how many bytes of it are shown.
    pub fn limits_of(&self, name: &str) -> Option<(Duration, usize)> {
        self.registry.spec(name).map(|spec| (spec.time_limit, spec.shown_bytes))
    }

    /// Takes back what the last call changed that changed files; `None` when there is none. Files that somebody changed
    /// since stay as they are, and the call can be tried again.
    pub fn undo_last(&mut self) -> Option<Result<(String, Vec<Change>), ToolError>> {
        self.undo.take_back(&self.bench.workspace)
    }

    /// What all calls so far changed together, and what of it could not be taken back.
    pub fn turn_changes(&self) -> TurnChanges {
        self.turn.changes()
    }

    /// Looks once more at what programs did that ran on beside the calls; returns what is new. To be asked when they
    /// have ended.
    pub async fn look_again(&mut self, now: Timestamp) -> Vec<Change> {
        if !self.bench.watched.has_looked() {
            return Vec::new();
        }
        let found = self.bench.watched.look(&self.bench.workspace, now).await;
        self.turn.add_program(&found);
        found.changes().collect()
    }

    /// What was called so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Makes the calls of one step; those that do not meet run together.
    pub async fn call_all(&mut self, calls: &[ToolCall], step: &StepContext) -> Batch {
        let mut performed: Vec<Option<Performed>> = Vec::with_capacity(calls.len());
        let mut jobs = Vec::new();
        for (idx, call) in calls.iter().enumerate() {
            self.events.emit_with(|| call_event(step.number, call, &self.words));
            match self.admit(idx, call) {
                Ok(job) => {
                    jobs.push(job);
                    performed.push(None);
                }
                Err(error) => performed.push(Some(Performed::refused(error))),
            }
        }
        for (idx, done) in execute::run_all(jobs, &self.bench, &step.cancel, step.now).await {
            performed[idx] = Some(done);
        }
        let done = calls.iter().zip(performed);
        let (results, records) = done.map(|(call, done)| self.finish(step, call, done)).unzip();
        let (budget, notice) = self.budget.settle();
        if notice.is_some() {
            self.tell_budget(budget);
        }
        Batch { results, records, budget, notice }
    }

    fn tell_budget(&self, budget: BudgetState) {
        let (used, limit) = (self.budget.used(), self.budget.limit());
        match budget {
            BudgetState::Within => {}
            BudgetState::Nearly => self.events.emit(Event::BudgetNotice { used, limit }),
            BudgetState::Spent => self.events.emit(Event::BudgetBlock { limit }),
        }
    }

    fn is_offered(&self, name: &str) -> bool {
        self.offered.contains(name)
            && self.narrowed.as_ref().is_none_or(|narrowed| narrowed.contains(name))
    }

    /// Takes a call through everything that can refuse it before it runs.
    fn admit(&mut self, idx: usize, call: &ToolCall) -> Result<Job, ToolError> {
        // Calls that are refused count too: who asks for the impossible must come to an end.
        let is_within = self.budget.take();
        // Before its arguments are looked at: nobody knows the schema of a tool that they were not given.
        if let Some(spec) = self.registry.spec(&call.name)
            && !self.is_offered(spec.name)
        {
            return Err(permission::not_offered(spec.name));
        }
        let (tool, arguments) = self.registry.resolve(call)?;
        let footprint = tool.footprint(&arguments)?;
        permission::check(&self.permissions, self.bench.workspace.denied(), &footprint)?;
        if !is_within {
            return Err(self.budget.refusal());
        }
        Ok(Job { idx, call: call.id.clone(), tool, arguments, footprint })
    }

    fn finish(
        &mut self,
        step: &StepContext,
        call: &ToolCall,
        done: Option<Performed>,
    ) -> (ToolResult, CallRecord) {
        let mut done = done.unwrap_or_else(|| Performed::refused(broken::broken(&call.name)));
        let changed = self.keep_changes(call, &mut done);
        if !changed.is_empty() {
            self.events.emit_with(|| Event::ToolPatches {
                call: BoundedText::new(&call.id),
                patches: patches::patches(&changed, &self.words),
            });
        }
        let spec = self.registry.spec(&call.name);
        let (text, status) = match &done.result {
            Ok(output) => (joined(&output.text, &done.appended), ToolStatus::Done),
            Err(error) => (shape::error_text(error), ToolStatus::Failed),
        };
        let shaped = shape::shape(&text, spec, &mut self.spill, &self.words);
        let record = CallRecord::new(call, spec, &done, &shaped);
        self.tally.add(&record);
        if status == ToolStatus::Done {
            // A kept output is no file of the workspace.
            let is_spill = call.arguments.as_object()["path"]
                .as_str()
                .is_some_and(|path| path.starts_with(SPILL_PREFIX));
            self.tally.shown.note(if is_spill { "" } else { &call.name }, &shaped.text);
        }
        self.tell(step, &record, &done);
        (ToolResult { call_id: call.id.clone(), text: shaped.text, status }, record)
    }

    /// Keeps what the call changed, so that it can be taken back; returns the files.
    fn keep_changes(&mut self, call: &ToolCall, done: &mut Performed) -> Vec<ChangedFile> {
        let mut changed = Vec::new();
        if let Some(before) = done.before.take() {
            changed = before.done(&done.changed, &self.bench.workspace);
            changed.iter().for_each(|file| self.turn.add(file));
            if let Some(effects) = done.by_effects.take() {
                self.turn.add_effects(&effects);
                changed.extend(effects.files);
            }
            self.undo.keep(UndoStep::new(&call.id, &changed));
        }
        if let Some(programs) = done.by_program.take() {
            self.turn.add_program(&programs);
            changed.extend(programs.files);
        }
        if done.result.is_ok() && done.records_in_git {
            self.turn.name("git", "what was staged or committed stays; `git reset` takes it back");
        }
        if done.changes_memory {
            self.turn.name("memories", "they are taken back with `nacre undo`");
        }
        changed
    }

    fn tell(&self, step: &StepContext, record: &CallRecord, done: &Performed) {
        let call = || BoundedText::new(&record.call_id);
        for effect in &done.effects {
            self.events.emit_with(|| Event::EffectEnd {
                call: call(),
                effect: BoundedText::new(effect.effect),
                outcome: effect.outcome,
                duration_us: u64::try_from(effect.took.as_micros()).unwrap_or(u64::MAX),
            });
        }
        if let Some(error) = done.result.as_ref().err().filter(|error| is_denial(error.fault)) {
            let (tool, why) =
                (BoundedText::new(&record.tool), BoundedText::new(&self.words.redact(&error.what)));
            self.events.emit_with(|| Event::ToolDenied { call: call(), tool, why });
        }
        self.events.emit_with(|| Event::ToolResult(Box::new(record.facts(step.number))));
    }
}

/// Arguments may hold what was read out of a file, so they are told without secrets.
fn call_event(step: u32, call: &ToolCall, words: &ExtraWords) -> Event {
    let arguments = call.arguments.as_object().to_string();
    Event::ToolCall {
        step,
        call: BoundedText::new(&call.id),
        tool: BoundedText::new(&call.name),
        arguments: BoundedText::new(
            &words.redact(shape::head(&arguments, 2 * BoundedText::MAX_BYTES)),
        ),
    }
}

fn joined(text: &str, appended: &str) -> String {
    match appended {
        "" => text.to_owned(),
        more => format!("{text}\n{more}"),
    }
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipeline")
            .field("offered", &self.offered)
            .field("tally", &self.tally)
            .finish_non_exhaustive()
    }
}

/// Whether a fault means that the agent wanted what it may not have.
fn is_denial(fault: Fault) -> bool {
    matches!(fault, Fault::Denied | Fault::Blocked | Fault::Unconfined)
}
