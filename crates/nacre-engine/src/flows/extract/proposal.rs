//! Proposals on their way to candidates: merged where they say the same, taken back, checked, ranked and capped.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use nacre_core::memory::{Basis, Claim, LearningKind, Quote, Speaker, Status, clean_applies};
use nacre_core::transcript::{Event, SessionFacts};

use super::super::candidate::{
    Candidate, CandidateId, DropReason, Dropped, MAX_CANDIDATES, MAX_SUSPECTED, Signal,
};
use super::checks::{Injected, IsForgotten, fault};
use super::choice::Choice;
use super::cues::{Cue, Cues, fold};
use super::failures::Mended;
use super::judge::Finding;
use super::reading::content_words;
use super::said::Said;
use super::words::{
    Before, MAX_TITLE, body, capitalised, shortened, title, without_leads, without_request,
};

/// The most proposals and the most turned-away ones that are held.
const MAX_HELD: usize = 256;
const MAX_DROPPED: usize = 64;
/// The share of words from which on two proposals say the same.
const SAME: f64 = 0.5;
/// What a repetition adds to the confidence.
const REPETITION: f64 = 0.05;
const MAX_CONFIDENCE: f64 = 0.95;
const MAX_QUOTES: usize = 4;

/// Words, who said them and where.
#[derive(Clone, Debug)]
pub(in crate::flows) struct Spoken {
    pub(in crate::flows) text: String,
    speaker: Speaker,
    sequence: u64,
    at: String,
}

impl Spoken {
    pub(super) fn by_person(text: &str, event: &Event) -> Self {
        Self::by(Speaker::User, text, event)
    }

    pub(super) fn by_agent(text: &str, event: &Event) -> Self {
        Self::by(Speaker::Assistant, text, event)
    }

    fn by(speaker: Speaker, text: &str, event: &Event) -> Self {
        Self::at(speaker, text, event.sequence, event.timestamp)
    }

    pub(in crate::flows) fn at(
        speaker: Speaker,
        text: &str,
        sequence: u64,
        at: Option<Timestamp>,
    ) -> Self {
        let at = at.map(|at| at.to_string()).unwrap_or_default();
        Self { text: text.to_owned(), speaker, sequence, at }
    }

    fn quote(self, session: &str) -> Quote {
        let place = format!("{session}:{}", self.sequence);
        Quote { text: self.text, speaker: self.speaker, place, at: self.at }
    }
}

/// What a model claims.
#[derive(Clone, Debug)]
pub(in crate::flows) struct Claimed {
    pub(in crate::flows) claim: Claim,
    pub(in crate::flows) confidence: f64,
    pub(in crate::flows) basis: Basis,
    /// What it may become.
    pub(in crate::flows) status: Status,
    /// Whether the code, git or documents say it too.
    pub(in crate::flows) is_findable: bool,
    pub(in crate::flows) title: String,
    pub(in crate::flows) body: String,
    /// Situations in which it should be told.
    pub(in crate::flows) applies: Vec<String>,
}

/// A claim that was found, with the words behind it.
#[derive(Clone, Debug)]
pub(in crate::flows) struct Proposal {
    finding: Finding,
    basis: Basis,
    /// What it may become.
    status: Status,
    /// Whether the code, git or documents say it too.
    is_findable: bool,
    title: String,
    body: String,
    /// Situations in which it should be told.
    applies: Vec<String>,
    spoken: Vec<Spoken>,
    /// The question and its answer, where that is what it is.
    choice: Option<Choice>,
    /// The person's message it came from, counted from 1; 0 where it came from none.
    message: u64,
}

impl Proposal {
    /// A sentence of the person.
    pub(super) fn said(finding: Finding, sentence: Spoken, excerpt: &str, before: &Before) -> Self {
        let told = match finding.signal {
            Signal::Context => without_request(&sentence.text),
            Signal::Remember => without_leads(&sentence.text),
            Signal::Correction
            | Signal::Preference
            | Signal::Decision
            | Signal::Choice
            | Signal::Convention
            | Signal::Failure
            | Signal::Procedure
            | Signal::Model => sentence.text.as_str(),
        };
        // Rules know words, not meaning: only an order to remember is sure.
        let is_sure = finding.signal == Signal::Remember;
        let excerpt = match finding.signal {
            // Nor does "No." before it belong to what is to be remembered.
            Signal::Remember => {
                let excerpt = excerpt.replace(&sentence.text, &capitalised(told));
                without_leads(&excerpt).to_owned()
            }
            Signal::Correction
            | Signal::Preference
            | Signal::Decision
            | Signal::Choice
            | Signal::Context
            | Signal::Convention
            | Signal::Failure
            | Signal::Procedure
            | Signal::Model => excerpt.replace(&sentence.text, told),
        };
        Self {
            title: title(told),
            body: body(&excerpt, &before.context()),
            applies: Vec::new(),
            finding,
            basis: Basis::Stated,
            status: if is_sure { Status::Active } else { Status::Candidate },
            is_findable: false,
            spoken: vec![sentence],
            choice: None,
            message: 0,
        }
    }

