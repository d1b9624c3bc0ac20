//! Extracts candidates from a session without a model: requests to remember something, rules that
//! the user states, answered questions, and failed commands with their fixes. Memory use is
//! bounded, regardless of the trace size.

mod checks;
mod choice;
mod cues;
mod failures;
mod proposal;
mod remarks;
pub(crate) mod requests;
mod said;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use nacre_traces::agents::adapter_of;
use nacre_traces::transcript::{
    Error, EventKind, Lane, SessionFacts, Sink, TextOrigin, Trace, TranscriptEvent, WordSource,
};
use nacre_types::{DropReason, Gate, Strategy};

pub use self::checks::IsForgotten;
pub(crate) use self::checks::fault_alone;
use self::checks::{Injected, Repeated, plain};
pub(crate) use self::cues::{overlap, pattern, plain_words};
use self::failures::Failures;
pub(crate) use self::failures::is_build_step;
use self::proposal::ProposalList;
pub(crate) use self::proposal::{Proposal, Spoken, Unproven};
use self::remarks::RemarkList;
pub(crate) use self::remarks::{A_CHECK, terms};
pub(crate) use self::requests::capitalize;
use self::requests::{Request, context, excerpt, request};
use self::said::Message;
pub(crate) use self::said::{Sentence, split_message};
use crate::sync::candidate::{Extraction, FORMAT_VERSION};
use crate::sync::steps::{Step, step_of};

const MAX_HELD: usize = 8 * 1024;
/// Maximum number of sentences to examine. Any others are only counted.
const MAX_JUDGED: usize = 10_000;
const MAX_ECHOES: usize = 8;
/// Minimum length of a copied sentence. Shorter sentences can be equal by chance.
const MIN_ECHO: usize = 24;

#[derive(Clone, Copy)]
pub struct Rules<'r> {
    /// The first event to extract. Earlier events have already been extracted and only provide
    /// context.
    pub from: u64,
    pub is_forgotten: &'r IsForgotten<'r>,
}

impl Default for Rules<'_> {
    fn default() -> Self {
        Self { from: 0, is_forgotten: &|_, _| false }
    }
}

pub(crate) fn read(trace: &Trace, sink: Sink<'_>) -> Result<SessionFacts, Error> {
    Ok(adapter_of(trace.source.agent).read(trace, None, sink)?.facts)
}

#[derive(Default)]
pub struct Extractor<'r> {
    rules: Rules<'r>,
    gate: checks::Counter,
    ledger: ProposalList,
    injected: Injected,
    repeated: Repeated,
    failures: Failures,
    remarks: RemarkList,
    agent_said: Option<Spoken>,
    last_paragraph: Option<String>,
    /// The agent's recent messages as normalized words, for detecting sentences that the user
    /// copied from them.
    echoes: VecDeque<String>,
    agent_ran: Option<String>,
    /// The arguments of the agent's last call to a question tool, and the number of answers so far.
    asked: Option<Spoken>,
    n_answers: usize,
    has_acted: bool,
    n_messages: u64,
    n_judged: usize,
}

impl<'r> Extractor<'r> {
    pub fn new(rules: Rules<'r>) -> Self {
        Self { rules, ..Self::default() }
    }

    /// Processes an event. The text of `event` must not have been omitted while reading the trace.
    pub fn take(&mut self, event: &TranscriptEvent) {
        if event.lane != Lane::Main {
            return;
        }
        self.repeated.note(event);
        match (event.kind, event.origin) {
            (EventKind::User, TextOrigin::Person(source)) => self.person(event, source),
            (_, TextOrigin::Injected(reason)) => self.injected.note(reason, event.text.head()),
            (EventKind::Assistant, TextOrigin::Agent) => self.agent(event),
            (EventKind::ToolCall, TextOrigin::Agent) => self.call(event),
            (EventKind::ToolResult, TextOrigin::Tool) => {
                self.failures.take_result(event);
                if event.sequence >= self.rules.from {
                    self.remarks.take_result(event);
                }
            }
            _ => {}
        }
    }

