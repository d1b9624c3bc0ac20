//! `nacre run QUESTION`: an agent works on a question, and the answer is printed with the places that prove it.
//!
//! Whatever the model says, what is printed about a citation is what the host found when it looked.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use clap::{Args, ValueEnum};
use nacre_api::wire::ErrorCode;
use nacre_core::base::redact::ExtraWords;
use nacre_core::base::{Shown, ShownLine};
use nacre_core::safefs::WriteScope;
use nacre_engine::agents::{Citation, CitationState, Crew, check_report};
use nacre_engine::lifecycle::{AgentSpec, Ending, Outcome, RunError, RunHandle};
use nacre_engine::model::{Cost, Models, Role as ModelRole};
use nacre_engine::record::{
    CancelledBy, DeltaKind, Event, Events, Heartbeat, Listener, Record, Recording, TaskClass,
    TaskId,
};
use nacre_engine::tools::{AnyTool, Cache, Permissions, Shelf, ShelfPlaces, Workspace, toolkits};
use serde_json::{Value, json};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::git_root;
use nacre_ops::host::{Planned, cancelled_elsewhere, clock, empty_spill, record, seed, spill};
use nacre_ops::host::{block_on, model_settings, no_answer, scripted};
use nacre_ops::host::{paid, patience};

/// Which agent works on what.
#[derive(Debug, Args)]
pub(super) struct AgentArgs {
    /// What to find out
    #[arg(required = true)]
    question: Option<String>,
    /// Which agent
    #[arg(long, value_name = "AGENT", default_value = "explorer")]
    agent: AgentName,
    /// Take the model's answers from this file, for tests
    #[arg(long, value_name = "FILE")]
    scripted: Option<PathBuf>,
}

/// The agents that can be run by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AgentName {
    /// Reads the repository and answers with citations
    Explorer,
}

pub(super) fn cmd_agent(ui: &mut Ui, host: &Host, args: &AgentArgs) -> Result<Exit, OpError> {
    let AgentArgs { question, agent, scripted: script } = args;
    let question = question.as_deref().unwrap_or_default();
    if question.trim().is_empty() {
        return Err(OpError::usage("The question is empty"));
    }
    let models = Models::new(match script {
        Some(file) => scripted(host, file)?,
        None => model_settings(host)?,
    });
    let home = host.home_scope()?;
    // What cannot be asked at all is said before anything is made for it.
    models.route(ModelRole::Explorer)?;
    let crew = crew(host, &home, paid(host, models, "run")?)?;
    let spec = match agent {
        AgentName::Explorer => crew.explorer(&crew.permissions, None),
    };
    let task = TaskId::from_random(crew.seed);
    let words = crew.models.words();
    let recording = recording(ui, host, &home, (&task, &spec, question, words));
    let (recording, heartbeat) = recording.unzip();
    let live = Arc::new(Watcher { events: ui.events() });
    let mut listeners: Vec<Arc<dyn Listener>> = vec![live.clone()];
    listeners.extend(recording.as_ref().map(Recording::listeners).unwrap_or_default());
    let events = Events::new(task.clone(), Arc::clone(&crew.clock), listeners);
    let outcome = block_on(explore(&crew, question, &spec, (events, heartbeat)))?;
    drop(live);
    close(ui, recording)?;
    empty_spill(host, &home);
    let outcome = outcome.map_err(|error| OpError::from_error(ErrorCode::Failed, &error, None))?;
    report(ui, &crew, &spec, (&task, &outcome))
}

/// Runs the agent until it ends, a person presses Ctrl-C, or another process wants it stopped.
async fn explore(
    crew: &Crew,
    question: &str,
    spec: &AgentSpec,
    (events, heartbeat): (Events, Option<Heartbeat>),
) -> Result<Outcome, nacre_engine::tools::PipelineError> {
    let handle = RunHandle::new();
    let control = handle.control();
    let mut work = std::pin::pin!(crew.explore(question, spec, events, &control));
    tokio::select! {
        outcome = &mut work => return outcome,
        Ok(()) = tokio::signal::ctrl_c() => handle.cancel(CancelledBy::Person),
        by = cancelled_elsewhere(heartbeat) => handle.cancel(by),
    }
    work.await
}