    /// A choice of the person.
    pub(super) fn chosen(choice: Choice, answer: Spoken, offered: &Spoken) -> Self {
        let mut spoken = vec![answer];
        let option = choice.offered_words().find(|words| offered.text.contains(*words));
        if let Some(option) = option {
            spoken.push(Spoken { text: option.to_owned(), ..offered.clone() });
        }
        let said = spoken[0].text.trim().to_owned();
        Self {
            finding: Finding { signal: Signal::Choice, claim: Claim::Decision, confidence: 0.7 },
            basis: Basis::Accepted,
            status: if choice.is_sure() { Status::Active } else { Status::Candidate },
            is_findable: false,
            title: choice.title(),
            body: choice.body(&said),
            applies: Vec::new(),
            spoken,
            choice: Some(choice),
            message: 0,
        }
    }

    /// A way that failed and a way that works.
    pub(super) fn mended(mended: &Mended) -> Self {
        let by = |speaker: Speaker, text: &str, sequence: u64| Spoken {
            text: text.to_owned(),
            speaker,
            sequence,
            at: String::new(),
        };
        let mut spoken = Vec::new();
        let (failed, worked) = (shortened(&mended.failed, 100), shortened(&mended.worked, 120));
        let told = format!(
            "`{failed}` failed with: {}\n\n`{worked}` worked.",
            shortened(&mended.error, 200)
        );
        let (title, body, confidence) = match &mended.why {
            Some((why, sequence)) => {
                spoken.push(by(Speaker::Assistant, why, *sequence));
                (title(why), format!("{}\n\n{told}", capitalised(why)), 0.65)
            }
            None => (format!("`{worked}` works where `{failed}` fails"), told, 0.55),
        };
        spoken.push(by(Speaker::Tool, &mended.error, mended.failed_at));
        let finding = Finding {
            signal: Signal::Failure,
            claim: Claim::Learning(LearningKind::Pitfall),
            confidence,
        };
        Self {
            finding,
            basis: Basis::Found,
            status: if mended.is_sure() { Status::Active } else { Status::Candidate },
            is_findable: false,
            title: shortened(&title, MAX_TITLE),
            body,
            applies: Vec::new(),
            spoken,
            choice: None,
            message: 0,
        }
    }

    /// What a model claims; its quotes were looked up.
    pub(in crate::flows) fn by_model(claimed: Claimed, spoken: Vec<Spoken>) -> Self {
        let Claimed { claim, confidence, basis, status, is_findable, title, body, applies } =
            claimed;
        let finding = Finding { signal: Signal::Model, claim, confidence };
        Self {
            finding,
            basis,
            status,
            is_findable,
            title,
            body,
            applies,
            spoken,
            choice: None,
            message: 0,
        }
    }

    /// Several claims that say the same, in new words; the strongest gives the type, each gives its quotes.
    pub(in crate::flows) fn joined(parts: Vec<Self>, title: String, body: String) -> Option<Self> {
        let strongest = parts
            .iter()
            .max_by(|a, b| a.finding.confidence.total_cmp(&b.finding.confidence))?
            .clone();
        let named = parts.iter().flat_map(|part| part.applies.iter().map(String::as_str));
        let applies = clean_applies(named);
        let mut spoken: Vec<Spoken> = parts.into_iter().flat_map(|part| part.spoken).collect();
        spoken.dedup_by(|a, b| a.sequence == b.sequence && a.text == b.text);
        spoken.truncate(MAX_QUOTES);
        Some(Self { title, body, applies, spoken, ..strongest })
    }

    /// What it may become.
    pub(in crate::flows) fn status(&self) -> Status {
        self.status
    }

    pub(in crate::flows) fn basis(&self) -> Basis {
        self.basis
    }

    pub(in crate::flows) fn is_findable(&self) -> bool {
        self.is_findable
    }

    /// Leaves it to a person.
    pub(in crate::flows) fn wait(&mut self) {
        self.status = Status::Candidate;
    }

    pub(in crate::flows) fn title(&self) -> &str {
        &self.title
    }

    pub(in crate::flows) fn body(&self) -> &str {
        &self.body
    }

    /// The events that it quotes.
    pub(in crate::flows) fn sequences(&self) -> impl Iterator<Item = u64> {
        self.spoken.iter().map(|spoken| spoken.sequence)
    }

    pub(in crate::flows) fn quotes(&self) -> impl Iterator<Item = &str> {
        self.spoken.iter().map(|spoken| spoken.text.as_str())
    }

