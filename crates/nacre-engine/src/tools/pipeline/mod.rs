//! The pipeline for every tool call: registry, permission, budget, approval, execution, effects,
//! output shaping and recording.
//!
//! All stages use the same `Footprint`. A call never ends a run: every fault is returned to the
//! model as a result.

#[cfg(test)]
mod approval_tests;
mod approve;
mod execute;
mod permission;
mod record;
mod registry;
mod shape;
#[cfg(test)]
pub(super) mod support_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod turn_tests;
mod undo;
mod watch;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use approve::Gate;
use execute::{Bench, Job, Performed};
use jiff::Timestamp;
use nacre_base::fs::FsError;
use nacre_base::redact::ExtraWords;
use record::CallBudget;
use registry::Registry;
use shape::SpillFolder;
use undo::{ChangedFile, TurnLog, find_changed_files};
use watch::Watched;

use crate::model::{Cancel, ToolCall, ToolDef, ToolResult, ToolStatus};
use crate::record::{BoundedText, Event, Events, Fault, FileChange, RunEffects, ToolFacts};
use crate::tools::Permissions;
use crate::tools::approval::Approval;
use crate::tools::tool::{AnyTool, SPILL_PREFIX, ToolError};
use crate::tools::workspace::Workspace;

pub use crate::tools::effects::{EffectDone, EffectReport, EffectRun, EffectRunner};
pub use record::{BudgetState, CallRecord};
pub use undo::{TakenBack, TurnChanges, TurnFile};

pub struct PipelineParts {
    pub tools: Vec<Arc<dyn AnyTool>>,
    pub workspace: Arc<Workspace>,
    /// An existing directory outside the workspace where long output is stored.
    pub spill: PathBuf,
    pub effects: Option<Arc<dyn EffectRunner>>,
    pub approval: Approval,
    pub events: Events,
}