    pub(crate) fn gate(&mut self, facts: &SessionFacts) -> Gate {
        let (mended, n_lost) = std::mem::take(&mut self.failures).finish();
        self.ledger.leave_unread(n_lost);
        for mended in mended {
            if mended.worked_at >= self.rules.from {
                self.ledger.add(Proposal::from_failure(&mended));
            }
        }
        self.gate.verdict(facts, self.ledger.len())
    }

    pub fn finish(mut self, facts: &SessionFacts) -> Extraction {
        let gate = self.gate(facts);
        if gate != Gate::Open {
            self.ledger = ProposalList::default();
        }
        self.settle(facts, Strategy::Offline, gate)
    }

    /// Finishes with a model's proposals. Of the candidates found by rules, keeps only explicit
    /// requests, because the model must not override them.
    pub(crate) fn finish_with(
        mut self,
        facts: &SessionFacts,
        strategy: Strategy,
        (proposals, unproven): (Vec<Proposal>, Vec<Unproven>),
    ) -> Extraction {
        let gate = self.gate(facts);
        let judged: Vec<u64> = proposals.iter().flat_map(Proposal::sequences).collect();
        self.ledger.keep_requests(&judged);
        for proposal in proposals {
            self.ledger.add(proposal);
        }
        self.ledger.note_unproven(unproven);
        self.settle(facts, strategy, gate)
    }

    pub(crate) fn repeats(&self, text: &str) -> bool {
        self.repeated.is_repeated(text)
    }

    fn settle(self, facts: &SessionFacts, strategy: Strategy, gate: Gate) -> Extraction {
        let (mut candidates, dropped_counts, dropped) =
            self.ledger.settle(facts, &self.injected, self.rules.is_forgotten);
        for candidate in &mut candidates {
            candidate.is_repeated = self.repeated.holds(candidate);
        }
        // Sessions of programs and of Nacre's own agents repeat their prompts.
        let is_persons = !matches!(gate, Gate::NotAPersons | Gate::NoWords);
        let remarks = if is_persons { self.remarks } else { RemarkList::default() };
        Extraction {
            remarks: remarks.finish(facts, &self.repeated),
            version: FORMAT_VERSION,
            session: facts.id.clone(),
            agent: facts.agent,
            strategy,
            gate,
            candidates,
            dropped_counts,
            dropped,
        }
    }

    fn agent(&mut self, event: &TranscriptEvent) {
        self.gate.agent(event);
        let text = event.text.head();
        if text.trim().is_empty() {
            return;
        }
        self.has_acted = true;
        self.agent_ran = None;
        self.failures.note_explanation(text, event.sequence);
        let start = text.ceil_char_boundary(text.len().saturating_sub(MAX_HELD));
        self.echoes.truncate(MAX_ECHOES - 1);
        self.echoes.push_front(plain(&text[start..]));
        let paragraph = text[start..].trim().rsplit("\n\n").next().unwrap_or_default();
        self.last_paragraph = Some(paragraph.split_whitespace().collect::<Vec<&str>>().join(" "));
        self.agent_said = Some(Spoken::of(&text[start..], event));
        if event.sequence >= self.rules.from {
            self.remarks.take_agent(event);
        }
    }

    fn call(&mut self, event: &TranscriptEvent) {
        self.gate.agent(event);
        self.has_acted = true;
        let id = event.call.as_ref().map(|call| call.id.as_str()).unwrap_or_default();
        match step_of(event) {
            Step::Command(command) => {
                self.failures.ran(id, &command, event.sequence);
                self.remarks.ran(id, &command);
                self.agent_ran = Some(command);
            }
            Step::Edit(_) => self.failures.n_edits += 1,
            Step::Ask => {
                self.asked = Some(Spoken::of(event.text.head(), event));
                self.n_answers = 0;
            }
            Step::Other => {}
        }
    }

    fn person(&mut self, event: &TranscriptEvent, source: WordSource) {
        if source == WordSource::Shell {
            return;
        }
        let text = event.text.head();
        let said = split_message(text);
        self.gate.person(&said, self.is_answer(source));
        self.n_messages += 1;
        if event.sequence >= self.rules.from {
            self.ledger.revoke(&said, self.n_messages);
            if !self.took_option(event, source) {
                self.ledger.reconsider(&Spoken::of(text.trim(), event), self.n_messages);
                self.judge_all(event, &said, source);
                if source != WordSource::Unverified {
                    let mut remarks = std::mem::take(&mut self.remarks);
                    remarks.take_person(event, &said, |sentence| !self.is_echo(sentence));
                    self.remarks = remarks;
                }
            }
        }
        self.agent_ran = None;
    }

