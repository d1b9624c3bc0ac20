//! Turns proposals into candidates: merges duplicates, applies retractions, runs the checks, and
//! selects the strongest proposals.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use nacre_base::text::shorten as shortened;
use nacre_memory::{
    Basis, Claim, LearningKind, Profile, Quote, Speaker, Status, clean_applies, may_repeat,
};
use nacre_traces::transcript::{SessionFacts, TranscriptEvent};
use nacre_types::{DropReason, Signal};

use super::checks::{Injected, IsForgotten, fault};
use super::choice::Choice;
use super::cues::{REVOKE, content_words, fold, overlap};
use super::failures::FixedFailure;
use super::requests::{MAX_TITLE, Request, capitalize, clause_of, title};
use super::said::Message;
use crate::sync::candidate::{
    Candidate, Dropped, KnownLink, MAX_CANDIDATES, MAX_FROM_WINDOWS, MAX_SUSPECTED, candidate_id,
    person_speaker,
};

const MAX_HELD: usize = 256;
const MAX_DROPPED: usize = 64;
const SAME: f64 = 0.5;
const REPETITION: f64 = 0.05;
const MAX_CONFIDENCE: f64 = 0.95;
const MAX_QUOTES: usize = 4;

#[derive(Clone, Debug)]
pub(crate) struct Spoken {
    pub(crate) text: String,
    pub(super) speaker: Speaker,
    pub(super) sequence: u64,
    at: String,
}

impl Spoken {
    /// Attributes the text to the user if the event is a user message, and otherwise to the agent.
    pub(super) fn of(text: &str, event: &TranscriptEvent) -> Self {
        let speaker = event.person().map_or(Speaker::Assistant, person_speaker);
        Self::at(speaker, text, event.sequence, event.timestamp)
    }

    pub(crate) fn at(speaker: Speaker, text: &str, sequence: u64, at: Option<Timestamp>) -> Self {
        let at = at.map(|at| at.to_string()).unwrap_or_default();
        Self { text: text.to_owned(), speaker, sequence, at }
    }

    pub(super) fn quote(self, session: &str) -> Quote {
        let Self { text, speaker, sequence, at } = self;
        Quote { text, speaker, place: format!("{session}:{sequence}"), at }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Proposal {
    signal: Signal,
    pub(crate) claim: Claim,
    pub(crate) confidence: f64,
    pub(crate) basis: Basis,
    pub(crate) status: Status,
    /// Whether the information can also be found in the code, in git or in documents.
    pub(crate) is_findable: bool,
    /// Whether a model's review decides if the claim becomes active.
    pub(crate) needs_review: bool,
    pub(crate) importance: Option<u8>,
    pub(crate) link: Option<KnownLink>,
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) applies: Vec<String>,
    spoken: Vec<Spoken>,
    choice: Option<Choice>,
    /// The number of the user message, starting at 1, or 0 if the proposal does not come from a
    /// user message.
    message: u64,
}

impl Proposal {
    pub(super) fn from_request(
        request: Request,
        sentence: Spoken,
        excerpt: &str,
        before: &str,
    ) -> Self {
        let text = &sentence.text;
        Self {
            signal: if request.is_outright { Signal::Remember } else { Signal::Convention },
            confidence: if request.is_outright { 0.9 } else { 0.8 },
            status: status(request.is_sure),
            title: title(clause_of(text, request.n_before)),
            body: format!("{excerpt}\n\n{before}"),
            ..Self::new(request.claim, Basis::Stated, vec![sentence])
        }
    }

    pub(super) fn from_choice(choice: Choice, answer: Spoken, offered: &Spoken) -> Self {
        let mut spoken = vec![answer];
        let option = choice.list_offered_words().find(|words| offered.text.contains(*words));
        if let Some(option) = option {
            spoken.push(Spoken { text: option.to_owned(), ..offered.clone() });
        }
        let said = spoken[0].text.trim().to_owned();
        Self {
            signal: Signal::Choice,
            confidence: 0.7,
            title: choice.title(),
            body: choice.body(&said),
            choice: Some(choice),
            ..Self::new(Claim::Decision, Basis::Accepted, spoken)
        }
    }

    pub(super) fn from_failure(fixed: &FixedFailure) -> Self {
        let mut spoken = Vec::new();
        let (failed, worked) = (shortened(&fixed.failed, 100), shortened(&fixed.worked, 120));
        let told = format!(
            "`{failed}` failed with: {}\n\n`{worked}` worked.",
            shortened(&fixed.error, 200)
        );
        let (title, body, confidence) = match &fixed.why {
            Some((why, sequence)) => {
                spoken.push(Spoken::at(Speaker::Assistant, why, *sequence, None));
                (title(why), format!("{}\n\n{told}", capitalize(why)), 0.65)
            }
            None => (format!("`{worked}` works where `{failed}` fails"), told, 0.55),
        };
        spoken.push(Spoken::at(Speaker::Tool, &fixed.error, fixed.failed_at, None));
        Self {
            signal: Signal::Failure,
            confidence,
            status: status(fixed.has_variable()),
            title: shortened(&title, MAX_TITLE),
            body,
            ..Self::new(Claim::Learning(LearningKind::Pitfall), Basis::Found, spoken)
        }
    }

