//! A model's claims, held against the transcript: each quote is looked up, and who said it decides what it can prove.
//!
//! A model proposes; what it was told by a tool's output or a web page it may have believed. So a claim needs words of
//! the person or the agent, and what speaks for the person needs the person's own.

use nacre_core::memory::{Basis, Claim, LearningKind, MemoryType, Speaker, Status};

use super::answer::{ClaimAnswer, FoundIn, QuoteAnswer, RepairAnswer, confidence, without_title};
use super::pages::{Line, Pages};
use crate::flows::candidate::DropReason;
use crate::flows::extract::{Claimed, Proposal, Spoken, Unproven, is_about, is_passing};
use crate::proof::names_another;

/// More claims of one answer, and more quotes of one claim, are not looked at.
const MAX_CLAIMS: usize = 24;
const MAX_QUOTES: usize = 4;
/// A longer quote is a passage.
const MAX_QUOTE_CHARS: usize = 600;
/// A shorter one could stand anywhere.
const MIN_QUOTE_CHARS: usize = 2;
/// How far from the event that it names a short quote may stand; models miscount.
const NEAR: u64 = 6;
/// A longer one is looked for everywhere.
const MIN_FAR_CHARS: usize = 16;

/// What is left of a model's claims.
#[derive(Default)]
pub(super) struct Proven {
    pub(super) proposals: Vec<Proposal>,
    pub(super) unproven: Vec<Unproven>,
    /// Claims none of whose quotes was found: a model may give others.
    pub(super) unquoted: Vec<ClaimAnswer>,
}

impl Proven {
    /// Holds the claims of one answer against the transcript.
    pub(super) fn take(&mut self, claims: &[ClaimAnswer], pages: &Pages) {
        let said = pages.said();
        for claim in claims.iter().take(MAX_CLAIMS) {
            match proven(claim, (pages, &said)) {
                Ok(proposal) => self.proposals.push(proposal),
                Err(DropReason::NoEvidence) => self.unquoted.push(claim.clone()),
                Err(reason) => self.unproven.push(unproven(claim, reason)),
            }
        }
        for claim in claims.iter().skip(MAX_CLAIMS) {
            self.unproven.push(unproven(claim, DropReason::OverCap));
        }
    }

    /// Takes other quotes for the claims that had none; what still has none is lost.
    pub(super) fn repair(&mut self, answer: &RepairAnswer, pages: &Pages) {
        let said = pages.said();
        for (idx, claim) in std::mem::take(&mut self.unquoted).into_iter().enumerate() {
            let given = answer.quotes.iter().filter(|quote| quote.entry == idx + 1);
            let quotes: Vec<QuoteAnswer> = given
                .map(|quote| QuoteAnswer { event: quote.event, text: quote.text.clone() })
                .collect();
            match proven(&ClaimAnswer { quotes, ..claim.clone() }, (pages, &said)) {
                Ok(proposal) => self.proposals.push(proposal),
                Err(reason) => self.unproven.push(unproven(&claim, reason)),
            }
        }
    }

    /// Gives up on claims without quotes.
    pub(super) fn give_up(&mut self) {
        for claim in std::mem::take(&mut self.unquoted) {
            self.unproven.push(unproven(&claim, DropReason::NoEvidence));
        }
    }
}

fn unproven(claim: &ClaimAnswer, reason: DropReason) -> Unproven {
    let sequence = claim.quotes.first().map_or(0, |quote| quote.event);
    Unproven { reason, title: claim.clean_title(), sequence }
}

/// `said` is all that the session shows.
fn proven(answer: &ClaimAnswer, (pages, said): (&Pages, &str)) -> Result<Proposal, DropReason> {
    let claim = claim_of(answer).ok_or(DropReason::Weak)?;
    let basis = Basis::from_name(&answer.basis).ok_or(DropReason::Weak)?;
    // A quote that is not there is left out; the claim stands on the others.
    let found: Vec<(&Line, &str)> = answer
        .quotes
        .iter()
        .take(MAX_QUOTES)
        .filter_map(|quote| look_up(pages, quote.event, &quote.text))
        .collect();
    if found.is_empty() {
        return Err(DropReason::NoEvidence);
    }
    let has = |speaker: Speaker| found.iter().any(|(line, _)| line.speaker == speaker);
    let is_failure = basis == Basis::Found && found.iter().any(|(line, _)| line.is_failure());
    if !has(Speaker::User) && !has(Speaker::Assistant) && !is_failure {
        return Err(DropReason::Injected);
    }
    // What was read earlier was decided about earlier.
    if found.iter().all(|(line, _)| line.sequence < pages.from()) {
        return Err(DropReason::Repeated);
    }
    let title = answer.clean_title();
    let body = without_title(&answer.clean_body(), &title);
    let words = format!("{title} {body}");
    if !found.iter().any(|(_, quote)| is_about(&words, quote)) {
        return Err(DropReason::NoEvidence);
    }
    let mut persons = found.iter().filter(|(line, _)| line.speaker == Speaker::User).peekable();
    let is_of_now = persons.peek().is_some() && persons.all(|(_, quote)| is_passing(quote));
    // The words of a quote prove that they were said, not what stands beside them.
    let is_made_up = names_another(&words, said);
    let spoken =
        found.iter().map(|(line, quote)| Spoken::at(line.speaker, quote, line.sequence, line.at));
    let claimed = Claimed {
        claim,
        confidence: confidence(basis),
        basis,
        status: match is_of_now || is_made_up || waits(answer, claim) {
            true => Status::Candidate,
            false => status(claim, basis, has(Speaker::User)),
        },
        is_findable: answer.found_in != FoundIn::Nowhere,
        title,
        body,
        applies: answer.clean_applies(),
    };
    Ok(Proposal::by_model(claimed, spoken.collect()))
}