    fn took_option(&mut self, event: &TranscriptEvent, source: WordSource) -> bool {
        let text = event.text.head().trim();
        let offered = if source == WordSource::Answer { &self.asked } else { &self.agent_said };
        let Some(offered) = offered else { return false };
        let choice = if source == WordSource::Answer {
            self.n_answers += 1;
            choice::choice_of_answer(&offered.text, text, self.n_answers - 1)
        } else {
            choice::choice_of_message(&offered.text, text)
        };
        let Some(choice) = choice else { return false };
        if choice.is_of_the_moment() {
            // An answer in the user's own words may still state a rule.
            return !choice.is_free;
        }
        // The rules cannot tell whether the choice matters later, so it waits in review.
        if choice.is_sure() {
            let proposal = Proposal::from_choice(choice, Spoken::of(text, event), offered);
            self.ledger.add(proposal.in_message(self.n_messages));
        }
        true
    }

    /// Returns whether the text is an answer: the result of a question tool, a declined call, or a
    /// message after a question.
    fn is_answer(&self, source: WordSource) -> bool {
        let asks = |words: &String| words.contains(['?', '？']);
        matches!(source, WordSource::Answer | WordSource::Refusal)
            || self.last_paragraph.as_ref().is_some_and(asks)
    }

    fn is_echo(&self, sentence: &str) -> bool {
        let words = plain(sentence);
        sentence.len() > MIN_ECHO && self.echoes.iter().any(|text| text.contains(&words))
    }

    fn judge_all(&mut self, event: &TranscriptEvent, said: &Message<'_>, source: WordSource) {
        // A session's opening message is a task, unless it is a single statement.
        let is_own = matches!(source, WordSource::Answer | WordSource::Refusal)
            || self.has_acted
            || said.sentences.len() == 1;
        let before = context(self.agent_ran.as_deref(), self.last_paragraph.as_deref());
        let n_judged = said.sentences.len().min(MAX_JUDGED - self.n_judged);
        self.n_judged += n_judged;
        self.ledger.leave_unread(said.sentences.len() - n_judged);
        for (idx, sentence) in said.sentences.iter().enumerate().take(n_judged) {
            let Some(request) = request(sentence.text, is_own) else { continue };
            let request = request.and_then(|request| {
                // Documents and lists are usually pasted, and programs can send prompts, so rules
                // found in them may not be the user's.
                let is_copied = said.is_document || sentence.is_item;
                let is_typed = !said.is_document && source != WordSource::Unverified;
                let clause = sentence.text.char_indices().nth(request.n_before);
                let clause = &sentence.text[clause.map_or(0, |(at, _)| at)..];
                let is_users = (request.is_outright || !is_copied) && !self.is_echo(clause);
                let request = Request { is_sure: request.is_sure && is_typed, ..request };
                if is_users { Ok(request) } else { Err(DropReason::Injected) }
            });
            let spoken = Spoken::of(sentence.text, event);
            match request {
                Err(reason) => self.ledger.turn_away(reason, &spoken),
                Ok(request) => {
                    let excerpt = excerpt(&said.sentences, idx);
                    let proposal = Proposal::from_request(request, spoken, &excerpt, &before);
                    self.ledger.add(proposal.in_message(self.n_messages));
                }
            }
        }
    }
}

pub(crate) fn is_passing(text: &str) -> bool {
    cues::PASSING.is_in(&cues::fold(text))
}

/// Returns whether a quote is about the claim. Always returns `true` for short or non-ASCII quotes,
/// because their words cannot be compared reliably.
pub(crate) fn is_about(claim: &str, quote: &str) -> bool {
    let (claim, quote) = (cues::fold(claim), cues::fold(quote));
    let n_words = cues::content_words(&quote).count();
    n_words < 3 || !quote.is_ascii() || cues::n_shared(&quote, &claim) > 0
}
