//! Answers a question from memory, with proof.
//!
//! Whatever a model writes, no sentence leaves this operation before everything that it cites was looked up.

mod everywhere;
mod model;
mod recalled;
mod written;

use std::sync::Arc;
use std::time::Duration;

use nacre_api::wire::{AskReport, AskRequest, ErrorCode, StoreScope};
use nacre_core::memory::MemoryId;
use nacre_engine::flows::ask::{MAX_QUESTION_BYTES, tell};
use nacre_engine::model::{Models, Role, RolesError};
use nacre_engine::tools::{MemoryHandle, Passage, Recalled, recall};

use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, ScopedStore, as_task, model_settings, note_offered, scripted};

/// How many memories a question is answered from.
const DEFAULT_LIMIT: usize = 5;
const MAX_LIMIT: usize = 20;

/// Counting what was cited must not make an answer wait.
const COUNT_PATIENCE: Duration = Duration::from_millis(500);

/// A question, and where its answer may come from.
struct Asking<'a> {
    host: &'a Host,
    question: &'a str,
    stores: Arc<Vec<MemoryHandle>>,
    /// Which memories each store holds.
    scopes: Vec<StoreScope>,
    /// The project of each store, where several are asked.
    projects: Vec<Option<String>>,
    /// The best first.
    passages: Vec<Passage>,
    n_broken: usize,
    /// Memories that wait for the next look.
    n_postponed: usize,
}

impl Asking<'_> {
    /// The first store that has a memory of this id: the one that an answer means by it.
    fn store_of(&self, id: &MemoryId) -> Option<usize> {
        self.stores.iter().position(|store| has(store, id))
    }

    fn scope_of(&self, number: usize) -> StoreScope {
        self.scopes.get(number).copied().unwrap_or(StoreScope::Project)
    }

    /// The project that a store is of, where several are asked.
    fn project_of(&self, number: usize) -> Option<String> {
        self.projects.get(number).cloned().flatten()
    }

    /// Which stores have the same id besides the one with this number.
    fn also_in(&self, id: &MemoryId, number: usize) -> Vec<StoreScope> {
        let others = self.stores.iter().zip(&self.scopes).enumerate();
        let others = others.filter(|(other, (store, _))| *other != number && has(store, id));
        others.map(|(_, (_, scope))| *scope).collect()
    }
}

fn has(store: &MemoryHandle, id: &MemoryId) -> bool {
    store.store.places(id).is_ok_and(|places| !places.is_empty())
}

pub fn ask(host: &Host, request: &AskRequest, events: &Events) -> Result<AskReport, OpError> {
    let asking = look_up(host, request, events)?;
    if asking.n_broken != 0 {
        let files = if asking.n_broken == 1 { "1 file is" } else { "some files are" };
        let message = format!("Not everything was looked at: {files} broken");
        events.warning(message, Some("nacre doctor"));
    }
    if asking.n_postponed != 0 {
        let message = format!("{} memories were not looked at yet", asking.n_postponed);
        events.warning(message, Some("Run it again: each look takes in more of them"));
    }
    if events.cancel().is_cancelled() {
        return Err(cancelled());
    }
    let Some(models) = models(host, request, events)? else {
        return Ok(from_memories(&asking, None));
    };
    as_task(host, ("ask", asking.question), events, |events| by_model(&asking, models, events))
}

/// What a model makes of the memories; the memories themselves where it says nothing.
fn by_model(asking: &Asking<'_>, models: Models, events: &Events) -> Result<AskReport, OpError> {
    let answered = model::answer(asking, models, events)?;
    match answered.failure {
        Some(failure) if answered.answer.said.is_empty() => {
            warn_of_fallback(events, &failure);
            Ok(from_memories(asking, Some(failure)))
        }
        _ => {
            let ids = answered.answer.ids();
            let cited = ids.into_iter().filter_map(|id| Some((asking.store_of(&id)?, id)));
            count(asking, &cited.collect::<Vec<_>>());
            Ok(AskReport::Model(written::answer(asking, answered)))
        }
    }
}

fn cancelled() -> OpError {
    OpError { code: ErrorCode::Cancelled, ..OpError::failed("The question was cancelled") }
}