    pub(super) fn in_message(self, message: u64) -> Self {
        Self { message, ..self }
    }

    fn sequence(&self) -> u64 {
        self.spoken.first().map_or(0, |spoken| spoken.sequence)
    }

    fn words(&self) -> BTreeSet<String> {
        content_words(&fold(&self.title)).map(str::to_owned).collect()
    }

    fn candidate(self, session: &str) -> Candidate {
        let Finding { signal, claim, confidence } = self.finding;
        let quotes = self.spoken.into_iter().map(|spoken| spoken.quote(session)).collect();
        // Given anew once it is known which stay.
        let id = CandidateId::at(0);
        let confidence = (confidence * 100.0).round() / 100.0;
        Candidate {
            id,
            claim,
            title: self.title,
            body: self.body,
            tags: Vec::new(),
            applies: self.applies,
            confidence,
            basis: self.basis,
            status: self.status,
            signal,
            quotes,
            is_repeated: false,
        }
    }
}

/// The most candidates of which this may be the last: what only rules suspect must not fill a session.
fn most(candidate: &Candidate) -> usize {
    let is_suspected = candidate.signal != Signal::Model && candidate.status == Status::Candidate;
    if is_suspected { MAX_SUSPECTED } else { MAX_CANDIDATES }
}

/// Whether two proposals say the same, by their words.
fn say_the_same(own: &BTreeSet<String>, others: &BTreeSet<String>) -> bool {
    let n_shared = own.intersection(others).count();
    let n_all = own.len() + others.len() - n_shared;
    n_shared > 1 && ratio(n_shared, n_all) >= SAME
}

fn ratio(part: usize, whole: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
    let share = part as f64 / whole.max(1) as f64;
    share
}

/// What a model claimed and could not prove.
#[derive(Clone, Debug)]
pub(in crate::flows) struct Unproven {
    pub(in crate::flows) reason: DropReason,
    pub(in crate::flows) title: String,
    pub(in crate::flows) sequence: u64,
}

/// The proposals of a session.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// With the words that each is compared by.
    proposals: Vec<(Proposal, BTreeSet<String>)>,
    dropped_counts: BTreeMap<DropReason, u64>,
    dropped: Vec<(DropReason, Signal, String, u64)>,
}

/// What came of them.
pub(super) struct Settled {
    pub(super) candidates: Vec<Candidate>,
    pub(super) dropped_counts: BTreeMap<DropReason, u64>,
    pub(super) dropped: Vec<Dropped>,
}

impl Ledger {
    pub(super) fn len(&self) -> usize {
        self.proposals.len()
    }

    pub(super) fn add(&mut self, proposal: Proposal) {
        let words = proposal.words();
        if self.is_answered_again(&proposal) || self.is_claimed_already(&proposal) {
            return;
        }
        // A model tells apart what words do not, and two answers are told apart by their questions.
        let is_plain = |one: &Proposal| one.choice.is_none() && one.finding.signal != Signal::Model;
        let known = self
            .proposals
            .iter_mut()
            .filter(|(known, _)| is_plain(known) && is_plain(&proposal))
            .find(|(_, known)| say_the_same(known, &words));
        if let Some((known, _)) = known {
            // Said twice is meant: it merges, and counts for more.
            known.finding.confidence = (known.finding.confidence + REPETITION).min(MAX_CONFIDENCE);
            known.spoken.extend(proposal.spoken.iter().cloned());
            known.spoken.truncate(MAX_QUOTES);
            self.drop_one(DropReason::Repeated, &proposal);
        } else if self.proposals.len() < MAX_HELD {
            self.proposals.push((proposal, words));
        } else {
            self.drop_one(DropReason::OverCap, &proposal);
        }
    }

    /// Puts a later answer in the place of an earlier one to the same question; tells whether it did.
    fn is_answered_again(&mut self, proposal: &Proposal) -> bool {
        let Some(choice) = &proposal.choice else { return false };
        let is_same = |(known, _): &(Proposal, BTreeSet<String>)| {
            known.choice.as_ref().is_some_and(|known| known.asks_the_same(choice))
        };
        let Some(at) = self.proposals.iter().position(is_same) else { return false };
        let earlier = std::mem::replace(&mut self.proposals[at].0, proposal.clone());
        self.proposals[at].1 = proposal.words();
        self.drop_one(DropReason::Revoked, &earlier);
        true
    }

    /// Whether a model made the same claim twice; the second is counted.
    fn is_claimed_already(&mut self, proposal: &Proposal) -> bool {
        let is_same = |(known, _): &(Proposal, BTreeSet<String>)| {
            proposal.finding.signal == Signal::Model
                && (fold(&known.title) == fold(&proposal.title)
                    || fold(&known.body) == fold(&proposal.body))
        };
        let is_claimed = self.proposals.iter().any(is_same);
        if is_claimed {
            self.drop_one(DropReason::Repeated, proposal);
        }
        is_claimed
    }

