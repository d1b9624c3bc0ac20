//! Finds what is worth keeping in a session, without a model: explicit signals, in the person's own words.
//!
//! Few, true, evidenced, useful: a sentence is proposed only where its words and its place in the talk both say that
//! it holds beyond the moment, and every proposal passes the same checks. Nothing is the normal result. Events are
//! taken one by one and what is held is bounded, so a trace may be of any size.

mod checks;
mod choice;
mod cues;
pub mod eval;
mod failures;
mod gate;
mod judge;
mod options;
mod proposal;
mod reading;
mod repeated;
mod said;
mod verbatim;
pub(super) mod words;

use nacre_core::transcript::{
    ADAPTERS, Error, Event, EventKind, Lane, Origin, SessionFacts, Sink, Trace, WordSource,
};

pub use self::checks::IsForgotten;
pub(super) use self::checks::fault_alone;
use self::checks::{Echoes, Injected};
use self::choice::is_sequencing;
use self::failures::Failures;
use self::judge::{ExtractVerdict, Finding, judge};
use self::proposal::Ledger;
pub(super) use self::proposal::{Claimed, Proposal, Spoken, Unproven};
use self::reading::Stance;
use self::repeated::Repeated;
use self::said::{Said, Sentence, Shape, said};
pub use self::verbatim::Verbatim;
use self::words::{Before, excerpt};
use super::candidate::{DropReason, Extraction, FORMAT_VERSION, Gate, Signal, Strategy};
use super::steps::{Step, step_of};

/// The most of the agent's last words that is held.
const MAX_HELD: usize = 8 * 1024;
/// Sentences of the person that are judged. Nobody types more into one session; those that follow are counted.
const MAX_JUDGED: usize = 10_000;
/// A shorter sentence may be the agent's by chance.
const MIN_ECHO: usize = 24;

/// What an extraction goes by.
#[derive(Clone, Copy)]
pub struct Rules<'r> {
    /// Events before this one were extracted earlier: they are context only.
    pub from: u64,
    /// Whether a person threw a claim away.
    pub is_forgotten: &'r IsForgotten<'r>,
}

impl Default for Rules<'_> {
    fn default() -> Self {
        Self { from: 0, is_forgotten: &|_, _| false }
    }
}

/// Reads a trace with its agent's adapter.
pub(super) fn read(trace: &Trace, sink: Sink<'_>) -> Result<SessionFacts, Error> {
    let adapter = ADAPTERS.iter().find(|adapter| adapter.agent() == trace.source.agent);
    let unknown = || Error::Unreadable {
        path: trace.source.path.clone(),
        reason: "its agent is not known here",
    };
    Ok(adapter.ok_or_else(unknown)?.read(trace, None, sink)?.facts)
}

/// Whether a session holds something so far that may be worth keeping: the gate lets it pass, and the person said more than
/// one thing, or one that the rules keep.
pub fn is_worth_recording(trace: &Trace) -> Result<bool, Error> {
    let mut extractor = Extractor::new(Rules::default());
    let facts = read(trace, Sink::everything(&mut |event| extractor.take(&event)))?;
    let n_messages = extractor.n_messages;
    let found = extractor.finish(&facts);
    Ok(found.gate.is_open() && (n_messages > 1 || !found.candidates.is_empty()))
}

/// Takes the events of a session and finds its candidates.
pub struct Extractor<'r> {
    rules: Rules<'r>,
    gate: gate::Counter,
    ledger: Ledger,
    injected: Injected,
    repeated: Repeated,
    failures: Failures,
    /// The agent's last words, and where it said them.
    agent_said: Option<Spoken>,
    /// What a person answers to: the end of those words, and what they leave to choose.
    last_paragraph: Option<String>,
    offer: Option<String>,
    echoes: Echoes,
    /// The last command since then.
    agent_ran: Option<String>,
    /// The agent's last question through a tool, as written, and how often it was answered.
    asked: Option<Spoken>,
    n_answers: usize,
    has_acted: bool,
    n_messages: u64,
    n_judged: usize,
}

impl<'r> Extractor<'r> {
    pub fn new(rules: Rules<'r>) -> Self {
        Self {
            rules,
            gate: gate::Counter::default(),
            ledger: Ledger::default(),
            injected: Injected::default(),
            repeated: Repeated::default(),
            failures: Failures::default(),
            agent_said: None,
            last_paragraph: None,
            offer: None,
            echoes: Echoes::default(),
            agent_ran: None,
            asked: None,
            n_answers: 0,
            has_acted: false,
            n_messages: 0,
            n_judged: 0,
        }
    }

