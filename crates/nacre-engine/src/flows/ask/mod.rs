//! Ask: a question, answered from memory with proof.
//!
//! With a model an agent writes the answer, and the host checks every sentence before anybody sees it; without one the
//! memories speak for themselves. Either way the last word may be that the memory does not know. Nothing is changed here:
//! whoever shows an answer may count what it cites.

mod offline;
mod overturned;
#[cfg(test)]
mod tests;
mod verify;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use nacre_core::memory::MemoryId;
use tokio::sync::mpsc::UnboundedSender;

pub use self::offline::{Told, tell};
pub use self::verify::{Checker, Doubt, Doubts, Said, SourceQuote, Verifier, Wording};
use crate::agents::{AgentDeps, NOT_KNOWN};
use crate::lifecycle::{AgentSpec, Ending, Outcome, RunControl};
pub use crate::proof::{Sentence, Sentences};
use crate::record::{DeltaKind, Event, Events, Listener, Record, RunFacts};
use crate::tools::PipelineError;

/// Questions are bounded like everything that comes from outside.
pub const MAX_QUESTION_BYTES: usize = 8_000;

/// An answer whose every sentence was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub said: Vec<Said>,
    /// What was left out, by reason.
    pub doubts: Doubts,
}

impl Answer {
    /// Checks what a model wrote.
    pub fn check(text: &str, verifier: &Verifier<'_>) -> Self {
        if says_not_known(text) {
            return Self::default();
        }
        let (said, doubts) = verifier.check(text);
        Self { said, doubts }
    }

    /// How many sentences were left out.
    pub fn n_left_out(&self) -> usize {
        self.doubts.values().sum()
    }

    /// The memories that it cites, each once, in the order of the text.
    pub fn ids(&self) -> Vec<MemoryId> {
        let mut known = BTreeSet::new();
        let ids = self.said.iter().flat_map(|said| &said.ids);
        ids.filter(|id| known.insert((*id).clone())).cloned().collect()
    }

    /// The messages that it cites, each once.
    pub fn places(&self) -> Vec<String> {
        let mut known = BTreeSet::new();
        let places = self.said.iter().flat_map(|said| &said.places);
        places.filter(|place| known.insert((*place).clone())).cloned().collect()
    }

    /// The sentences as one text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for said in &self.said {
            text.push_str(gap(text.is_empty(), said.starts_line));
            text.push_str(&said.text);
        }
        text
    }
}

/// What stands before a sentence.
pub fn gap(is_first: bool, starts_line: bool) -> &'static str {
    match (is_first, starts_line) {
        (true, _) => "",
        (false, true) => "\n",
        (false, false) => " ",
    }
}

fn says_not_known(text: &str) -> bool {
    let bare = text.trim().trim_matches(['.', '*', '`', '"', '[', ']', ' ']);
    bare.eq_ignore_ascii_case(NOT_KNOWN)
}

/// Asks the agent. Where nothing that it said can be shown, it is told why and asked once more.
pub async fn ask(
    deps: &AgentDeps,
    spec: &AgentSpec,
    asked: &str,
    verifier: &Verifier<'_>,
    (events, control): (&Events, &RunControl),
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

/// What two runs used up.
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
        doubts.iter().map(|(doubt, n)| format!("{n} {}", doubt.told())).collect();
    format!(
        "None of your sentences can be shown: of them {}. Write the answer again in the words of the memories, each sentence with ids that \
         you were given, copied letter for letter, or write {NOT_KNOWN}.",
        why.join(", ")
    )
}

/// Hands on whole sentences while a model speaks; nobody may show one that was not checked.
pub struct SentenceListener {
    sentences: Mutex<Sentences>,
    to: UnboundedSender<Sentence>,
}

impl SentenceListener {
    pub fn new(to: UnboundedSender<Sentence>) -> Arc<Self> {
        Arc::new(Self { sentences: Mutex::default(), to })
    }

    fn send(&self, whole: Vec<Sentence>) {
        for sentence in whole {
            // Nobody listens any more; the answer is checked as a whole anyway.
            let _ = self.to.send(sentence);
        }
    }
}

impl Listener for SentenceListener {
    fn hear(&self, record: &Arc<Record>) {
        let mut sentences = self.sentences.lock().unwrap_or_else(PoisonError::into_inner);
        if let Event::ModelDelta { kind, text } = &record.event {
            match kind {
                DeltaKind::Text => self.send(sentences.take(text)),
                DeltaKind::Reasoning => {}
                // What came before held tool calls; this is what remains of it.
                DeltaKind::Replacement => {
                    *sentences = Sentences::default();
                    self.send(sentences.take(text));
                }
            }
        } else if matches!(record.event, Event::ModelFinish(_)) {
            self.send(sentences.finish());
        } else if matches!(
            record.event,
            Event::ModelCall { .. } | Event::ModelRetry { .. } | Event::ModelFallback { .. }
        ) {
            // It begins anew; half a sentence is none.
            *sentences = Sentences::default();
        }
    }
}