    /// Takes a message as the last word on a choice that it goes back on: "actually, let's use SQLite after all".
    pub(super) fn reconsider(&mut self, message: &Spoken, number: u64) {
        let reconsidered = self.proposals.iter().rev().find_map(|(proposal, _)| {
            let choice = proposal.choice.as_ref()?.reconsidered(&message.text)?;
            let option = proposal.spoken.get(1).cloned();
            Some((choice, option))
        });
        let Some((choice, option)) = reconsidered else { return };
        let offered = option.unwrap_or_else(|| message.clone());
        self.add(Proposal::chosen(choice, message.clone(), &offered).in_message(number));
    }

    /// Lets go of what nobody asked to be remembered, and of what a model has judged: the events that its claims quote.
    pub(super) fn keep_requests(&mut self, judged: &[u64]) {
        self.proposals.retain(|(proposal, _)| {
            let is_judged = proposal.spoken.iter().any(|spoken| judged.contains(&spoken.sequence));
            proposal.finding.signal == Signal::Remember && !is_judged
        });
    }

    /// Counts what a model claimed and could not prove.
    pub(super) fn unproven(&mut self, lost: Vec<Unproven>) {
        for Unproven { reason, title, sequence } in lost {
            self.note(reason, Signal::Model, title, sequence);
        }
    }

    pub(super) fn turn_away(&mut self, signal: Signal, reason: DropReason, spoken: &Spoken) {
        self.note(reason, signal, title(&spoken.text), spoken.sequence);
    }

    /// Takes back what the last message said, where this one does.
    pub(super) fn revoke(&mut self, said: &Said<'_>, message: u64) {
        let is_revoked = said
            .sentences
            .iter()
            .take(2)
            .any(|sentence| Cues::of(&fold(sentence.text)).has(Cue::Revoke));
        if !is_revoked {
            return;
        }
        let is_last = |(proposal, _): &(Proposal, BTreeSet<String>)| {
            proposal.message > 0 && proposal.message + 2 >= message
        };
        let (gone, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.proposals).into_iter().partition(is_last);
        self.proposals = kept;
        for (proposal, _) in &gone {
            self.drop_one(DropReason::Revoked, proposal);
        }
    }

    /// Counts sentences that nobody looked at.
    pub(super) fn leave_unread(&mut self, n_sentences: usize) {
        if n_sentences != 0 {
            *self.dropped_counts.entry(DropReason::Unread).or_default() += n_sentences as u64;
        }
    }

    fn drop_one(&mut self, reason: DropReason, proposal: &Proposal) {
        self.note(reason, proposal.finding.signal, proposal.title.clone(), proposal.sequence());
    }

    fn note(&mut self, reason: DropReason, signal: Signal, title: String, sequence: u64) {
        *self.dropped_counts.entry(reason).or_default() += 1;
        if self.dropped.len() < MAX_DROPPED {
            self.dropped.push((reason, signal, title, sequence));
        }
    }

    /// Checks all, and keeps the strongest.
    pub(super) fn settle(
        mut self,
        facts: &SessionFacts,
        injected: &Injected,
        is_forgotten: &IsForgotten<'_>,
    ) -> Settled {
        let held = std::mem::take(&mut self.proposals);
        let mut proposals: Vec<Proposal> = held.into_iter().map(|(proposal, _)| proposal).collect();
        let is_sure = |one: &Proposal| one.status == Status::Active;
        proposals.sort_by(|a, b| {
            let confidence = b.finding.confidence.total_cmp(&a.finding.confidence);
            let sureness = is_sure(b).cmp(&is_sure(a));
            sureness.then(confidence).then(a.sequence().cmp(&b.sequence()))
        });
        let mut candidates: Vec<Candidate> = Vec::new();
        for proposal in proposals {
            let is_undone = facts
                .undone
                .iter()
                .any(|undone| (undone.from..=undone.to).contains(&proposal.sequence()));
            let candidate = proposal.clone().candidate(&facts.id);
            let fault = match () {
                () if is_undone => Some(DropReason::Revoked),
                () => fault(&candidate, injected, is_forgotten),
            };
            match fault {
                Some(reason) => self.drop_one(reason, &proposal),
                None if most(&candidate) <= candidates.len() => {
                    self.drop_one(DropReason::OverCap, &proposal);
                }
                None => candidates
                    .push(Candidate { id: CandidateId::at(candidates.len()), ..candidate }),
            }
        }
        let shown = |(reason, signal, title, sequence)| Dropped {
            reason,
            signal,
            title,
            place: format!("{}:{sequence}", facts.id),
        };
        Settled {
            candidates,
            dropped_counts: self.dropped_counts,
            dropped: self.dropped.into_iter().map(shown).collect(),
        }
    }
}
