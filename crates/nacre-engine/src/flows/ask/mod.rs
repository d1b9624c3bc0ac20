//! Answers a question from memory, with sources.
//!
//! An agent writes the answer, and the host checks every sentence before showing it. This module
//! writes nothing to the store, but the caller may count the citations.

#[cfg(test)]
mod tests;
mod verify;

use nacre_memory::MemoryId;
use std::collections::BTreeSet;

pub use self::verify::{Doubt, Doubts, Said, Verifier};
use crate::agents::{AgentDeps, NOT_KNOWN};
use crate::lifecycle::{AgentSpec, Ending, Outcome, RunControl};
pub use crate::proof::gap;
use crate::record::{Events, RunFacts};
use crate::tools::PipelineError;

pub const MAX_QUESTION_BYTES: usize = 8_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub said: Vec<Said>,
    pub doubts: Doubts,
}

impl Answer {
    pub fn check(text: &str, verifier: &Verifier<'_>) -> Self {
        let bare = text.trim().trim_matches(['.', '*', '`', '"', '[', ']', ' ']);
        if bare.eq_ignore_ascii_case(NOT_KNOWN) {
            return Self::default();
        }
        let (said, doubts) = verifier.check(text);
        Self { said, doubts }
    }

    pub fn n_left_out(&self) -> usize {
        self.doubts.values().sum()
    }

    pub fn ids(&self) -> Vec<MemoryId> {
        distinct(self.said.iter().flat_map(|said| &said.ids))
    }

    pub fn places(&self) -> Vec<String> {
        distinct(self.said.iter().flat_map(|said| &said.places))
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        for said in &self.said {
            text.push_str(gap(text.is_empty(), said.starts_line));
            text.push_str(&said.shown());
        }
        text
    }
}

fn distinct<'a, T: Clone + Ord + 'a>(all: impl Iterator<Item = &'a T>) -> Vec<T> {
    let mut known = BTreeSet::new();
    all.filter(|one| known.insert(*one)).cloned().collect()
}

/// Runs the agent. If no sentence passes the checks, tells the agent why and prompts it once more.
pub async fn ask(
    deps: &AgentDeps,
    spec: &AgentSpec,
    asked: &str,
    verifier: &Verifier<'_>,
    events: &Events,
    control: &RunControl,
) -> Result<(Answer, Outcome), PipelineError> {
    let outcome = deps.explore(asked, spec, events.clone(), control).await?;
    let answer = Answer::check(&outcome.text, verifier);
    let is_over = !matches!(outcome.ending, Ending::Completed { .. });
    if is_over || !answer.said.is_empty() || answer.doubts.is_empty() {
        return Ok((answer, outcome));
    }
    let again = told_again(&answer.doubts);
    let history = outcome.conversation.clone();
    let events = events.of_task(events.task().clone());
    let mut second = deps.go_on(history, &again, spec, events, control).await?;
    second.facts = together(&outcome.facts, &second.facts);
    match second.ending {
        Ending::Completed { .. } => Ok((Answer::check(&second.text, verifier), second)),
        Ending::Failed(_) | Ending::Cancelled(_) => Ok((answer, second)),
    }
}

fn together(first: &RunFacts, second: &RunFacts) -> RunFacts {
    RunFacts {
        steps: first.steps + second.steps,
        model_calls: first.model_calls + second.model_calls,
        tool_calls: first.tool_calls + second.tool_calls,
        usage: first.usage.plus(second.usage),
        cost: first.cost.zip(second.cost).map(|(one, two)| one.plus(two)),
        ..second.clone()
    }
}

fn told_again(doubts: &Doubts) -> String {
    let why: Vec<String> =
        doubts.iter().map(|(doubt, n)| format!("{n} {}", doubt.reason())).collect();
    format!(
        "None of your sentences can be shown: of them {}. Write the answer again, each sentence with ids that you were given, copied letter \
         for letter, or write {NOT_KNOWN}.",
        why.join(", ")
    )
}
