//! The model's part of an answer: tools, the run, and sentences emitted as soon as they are checked.

use std::sync::Arc;

use nacre_api::wire::{self, ErrorCode};
use nacre_core::safefs::{RelPath, WriteScope};
use nacre_engine::agents::{AgentDeps, asked, asker};
use nacre_engine::flows::ask::ask as ask_agent;
use nacre_engine::flows::ask::{Answer, Checker, Said, Sentence, SentenceListener, Verifier, gap};
use nacre_engine::lifecycle::{AgentSpec, Ending, Outcome, RunError, RunHandle};
use nacre_engine::model::Models;
use nacre_engine::record::{CancelledBy, Events as AgentEvents, Listener, TaskId};
use nacre_engine::tools::{
    AnyTool, MemoryRecall, PipelineError, Seen, TraceHandle, TraceSearch, note, toolkits,
};
use tokio::sync::mpsc::unbounded_channel;

use super::{Asking, COUNT_PATIENCE, cancelled};
use crate::error::OpError;
use crate::events::Events;
use crate::host::{SPILL_FOLDER, charged_models, no_answer};
use crate::operations::agent::{AgentNotes, NoteDetail, agent_deps};

/// What came of asking a model.
pub(super) struct ModelAnswered {
    pub(super) answer: Answer,
    /// Why it is not whole.
    pub(super) failure: Option<OpError>,
    pub(super) outcome: Outcome,
}

pub(super) fn answer(
    asking: &Asking<'_>,
    models: Models,
    events: &Events,
) -> Result<ModelAnswered, OpError> {
    let home = asking.host.home_scope()?;
    let seen = Seen::default();
    asking.passages.iter().for_each(|passage| note(&seen, passage));
    let models = charged_models(asking.host, models, "ask")?;
    let deps = agent_deps(asking.host, &home, models)?;
    let deps = AgentDeps { tools: tools(asking, &deps, &seen)?, ..deps };
    let offered: Vec<&str> = deps.tools.iter().map(|tool| tool.spec().name).collect();
    let spec = asker(&deps.permissions, &offered);
    let verifier = Verifier { stores: &asking.stores, seen: &seen, now: asking.host.now() };
    let question =
        ModelQuestion { deps, spec, text: asked(asking.question, &asking.passages), verifier };
    let before = spilled(&home);
    let mut stream = SentenceStream::new(events, &question.verifier);
    let answered = asking.host.block_on(question.ask(&mut stream, events))?;
    forget_spilled(asking, &home, &before);
    let (answer, outcome) =
        answered.map_err(|error| OpError::from_error(ErrorCode::Failed, &error, None))?;
    let failure = match &outcome.ending {
        Ending::Completed { .. } => None,
        Ending::Failed(RunError::Model(error)) => Some(no_answer(error)),
        Ending::Failed(error) => Some(OpError::from_error(ErrorCode::Failed, error, None)),
        Ending::Cancelled(_) => return Err(cancelled()),
    };
    // What the stream did not have, such as the answer of a model that sends it whole.
    answer.said.iter().for_each(|said| stream.emit(said));
    Ok(ModelAnswered { answer, failure, outcome })
}

/// The tools of the agent: it reads memories, what was said, files and code.
fn tools(
    asking: &Asking<'_>,
    deps: &AgentDeps,
    seen: &Seen,
) -> Result<Vec<Arc<dyn AnyTool>>, OpError> {
    let mut tools = toolkits::file::tools(&deps.workspace);
    tools.extend(toolkits::code::tools(&deps.workspace));
    let stores = Arc::clone(&asking.stores);
    tools.push(Arc::new(MemoryRecall { stores, seen: seen.clone() }));
    let home = asking.host.home()?;
    let catalog = home.join("catalog.sqlite3");
    let embedder = asking.stores.first().map(|store| Arc::clone(&store.embedder));
    // Where no trace was ever read there is nothing to search, and a question makes no file. Sessions are their owner's.
    let is_owner = asking.host.caller.permissions.allow_everything();
    if let Some(embedder) = embedder.filter(|_| is_owner && catalog.is_file()) {
        let project = asking.host.project.as_ref();
        let memories = TraceHandle {
            catalog,
            home: home.to_owned(),
            project: project.map(|project| project.path.display().to_string()),
            embedder,
            owner: asking.host.owner("ask"),
        };
        tools.push(Arc::new(TraceSearch { memories, seen: seen.clone() }));
    }
    Ok(tools)
}