    /// Takes the next event; they must come with their texts.
    pub fn take(&mut self, event: &Event) {
        if event.lane != Lane::Main {
            return;
        }
        self.repeated.note(event);
        match (event.kind, event.origin) {
            (EventKind::User, Origin::Person(source)) => self.person(event, source),
            (_, Origin::Injected(reason)) => self.injected.note(reason, event.text.head()),
            (EventKind::Assistant, Origin::Agent) => self.agent(event),
            (EventKind::ToolCall, Origin::Agent) => self.call(event),
            (EventKind::ToolResult, Origin::Tool) => self.failures.ended(event),
            _ => {}
        }
    }

    /// Whether the session is worth a look, once all of it was taken.
    pub(super) fn gate(&mut self, facts: &SessionFacts) -> Gate {
        let (mended, n_lost) = std::mem::take(&mut self.failures).finish();
        self.ledger.leave_unread(n_lost);
        for mended in mended {
            if mended.worked_at >= self.rules.from {
                self.ledger.add(Proposal::mended(&mended));
            }
        }
        self.gate.verdict(facts, self.ledger.len())
    }

    /// Ends the session by the rules alone.
    pub fn finish(mut self, facts: &SessionFacts) -> Extraction {
        let gate = self.gate(facts);
        if !gate.is_open() {
            self.ledger = Ledger::default();
        }
        self.settle(facts, Strategy::Offline, gate)
    }

    /// Ends the session by what a model found. Of what the rules found only the person's own requests stay: those
    /// are not a model's to pass over.
    pub(super) fn finish_with(
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
        self.ledger.unproven(unproven);
        self.settle(facts, strategy, gate)
    }

    /// Whether a text says what a tool said first in the session.
    pub(super) fn repeats(&self, text: &str) -> bool {
        self.repeated.is_repeated(text)
    }

    fn settle(self, facts: &SessionFacts, strategy: Strategy, gate: Gate) -> Extraction {
        let mut settled = self.ledger.settle(facts, &self.injected, self.rules.is_forgotten);
        for candidate in &mut settled.candidates {
            candidate.is_repeated = self.repeated.holds(candidate);
        }
        Extraction {
            version: FORMAT_VERSION,
            session: facts.id.clone(),
            agent: facts.agent,
            strategy,
            gate,
            candidates: settled.candidates,
            dropped_counts: settled.dropped_counts,
            dropped: settled.dropped,
        }
    }

    fn agent(&mut self, event: &Event) {
        self.gate.agent(event);
        let text = event.text.head();
        if text.trim().is_empty() {
            return;
        }
        self.has_acted = true;
        self.agent_ran = None;
        self.failures.explained(text, event.sequence);
        let start = text.ceil_char_boundary(text.len().saturating_sub(MAX_HELD));
        self.echoes.note(&text[start..]);
        self.last_paragraph = Some(last_paragraph(&text[start..]));
        self.offer = options::offer(&text[start..]);
        self.agent_said = Some(Spoken::by_agent(&text[start..], event));
    }

    fn call(&mut self, event: &Event) {
        self.gate.agent(event);
        self.has_acted = true;
        let id = event.call.as_ref().map(|call| call.id.as_str()).unwrap_or_default();
        match step_of(event) {
            Step::Command(command) => {
                self.failures.ran(id, &command, event.sequence);
                self.agent_ran = Some(command);
            }
            Step::Edit(_) => self.failures.edited(),
            Step::Ask => {
                self.asked = Some(Spoken::by_agent(event.text.head(), event));
                self.n_answers = 0;
            }
            Step::Other => {}
        }
    }

    fn person(&mut self, event: &Event, source: WordSource) {
        if source == WordSource::Shell {
            return;
        }
        let text = event.text.head();
        let said = said(text);
        self.gate.person(&said, self.is_answer(source));
        self.n_messages += 1;
        if event.sequence >= self.rules.from {
            self.ledger.revoke(&said, self.n_messages);
            if !self.took_option(event, source) {
                self.ledger.reconsider(&Spoken::by_person(text.trim(), event), self.n_messages);
                self.judge_all(event, &said, source);
            }
        }
        self.agent_ran = None;
    }

