//! Runs a built-in agent once, outside a conversation.

use std::sync::atomic::AtomicU32;

use nacre_base::redact::ExtraWords;
use nacre_engine::agents::{AgentDeps, CheckedReport, Citation, LookedAt, check_report, explorer};
use nacre_engine::lifecycle::{Ending, Outcome, RunHandle};
use nacre_engine::model::{Cost, Models, Role};
use nacre_engine::record::{
    DeltaKind, Event, Events as AgentEvents, Listener, Record, RunFacts, TaskClass, TaskId,
};
use nacre_engine::tools::{Permissions, SkillRegistry, Workspace, toolkits};
use nacre_types::{AgentRunReport, CheckedCitation, Failure, TokenCounts};

use crate::host::{
    clock, close_recorder, empty_spill, load_script, model_settings, new_task, open_charged_models,
    patience, record, run_failed, seed, spill, until_end,
};
use crate::prelude::*;

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
        Some(file) => load_script(host, file)?,
        None => model_settings(host)?,
    });
    let home = host.home_scope()?;
    // If no model is configured, fail before creating any files.
    models.route(Role::Explorer)?;
    let deps = agent_deps(host, &home, open_charged_models(host, models, "run")?)?;
    let spec = explorer(&deps.workspace, &deps.permissions);
    let id = TaskId::from_random(deps.seed);
    let words = deps.models.words();
    let task = new_task(host, &id, spec.name, TaskClass::Interactive, question, words);
    // Recording errors are ignored, because the task can run without a record.
    let (recorder, heartbeat) = record(host, &home, &task, ExtraWords::clone(words))
        .inspect_err(|error| {
            let error = OpError::wrap(error);
            events.warning(format!("The task is not recorded: {}", error.message), None);
        })
        .ok()
        .unzip();
    let notes = AgentNotes { events: events.clone(), is_full: true };
    let mut listeners: Vec<Arc<dyn Listener>> = vec![Arc::new(notes)];
    listeners.extend(recorder.iter().map(|recorder| Arc::clone(recorder) as _));
    let heard = AgentEvents::new(id.clone(), Arc::clone(&deps.clock), listeners);
    let outcome = host.block_on(async {
        let handle = RunHandle::new();
        let control = handle.control();
        let work = deps.explore(question, &spec, heard, &control);
        until_end(work, &handle, heartbeat, events.cancel()).await
    })?;
    if let Some(recorder) = recorder {
        close_recorder(&recorder, events);
    }
    empty_spill(host, &home);
    let outcome = outcome.map_err(|error| OpError::wrap(&error))?;
    let shown = &outcome.effects.shown;
    let check = |answer| check_report(answer, &deps.workspace, &spec.permissions, shown);
    let checked = outcome.answer.as_ref().and_then(check);
    Ok(report(&id, &outcome, checked))
}

fn report(id: &TaskId, outcome: &Outcome, checked: Option<CheckedReport>) -> AgentRunReport {
    let verified = checked.as_ref().is_some_and(CheckedReport::is_verified);
    let has_answer = checked.is_some();
    let citation = |LookedAt { citation, lines }: LookedAt| {
        let Citation { file, first_line, last_line, quote } = citation;
        let why = lines.err();
        CheckedCitation { file, first_line, last_line, quote, verified: why.is_none(), why }
    };
    let checked = checked.unwrap_or_default();
    let facts = &outcome.facts;
    let (error, failure) = match &outcome.ending {
        Ending::Completed { .. } => (None, None),
        Ending::Failed(error) => (
            Some(error.to_string()),
            Some(run_failed(error).hint(format!("The session was recorded as `{id}`"))),
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

pub(crate) fn token_use(facts: &RunFacts) -> TokenCounts {
    let output = facts.usage.output;
    TokenCounts { input: facts.usage.total() - output, output }
}

pub(crate) fn agent_deps(host: &Host, home: &WriteScope, models: Arc<Models>) -> Result<AgentDeps> {
    let root = host.workspace();
    let permissions = Permissions::read_only();
    let workspace =
        Workspace::open(&root, &permissions.denied).map_err(|error| OpError::wrap(&error))?;
    let workspace = Arc::new(workspace);
    let (policy, limits) = patience(host);
    let git = match &host.environment.home {
        Some(home) => host.git().with_home(home),
        None => host.git(),
    };
    let mut tools = toolkits::file::tools(&workspace);
    tools.extend(toolkits::code::tools(&workspace));
    tools.extend(toolkits::git::tools(&workspace, git));
    Ok(AgentDeps {
        models,
        policy,
        limits,
        clock: clock(host),
        tools,
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

pub(crate) struct AgentNotes {
    pub(crate) events: Events,
    /// Whether to include tool call arguments and the model's unchecked text.
    pub(crate) is_full: bool,
}

impl Listener for AgentNotes {
    fn hear(&self, record: &Arc<Record>) {
        let is_full = self.is_full;
        let event = &record.event;
        if let Event::ToolCall { tool, arguments, .. } = event {
            let arguments = if is_full { format!(" {arguments}") } else { String::new() };
            self.events.note(format!("· {tool}{arguments}"));
        } else if let Event::ModelRetry { why, wait_ms, .. } = event {
            self.events.note(format!("· retrying in {wait_ms} ms: {why}"));
        } else if let Event::ModelFallback { to, why, .. } = event {
            self.events.note(format!("· switching to {to}: {why}"));
        } else if let Event::ModelDelta { kind: DeltaKind::Text, text } = event
            && is_full
        {
            self.events.emit(nacre_types::Event::Words { text: text.to_string() });
        } else if let Event::CompletionReopen { why, .. } = event
            && is_full
        {
            let first = why.as_str().lines().next().unwrap_or_default();
            self.events.note(format!("· answer rejected: {first}"));
        }
    }
}
