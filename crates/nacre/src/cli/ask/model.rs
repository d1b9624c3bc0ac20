//! The model's part of an answer: tools, the run, and sentences shown as soon as they are checked.

use std::sync::Arc;

use nacre_api::wire::ErrorCode;
use nacre_core::safefs::{RelPath, WriteScope};
use nacre_engine::agents::{Crew, asked, asker};
use nacre_engine::flows::ask::{Answer, Checker, Herald, Said, Sentence, Verifier, ask, gap};
use nacre_engine::lifecycle::{AgentSpec, Ending, Outcome, RunError, RunHandle};
use nacre_engine::model::Models;
use nacre_engine::record::{CancelledBy, Event, Events, Listener, Record, TaskId};
use nacre_engine::tools::{
    AnyTool, MemoryRecall, PipelineError, Seen, TraceSearch, TraceShelf, note, toolkits,
};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::super::run::crew;
use super::super::ui::Ui;
use super::Asking;
use nacre_ops::OpError;
use nacre_ops::host::SPILL_FOLDER;
use nacre_ops::host::paid;
use nacre_ops::host::{block_on, no_answer};

/// What came of asking a model.
pub(super) struct Answered {
    pub(super) answer: Answer,
    /// Why it is not whole.
    pub(super) failure: Option<OpError>,
    pub(super) outcome: Outcome,
    /// Whether the sentences stand on the screen already.
    pub(super) is_shown: bool,
}

pub(super) fn answer(
    ui: &mut Ui,
    asking: &Asking<'_>,
    models: Models,
) -> Result<Answered, OpError> {
    let home = asking.host.home_scope()?;
    let seen = Seen::default();
    asking.passages.iter().for_each(|passage| note(&seen, passage));
    let models = paid(asking.host, models, "ask")?;
    let crew = crew(asking.host, &home, models)?;
    let crew = Crew { tools: tools(asking, &crew, &seen)?, ..crew };
    let spec = asker(&crew.permissions);
    let verifier = Verifier { shelves: &asking.shelves, seen: &seen, now: asking.host.now() };
    let spilled = spilled(&home);
    let mut screen =
        Screen { is_on: ui.is_watched(), checker: Checker::new(&verifier), shown: Vec::new() };
    let answered =
        block_on(converse(ui, &mut screen, (&crew, &spec), &asking_words(asking), &verifier))?;
    forget_spilled(asking, &home, &spilled);
    let (answer, outcome) =
        answered?.map_err(|error| OpError::from_error(ErrorCode::Failed, &error, None))?;
    screen.finish(ui, &answer)?;
    let failure = match &outcome.ending {
        Ending::Completed { .. } => None,
        Ending::Failed(RunError::Model(error)) => Some(no_answer(error)),
        Ending::Failed(error) => Some(OpError::from_error(ErrorCode::Failed, error, None)),
        Ending::Cancelled(_) => return Err(OpError::failed("The question was cancelled")),
    };
    Ok(Answered { answer, failure, outcome, is_shown: screen.is_on })
}

fn asking_words(asking: &Asking<'_>) -> String {
    asked(&asking.question, &asking.passages)
}

/// The tools of the agent: it reads memories, what was said, files and code.
fn tools(asking: &Asking<'_>, crew: &Crew, seen: &Seen) -> Result<Vec<Arc<dyn AnyTool>>, OpError> {
    let mut tools = toolkits::file::tools(&crew.workspace);
    tools.extend(toolkits::code::tools(&crew.workspace));
    let shelves = Arc::clone(&asking.shelves);
    tools.push(Arc::new(MemoryRecall { shelves, seen: seen.clone() }));
    let home = asking.host.home()?;
    let catalog = home.join("catalog.sqlite3");
    let embedder = asking.shelves.first().map(|shelf| Arc::clone(&shelf.embedder));
    // Who never read a trace has nothing to search, and a question makes no file.
    if let Some(embedder) = embedder.filter(|_| catalog.is_file()) {
        let project = asking.host.project.as_ref();
        let shelf = TraceShelf {
            catalog,
            home: home.to_owned(),
            project: project.map(|project| project.path.display().to_string()),
            embedder,
            owner: asking.host.owner("ask"),
        };
        tools.push(Arc::new(TraceSearch { shelf, seen: seen.clone() }));
    }
    Ok(tools)
}