/// What an agent of a command works with: the repository around the current folder, to be read.
pub(crate) fn crew(host: &Host, home: &WriteScope, models: Arc<Models>) -> Result<Crew, OpError> {
    let failed =
        |error: &dyn std::error::Error| OpError::from_error(ErrorCode::Failed, error, None);
    let folder = &host.environment.folder;
    let root = host.project.as_ref().map(|project| project.path.clone());
    let root = root.or_else(|| git_root(&host.person, folder)).unwrap_or_else(|| folder.clone());
    let permissions = Permissions::read_only();
    let workspace = Workspace::open(&root, &permissions.denied).map_err(|error| failed(&error))?;
    let workspace = Arc::new(workspace);
    let (policy, limits) = patience(host);
    Ok(Crew {
        models,
        policy,
        limits,
        clock: clock(host),
        tools: tools(host, &workspace),
        shelf: Arc::new(Shelf::new(ShelfPlaces {
            workspace: Some(root),
            home: Some(home.path().to_owned()),
        })),
        spill: spill(home)?.path().to_owned(),
        cache: Arc::new(Cache::default()),
        permissions,
        seed: seed(host),
        started: AtomicU32::new(0),
        workspace,
    })
}

/// Every tool that an agent of this command can be offered.
fn tools(host: &Host, workspace: &Arc<Workspace>) -> Vec<Arc<dyn AnyTool>> {
    let environment = &host.environment;
    let git = match &environment.home {
        Some(home) => host.git().with_home(home),
        None => host.git(),
    };
    let mut tools = toolkits::file::tools(workspace);
    tools.extend(toolkits::code::tools(workspace));
    tools.extend(toolkits::git::tools(workspace, git));
    tools
}

/// Writes down what the task tells; a state that cannot be used does not stand in the way of an answer.
fn recording(
    ui: &mut Ui,
    host: &Host,
    home: &WriteScope,
    (task, spec, question, words): (&TaskId, &AgentSpec, &str, &ExtraWords),
) -> Option<(Recording, Heartbeat)> {
    let planned = Planned {
        id: task,
        agent: spec.name,
        class: TaskClass::Interactive,
        project: host.project.as_ref().map(|project| project.path.display().to_string()),
        title: question.to_owned(),
        words: ExtraWords::clone(words),
    };
    match record(host, home, planned) {
        Ok(opened) => Some(opened),
        Err(error) => {
            let error = OpError::from_error(ErrorCode::Failed, &error, None);
            ui.warning(format!("The task is not written down: {}", error.message), None);
            None
        }
    }
}

fn close(ui: &mut Ui, recording: Option<Recording>) -> Result<(), OpError> {
    let Some(recording) = recording else { return Ok(()) };
    let report = block_on(recording.close())?;
    if let Some(error) = report.recorder.error {
        ui.warning(format!("Not everything was written down: {error}"), None);
    }
    if let Some(Err(error)) = report.telemetry {
        ui.warning(format!("The collector was not told: {error}"), None);
    }
    Ok(())
}

/// Shows on a terminal what the agent does.
struct Watcher {
    events: nacre_ops::Events,
}

impl Listener for Watcher {
    fn hear(&self, record: &Arc<Record>) {
        let event = &record.event;
        if let Event::ModelDelta { kind: DeltaKind::Text, text } = event {
            self.events.emit(nacre_api::wire::Event::Words { text: text.to_string() });
        } else if let Event::ToolCall { tool, arguments, .. } = event {
            self.events.note(format!("· {tool} {arguments}"));
        } else if let Event::ModelRetry { why, wait_ms, .. } = event {
            self.events.note(format!("· asking again in {wait_ms} ms: {why}"));
        } else if let Event::ModelFallback { to, why, .. } = event {
            self.events.note(format!("· asking {to}: {why}"));
        } else if let Event::CompletionReopen { why, .. } = event {
            let first = why.as_str().lines().next().unwrap_or_default();
            self.events.note(format!("· sent back: {first}"));
        }
    }
}