    /// Creates a proposal from a model's claim with verified quotes. The text is set later.
    pub(crate) fn new(claim: Claim, basis: Basis, spoken: Vec<Spoken>) -> Self {
        Self {
            signal: Signal::Model,
            claim,
            confidence: 0.0,
            basis,
            status: Status::Candidate,
            is_findable: false,
            needs_review: false,
            importance: None,
            link: None,
            title: String::new(),
            body: String::new(),
            applies: Vec::new(),
            spoken,
            choice: None,
            message: 0,
        }
    }

    /// Joins several proposals. The strongest proposal determines the type, and all quotes are
    /// kept.
    pub(crate) fn join(parts: Vec<Self>, title: String, body: String) -> Option<Self> {
        let strongest = parts.iter().max_by(|a, b| a.confidence.total_cmp(&b.confidence))?.clone();
        let named = parts.iter().flat_map(|part| part.applies.iter().map(String::as_str));
        let applies = clean_applies(named);
        let importance = parts.iter().filter_map(|part| part.importance).max();
        let link = parts.iter().rev().find_map(|part| part.link.clone());
        let mut spoken: Vec<Spoken> = parts.into_iter().flat_map(|part| part.spoken).collect();
        spoken.dedup_by(|a, b| a.sequence == b.sequence && a.text == b.text);
        spoken.truncate(MAX_QUOTES);
        Some(Self { title, body, applies, spoken, importance, link, ..strongest })
    }

    pub(crate) fn sequences(&self) -> impl Iterator<Item = u64> {
        self.spoken.iter().map(|spoken| spoken.sequence)
    }

