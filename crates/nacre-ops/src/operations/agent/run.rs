//! Lets an agent work on a question, and checks the places that it cites.
//!
//! Whatever the model says, what is reported about a citation is what the host found when it looked.

use std::sync::Arc;

use nacre_api::wire::{
    AgentName, AgentRunReport, AgentRunRequest, CheckedCitation, ErrorCode, Failure, TokenUse,
    UnprovenSentence,
};
use nacre_core::base::redact::ExtraWords;
use nacre_core::safefs::WriteScope;
use nacre_engine::agents::{
    AgentDeps, CheckedReport, Citation, CitationState, CitedFiles, LookedAt, Unproven, check_report,
};
use nacre_engine::lifecycle::{AgentSpec, Ending, Outcome, RunError, RunHandle};
use nacre_engine::model::{Cost, Models, Role};
use nacre_engine::record::{
    CancelledBy, Events as AgentEvents, Heartbeat, Listener, Recording, RunFacts, TaskClass, TaskId,
};
use nacre_engine::tools::PipelineError;

use super::{AgentNotes, NoteDetail, agent_deps};
use crate::cancel::Cancel;
use crate::error::OpError;
use crate::events::Events;
use crate::host::{
    Host, Planned, cancelled_elsewhere, charged_models, empty_spill, model_settings, no_answer,
    record, scripted,
};

/// A task that is about to run.
struct AgentTask<'a> {
    id: TaskId,
    deps: AgentDeps,
    spec: AgentSpec,
    question: &'a str,
}

pub fn run(
    host: &Host,
    request: &AgentRunRequest,
    events: &Events,
) -> Result<AgentRunReport, OpError> {
    let AgentRunRequest { question, agent, scripted: script } = request;
    if question.trim().is_empty() {
        return Err(OpError::usage("The question is empty"));
    }
    let models = Models::new(match script {
        Some(file) => scripted(host, file.as_ref())?,
        None => model_settings(host)?,
    });
    let home = host.home_scope()?;
    // What cannot be asked at all is said before anything is made for it.
    models.route(Role::Explorer)?;
    let deps = agent_deps(host, &home, charged_models(host, models, "run")?)?;
    let spec = match agent {
        AgentName::Explorer => deps.explorer(&deps.permissions, None),
    };
    let task = AgentTask { id: TaskId::from_random(deps.seed), deps, spec, question };
    let outcome = work(host, &home, &task, events)?;
    empty_spill(host, &home);
    let outcome = outcome.map_err(|error| OpError::from_error(ErrorCode::Failed, &error, None))?;
    Ok(report(&task, &outcome))
}

/// Runs the task, and writes down what it tells.
fn work(
    host: &Host,
    home: &WriteScope,
    task: &AgentTask<'_>,
    events: &Events,
) -> Result<Result<Outcome, PipelineError>, OpError> {
    let (recording, heartbeat) = start_recording(host, home, task, events).unzip();
    let notes = AgentNotes { events: events.clone(), detail: NoteDetail::Everything };
    let mut listeners: Vec<Arc<dyn Listener>> = vec![Arc::new(notes)];
    listeners.extend(recording.as_ref().map(Recording::listeners).unwrap_or_default());
    let heard = AgentEvents::new(task.id.clone(), Arc::clone(&task.deps.clock), listeners);
    let outcome = host.block_on(explore(task, heard, heartbeat, events.cancel()))?;
    close(host, recording, events)?;
    Ok(outcome)
}

/// Runs the agent until it ends, the caller cancels it, or another process wants it stopped.
async fn explore(
    task: &AgentTask<'_>,
    events: AgentEvents,
    heartbeat: Option<Heartbeat>,
    cancel: &Cancel,
) -> Result<Outcome, PipelineError> {
    let handle = RunHandle::new();
    let control = handle.control();
    let work = task.deps.explore(task.question, &task.spec, events, &control);
    let mut work = std::pin::pin!(work);
    tokio::select! {
        biased;
        () = cancel.cancelled() => handle.cancel(CancelledBy::Person),
        outcome = &mut work => return outcome,
        by = cancelled_elsewhere(heartbeat) => handle.cancel(by),
    }
    work.await
}

