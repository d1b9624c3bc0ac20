//! The lead and its explorers as agents of Nacre's own engine.

use std::sync::Arc;

use super::explorers::{self, ExplorerReport};
use super::told::Told;
use super::{LeadRequest, lead};
use crate::agents::deps::AgentDeps;
use crate::lifecycle::{Ending, Outcome, RunControl, Spawn};
use crate::record::{Event, Events, Failure, RunFacts, TaskState};
use crate::tools::MemoryHandle;

pub(super) async fn explore(
    deps: &Arc<AgentDeps>,
    order: &LeadRequest,
    memories: &MemoryHandle,
    (events, control): (&Events, &RunControl),
) -> Vec<ExplorerReport> {
    let at_once = match lead(order, &memories.store).spawn {
        Spawn::Explorers { at_once, .. } => at_once,
        Spawn::Nothing => 1,
    };
    let cases = (order.cases.as_slice(), at_once);
    explorers::explore(deps, &memories.store, cases, events, control).await
}

pub(super) async fn decide(
    deps: &AgentDeps,
    order: &LeadRequest,
    (memories, question): (&MemoryHandle, &str),
    (events, control): (&Events, &RunControl),
) -> Told {
    let spec = lead(order, &memories.store);
    match deps.explore(question, &spec, events.clone(), control).await {
        Ok(outcome) => told(outcome),
        Err(error) => {
            let (why, what) = (Failure::Unusable, error.to_string());
            events.emit(Event::Error { what: what.as_str().into(), hint: None });
            events.emit(Event::TaskState(TaskState::Failed { why }));
            Told {
                state: TaskState::Failed { why },
                error: Some(what),
                answer: None,
                facts: RunFacts::default(),
                session: None,
            }
        }
    }
}

fn told(outcome: Outcome) -> Told {
    let error = match &outcome.ending {
        Ending::Completed { .. } => None,
        Ending::Failed(error) => Some(error.to_string()),
        Ending::Cancelled(by) => Some(format!("it was cancelled by the {}", by.as_str())),
    };
    Told {
        state: outcome.ending.state(),
        error,
        // Each decision stands for itself, also in an answer of which another part is not of the shape.
        answer: outcome.answer.or(outcome.rejected),
        facts: outcome.facts,
        session: None,
    }
}
