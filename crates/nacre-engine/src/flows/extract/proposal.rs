//! Proposals on their way to candidates: merged where they say the same, taken back, checked, ranked and capped.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use nacre_core::memory::{Claim, LearningKind, Quote, Speaker};
use nacre_core::transcript::{Event, SessionFacts};

use super::super::candidate::{
    Candidate, CandidateId, DropReason, Dropped, MAX_CANDIDATES, Signal,
};
use super::checks::{Injected, IsForgotten, fault};
use super::cues::{Cue, Cues, fold};
use super::failures::Mended;
use super::judge::Finding;
use super::options::Taken;
use super::reading::content_words;
use super::said::Said;
use super::words::{Before, body, capitalised, shortened, tags, title, without_request};

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

/// A claim that was found, with the words behind it.
#[derive(Clone, Debug)]
pub(in crate::flows) struct Proposal {
    finding: Finding,
    title: String,
    body: String,
    spoken: Vec<Spoken>,
    /// The person's message it came from, counted from 1; 0 where it came from none.
    message: u64,
}

impl Proposal {
    /// A sentence of the person.
    pub(super) fn said(finding: Finding, sentence: Spoken, excerpt: &str, before: &Before) -> Self {
        let is_fact = finding.signal == Signal::Context;
        let told = if is_fact { without_request(&sentence.text) } else { sentence.text.as_str() };
        Self {
            title: title(told),
            body: body(&excerpt.replace(&sentence.text, told), &before.context()),
            finding,
            spoken: vec![sentence],
            message: 0,
        }
    }

    /// An option that the person took.
    pub(super) fn chosen(taken: &Taken, answer: Spoken, offered: &Spoken) -> Self {
        let option = taken.option.replace("**", "");
        let option = option.trim_start_matches(['-', '*', ' ']);
        let title = match &taken.question {
            Some(question) => format!("{}: {}", question.trim_end_matches(['?', ' ']), option),
            None => without_label(option).to_owned(),
        };
        let meaning = taken
            .meaning
            .as_deref()
            .map(|meaning| format!(" {}", meaning.trim()))
            .unwrap_or_default();
        let others = if taken.others.is_empty() {
            String::new()
        } else {
            format!("\n\nNot taken: {}.", taken.others.join("; "))
        };
        let said = if answer.text.split_whitespace().count() > 2 {
            format!(" The person said: \"{}\"", answer.text.trim())
        } else {
            String::new()
        };
        let option_quote = taken.meaning.as_deref().unwrap_or(&taken.option);
        let mut spoken = vec![answer];
        if offered.text.contains(option_quote) {
            spoken.push(Spoken { text: option_quote.to_owned(), ..offered.clone() });
        }
        let confidence = if said.is_empty() { 0.6 } else { 0.7 };
        Self {
            finding: Finding { signal: Signal::Choice, claim: Claim::Decision, confidence },
            title: shortened(&capitalised(&title), 110),
            body: format!(
                "The person chose from what the agent offered: {option}.{meaning}{said}{others}"
            )
            .replace("..", "."),
            spoken,
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
        Self { finding, title: shortened(&title, 160), body, spoken, message: 0 }
    }

    /// What a model claims; its quotes were looked up.
    pub(in crate::flows) fn by_model(
        (claim, confidence): (Claim, f64),
        title: String,
        body: String,
        spoken: Vec<Spoken>,
    ) -> Self {
        let finding = Finding { signal: Signal::Model, claim, confidence };
        Self { finding, title, body, spoken, message: 0 }
    }

    /// Several claims that say the same, in new words; the strongest gives the type, each gives its quotes.
    pub(in crate::flows) fn joined(parts: Vec<Self>, title: String, body: String) -> Option<Self> {
        let strongest = parts
            .iter()
            .max_by(|a, b| a.finding.confidence.total_cmp(&b.finding.confidence))?
            .finding;
        let mut spoken: Vec<Spoken> = parts.into_iter().flat_map(|part| part.spoken).collect();
        spoken.dedup_by(|a, b| a.sequence == b.sequence && a.text == b.text);
        spoken.truncate(MAX_QUOTES);
        Some(Self { finding: strongest, title, body, spoken, message: 0 })
    }

    pub(in crate::flows) fn title(&self) -> &str {
        &self.title
    }

    pub(in crate::flows) fn body(&self) -> &str {
        &self.body
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
        let tags = tags(&format!("{} {}", self.title, self.body));
        let quotes = self.spoken.into_iter().map(|spoken| spoken.quote(session)).collect();
        // Given anew once it is known which stay.
        let id = CandidateId::at(0);
        let confidence = (confidence * 100.0).round() / 100.0;
        Candidate {
            id,
            claim,
            title: self.title,
            body: self.body,
            tags,
            confidence,
            signal,
            quotes,
        }
    }
}

fn without_label(option: &str) -> &str {
    let bare = option.strip_prefix("Option ").unwrap_or(option);
    let rest = bare.get(1..).unwrap_or_default();
    let cut = rest.trim_start_matches([')', '.', ':', '*', ' ', '-', '—']);
    if cut.len() < rest.len() { cut } else { option }
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
        let known = self.proposals.iter_mut().find(|(_, known)| say_the_same(known, &words));
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

    /// Lets go of what nobody asked to be remembered.
    pub(super) fn keep_requests(&mut self) {
        self.proposals.retain(|(proposal, _)| proposal.finding.signal == Signal::Remember);
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
        proposals.sort_by(|a, b| {
            b.finding
                .confidence
                .total_cmp(&a.finding.confidence)
                .then(a.sequence().cmp(&b.sequence()))
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
                None if candidates.len() == MAX_CANDIDATES => {
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
