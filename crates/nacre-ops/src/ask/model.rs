//! Answers a question with a model.

use std::sync::Arc;

use nacre_base::fs::{RelPath, WriteScope};
use nacre_base::text::terms;
use nacre_engine::agents::{AgentDeps, asker, build_prompt};
use nacre_engine::flows::ask::{Answer, Said, Verifier, ask as ask_agent, gap};
use nacre_engine::lifecycle::{AgentSpec, Ending, Outcome, RunError, RunHandle};
use nacre_engine::model::{Cost, Models};
use nacre_engine::record::{Events as AgentEvents, RunFacts, TaskId};
use nacre_engine::tools::{
    AnyTool, MemoryRecall, PipelineError, Seen, TraceHandle, TraceSearch, note, tool, toolkits,
};
use nacre_memory::recall::{Passage, Told};
use nacre_memory::search::{LibraryOptions, Mode, Query, Readable, place_of_shared_unit};
use nacre_memory::{LearningKind, MemoryId, Quote};
use nacre_types::{
    AnswerSentence, AskReport, CitedMemory, Failure, MemoryAnswer, ModelAnswer, RecalledMemory,
    RecalledQuote, SaidInSession, SourceQuote, TraceSearchRequest,
};

use super::{
    AskContext, COUNT_PATIENCE, cancellation_error, count, from_memories, warn_of_fallback,
};
use crate::agent::{AgentNotes, agent_deps, token_use};
use crate::error::{OpError, Result};
use crate::events::Events;
use crate::host::{Host, SPILL_FOLDER, ScopedStore, no_answer, open_charged_models, until_end};
use crate::memory::label;
use crate::trace;

/// Falls back to listing the memories if the model has no answer.
pub(super) fn answer(
    asking: &AskContext<'_>,
    models: Models,
    events: &Events,
) -> Result<AskReport> {
    let home = asking.host.home_scope()?;
    let seen = Seen::default();
    asking.passages.iter().for_each(|passage| note(&seen, passage));
    let models = open_charged_models(asking.host, models, "ask")?;
    let deps = agent_deps(asking.host, &home, models)?;
    let deps = AgentDeps { tools: tools(asking, &deps, &seen)?, ..deps };
    let offered: Vec<&str> = deps.tools.iter().map(|tool| tool.spec().name).collect();
    let spec = asker(&deps.permissions, &offered);
    let verifier = Verifier { stores: &asking.stores, seen: &seen, now: asking.host.now() };
    let text = build_prompt(asking.question, &asking.passages);
    let before = list_spilled(&home);
    let answered = asking.host.block_on(run(&deps, &spec, &text, &verifier, events))?;
    forget_spilled(asking, &home, &before);
    let (answer, outcome) = answered.map_err(|error| OpError::wrap(&error))?;
    let failure = match &outcome.ending {
        Ending::Completed { .. } => None,
        Ending::Failed(RunError::Model(error)) => Some(no_answer(error)),
        Ending::Failed(error) => Some(OpError::wrap(error)),
        Ending::Cancelled(_) => return Err(cancellation_error()),
    };
    if let Some(failure) = failure.as_ref().filter(|_| answer.said.is_empty()) {
        warn_of_fallback(events, failure);
        return Ok(from_memories(asking, Some(failure.clone())));
    }
    for (number, said) in answer.said.iter().enumerate() {
        let text = format!("{}{}", gap(number == 0, said.starts_line), said.shown());
        events.emit(nacre_types::Event::Sentence { text, starts_line: said.starts_line });
    }
    let ids = answer.ids().into_iter();
    let cited: Vec<_> = ids.filter_map(|id| Some((asking.store_of(&id)?, id))).collect();
    count(asking, &cited);
    Ok(AskReport::Model(answer_written(asking, &answer, &outcome.facts, failure)))
}

fn tools(asking: &AskContext<'_>, deps: &AgentDeps, seen: &Seen) -> Result<Vec<Arc<dyn AnyTool>>> {
    let mut tools = toolkits::file::tools(&deps.workspace);
    tools.extend(toolkits::code::tools(&deps.workspace));
    let stores = Arc::clone(&asking.stores);
    tools.push(tool::<MemoryRecall>((stores, seen.clone())));
    let home = asking.host.home()?;
    let catalog = home.join("catalog.sqlite3");
    // Opening the catalog would create it, so check that it exists first. Only the owner may search
    // sessions.
    let is_owner = asking.host.caller.permissions.allow_everything();
    if is_owner && catalog.is_file() && !asking.stores.is_empty() {
        let project = asking.host.project.as_ref();
        let traces = TraceHandle {
            catalog,
            home: home.to_owned(),
            project: project.map(|project| project.path.display().to_string()),
            owner: asking.host.owner("ask"),
            seen: seen.clone(),
        };
        tools.push(tool::<TraceSearch>(traces));
    }
    Ok(tools)
}