/// Starts to write down what the task tells. A state that cannot be used does not stand in the way of an answer.
fn start_recording(
    host: &Host,
    home: &WriteScope,
    task: &AgentTask<'_>,
    events: &Events,
) -> Option<(Recording, Heartbeat)> {
    let planned = Planned {
        id: &task.id,
        agent: task.spec.name,
        class: TaskClass::Interactive,
        project: host.project.as_ref().map(|project| project.path.display().to_string()),
        title: task.question.to_owned(),
        words: ExtraWords::clone(task.deps.models.words()),
    };
    match record(host, home, planned) {
        Ok(opened) => Some(opened),
        Err(error) => {
            let error = OpError::from_error(ErrorCode::Failed, &error, None);
            events.warning(format!("The task is not written down: {}", error.message), None);
            None
        }
    }
}

fn close(host: &Host, recording: Option<Recording>, events: &Events) -> Result<(), OpError> {
    let Some(recording) = recording else { return Ok(()) };
    let report = host.block_on(recording.close())?;
    if let Some(error) = report.recorder.error {
        events.warning(format!("Not everything was written down: {error}"), None);
    }
    if let Some(Err(error)) = report.telemetry {
        events.warning(format!("The collector was not told: {error}"), None);
    }
    Ok(())
}

fn report(task: &AgentTask<'_>, outcome: &Outcome) -> AgentRunReport {
    let AgentTask { id, deps, spec, .. } = task;
    let files = CitedFiles {
        workspace: &deps.workspace,
        permissions: &spec.permissions,
        shown: &outcome.effects.shown,
    };
    let checked = outcome.answer.as_ref().and_then(|answer| check_report(answer, &files));
    let verified = checked.as_ref().is_some_and(CheckedReport::is_verified);
    let has_answer = checked.is_some();
    let checked = checked.unwrap_or_default();
    let facts = &outcome.facts;
    let (error, failure) = match &outcome.ending {
        Ending::Completed { .. } => (None, None),
        Ending::Failed(error) => (Some(error.to_string()), Some(failure(error, id))),
        Ending::Cancelled(_) => {
            let cancelled = OpError::failed("The run was cancelled");
            (None, Some(OpError { code: ErrorCode::Cancelled, ..cancelled }))
        }
    };
    AgentRunReport {
        task: id.to_string(),
        state: outcome.ending.state().to_string(),
        answer: has_answer.then_some(checked.answer),
        verified,
        not_verified: checked.unproven.into_iter().map(unproven).collect(),
        citations: checked.citations.into_iter().map(citation).collect(),
        error,
        steps: facts.steps,
        tool_calls: facts.tool_calls,
        denied_calls: facts.denied_calls,
        tokens: token_use(facts),
        cost_usd: facts.cost.map(Cost::dollars),
        wall_ms: facts.wall_us / 1000,
        failure: failure.map(Failure::from),
    }
}

/// How many tokens a run used.
pub(crate) fn token_use(facts: &RunFacts) -> TokenUse {
    let output = facts.usage.output;
    TokenUse { input: facts.usage.total() - output, output }
}

fn failure(error: &RunError, task: &TaskId) -> OpError {
    let failed = match error {
        RunError::Model(error) => no_answer(error),
        RunError::Roles(_)
        | RunError::Schema(_)
        | RunError::Refused
        | RunError::Filtered
        | RunError::Stopped(_)
        | RunError::Empty
        | RunError::MadeUpResult
        | RunError::CutOff { .. }
        | RunError::Invalid { .. }
        | RunError::OutOfSteps { .. }
        | RunError::OutOfTime
        | RunError::Checkpoint(_)
        | RunError::TooLong(_) => OpError::from_error(ErrorCode::Failed, error, None),
    };
    failed.hint(format!("What happened is kept as `{task}`"))
}

fn unproven(sentence: Unproven) -> UnprovenSentence {
    UnprovenSentence { text: sentence.text, why: sentence.why }
}

fn citation(LookedAt { citation, state, lines: _ }: LookedAt) -> CheckedCitation {
    let Citation { file, first_line, last_line, quote } = citation;
    let why = match state {
        CitationState::Verified => None,
        CitationState::Unverified(why) => Some(why),
    };
    CheckedCitation { file, first_line, last_line, quote, verified: why.is_none(), why }
}