/// Whether a claim is not worth enough to hold unasked: nice to know, or something found out that whoever looks finds. Why a
/// thing was decided and what the person wants stands nowhere, whatever the code shows of it.
fn waits(answer: &ClaimAnswer, claim: Claim) -> bool {
    let is_findable = answer.found_in != FoundIn::Nowhere && !speaks_for_the_person(claim);
    answer.importance < 2 || is_findable
}

/// What a claim may become: what nobody agreed to, and what speaks for the person without a word of theirs, waits.
fn status(claim: Claim, basis: Basis, has_person: bool) -> Status {
    let is_agreed = match basis {
        Basis::Stated | Basis::Accepted => has_person || !speaks_for_the_person(claim),
        Basis::Found => has_person || !speaks_for_the_person(claim) || claim == Claim::Decision,
        Basis::Planned | Basis::Inferred => false,
    };
    if is_agreed { Status::Active } else { Status::Candidate }
}

fn claim_of(answer: &ClaimAnswer) -> Option<Claim> {
    match answer.memory_type.parse::<MemoryType>().ok()? {
        MemoryType::Decision => Some(Claim::Decision),
        MemoryType::Learning => answer.kind.parse().ok().map(Claim::Learning),
        MemoryType::Summary => None,
    }
}

/// Whether only the person can make it true.
pub(in crate::flows) fn speaks_for_the_person(claim: Claim) -> bool {
    match claim {
        Claim::Decision | Claim::Learning(LearningKind::Preference | LearningKind::Convention) => {
            true
        }
        Claim::Learning(
            LearningKind::Insight
            | LearningKind::Procedure
            | LearningKind::Pitfall
            | LearningKind::Friction
            | LearningKind::Context,
        ) => false,
    }
}

/// The words of a quote as they were said: in the event it names, in one nearby, or in the only one that has them.
fn look_up<'p>(pages: &'p Pages, event: u64, quote: &str) -> Option<(&'p Line, &'p str)> {
    let quote = quote.trim().trim_matches(['"', '“', '”', '«', '»']).trim();
    // A model that leaves words out marks the gap; one of the pieces stands there as it is.
    let mut pieces: Vec<&str> = quote.split("[…]").flat_map(|part| part.split("...")).collect();
    pieces.sort_by_key(|piece| std::cmp::Reverse(piece.len()));
    let whole = std::iter::once(quote);
    whole
        .chain(pieces.into_iter().filter(|piece| MIN_FAR_CHARS <= piece.trim().chars().count()))
        .find_map(|words| {
            let words = words.trim().trim_matches('…').trim();
            find_words(pages, event, words)
        })
}

fn find_words<'p>(pages: &'p Pages, event: u64, quote: &str) -> Option<(&'p Line, &'p str)> {
    let n_chars = quote.chars().count();
    if n_chars == 0 || MAX_QUOTE_CHARS < n_chars {
        return None;
    }
    let mut near: Vec<&Line> = pages.lines().collect();
    near.sort_by_key(|line| line.sequence.abs_diff(event));
    let named = near.iter().find(|line| line.sequence == event);
    if let Some(found) = named.and_then(|line| Some((*line, line.words_of(quote)?))) {
        return Some(found);
    }
    // One letter, such as the "B" of a choice, is told apart only by its event.
    if n_chars < MIN_QUOTE_CHARS {
        return None;
    }
    let is_near = |line: &&&Line| line.sequence.abs_diff(event) <= NEAR;
    let mut found =
        near.iter().filter(is_near).filter_map(|line| Some((*line, line.words_of(quote)?)));
    if let Some(found) = found.next() {
        return Some(found);
    }
    if n_chars < MIN_FAR_CHARS {
        return None;
    }
    let mut far = near.iter().filter_map(|line| Some((*line, line.words_of(quote)?)));
    let only = far.next()?;
    far.next().is_none().then_some(only)
}

#[cfg(test)]
mod tests;