/// What the agent is asked, and what its answer is checked by.
struct ModelQuestion<'a> {
    deps: AgentDeps,
    spec: AgentSpec,
    text: String,
    verifier: Verifier<'a>,
}

impl ModelQuestion<'_> {
    /// Runs the agent until it ends or the caller cancels it; emits what is checked meanwhile.
    async fn ask(
        &self,
        stream: &mut SentenceStream<'_>,
        events: &Events,
    ) -> Result<(Answer, Outcome), PipelineError> {
        let (to, mut sentences) = unbounded_channel();
        let notes = AgentNotes { events: events.clone(), detail: NoteDetail::Names };
        let listeners: Vec<Arc<dyn Listener>> = vec![SentenceListener::new(to), Arc::new(notes)];
        let task = TaskId::from_random(self.deps.seed);
        let heard = AgentEvents::new(task, Arc::clone(&self.deps.clock), listeners);
        let handle = RunHandle::new();
        let control = handle.control();
        let Self { deps, spec, text, verifier } = self;
        let mut work = std::pin::pin!(ask_agent(deps, spec, text, verifier, (&heard, &control)));
        loop {
            tokio::select! {
                biased;
                () = events.cancel().cancelled() => {
                    handle.cancel(CancelledBy::Person);
                    return work.await;
                }
                Some(sentence) = sentences.recv() => stream.take(&sentence),
                answered = &mut work => {
                    while let Ok(sentence) = sentences.try_recv() {
                        stream.take(&sentence);
                    }
                    return answered;
                }
            }
        }
    }
}

/// Emits sentences that hold, each with the gap before it.
struct SentenceStream<'a> {
    events: &'a Events,
    checker: Checker<'a>,
    emitted: Vec<String>,
}

impl<'a> SentenceStream<'a> {
    fn new(events: &'a Events, verifier: &'a Verifier<'a>) -> Self {
        Self { events, checker: Checker::new(verifier), emitted: Vec::new() }
    }

    fn take(&mut self, sentence: &Sentence) {
        if let Some(Ok(said)) = self.checker.take(sentence) {
            self.emit(&said);
        }
    }

    /// Emits a sentence once, however often a model that starts again says it.
    fn emit(&mut self, said: &Said) {
        if self.emitted.contains(&said.text) {
            return;
        }
        let gap = gap(self.emitted.is_empty(), said.starts_line);
        let text = format!("{gap}{}", said.text);
        self.events.emit(wire::Event::Sentence { text, starts_line: said.starts_line });
        self.emitted.push(said.text.clone());
    }
}

/// The names of long tool outputs that are kept.
fn spilled(home: &WriteScope) -> Vec<String> {
    let entries = RelPath::new(SPILL_FOLDER).and_then(|folder| home.list(&folder));
    entries.unwrap_or_default().into_iter().map(|entry| entry.name).collect()
}

/// A question leaves nothing: what its tools kept for the agent goes with it.
fn forget_spilled(asking: &Asking<'_>, home: &WriteScope, before: &[String]) {
    let new: Vec<String> =
        spilled(home).into_iter().filter(|name| !before.contains(name)).collect();
    let Ok(folder) = RelPath::new(SPILL_FOLDER) else { return };
    if new.is_empty() {
        return;
    }
    let owner = asking.host.owner("ask");
    // Best effort: what is left is removed by a later run.
    let Ok(writer) = home.lock(&owner, COUNT_PATIENCE) else { return };
    for name in new {
        if let Ok(path) = folder.join(&name) {
            let _ = writer.remove_derived(&path);
        }
    }
}