    pub(crate) fn quotes(&self) -> impl Iterator<Item = &str> {
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
        let quotes = self.spoken.into_iter().map(|spoken| spoken.quote(session)).collect();
        // This id is a placeholder. The real id is assigned after the candidates are selected.
        let id = candidate_id(0);
        let confidence = (self.confidence * 100.0).round() / 100.0;
        Candidate {
            id,
            claim: self.claim,
            title: self.title,
            body: self.body,
            tags: Vec::new(),
            applies: self.applies,
            confidence,
            basis: self.basis,
            status: self.status,
            signal: self.signal,
            quotes,
            is_repeated: false,
            importance: self.importance,
            link: self.link,
        }
    }
}

fn is_sure(proposal: &Proposal) -> bool {
    proposal.status == Status::Active
}

/// Claims that the rules are sure about become active immediately.
fn status(is_sure: bool) -> Status {
    if is_sure { Status::Active } else { Status::Candidate }
}

/// Returns the limit for candidates of this kind. Suspected claims have a lower limit, so that they
/// do not displace others.
fn most(candidate: &Candidate) -> usize {
    match (candidate.signal, candidate.status) {
        (Signal::Model, _) => MAX_FROM_WINDOWS,
        (_, Status::Candidate) => MAX_SUSPECTED,
        (_, _) => MAX_CANDIDATES,
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Unproven {
    pub(crate) reason: DropReason,
    pub(crate) title: String,
    pub(crate) sequence: u64,
}

#[derive(Debug, Default)]
pub(super) struct ProposalList {
    proposals: Vec<(Proposal, BTreeSet<String>)>,
    dropped_counts: BTreeMap<DropReason, u64>,
    dropped: Vec<(DropReason, Signal, String, u64)>,
}

impl ProposalList {
    pub(super) fn len(&self) -> usize {
        self.proposals.len()
    }

    pub(super) fn add(&mut self, proposal: Proposal) {
        let words = proposal.words();
        if self.is_answered_again(&proposal) || self.is_claimed_already(&proposal) {
            return;
        }
        // Models already keep similarly worded claims apart, and choices are compared by the
        // questions they answer. For all other claims, compare the text.
        let is_plain = |one: &Proposal| one.choice.is_none() && one.signal != Signal::Model;
        let known = self
            .proposals
            .iter_mut()
            .filter(|(known, _)| is_plain(known) && is_plain(&proposal))
            .find(|(_, known)| {
                known.intersection(&words).nth(1).is_some() && overlap(known, &words) >= SAME
            });
        if let Some((known, known_words)) = known {
            // The later statement replaces an earlier one about the same matter.
            let earlier = std::mem::replace(known, proposal);
            *known_words = words;
            let profile = |one: &Proposal| Profile::of(&one.title, "");
            let is_repeated = may_repeat(&profile(known), &profile(&earlier));
            if is_repeated {
                known.confidence = (earlier.confidence + REPETITION).min(MAX_CONFIDENCE);
                known.spoken.splice(0..0, earlier.spoken.iter().cloned());
                known.spoken.truncate(MAX_QUOTES);
                known.status = if is_sure(&earlier) { Status::Active } else { known.status };
            }
            let reason = if is_repeated { DropReason::Repeated } else { DropReason::Revoked };
            self.drop_one(reason, &earlier);
        } else if self.proposals.len() < MAX_HELD {
            self.proposals.push((proposal, words));
        } else {
            self.drop_one(DropReason::OverCap, &proposal);
        }
    }

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

    fn is_claimed_already(&mut self, proposal: &Proposal) -> bool {
        let is_same = |(known, _): &(Proposal, BTreeSet<String>)| {
            proposal.signal == Signal::Model
                && (fold(&known.title) == fold(&proposal.title)
                    || fold(&known.body) == fold(&proposal.body))
        };
        let is_claimed = self.proposals.iter().any(is_same);
        if is_claimed {
            self.drop_one(DropReason::Repeated, proposal);
        }
        is_claimed
    }

    /// Applies a message that reverses a choice, such as "actually, let's use SQLite after all".
    pub(super) fn reconsider(&mut self, message: &Spoken, number: u64) {
        let reconsidered = self.proposals.iter().rev().find_map(|(proposal, _)| {
            let choice = proposal.choice.as_ref()?.reconsider(&message.text)?;
            let option = proposal.spoken.get(1).cloned();
            Some((choice, option))
        });
        let Some((choice, option)) = reconsidered else { return };
        let offered = option.unwrap_or_else(|| message.clone());
        self.add(Proposal::from_choice(choice, message.clone(), &offered).in_message(number));
    }

    /// Drops explicit requests that are already quoted by one of the model's claims.
    pub(super) fn keep_requests(&mut self, judged: &[u64]) {
        self.proposals.retain(|(proposal, _)| {
            let is_judged = proposal.spoken.iter().any(|spoken| judged.contains(&spoken.sequence));
            let is_asked = proposal.signal == Signal::Remember;
            is_asked && proposal.status == Status::Active && !is_judged
        });
    }

    pub(super) fn note_unproven(&mut self, lost: Vec<Unproven>) {
        for Unproven { reason, title, sequence } in lost {
            self.note(reason, Signal::Model, title, sequence);
        }
    }

    pub(super) fn turn_away(&mut self, reason: DropReason, spoken: &Spoken) {
        self.note(reason, Signal::Remember, title(&spoken.text), spoken.sequence);
    }

    pub(super) fn revoke(&mut self, said: &Message<'_>, message: u64) {
        let is_revoked =
            said.sentences.iter().take(2).any(|sentence| REVOKE.is_in(&fold(sentence.text)));
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

    pub(super) fn leave_unread(&mut self, n_sentences: usize) {
        if n_sentences != 0 {
            *self.dropped_counts.entry(DropReason::Unread).or_default() += n_sentences as u64;
        }
    }

    fn drop_one(&mut self, reason: DropReason, proposal: &Proposal) {
        self.note(reason, proposal.signal, proposal.title.clone(), proposal.sequence());
    }

    fn note(&mut self, reason: DropReason, signal: Signal, title: String, sequence: u64) {
        *self.dropped_counts.entry(reason).or_default() += 1;
        if self.dropped.len() < MAX_DROPPED {
            self.dropped.push((reason, signal, title, sequence));
        }
    }

    /// Returns the candidates, the number of proposals dropped by each check, and the dropped
    /// proposals.
    pub(super) fn settle(
        mut self,
        facts: &SessionFacts,
        injected: &Injected,
        is_forgotten: &IsForgotten<'_>,
    ) -> (Vec<Candidate>, BTreeMap<DropReason, u64>, Vec<Dropped>) {
        let mut proposals = std::mem::take(&mut self.proposals);
        proposals.sort_by(|(a, _), (b, _)| {
            let confidence = b.confidence.total_cmp(&a.confidence);
            let sureness = is_sure(b).cmp(&is_sure(a));
            sureness.then(confidence).then(a.sequence().cmp(&b.sequence()))
        });
        let mut candidates: Vec<Candidate> = Vec::new();
        for (proposal, _) in proposals {
            let is_undone = facts
                .undone
                .iter()
                .any(|undone| (undone.from..=undone.to).contains(&proposal.sequence()));
            let candidate = proposal.clone().candidate(&facts.id);
            let fault = if is_undone {
                Some(DropReason::Revoked)
            } else {
                fault(&candidate, injected, is_forgotten)
            };
            match fault {
                Some(reason) => self.drop_one(reason, &proposal),
                None if most(&candidate) <= candidates.len() => {
                    self.drop_one(DropReason::OverCap, &proposal);
                }
                None => {
                    candidates.push(Candidate { id: candidate_id(candidates.len()), ..candidate });
                }
            }
        }
        let shown = |(reason, signal, title, sequence)| Dropped {
            reason,
            signal,
            title,
            place: format!("{}:{sequence}", facts.id),
        };
        (candidates, self.dropped_counts, self.dropped.into_iter().map(shown).collect())
    }
}
