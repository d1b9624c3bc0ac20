//! The lead inside Claude Code: one run of `claude` in the memory root, with tools that read and our guard before each of them.
//!
//! It looks for itself, so there are no explorers. What it hands in is held to the same shape and the same checks as with
//! Nacre's own engine, and goes back to it with what is wrong.

mod boundary;
#[cfg(test)]
mod tests;
mod watched;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

pub use self::boundary::{LeadBoundary, LeadToolCall};
use self::watched::Watched;
use super::told::Told;
use super::{BUDGETS, LeadRequest, form, prompt};
use crate::lifecycle::{Ending, RunControl, RunError, Stopped, Validator};
use crate::model::{
    AgentListener, Control, Cost, Effort, ErrorKind, Event as ModelEvent, FolderReading, Limits,
    MAX_REPAIRS, Message, ModelError, ModelRef, Models, Request, Response, RetryPolicy, Role,
    Route, Schema, Usage, generate, only_value,
};
use crate::record::{Clock, Event, Events, ModelFacts, RunEffects, RunFacts, Signal, TaskState};
use crate::tools::MemoryHandle;

/// How the decisions are handed in, and with what it may look.
const HAND_IN: &str = "Search with `Grep` in other words than the candidate's, and read the files that may match with `Read`.\n\
     Hand in all decisions together, as your structured answer.";

/// How much of the time one call may take: what it used by then is still counted.
const SHARE_OF_TIME: f64 = 0.95;

/// What the lead inside Claude Code is run with.
pub struct ClaudeLead {
    /// Paid for from the budget of the session.
    pub models: Arc<Models>,
    pub model: ModelRef,
    pub effort: Effort,
    pub limits: Limits,
    pub clock: Clock,
    pub seed: u64,
    /// For all that it is asked.
    pub wall: Duration,
    /// The most that one call may cost.
    pub cost: Option<Cost>,
    /// The memory root.
    pub folder: PathBuf,
    /// Files and folders below that it does not read.
    pub denied: Vec<String>,
    /// The command that is asked before each tool, for a shell.
    pub guard: String,
    pub keeps_session: bool,
}

/// What an answer is held to.
struct Checks {
    schema: Schema,
    validators: Vec<Validator>,
}

/// What was found wrong with an answer.
struct Complaints {
    /// Whether it is of the shape.
    is_shaped: bool,
    faults: Vec<String>,
}

/// How far a run is.
#[derive(Default)]
struct Progress {
    answer: Option<Value>,
    calls: u32,
    usage: Option<Usage>,
    cost: Option<Cost>,
    model_us: u64,
}

impl ClaudeLead {
    /// The time that a lead has.
    pub const WALL: Duration = BUDGETS.wall;

    pub(super) async fn decide(
        &self,
        order: &LeadRequest,
        (memories, question): (&MemoryHandle, &str),
        (events, control): (&Events, &RunControl),
    ) -> Told {
        let begun = Instant::now();
        events.emit(Event::TaskState(TaskState::Running));
        let model = self.model.clone();
        let n_tools = boundary::READ_TOOLS.len();
        events.emit(Event::RunPrepare { agent: "lead".into(), model, n_tools });
        let watched = Arc::new(Watched::new(events.clone(), self.keeps_session));
        let mut progress = Progress::default();
        let talk =
            Talk { lead: self, events, watched: &watched, control: control.within(self.wall) };
        let ending = talk.run(order, (memories, question), &mut progress).await;
        let facts = watched.count(&RunFacts {
            steps: progress.calls,
            model_calls: progress.calls,
            usage: progress.usage.unwrap_or_default(),
            cost: progress.cost,
            model_us: progress.model_us,
            wall_us: micros(begun),
            ..RunFacts::default()
        });
        let error = match &ending {
            Ending::Completed { .. } => None,
            Ending::Failed(error) => Some(told(error)),
            Ending::Cancelled(by) => Some(format!("it was cancelled by the {}", by.as_str())),
        };
        if let (Ending::Failed(_), Some(what)) = (&ending, &error) {
            events.emit(Event::Error { what: what.as_str().into(), hint: None });
        }
        events.emit(Event::RunSummary(Box::new(facts.clone())));
        events.emit(Event::TaskState(ending.state()));
        let session = watched.take_session();
        Told { state: ending.state(), error, answer: progress.answer, facts, session }
    }

    /// What one call may look at.
    fn reading(&self, watched: &Arc<Watched>, left: Duration) -> FolderReading {
        let watched = Arc::clone(watched);
        let listener: AgentListener = Arc::new(move |step| watched.hear(step));
        FolderReading {
            folder: self.folder.clone(),
            denied: self.denied.clone(),
            guard: self.guard.clone(),
            wall: left.mul_f64(SHARE_OF_TIME),
            turns: BUDGETS.tool_calls,
            cost: self.cost,
            listener,
        }
    }
}

/// One lead at work.
struct Talk<'a> {
    lead: &'a ClaudeLead,
    events: &'a Events,
    watched: &'a Arc<Watched>,
    control: RunControl,
}

