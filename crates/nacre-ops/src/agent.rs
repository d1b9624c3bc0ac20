//! Runs a built-in agent once, outside a conversation.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use nacre_base::fs::WriteScope;
use nacre_base::redact::ExtraWords;
use nacre_engine::agents::{AgentDeps, CheckedReport, Citation, LookedAt, check_report, explorer};
use nacre_engine::lifecycle::{AgentSpec, Ending, Outcome, RunHandle};
use nacre_engine::model::{Cancel, Cost, Models, Role};
use nacre_engine::record::state::Recorder;
use nacre_engine::record::{
    CancelledBy, DeltaKind, Event, Events as AgentEvents, Heartbeat, Listener, Record, RunFacts,
    TaskClass, TaskId,
};
use nacre_engine::tools::{
    AnyTool, Permissions, PipelineError, SkillRegistry, Workspace, toolkits,
};
use nacre_types::{AgentRunReport, CheckedCitation, ErrorCode, Failure, TokenCounts};

use crate::error::{OpError, Result};
use crate::events::Events;
use crate::host::{
    Host, Planned, cancelled_elsewhere, charged_models, clock, close_recorder, empty_spill,
    model_settings, patience, record, run_failed, scripted, seed, spill,
};

struct AgentTask<'a> {
    id: TaskId,
    deps: AgentDeps,
    spec: AgentSpec,
    question: &'a str,
}

pub fn run(
    host: &Host,
    question: &str,
    script: Option<&Path>,
    events: &Events,
) -> Result<AgentRunReport> {
    if question.trim().is_empty() {
        return Err(OpError::usage("The question is empty"));
    }
    let models = Models::new(match script {
        Some(file) => scripted(host, file)?,
        None => model_settings(host)?,
    });
    let home = host.home_scope()?;
    // Fails before any file is created if no model is configured.
    models.route(Role::Explorer)?;
    let deps = agent_deps(host, &home, charged_models(host, models, "run")?)?;
    let spec = explorer(&deps.workspace, &deps.permissions);
    let task = AgentTask { id: TaskId::from_random(deps.seed), deps, spec, question };
    let outcome = work(host, &home, &task, events)?;
    empty_spill(host, &home);
    let outcome = outcome.map_err(|error| OpError::wrap(&error))?;
    Ok(report(&task, &outcome))
}

fn work(
    host: &Host,
    home: &WriteScope,
    task: &AgentTask<'_>,
    events: &Events,
) -> Result<Result<Outcome, PipelineError>> {
    let (recording, heartbeat) = start_recording(host, home, task, events).unzip();
    let notes = AgentNotes { events: events.clone(), is_full: true };
    let mut listeners: Vec<Arc<dyn Listener>> = vec![Arc::new(notes)];
    listeners.extend(recording.iter().map(|recorder| Arc::clone(recorder) as _));
    let heard = AgentEvents::new(task.id.clone(), Arc::clone(&task.deps.clock), listeners);
    let outcome = host.block_on(explore(task, heard, heartbeat, events.cancel()))?;
    if let Some(recorder) = recording {
        close_recorder(&recorder, events);
    }
    Ok(outcome)
}

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

/// Starts recording the task. Errors are ignored, because the task can run without a record.
fn start_recording(
    host: &Host,
    home: &WriteScope,
    task: &AgentTask<'_>,
    events: &Events,
) -> Option<(Arc<Recorder>, Heartbeat)> {
    let planned = Planned {
        id: &task.id,
        agent: task.spec.name,
        class: TaskClass::Interactive,
        project: host.project_key(),
        title: task.question.to_owned(),
        words: ExtraWords::clone(task.deps.models.words()),
    };
    match record(host, home, planned) {
        Ok(opened) => Some(opened),
        Err(error) => {
            let error = OpError::wrap(&error);
            events.warning(format!("The task is not written down: {}", error.message), None);
            None
        }
    }
}