fn report(
    ui: &mut Ui,
    crew: &Crew,
    spec: &AgentSpec,
    (task, outcome): (&TaskId, &Outcome),
) -> Result<Exit, OpError> {
    let answer = outcome.answer.as_ref();
    let checked = answer
        .and_then(|answer| check_report(answer, &crew.workspace, &spec.permissions))
        .unwrap_or_default();
    if ui.is_json() {
        ui.json(&output(task, outcome, &checked))?;
    } else if let Some(answer) = answer {
        ui.text(answer["answer"].as_str().unwrap_or_default())?;
        print_citations(ui, &checked)?;
    }
    let is_partial = checked.iter().any(|(_, state)| *state != CitationState::Verified);
    match &outcome.ending {
        Ending::Completed { .. } if is_partial => Ok(Exit::Partial),
        Ending::Completed { .. } => Ok(Exit::Done),
        // The object says it all; a second one would be one too many.
        Ending::Failed(_) | Ending::Cancelled(_) if ui.is_json() => Ok(Exit::Failed),
        Ending::Failed(error) => Err(failure(error, task)),
        Ending::Cancelled(_) => Err(OpError::failed("The run was cancelled")),
    }
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
        | RunError::CutOff { .. }
        | RunError::Invalid { .. }
        | RunError::OutOfSteps { .. }
        | RunError::OutOfTime
        | RunError::TooLong(_) => OpError::from_error(ErrorCode::Failed, error, None),
    };
    failed.hint(format!("What happened is kept as `{task}`"))
}

fn print_citations(ui: &mut Ui, checked: &[(Citation, CitationState)]) -> Result<(), OpError> {
    if checked.is_empty() {
        return Ok(());
    }
    ui.line("")?;
    for (citation, state) in checked {
        let Citation { file, first_line, last_line, quote } = citation;
        let lines = match first_line == last_line {
            true => first_line.to_string(),
            false => format!("{first_line}-{last_line}"),
        };
        let place = ui.paint(Role::Id, format!("{}:{lines}", ShownLine(file)));
        match state {
            CitationState::Verified => {
                let quote: String = Shown(quote).one_line().chars().take(100).collect();
                ui.line(format!("{place}  {}", ui.paint(Role::Faint, quote)))?;
            }
            CitationState::Unverified(why) => {
                let mark = ui.paint(Role::Warning, "not verified:");
                ui.line(format!("{place}  {mark} {}", ShownLine(why)))?;
            }
        }
    }
    Ok(())
}

fn output(task: &TaskId, outcome: &Outcome, checked: &[(Citation, CitationState)]) -> Value {
    let citations: Vec<Value> = checked
        .iter()
        .map(|(citation, state)| {
            let mut told = json!(citation);
            told["verified"] = json!(*state == CitationState::Verified);
            if let CitationState::Unverified(why) = state {
                told["why"] = json!(why);
            }
            told
        })
        .collect();
    let facts = &outcome.facts;
    let error = match &outcome.ending {
        Ending::Failed(error) => Some(error.to_string()),
        Ending::Completed { .. } | Ending::Cancelled(_) => None,
    };
    json!({
        "task": task,
        "state": outcome.ending.state().to_string(),
        "answer": outcome.answer.as_ref().map(|answer| answer["answer"].clone()),
        "citations": citations,
        "error": error,
        "steps": facts.steps,
        "tool_calls": facts.tool_calls,
        "denied_calls": facts.denied_calls,
        "tokens": { "input": facts.usage.total() - facts.usage.output, "output": facts.usage.output },
        "cost_usd": facts.cost.map(Cost::dollars),
        "wall_ms": facts.wall_us / 1000,
    })
}