async fn run(
    deps: &AgentDeps,
    spec: &AgentSpec,
    text: &str,
    verifier: &Verifier<'_>,
    events: &Events,
) -> Result<(Answer, Outcome), PipelineError> {
    let notes = AgentNotes { events: events.clone(), is_full: false };
    let task = TaskId::from_random(deps.seed);
    let heard = AgentEvents::new(task, Arc::clone(&deps.clock), vec![Arc::new(notes)]);
    let handle = RunHandle::new();
    let control = handle.control();
    let work = ask_agent(deps, spec, text, verifier, &heard, &control);
    until_end(work, &handle, None, events.cancel()).await
}

fn list_spilled(home: &WriteScope) -> Vec<String> {
    let entries = RelPath::new(SPILL_FOLDER).and_then(|folder| home.list(&folder));
    entries.unwrap_or_default().into_iter().map(|entry| entry.name).collect()
}

/// Removes tool output that was saved while answering this question.
fn forget_spilled(asking: &AskContext<'_>, home: &WriteScope, before: &[String]) {
    let new: Vec<String> =
        list_spilled(home).into_iter().filter(|name| !before.contains(name)).collect();
    let Ok(folder) = RelPath::new(SPILL_FOLDER) else { return };
    if new.is_empty() {
        return;
    }
    let owner = asking.host.owner("ask");
    // A later run removes the files.
    let Ok(writer) = home.lock(&owner, COUNT_PATIENCE) else { return };
    for name in new {
        if let Ok(path) = folder.join(&name) {
            let _ = writer.remove_derived(&path);
        }
    }
}

pub(super) fn answer_recalled(
    asking: &AskContext<'_>,
    told: &[Told],
    failure: Option<OpError>,
) -> MemoryAnswer {
    let answer = told.first().filter(|first| first.is_answer);
    MemoryAnswer {
        question: asking.question.to_owned(),
        known: answer.is_some(),
        answer: answer.map(|Told { passage, line, .. }| {
            let line = if line.is_empty() { String::new() } else { format!("\n{line}") };
            format!("{} [{}]{line}", passage.title, passage.id)
        }),
        memories: told.iter().map(|told| describe(asking, told)).collect(),
        said: if answer.is_none() { find_said(asking) } else { None },
        broken: asking.n_broken,
        error: failure.map(|failure| failure.message),
    }
}

fn describe(asking: &AskContext<'_>, told: &Told) -> RecalledMemory {
    let Told { passage, line, .. } = told;
    RecalledMemory {
        id: passage.id.to_string(),
        r#type: passage.word().to_owned(),
        title: passage.title.clone(),
        status: passage.status.as_str().to_owned(),
        scope: asking.scope_of(passage.store),
        project: asking.project_of(passage.store),
        score: passage.score,
        updated: passage.updated.map(|at| at.to_string()),
        replaced_by: passage.contradicted_by.as_ref().map(ToString::to_string),
        line: line.clone(),
        quote: passage.quotes.first().map(|quote| quote.text.clone()),
        proof: proof(passage),
        not_verified: passage.find_unverified().iter().map(ToString::to_string).collect(),
        also_in: asking.also_in(&passage.id, passage.store),
        trust: label(passage.trust),
    }
}

/// Returns the first evidence quote that is not already part of the memory's text.
fn proof(passage: &Passage) -> Option<RecalledQuote> {
    let quote = passage.quotes.iter().find(|quote| passage.says_more(quote))?;
    let Quote { text, speaker, place, at } = quote.clone();
    Some(RecalledQuote { text, speaker, place, at })
}

/// Number of session messages to examine.
const MAX_MESSAGES: usize = 10;

/// Minimum fraction and minimum number of the question's terms that a message must contain.
const MIN_TERMS_SHARE: f32 = 0.6;
const MIN_TERMS: usize = 2;

/// Returns the user message that clearly matches the question, if any. Only the owner may search
/// sessions. Errors are ignored, because the answer does not depend on this search.
fn find_said(asking: &AskContext<'_>) -> Option<SaidInSession> {
    let host = asking.host;
    let is_owner = host.caller.permissions.allow_everything();
    let has_sessions = host.home().ok()?.join("catalog.sqlite3").is_file();
    if !is_owner || !has_sessions || host.project.is_none() {
        return None;
    }
    // Punctuation must not be interpreted as filters or phrases.
    let words: Vec<&str> = asking.question.split(|c: char| !c.is_alphanumeric()).collect();
    let query = words.join(" ");
    let n_terms = terms(&query).len();
    let limit = Some(MAX_MESSAGES);
    let request = TraceSearchRequest { query, limit, ..TraceSearchRequest::default() };
    let hits = trace::search(host, &request).ok()?.hits;
    let hit = hits.into_iter().find(|hit| {
        let n_shared = hit.why.terms.len();
        let is_clear = n_shared >= MIN_TERMS && n_shared as f32 >= MIN_TERMS_SHARE * n_terms as f32;
        hit.kind == "user" && is_clear && !hit.snippet.trim_end().ends_with('?')
    })?;
    let place = format!("{}:{}", hit.id, hit.sequence);
    Some(SaidInSession { text: hit.snippet, place, at: hit.at })
}

const MAX_STORES: usize = 50;

const MAX_HITS: usize = 100;