fn report(task: &AgentTask<'_>, outcome: &Outcome) -> AgentRunReport {
    let AgentTask { id, deps, spec, .. } = task;
    let shown = &outcome.effects.shown;
    let check = |answer| check_report(answer, &deps.workspace, &spec.permissions, shown);
    let checked = outcome.answer.as_ref().and_then(check);
    let verified = checked.as_ref().is_some_and(CheckedReport::is_verified);
    let has_answer = checked.is_some();
    let checked = checked.unwrap_or_default();
    let facts = &outcome.facts;
    let (error, failure) = match &outcome.ending {
        Ending::Completed { .. } => (None, None),
        Ending::Failed(error) => (
            Some(error.to_string()),
            Some(run_failed(error).hint(format!("What happened is kept as `{id}`"))),
        ),
        Ending::Cancelled(_) => {
            (None, Some(OpError::new(ErrorCode::Cancelled, "The run was cancelled")))
        }
    };
    AgentRunReport {
        task: id.to_string(),
        state: outcome.ending.state().to_string(),
        answer: has_answer.then_some(checked.answer),
        verified,
        not_verified: checked.unproven,
        citations: checked.citations.into_iter().map(checked_citation).collect(),
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

pub(crate) fn token_use(facts: &RunFacts) -> TokenCounts {
    let output = facts.usage.output;
    TokenCounts { input: facts.usage.total() - output, output }
}

fn checked_citation(LookedAt { citation, lines }: LookedAt) -> CheckedCitation {
    let Citation { file, first_line, last_line, quote } = citation;
    let why = lines.err();
    CheckedCitation { file, first_line, last_line, quote, verified: why.is_none(), why }
}

pub(crate) fn agent_deps(host: &Host, home: &WriteScope, models: Arc<Models>) -> Result<AgentDeps> {
    let root = host.workspace();
    let permissions = Permissions::read_only();
    let workspace =
        Workspace::open(&root, &permissions.denied).map_err(|error| OpError::wrap(&error))?;
    let workspace = Arc::new(workspace);
    let (policy, limits) = patience(host);
    Ok(AgentDeps {
        models,
        policy,
        limits,
        clock: clock(host),
        tools: tools(host, &workspace),
        skills: Arc::new(SkillRegistry {
            workspace: Some(root),
            home: Some(home.path().to_owned()),
        }),
        spill: spill(home)?.path().to_owned(),
        permissions,
        seed: seed(host),
        started: AtomicU32::new(0),
        workspace,
    })
}

fn tools(host: &Host, workspace: &Arc<Workspace>) -> Vec<Arc<dyn AnyTool>> {
    let git = match &host.environment.home {
        Some(home) => host.git().with_home(home),
        None => host.git(),
    };
    let mut tools = toolkits::file::tools(workspace);
    tools.extend(toolkits::code::tools(workspace));
    tools.extend(toolkits::git::tools(workspace, git));
    tools
}

pub(crate) struct AgentNotes {
    pub(crate) events: Events,
    /// Whether to include the model's unchecked text and the arguments of tool calls.
    pub(crate) is_full: bool,
}

impl Listener for AgentNotes {
    fn hear(&self, record: &Arc<Record>) {
        let is_full = self.is_full;
        let event = &record.event;
        if let Event::ToolCall { tool, arguments, .. } = event {
            match is_full {
                true => self.events.note(format!("· {tool} {arguments}")),
                false => self.events.note(format!("· {tool}")),
            }
        } else if let Event::ModelRetry { why, wait_ms, .. } = event {
            self.events.note(format!("· asking again in {wait_ms} ms: {why}"));
        } else if let Event::ModelFallback { to, why, .. } = event {
            self.events.note(format!("· asking {to}: {why}"));
        } else if let Event::ModelDelta { kind: DeltaKind::Text, text } = event
            && is_full
        {
            self.events.emit(nacre_types::Event::Words { text: text.to_string() });
        } else if let Event::CompletionReopen { why, .. } = event
            && is_full
        {
            let first = why.as_str().lines().next().unwrap_or_default();
            self.events.note(format!("· sent back: {first}"));
        }
    }
}