#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    #[error("Cannot offer two tools with the name `{name}`")]
    Twice { name: &'static str },
    #[error("Cannot use the directory for long output")]
    Spill(#[source] FsError),
}

pub struct Pipeline {
    registry: Registry,
    /// The tools that the agent's permissions allow it to use.
    offered: BTreeSet<&'static str>,
    /// The subset of tools that the active skills allow.
    narrowed: Option<BTreeSet<String>>,
    permissions: Permissions,
    budget: CallBudget,
    spill: SpillFolder,
    bench: Bench,
    events: Events,
    tally: RunEffects,
    turn: TurnLog,
    words: Arc<ExtraWords>,
}

#[derive(Clone, Debug)]
pub struct StepContext {
    pub number: u32,
    pub cancel: Cancel,
    /// Start of the step, used to decide which timestamps can be trusted.
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    pub results: Vec<ToolResult>,
    pub records: Vec<CallRecord>,
    pub budget: BudgetState,
    /// A message sent to the model once, when the budget is used up or nearly used up.
    pub notice: Option<String>,
}

impl Pipeline {
    /// Creates a pipeline. `tools` contains the names of the tools that the agent may use, and
    /// `tool_calls` is its call budget.
    pub fn new(
        tools: &[&'static str],
        permissions: &Permissions,
        tool_calls: u32,
        parts: PipelineParts,
    ) -> Result<Self, PipelineError> {
        let registry = Registry::new(parts.tools)?;
        let is_offered = |name: &&'static str| {
            registry.spec(name).is_some_and(|tool| permission::offers(permissions, tool))
        };
        let offered = tools.iter().copied().filter(is_offered).collect();
        let spill = SpillFolder::open(&parts.spill).map_err(PipelineError::Spill)?;
        let bench = Bench {
            workspace: parts.workspace,
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
            permissions: permissions.clone(),
            budget: CallBudget::new(tool_calls),
            spill,
            bench,
            events: parts.events,
            tally: RunEffects::default(),
            turn: TurnLog::default(),
            words: Arc::default(),
        })
    }

    pub fn leave_out(&mut self, words: &Arc<ExtraWords>) {
        self.words = Arc::clone(words);
    }

    /// Restricts the agent to these tools, or lifts the restriction if `None`. It never adds a
    /// tool.
    pub fn narrow(&mut self, names: Option<BTreeSet<String>>) {
        self.narrowed = names;
    }

    pub fn tools(&self) -> Vec<ToolDef> {
        let offered = self.offered.iter().filter(|name| self.is_offered(name));
        offered.filter_map(|name| self.registry.definition(name)).collect()
    }

    pub fn limits_of(&self, name: &str) -> Option<(Duration, usize)> {
        self.registry.spec(name).map(|spec| (spec.time_limit, spec.shown_bytes))
    }

    /// Returns all changes made by the run so far, including those that cannot be undone.
    pub fn turn_changes(&self) -> TurnChanges {
        self.turn.changes()
    }

    /// Checks again for changes made by background programs, and returns the changes. Call this
    /// after the programs have exited.
    pub async fn look_again(&mut self, now: Timestamp) -> Vec<FileChange> {
        if !self.bench.watched.has_looked() {
            return Vec::new();
        }
        let found = self.bench.watched.look(&self.bench.workspace, now).await;
        self.turn.add_program(&found);
        found.changes().collect()
    }

    pub fn tally(&self) -> &RunEffects {
        &self.tally
    }

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
                Err(error) => performed.push(Some(Performed::from_error(error))),
            }
        }
        for (idx, done) in execute::run_all(jobs, &self.bench, &step.cancel, step.now).await {
            performed[idx] = Some(done);
        }
        let done = calls.iter().zip(performed);
        let (results, records) = done.map(|(call, done)| self.finish(step, call, done)).unzip();
        let (budget, notice) = self.budget.settle();
        if notice.is_some() {
            let (used, limit) = (self.budget.used, self.budget.limit);
            match budget {
                BudgetState::Within => {}
                BudgetState::Nearly => self.events.emit(Event::BudgetNotice { used, limit }),
                BudgetState::Spent => self.events.emit(Event::BudgetBlock { limit }),
            }
        }
        Batch { results, records, budget, notice }
    }

    fn is_offered(&self, name: &str) -> bool {
        self.offered.contains(name)
            && self.narrowed.as_ref().is_none_or(|narrowed| narrowed.contains(name))
    }

    fn admit(&mut self, idx: usize, call: &ToolCall) -> Result<Job, ToolError> {
        // Refused calls count too, so that a model cannot repeat them forever.
        let is_within = self.budget.take();
        // Check this before validating the arguments, because the model knows only the schemas of
        // the tools that it was offered.
        if let Some(spec) = self.registry.spec(&call.name)
            && !self.is_offered(spec.name)
        {
            let what = format!("`{}` is not one of your tools", spec.name);
            let hint = "Use one of the tools that were offered to you.";
            return Err(ToolError::new(Fault::Denied, what, hint));
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
        let mut done =
            done.unwrap_or_else(|| Performed::from_error(execute::internal_error(&call.name)));
        let changed = self.keep_changes(&mut done);
        if !changed.is_empty() {
            self.events.emit_with(|| Event::ToolPatches {
                call: BoundedText::new(&call.id),
                patches: shape::patches(&changed, &self.words),
            });
        }
        let spec = self.registry.spec(&call.name);
        let (text, status) = match &done.result {
            Ok(output) if done.appended.is_empty() => (output.text.clone(), ToolStatus::Done),
            Ok(output) => (format!("{}\n{}", output.text, done.appended), ToolStatus::Done),
            Err(error) => (shape::error_text(error), ToolStatus::Failed),
        };
        let shaped = shape::shape(&text, spec, &mut self.spill, &self.words);
        let record = CallRecord::new(step.number, call, spec, &done, &shaped);
        self.add_to_tally(&record.facts, &done);
        if status == ToolStatus::Done {
            // Stored output is located outside the workspace.
            let arguments = call.arguments.as_object();
            let path = arguments["path"].as_str().unwrap_or_default();
            let is_spill = path.starts_with(SPILL_PREFIX);
            self.tally.shown.note(if is_spill { "" } else { &call.name }, &shaped.text);
        }
        self.emit(&record.facts, &done);
        (ToolResult { call_id: call.id.clone(), text: shaped.text, status }, record)
    }

    fn keep_changes(&mut self, done: &mut Performed) -> Vec<ChangedFile> {
        let mut changed = Vec::new();
        if let Some(before) = done.before.take() {
            changed = find_changed_files(before, &done.changed, &self.bench.workspace);
            changed.iter().for_each(|file| self.turn.add(file));
            if let Some(effects) = done.by_effects.take() {
                self.turn.add_effects(&effects);
                changed.extend(effects.files);
            }
        }
        if let Some(programs) = done.by_program.take() {
            self.turn.add_program(&programs);
            changed.extend(programs.files);
        }
        if done.result.is_ok() && done.records_in_git {
            self.turn.name("git", "staged or committed changes remain; undo them with `git reset`");
        }
        if done.changes_memory {
            self.turn.name("memories", "undo them with `nacre undo`");
        }
        changed
    }

    fn add_to_tally(&mut self, facts: &ToolFacts, done: &Performed) {
        let tally = &mut self.tally;
        tally.tool_calls += 1;
        tally.failed_calls += u32::from(facts.fault.is_some());
        tally.denied_calls += u32::from(facts.fault.is_some_and(is_denial));
        tally.memory_changes += u32::from(done.changes_memory);
        tally.changed.extend(done.changed.iter().cloned());
    }

    fn emit(&self, facts: &ToolFacts, done: &Performed) {
        for effect in &done.effects {
            self.events.emit_with(|| Event::EffectEnd {
                call: facts.call.clone(),
                effect: BoundedText::new(effect.effect),
                outcome: effect.outcome,
                duration_us: u64::try_from(effect.took.as_micros()).unwrap_or(u64::MAX),
            });
        }
        if let Some(error) = done.result.as_ref().err().filter(|error| is_denial(error.fault)) {
            let why = BoundedText::new(&self.words.redact(&error.what));
            let (call, tool) = (facts.call.clone(), facts.tool.clone());
            self.events.emit_with(|| Event::ToolDenied { call, tool, why });
        }
        self.events.emit_with(|| Event::ToolResult(Box::new(facts.clone())));
    }
}

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

nacre_base::debug_only!(Pipeline { offered, tally });

fn is_denial(fault: Fault) -> bool {
    matches!(fault, Fault::Denied | Fault::Blocked | Fault::Unconfined)
}
