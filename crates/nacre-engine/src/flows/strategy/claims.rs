//! A model's claims, held against the transcript: each quote is looked up, and who said it decides what it can prove.
//!
//! A model proposes; what it was told by a tool's output or a web page it may have believed. So a claim needs words of
//! the person or the agent, and what speaks for the person needs the person's own.

use nacre_core::memory::{Claim, LearningKind, MemoryType, Speaker};

use super::answer::ClaimAnswer;
use super::pages::{Line, Pages};
use crate::flows::candidate::DropReason;
use crate::flows::extract::{Proposal, Spoken, Unproven, is_about, is_passing};

/// More claims of one answer, and more quotes of one claim, are not looked at.
const MAX_CLAIMS: usize = 24;
const MAX_QUOTES: usize = 4;
/// A longer quote is a passage.
const MAX_QUOTE_CHARS: usize = 600;
/// A shorter one could stand anywhere.
const MIN_QUOTE_CHARS: usize = 2;
/// How far from the event that it names a quote may stand; models miscount.
const NEAR: u64 = 6;

/// What is left of a model's claims.
#[derive(Default)]
pub(super) struct Proven {
    pub(super) proposals: Vec<Proposal>,
    pub(super) unproven: Vec<Unproven>,
}

impl Proven {
    /// Holds the claims of one answer against the transcript.
    pub(super) fn take(&mut self, claims: &[ClaimAnswer], pages: &Pages) {
        for claim in claims.iter().take(MAX_CLAIMS) {
            match proven(claim, pages) {
                Ok(proposal) => self.proposals.push(proposal),
                Err(reason) => self.unproven.push(unproven(claim, reason)),
            }
        }
        for claim in claims.iter().skip(MAX_CLAIMS) {
            self.unproven.push(unproven(claim, DropReason::OverCap));
        }
    }
}

fn unproven(claim: &ClaimAnswer, reason: DropReason) -> Unproven {
    let sequence = claim.quotes.first().map_or(0, |quote| quote.event);
    Unproven { reason, title: claim.clean_title(), sequence }
}

fn proven(answer: &ClaimAnswer, pages: &Pages) -> Result<Proposal, DropReason> {
    let claim = claim_of(answer).ok_or(DropReason::Weak)?;
    let found: Vec<(&Line, &str)> = answer
        .quotes
        .iter()
        .take(MAX_QUOTES)
        .filter_map(|quote| look_up(pages, quote.event, &quote.text))
        .collect();
    if found.is_empty() || found.len() < answer.quotes.len().min(MAX_QUOTES) {
        return Err(DropReason::NoEvidence);
    }
    let has = |speaker: Speaker| found.iter().any(|(line, _)| line.speaker == speaker);
    if !has(Speaker::User) && !has(Speaker::Assistant) {
        return Err(DropReason::Injected);
    }
    if speaks_for_the_person(claim) && !has(Speaker::User) {
        return Err(DropReason::Weak);
    }
    // What was read earlier was decided about earlier.
    if found.iter().all(|(line, _)| line.sequence < pages.from()) {
        return Err(DropReason::Repeated);
    }
    let (title, body) = (answer.clean_title(), answer.clean_body());
    let words = format!("{title} {body}");
    if !found.iter().any(|(_, quote)| is_about(&words, quote)) {
        return Err(DropReason::NoEvidence);
    }
    let mut persons = found.iter().filter(|(line, _)| line.speaker == Speaker::User).peekable();
    if persons.peek().is_some() && persons.all(|(_, quote)| is_passing(quote)) {
        return Err(DropReason::NotDurable);
    }
    let spoken =
        found.iter().map(|(line, quote)| Spoken::at(line.speaker, quote, line.sequence, line.at));
    let confidence = answer.basis.confidence();
    Ok(Proposal::by_model((claim, confidence), title, body, spoken.collect()))
}

fn claim_of(answer: &ClaimAnswer) -> Option<Claim> {
    match answer.memory_type.parse::<MemoryType>().ok()? {
        MemoryType::Decision => Some(Claim::Decision),
        MemoryType::Learning => answer.kind.parse().ok().map(Claim::Learning),
        MemoryType::Summary => None,
    }
}

/// Whether only the person can make it true.
fn speaks_for_the_person(claim: Claim) -> bool {
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

/// The words of a quote as they were said: in the event it names, or in one nearby.
fn look_up<'p>(pages: &'p Pages, event: u64, quote: &str) -> Option<(&'p Line, &'p str)> {
    let quote = quote.trim().trim_matches(['"', '“', '”']);
    let n_chars = quote.chars().count();
    if !(MIN_QUOTE_CHARS..=MAX_QUOTE_CHARS).contains(&n_chars) && n_chars != 1 {
        return None;
    }
    let is_near = |line: &&Line| line.sequence.abs_diff(event) <= NEAR;
    let mut near: Vec<&Line> = pages.lines().filter(is_near).collect();
    near.sort_by_key(|line| line.sequence.abs_diff(event));
    // One letter, such as the "B" of a choice, is told apart only by its event.
    if n_chars == 1 {
        near.retain(|line| line.sequence == event);
    }
    near.into_iter().find_map(|line| Some((line, line.words_of(quote)?)))
}

#[cfg(test)]
mod tests;