type Asked = Result<Result<(Answer, Outcome), PipelineError>, OpError>;

/// Runs the agent until it ends or a person presses Ctrl-C; shows what is checked meanwhile.
async fn converse(
    ui: &mut Ui,
    screen: &mut Screen<'_>,
    (crew, spec): (&Crew, &AgentSpec),
    asked: &str,
    verifier: &Verifier<'_>,
) -> Asked {
    let (to, mut sentences) = unbounded_channel();
    let listeners: Vec<Arc<dyn Listener>> =
        vec![Herald::new(to), Arc::new(Watcher { events: ui.events() })];
    let events = Events::new(TaskId::from_random(crew.seed), Arc::clone(&crew.clock), listeners);
    let handle = RunHandle::new();
    let control = handle.control();
    let mut work = std::pin::pin!(ask(crew, spec, asked, verifier, (&events, &control)));
    loop {
        tokio::select! {
            biased;
            Some(sentence) = sentences.recv() => screen.take(ui, &sentence)?,
            answered = &mut work => {
                screen.drain(ui, &mut sentences)?;
                return Ok(answered);
            }
            Ok(()) = tokio::signal::ctrl_c() => {
                handle.cancel(CancelledBy::Person);
                return Ok(work.await);
            }
        }
    }
}

/// The answer as it grows on a terminal, in sentences that hold.
struct Screen<'a> {
    is_on: bool,
    checker: Checker<'a>,
    shown: Vec<Said>,
}

impl Screen<'_> {
    fn take(&mut self, ui: &mut Ui, sentence: &Sentence) -> Result<(), OpError> {
        if !self.is_on {
            return Ok(());
        }
        match self.checker.take(sentence) {
            Some(Ok(said)) => self.show(ui, said),
            Some(Err(_)) | None => Ok(()),
        }
    }

    fn drain(
        &mut self,
        ui: &mut Ui,
        sentences: &mut UnboundedReceiver<Sentence>,
    ) -> Result<(), OpError> {
        while let Ok(sentence) = sentences.try_recv() {
            self.take(ui, &sentence)?;
        }
        Ok(())
    }

    /// Shows a sentence once, however often a model that begins anew says it.
    fn show(&mut self, ui: &mut Ui, said: Said) -> Result<(), OpError> {
        if self.shown.iter().any(|known| known.text == said.text) {
            return Ok(());
        }
        ui.words(gap(self.shown.is_empty(), said.starts_line))?;
        ui.words(&said.text)?;
        self.shown.push(said);
        Ok(())
    }

    /// Shows what the screen does not have yet, and ends the line.
    fn finish(&mut self, ui: &mut Ui, answer: &Answer) -> Result<(), OpError> {
        if !self.is_on {
            return Ok(());
        }
        for said in &answer.said {
            self.show(ui, said.clone())?;
        }
        if self.shown.is_empty() { Ok(()) } else { ui.line("") }
    }
}

/// Says on a terminal what the agent does. Of what it says and asks nothing is shown here: none of it was checked.
struct Watcher {
    events: nacre_ops::Events,
}

impl Listener for Watcher {
    fn hear(&self, record: &Arc<Record>) {
        if let Event::ToolCall { tool, .. } = &record.event {
            self.events.note(format!("· {tool}"));
        } else if let Event::ModelRetry { why, wait_ms, .. } = &record.event {
            self.events.note(format!("· asking again in {wait_ms} ms: {why}"));
        } else if let Event::ModelFallback { to, why, .. } = &record.event {
            self.events.note(format!("· asking {to}: {why}"));
        }
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
    // Nothing depends on it: what is left is emptied out by a later run.
    let Ok(writer) = home.lock(&owner, super::COUNT_PATIENCE) else { return };
    for name in new {
        if let Ok(path) = folder.join(&name) {
            let _ = writer.remove_derived(&path);
        }
    }
}