fn look_up<'a>(
    host: &'a Host,
    request: &'a AskRequest,
    events: &Events,
) -> Result<Asking<'a>, OpError> {
    let question = request.question.trim();
    if question.is_empty() {
        return Err(OpError::usage("The question is empty")
            .hint("nacre ask \"Why is the queue in SQLite?\""));
    }
    if question.len() > MAX_QUESTION_BYTES {
        let size = question.len();
        return Err(OpError::usage(format!("The question has {size} bytes"))
            .hint(format!("Ask in at most {MAX_QUESTION_BYTES}")));
    }
    let limit = request.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(OpError::usage(format!("`--limit` is 1 to {MAX_LIMIT}")));
    }
    let named: Vec<(Option<String>, ScopedStore)> = match request.all_projects {
        true => {
            let stores = everywhere::stores(host, question, events)?.into_iter();
            stores.map(|(name, scoped)| (Some(name), scoped)).collect()
        }
        false => {
            let stores = host.stores_to_read(request.scope)?.into_iter();
            stores.map(|scoped| (None, scoped)).collect()
        }
    };
    let (mut stores, mut scopes, mut projects) = (Vec::new(), Vec::new(), Vec::new());
    for (project, scoped) in named {
        projects.push(project);
        scopes.push(scoped.scope);
        stores.push(MemoryHandle {
            store: Arc::new(scoped.store),
            embedder: host.embedder(&scoped.settings)?,
            owner: host.owner("ask"),
            patience: COUNT_PATIENCE,
            source: "ask".to_owned(),
        });
    }
    let Recalled { passages, n_broken, n_postponed } =
        recall(&stores, question, limit, host.now())?;
    let stores = Arc::new(stores);
    Ok(Asking { host, question, stores, scopes, projects, passages, n_broken, n_postponed })
}

/// The models that answer; none where none is set, or where the caller wants none.
fn models(host: &Host, request: &AskRequest, events: &Events) -> Result<Option<Models>, OpError> {
    if request.no_model {
        return Ok(None);
    }
    if let Some(file) = &request.scripted {
        return Ok(Some(Models::new(scripted(host, file.as_ref())?)));
    }
    let models = Models::new(model_settings(host)?);
    match models.route(Role::Ask) {
        Ok(_) => Ok(Some(models)),
        Err(RolesError::NotSet(_)) => Ok(None),
        Err(error) => {
            warn_of_fallback(events, &error.into());
            Ok(None)
        }
    }
}

fn warn_of_fallback(events: &Events, error: &OpError) {
    let hint = error.hints.first().map(String::as_str);
    events.warning(format!("{}; these are the memories", error.message), hint);
}

/// The memories speak for themselves. The first is the answer and counts as cited; the others are only near it.
fn from_memories(asking: &Asking<'_>, failure: Option<OpError>) -> AskReport {
    let told = tell(asking.question, asking.passages.clone());
    let first = told.first().map(|told| (told.passage.store, told.passage.id.clone()));
    count(asking, first.as_slice());
    for (number, store) in asking.stores.iter().enumerate() {
        let here = told.iter().filter(|told| told.passage.store == number);
        let here: Vec<MemoryId> = here.map(|told| told.passage.id.clone()).collect();
        note_offered(&store.store, &store.owner, &here, asking.host.now());
    }
    AskReport::Memories(recalled::answer(asking, &told, failure))
}

/// Counts what an answer cites, each memory once, in the store that it is from.
fn count(asking: &Asking<'_>, cited: &[(usize, MemoryId)]) {
    let now = asking.host.now();
    for (number, store) in asking.stores.iter().enumerate() {
        let here = cited.iter().filter(|(of, _)| *of == number);
        let here: Vec<MemoryId> = here.map(|(_, id)| id.clone()).collect();
        if here.is_empty() {
            continue;
        }
        // The answer is worth more than its count: a store that cannot be written to now is not counted in.
        let _ = store.store.begin(&store.owner, store.patience).and_then(|mut batch| {
            batch.cite(&here, now)?;
            batch.commit()
        });
    }
}

#[cfg(test)]
mod tests;