impl Talk<'_> {
    /// Asks until the answer holds, or often enough.
    async fn run(
        &self,
        order: &LeadRequest,
        (memories, question): (&MemoryHandle, &str),
        progress: &mut Progress,
    ) -> Ending {
        let output = form::output(&order.cases);
        let schema = match Schema::new(&output.schema) {
            Ok(schema) => schema,
            Err(error) => return Ending::Failed(error.into()),
        };
        let checks = Checks { schema, validators: form::validators(&order.cases, &memories.store) };
        let mut request = Request::new(Role::Lead, &prompt(HAND_IN), question);
        request.output = Some(output);
        request.max_tokens = BUDGETS.answer_tokens;
        request.effort = self.lead.effort;
        let mut n_returned = 0;
        loop {
            let response = match self.ask(&request, progress).await {
                Ok(response) => response,
                Err(ending) => return ending,
            };
            let (answer, complaints) = checks.of(&response.text());
            // A later answer that cannot be read takes nothing away from an earlier one.
            progress.answer = answer.or(progress.answer.take());
            if complaints.faults.is_empty() {
                return Ending::Completed { signal: Signal::Done, reason: None };
            }
            if n_returned == MAX_REPAIRS {
                return complaints.ending();
            }
            n_returned += 1;
            let why = complaints.faults.join("; ").into();
            self.events.emit(Event::CompletionReopen { attempt: n_returned as u32, why });
            request.messages.push(Message::assistant(&response));
            request.messages.push(Message::user(&complaints.message()));
        }
    }

    /// Runs `claude` once.
    async fn ask(&self, request: &Request, progress: &mut Progress) -> Result<Response, Ending> {
        let Self { lead, events, watched, control } = self;
        let left = control.left().unwrap_or(lead.wall);
        let served = lead.models.folder_reader(&lead.model, lead.reading(watched, left));
        let served = served.map_err(|error| Ending::Failed(error.into()))?;
        progress.calls += 1;
        let step = progress.calls;
        let asked = request.messages.last().map(Message::text).unwrap_or_default();
        watched.asked(step, &asked);
        events.emit(Event::StepStart { step });
        events.emit(Event::ModelCall { step, model: lead.model.clone() });
        let begun = Instant::now();
        let mut used = Usage::default();
        let mut sink = |event: ModelEvent| {
            if let ModelEvent::Usage(usage) = event {
                used = usage;
            }
        };
        let patience = Control {
            // Claude Code has asked again by itself.
            policy: RetryPolicy { attempts: 1, deadline: left, ..RetryPolicy::default() },
            limits: lead.limits.clone(),
            seed: lead.seed.wrapping_add(u64::from(step)),
            cancel: control.cancel().clone(),
        };
        let route = Route::new(served, Vec::new());
        let work = generate(&route, request, &patience, &mut sink);
        let answered = control.unless_stopped(work).await;
        let duration_us = micros(begun);
        progress.model_us = progress.model_us.saturating_add(duration_us);
        if let Ok(Ok(response)) = &answered {
            used = response.usage;
        }
        let cost = self.count(used, progress);
        events.emit(Event::StepEnd { step, n_calls: 1, duration_us });
        match answered {
            Ok(Ok(response)) => {
                let (model, stop, usage) = (response.model.clone(), response.stop.clone(), used);
                let first_token_us = None;
                events.emit(Event::ModelFinish(Box::new(ModelFacts {
                    step,
                    model,
                    stop,
                    usage,
                    cost,
                    first_token_us,
                    duration_us,
                })));
                Ok(response)
            }
            Ok(Err(error)) => Err(self.failed(error, (step, duration_us))),
            Err(stopped) => Err(self.stopped(stopped)),
        }
    }

    fn count(&self, used: Usage, progress: &mut Progress) -> Option<Cost> {
        let cost = self.lead.models.prices().cost(&self.lead.model, &used);
        progress.usage = Some(progress.usage.map_or(used, |usage| usage.plus(used)));
        progress.cost = match (progress.cost, cost) {
            (Some(one), Some(two)) => Some(one.plus(two)),
            (one, two) => one.or(two),
        };
        cost
    }

    fn failed(&self, error: ModelError, (step, duration_us): (u32, u64)) -> Ending {
        if error.kind == ErrorKind::Cancelled {
            return self.stopped(Stopped::Cancelled);
        }
        let (model, why) = (error.model.clone(), error.kind.as_str().into());
        self.events.emit(Event::ModelError { step, model, why, duration_us });
        Ending::Failed(error.into())
    }

    fn stopped(&self, stopped: Stopped) -> Ending {
        match stopped {
            Stopped::OutOfTime => Ending::Failed(RunError::OutOfTime),
            Stopped::Cancelled => {
                let by = self.control.cancelled_by();
                self.events.emit(Event::RunCancel { by });
                Ending::Cancelled(by)
            }
        }
    }
}

impl Checks {
    /// The answer in a text, and what is wrong with it.
    fn of(&self, text: &str) -> (Option<Value>, Complaints) {
        let Some(answer) = only_value(text) else {
            let faults = vec!["the answer holds no JSON".to_owned()];
            return (None, Complaints { is_shaped: false, faults });
        };
        let violations = self.schema.violations(&answer);
        let mut faults: Vec<String> = violations.iter().map(ToString::to_string).collect();
        let is_shaped = faults.is_empty();
        if is_shaped {
            let effects = RunEffects::default();
            let complaints = |check: &Validator| check.complaints(&answer, &effects);
            faults.extend(self.validators.iter().flat_map(complaints));
        }
        (Some(answer), Complaints { is_shaped, faults })
    }
}

impl Complaints {
    /// How a run ends whose last answer has faults. Decisions that hold stand, each for itself.
    fn ending(self) -> Ending {
        match self.is_shaped {
            true => Ending::Completed { signal: Signal::Done, reason: None },
            false => Ending::Failed(RunError::Invalid { faults: self.faults }),
        }
    }

    fn message(&self) -> String {
        let list: String = self.faults.iter().map(|fault| format!("- {fault}\n")).collect();
        format!(
            "Your answer cannot be taken as it is:\n{list}Hand in all decisions again, with these mended."
        )
    }
}

/// What a person is told: also the program's own words.
fn told(error: &RunError) -> String {
    let said =
        if let RunError::Model(ModelError { said, .. }) = error { said.as_ref() } else { None };
    said.map_or_else(|| error.to_string(), |said| format!("{error}: {}", said.as_str()))
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}