    /// Whether the message takes an option that the agent offered.
    fn took_option(&mut self, event: &Event, source: WordSource) -> bool {
        let text = event.text.head().trim();
        let offered = if source == WordSource::Answer { &self.asked } else { &self.agent_said };
        let Some(offered) = offered else { return false };
        let choice = if source == WordSource::Answer {
            self.n_answers += 1;
            options::answered(&offered.text, text, self.n_answers - 1)
        } else {
            options::taken(&offered.text, text)
        };
        let Some(choice) = choice else { return false };
        if !is_sequencing(&choice.question) {
            let answer = Spoken::by_person(text, event);
            let proposal = Proposal::chosen(choice, answer, offered);
            self.ledger.add(proposal.in_message(self.n_messages));
        }
        true
    }

    /// Whether a message answers the agent: through a question tool, by a refusal, or after a question in words.
    fn is_answer(&self, source: WordSource) -> bool {
        let asks = |words: &String| words.contains(['?', '？']);
        matches!(source, WordSource::Answer | WordSource::Refusal)
            || self.offer.is_some()
            || self.last_paragraph.as_ref().is_some_and(asks)
    }

    fn is_echo(&self, sentence: &str) -> bool {
        sentence.len() > MIN_ECHO && self.echoes.hold(sentence)
    }

    fn judge_all(&mut self, event: &Event, said: &Said<'_>, source: WordSource) {
        let offer = self.offer.clone();
        let is_refusal = source == WordSource::Refusal;
        let is_reply = is_refusal || source == WordSource::Answer || self.has_acted;
        let before = Before { command: self.agent_ran.clone(), words: self.last_paragraph.clone() };
        let n_judged = said.sentences.len().min(MAX_JUDGED - self.n_judged);
        self.n_judged += n_judged;
        self.ledger.leave_unread(said.sentences.len() - n_judged);
        for (idx, sentence) in said.sentences.iter().enumerate().take(n_judged) {
            let next = said.sentences.get(idx + 1);
            let next =
                next.filter(|next| next.paragraph == sentence.paragraph && !next.is_question());
            let next = next.map(|next| cues::fold(next.text));
            let stance = Stance {
                is_reply,
                is_refusal,
                is_first: idx == 0,
                follows_no: idx > 0 && is_bare_no(said.sentences[idx - 1].text),
                offer: offer.as_deref(),
                next: next.as_deref(),
            };
            let spoken = Spoken::by_person(sentence.text, event);
            match judge(sentence.text, stance) {
                ExtractVerdict::Nothing => {}
                ExtractVerdict::Turned(signal, reason) => {
                    self.ledger.turn_away(signal, reason, &spoken);
                }
                ExtractVerdict::Kept(finding)
                    if self.is_echo(sentence.text) || !is_own(said, sentence, finding) =>
                {
                    self.ledger.turn_away(finding.signal, DropReason::Injected, &spoken);
                }
                ExtractVerdict::Kept(finding) => {
                    let excerpt = excerpt(&said.sentences, idx);
                    let proposal = Proposal::said(finding, spoken, &excerpt, &before);
                    self.ledger.add(proposal.in_message(self.n_messages));
                }
            }
        }
    }
}

/// Whether what was said holds for a moment only.
pub(super) fn is_passing(text: &str) -> bool {
    cues::Cues::of(&cues::fold(text)).has(cues::Cue::Passing)
}

/// Whether a claim and the words that should prove it speak of the same thing. Scripts that are written without
/// spaces have no words to compare.
pub(super) fn is_about(claim: &str, quote: &str) -> bool {
    let (claim, quote) = (cues::fold(claim), cues::fold(quote));
    let n_words = reading::content_words(&quote).count();
    n_words < 3 || !quote.is_ascii() || reading::n_shared(&quote, &claim) > 0
}

/// "No." on its own: what follows is the correction.
fn is_bare_no(sentence: &str) -> bool {
    let folded = cues::fold(sentence);
    matches!(
        folded.trim_end_matches(['.', '!', ',', ' ']),
        "no" | "nope" | "nein" | "no no" | "wrong"
    )
}

/// Whether a sentence was written to be read here: in documents and lists, which people copy, only an open request is.
fn is_own(said: &Said<'_>, sentence: &Sentence<'_>, finding: Finding) -> bool {
    let is_talk = said.shape == Shape::Talk && !sentence.is_item;
    is_talk || finding.signal == Signal::Remember
}

/// The end of what the agent said, which is what a person answers to.
fn last_paragraph(text: &str) -> String {
    let paragraph = text.trim().rsplit("\n\n").next().unwrap_or_default();
    paragraph.split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[cfg(test)]
mod tests;
