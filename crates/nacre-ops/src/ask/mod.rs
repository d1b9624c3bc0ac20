//! Answers a question from memory, with citations.

mod model;

use std::sync::Arc;
use std::time::Duration;

use nacre_engine::flows::ask::MAX_QUESTION_BYTES;
use nacre_engine::model::{Models, Role, RolesError};
use nacre_engine::tools::{MemoryHandle, recall};
use nacre_memory::MemoryId;
use nacre_memory::recall::{Passage, Recalled, tell};
use nacre_types::{AskReport, AskRequest, ErrorCode, StoreScope};

use crate::error::{OpError, Result};
use crate::events::Events;
use crate::host::{Host, as_task, load_script, model_settings, note_offered};

const DEFAULT_LIMIT: usize = 5;
const MAX_LIMIT: usize = 20;

/// Lock timeout. Short, because updating citation counters must not delay the answer.
const COUNT_PATIENCE: Duration = Duration::from_millis(500);

struct AskContext<'a> {
    host: &'a Host,
    question: &'a str,
    stores: Arc<Vec<MemoryHandle>>,
    scopes: Vec<StoreScope>,
    /// The project name of each store, if several projects are searched.
    projects: Vec<Option<String>>,
    /// Sorted by relevance, best first.
    passages: Vec<Passage>,
    n_broken: usize,
    n_postponed: usize,
}

impl AskContext<'_> {
    /// Citations refer to the first store that contains the memory.
    fn store_of(&self, id: &MemoryId) -> Option<usize> {
        self.stores.iter().position(|store| has(store, id))
    }

    fn scope_of(&self, number: usize) -> StoreScope {
        self.scopes.get(number).copied().unwrap_or(StoreScope::Project)
    }

    fn project_of(&self, number: usize) -> Option<String> {
        self.projects.get(number).cloned().flatten()
    }

    fn also_in(&self, id: &MemoryId, number: usize) -> Vec<StoreScope> {
        let others = self.stores.iter().zip(&self.scopes).enumerate();
        let others = others.filter(|(other, (store, _))| *other != number && has(store, id));
        others.map(|(_, (_, scope))| *scope).collect()
    }
}

fn has(store: &MemoryHandle, id: &MemoryId) -> bool {
    store.store.places(id).is_ok_and(|places| !places.is_empty())
}

pub fn ask(host: &Host, request: &AskRequest, events: &Events) -> Result<AskReport> {
    let asking = look_up(host, request, events)?;
    if asking.n_broken != 0 {
        let files = if asking.n_broken == 1 { "1 file is" } else { "some files are" };
        let message = format!("The search is incomplete: {files} broken");
        events.warning(message, Some("nacre doctor"));
    }
    if asking.n_postponed != 0 {
        let message = format!("{} memories are not indexed yet", asking.n_postponed);
        events.warning(message, Some("Run it again: each run indexes more memories"));
    }
    if events.cancel().is_cancelled() {
        return Err(cancellation_error());
    }
    let Some(models) = models(host, request, events)? else {
        return Ok(from_memories(&asking, None));
    };
    as_task(host, "ask", asking.question, events, |events| model::answer(&asking, models, events))
}

fn cancellation_error() -> OpError {
    OpError::new(ErrorCode::Cancelled, "The question was cancelled")
}

fn look_up<'a>(host: &'a Host, request: &'a AskRequest, events: &Events) -> Result<AskContext<'a>> {
    let question = request.question.trim();
    if question.is_empty() {
        return Err(OpError::usage("The question is empty")
            .hint("nacre ask \"Why is the queue in SQLite?\""));
    }
    if question.len() > MAX_QUESTION_BYTES {
        let size = question.len();
        return Err(OpError::usage(format!("The question is {size} bytes long"))
            .hint(format!("Use at most {MAX_QUESTION_BYTES} bytes")));
    }
    let limit = request.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(OpError::usage(format!("`--limit` must be between 1 and {MAX_LIMIT}")));
    }
    let named = if request.all_projects {
        model::stores(host, question, events)?
    } else {
        let stores = host.stores_to_read(request.scope)?.into_iter();
        stores.map(|scoped| (None, scoped)).collect()
    };
    let (mut stores, mut scopes, mut projects) = (Vec::new(), Vec::new(), Vec::new());
    for (project, scoped) in named {
        projects.push(project);
        scopes.push(scoped.scope);
        stores.push(MemoryHandle {
            store: Arc::new(scoped.store),
            owner: host.owner("ask"),
            patience: COUNT_PATIENCE,
            source: "ask".to_owned(),
            is_claims_only: false,
        });
    }
    let Recalled { passages, n_broken, n_postponed } =
        recall(&stores, question, limit, host.now())?;
    let stores = Arc::new(stores);
    Ok(AskContext { host, question, stores, scopes, projects, passages, n_broken, n_postponed })
}

/// Returns `None` if no model is configured or the caller opted out.
fn models(host: &Host, request: &AskRequest, events: &Events) -> Result<Option<Models>> {
    if request.no_model {
        return Ok(None);
    }
    if let Some(file) = &request.scripted {
        return Ok(Some(Models::new(load_script(host, file.as_ref())?)));
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
    events.warning(format!("{}; showing the memories instead", error.message), hint);
}

/// Falls back to returning the memories themselves. They do not count as cited, because nobody has
/// confirmed that they answer the question.
fn from_memories(asking: &AskContext<'_>, failure: Option<OpError>) -> AskReport {
    let told = tell(asking.question, asking.passages.clone());
    for (number, store) in asking.stores.iter().enumerate() {
        let here = told.iter().filter(|told| told.passage.store == number);
        let here: Vec<MemoryId> = here.map(|told| told.passage.id.clone()).collect();
        note_offered(&store.store, &store.owner, &here, asking.host.now());
    }
    AskReport::Memories(model::answer_recalled(asking, &told, failure))
}

fn count(asking: &AskContext<'_>, cited: &[(usize, MemoryId)]) {
    let now = asking.host.now();
    for (number, store) in asking.stores.iter().enumerate() {
        let here = cited.iter().filter(|(of, _)| *of == number);
        let here: Vec<MemoryId> = here.map(|(_, id)| id.clone()).collect();
        if here.is_empty() {
            continue;
        }
        // Ignore errors: the answer matters more than the counters.
        let _ = store.store.begin(&store.owner, store.patience).and_then(|mut batch| {
            batch.cite(&here, now)?;
            batch.commit()
        });
    }
}

#[cfg(test)]
mod tests;