/// Returns the stores of the named projects, except those that the caller may not read. With a
/// shared index, the stores with the best matches come first.
pub(super) fn stores(
    host: &Host,
    question: &str,
    events: &Events,
) -> Result<Vec<(Option<String>, ScopedStore)>> {
    let found = find_projects(host, question).unwrap_or_else(|error| {
        // Without the database, the stores can still be read from disk.
        events.warning(&error.message, Some("Each project is searched separately"));
        None
    });
    let all = || host.projects.iter().map(|project| project.name.clone()).collect();
    let names: Vec<String> = found.unwrap_or_else(all);
    let n_left = names.len().saturating_sub(MAX_STORES);
    if n_left > 0 {
        let hint = "Search a single project: nacre --project NAME ask QUESTION";
        events.warning(format!("{n_left} projects were not searched"), Some(hint));
    }
    let mut stores = Vec::new();
    for name in names.into_iter().take(MAX_STORES) {
        let Some(project) = host.projects.iter().find(|project| project.name == name) else {
            continue;
        };
        if let Ok(scoped) = host.store_at(&project.path) {
            stores.push((Some(name), scoped));
        }
    }
    if stores.is_empty() {
        return Err(OpError::failed("No projects to search").hint("nacre project"));
    }
    Ok(stores)
}

/// Returns the projects with matches in the shared index, or `None` if nothing matches or there is
/// no index.
fn find_projects(host: &Host, question: &str) -> Result<Option<Vec<String>>> {
    let Some(records) = host.open_shared_records()? else { return Ok(None) };
    let readable = Readable::projects(host.projects.iter().map(|project| project.name.as_str()));
    let now_ms = host.now().as_millisecond();
    let options = LibraryOptions { mode: Mode::Hybrid, limit: MAX_HITS, now_ms };
    let mut query = Query::parse(question, host.now());
    // An answer does not have to contain the question's quoted phrases.
    query.phrases.clear();
    let mut names: Vec<String> = Vec::new();
    for hit in records.search(&query, &readable, options)? {
        let name = place_of_shared_unit(&hit.unit).map(|(name, _)| name);
        names.extend(
            name.filter(|name| !names.iter().any(|known| known == name)).map(str::to_owned),
        );
    }
    Ok(Some(names).filter(|names| !names.is_empty()))
}

fn answer_written(
    asking: &AskContext<'_>,
    answer: &Answer,
    facts: &RunFacts,
    failure: Option<OpError>,
) -> ModelAnswer {
    let known = !answer.said.is_empty();
    ModelAnswer {
        question: asking.question.to_owned(),
        known,
        answer: known.then(|| answer.text()),
        sentences: answer.said.iter().map(|said| sentence(asking, said)).collect(),
        memories: answer.ids().iter().filter_map(|id| cite(asking, id)).collect(),
        messages: answer.places(),
        left_out: answer.doubts.clone(),
        broken: asking.n_broken,
        error: failure.as_ref().map(|failure| failure.message.clone()),
        steps: facts.steps,
        tool_calls: facts.tool_calls,
        tokens: token_use(facts),
        cost_usd: facts.cost.map(Cost::dollars),
        failure: failure.map(Failure::from),
    }
}

fn sentence(asking: &AskContext<'_>, said: &Said) -> AnswerSentence {
    let store = asking.stores.first();
    let redacted = |text: &str| store.map_or_else(String::new, |of| of.store.redact_text(text));
    let quote = |quote: &SourceQuote| SourceQuote {
        source: quote.source.clone(),
        text: redacted(&quote.text),
    };
    AnswerSentence {
        text: said.text.clone(),
        verified: said.is_verified,
        ids: said.ids.iter().map(ToString::to_string).collect(),
        messages: said.places.clone(),
        quotes: said.quotes.iter().map(quote).collect(),
    }
}

/// Returns `None` if the memory has been removed in the meantime.
fn cite(asking: &AskContext<'_>, id: &MemoryId) -> Option<CitedMemory> {
    let number = asking.store_of(id)?;
    let store = &asking.stores.get(number)?.store;
    let memory = store.get(id.as_str()).ok().filter(|memory| memory.at.id == *id)?;
    let evidence = store.proof_of(&memory);
    let quote = evidence.and_then(|evidence| evidence.quotes.into_iter().next());
    let kind = memory.kind.map(LearningKind::as_str);
    Some(CitedMemory {
        id: id.to_string(),
        r#type: kind.unwrap_or(memory.at.memory_type.as_str()).to_owned(),
        title: store.redact_text(&memory.title),
        status: memory.status.as_str().to_owned(),
        scope: asking.scope_of(number),
        project: asking.project_of(number),
        path: store.path().join(memory.at.path.as_str()).display().to_string(),
        updated: memory.updated.or(memory.created).map(|at| at.to_string()),
        quote: quote.as_ref().map(|quote| store.redact_text(quote.text.trim())),
        speaker: quote.as_ref().map(|quote| quote.speaker),
        place: quote.map(|quote| quote.place),
        not_verified: store
            .find_unverified_claims(&memory)
            .iter()
            .map(ToString::to_string)
            .collect(),
        also_in: asking.also_in(id, number),
    })
}
