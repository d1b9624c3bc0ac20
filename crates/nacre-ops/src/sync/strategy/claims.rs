//! Verifies a model's claims against the transcript. Each claim needs a quote from the user or the
//! agent, because a model may believe text in tool output or on a web page.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use nacre_engine::proof::names_another;
use nacre_memory::{Basis, Claim, LearningKind, MemoryType, Speaker, Status};
use nacre_types::DropReason;

use super::KnownMemory;
use super::answer::{
    ClaimAnswer, MergedClaim, NOWHERE, QuoteAnswer, RepairAnswer, clean_body, clean_title,
    confidence,
};
use super::pages::{Pages, TranscriptLine};
use crate::sync::candidate::KnownLink;
use crate::sync::extract::{Proposal, Spoken, Unproven, is_about, is_passing};

const MAX_CLAIMS: usize = 24;
const MAX_QUOTES: usize = 4;
/// Maximum length of a quote. Longer quotes are whole passages.
const MAX_QUOTE_CHARS: usize = 600;
/// Maximum number of events between a short quote and the cited event. Models often cite an event
/// slightly before or after the right one.
const NEAR: u64 = 6;
/// Minimum length of a quote to search for in the whole session.
const MIN_FAR_CHARS: usize = 16;

#[derive(Default)]
pub(super) struct Proven {
    pub(super) proposals: Vec<Proposal>,
    pub(super) unproven: Vec<Unproven>,
    /// Claims without a verified quote. The model is asked to provide other quotes for them.
    pub(super) unquoted: Vec<ClaimAnswer>,
}

impl Proven {
    /// Verifies the claims of a window. `known` are the memories that the model was shown.
    pub(super) fn take(&mut self, claims: &[ClaimAnswer], pages: &Pages, known: &[KnownMemory]) {
        let said = pages.said();
        for claim in claims.iter().take(MAX_CLAIMS) {
            let claim = &ClaimAnswer { link: find_link(claim, known), ..claim.clone() };
            match verify_claim(claim, pages, &said) {
                Ok(proposal) => self.proposals.push(proposal),
                Err(DropReason::NoEvidence) => self.unquoted.push(claim.clone()),
                Err(reason) => self.unproven.push(to_unproven(claim, reason)),
            }
        }
        for claim in claims.iter().skip(MAX_CLAIMS) {
            self.unproven.push(to_unproven(claim, DropReason::OverCap));
        }
    }

    pub(super) fn repair(&mut self, answer: &RepairAnswer, pages: &Pages) {
        let said = pages.said();
        for (idx, claim) in std::mem::take(&mut self.unquoted).into_iter().enumerate() {
            let given = answer.quotes.iter().filter(|quote| quote.entry == idx + 1);
            let quotes: Vec<QuoteAnswer> = given
                .map(|quote| QuoteAnswer { event: quote.event, text: quote.text.clone() })
                .collect();
            match verify_claim(&ClaimAnswer { quotes, ..claim.clone() }, pages, &said) {
                Ok(proposal) => self.proposals.push(proposal),
                Err(reason) => self.unproven.push(to_unproven(&claim, reason)),
            }
        }
    }

    /// Merges proposals as the model requested, and counts those that it left out. Unknown and
    /// repeated ids are ignored.
    pub(super) fn take_merged(&mut self, found: Vec<Proposal>, merged: &[MergedClaim]) {
        let mut left: Vec<Option<Proposal>> = found.into_iter().map(Some).collect();
        for claim in merged {
            let mut take = |id: &String| {
                let number: usize = id.strip_prefix('k')?.parse().ok()?;
                left.get_mut(number.checked_sub(1)?)?.take()
            };
            let parts: Vec<Proposal> = claim.ids.iter().filter_map(&mut take).collect();
            let (title, body) = (clean_title(&claim.title), clean_body(&claim.body));
            self.proposals.extend(Proposal::join(parts, title, body));
        }
        self.leave_out(DropReason::LeftOut, left.into_iter().flatten());
    }

    /// Keeps the claims that are most sure and important, and counts the others.
    pub(super) fn keep_best(&mut self, most: usize) {
        if most < self.proposals.len() {
            self.proposals.sort_by_key(|one| {
                Reverse((one.status == Status::Active || one.needs_review, one.importance))
            });
            let left = self.proposals.split_off(most);
            self.leave_out(DropReason::OverCap, left.into_iter());
        }
    }

    fn leave_out(&mut self, reason: DropReason, left: impl Iterator<Item = Proposal>) {
        self.unproven.extend(left.map(|proposal| {
            let sequence = proposal.sequences().next().unwrap_or_default();
            Unproven { reason, sequence, title: proposal.title }
        }));
    }

    pub(super) fn give_up(&mut self) {
        for claim in std::mem::take(&mut self.unquoted) {
            self.unproven.push(to_unproven(&claim, DropReason::NoEvidence));
        }
    }
}

/// Returns the memory that a claim names, if it was shown to the model.
fn find_link(claim: &ClaimAnswer, known: &[KnownMemory]) -> Option<KnownLink> {
    let is_replaced = !claim.replaces.trim().is_empty();
    let mark = if is_replaced { &claim.replaces } else { &claim.confirms };
    let number: usize = mark.trim().strip_prefix('m')?.parse().ok()?;
    let memory = known.get(number.checked_sub(1)?)?;
    Some(KnownLink { id: memory.id.clone(), is_replaced })
}

fn to_unproven(claim: &ClaimAnswer, reason: DropReason) -> Unproven {
    let sequence = claim.quotes.first().map_or(0, |quote| quote.event);
    Unproven { reason, title: clean_title(&claim.title), sequence }
}

/// Verifies a claim. `said` is the complete text shown to the model.
fn verify_claim(answer: &ClaimAnswer, pages: &Pages, said: &str) -> Result<Proposal, DropReason> {
    let claim = claim_of(answer).ok_or(DropReason::Weak)?;
    let basis = Basis::from_name(&answer.basis).ok_or(DropReason::Weak)?;
    // Drop quotes that are not found, because the remaining quotes may still support the claim.
    let found: Vec<(&TranscriptLine, &str)> = answer
        .quotes
        .iter()
        .take(MAX_QUOTES)
        .filter_map(|quote| look_up(pages, quote.event, &quote.text))
        .collect();
    if found.is_empty() {
        return Err(DropReason::NoEvidence);
    }
    let has = |speaker: Speaker| found.iter().any(|(line, _)| line.speaker == speaker);
    let is_failure = basis == Basis::Found && found.iter().any(|(line, _)| line.is_failure);
    if !has(Speaker::User) && !has(Speaker::Assistant) && !is_failure {
        return Err(DropReason::Injected);
    }
    // A claim that quotes only earlier events was already decided by an earlier sync.
    if found.iter().all(|(line, _)| line.sequence < pages.from) {
        return Err(DropReason::Repeated);
    }
    let title = clean_title(&answer.title);
    let body = clean_body(&answer.body);
    let words = format!("{title} {body}");
    if !found.iter().any(|(_, quote)| is_about(&words, quote)) {
        return Err(DropReason::NoEvidence);
    }
    let mut persons = found.iter().filter(|(line, _)| line.speaker == Speaker::User).peekable();
    let is_of_now = persons.peek().is_some() && persons.all(|(_, quote)| is_passing(quote));
    // A verified quote does not support names that occur only in the claim.
    let is_made_up = names_another(&words, said);
    let spoken =
        found.iter().map(|(line, quote)| Spoken::at(line.speaker, quote, line.sequence, line.at));
    let mut proposal = Proposal::new(claim, basis, spoken.collect());
    // A minor claim must be reviewed by the user, and one that can be found in the project by the
    // model. Reasons for decisions and the user's wishes are never considered findable, even if
    // they are reflected in the code.
    let is_findable = answer.found_in != NOWHERE;
    if !is_of_now && !is_made_up && 2 <= answer.importance {
        proposal.status = status(claim, basis, has(Speaker::User));
    }
    if is_findable && !speaks_for_the_person(claim) {
        proposal.needs_review = proposal.status == Status::Active;
        proposal.status = Status::Candidate;
    }
    proposal.importance = Some(answer.importance.clamp(1, 3));
    proposal.link.clone_from(&answer.link);
    proposal.confidence = confidence(basis);
    proposal.is_findable = is_findable;
    proposal.applies = answer.clean_applies();
    (proposal.title, proposal.body) = (title, body);
    Ok(proposal)
}

/// Returns the status of a claim. A claim must be reviewed if nobody agreed to it, or if it states
/// the user's wishes without quoting the user.
fn status(claim: Claim, basis: Basis, has_person: bool) -> Status {
    let is_agreed = match basis {
        Basis::Stated | Basis::Accepted => has_person || !speaks_for_the_person(claim),
        Basis::Found => has_person || !speaks_for_the_person(claim) || claim == Claim::Decision,
        Basis::Planned | Basis::Inferred => false,
    };
    if is_agreed { Status::Active } else { Status::Candidate }
}

fn claim_of(answer: &ClaimAnswer) -> Option<Claim> {
    match MemoryType::from_name(&answer.memory_type)? {
        MemoryType::Decision => Some(Claim::Decision),
        MemoryType::Learning => LearningKind::from_name(&answer.kind).map(Claim::Learning),
        MemoryType::Summary => None,
    }
}

/// Returns whether only the user can decide if the claim is true.
pub(crate) fn speaks_for_the_person(claim: Claim) -> bool {
    use LearningKind::{Convention, Preference};
    matches!(claim, Claim::Decision | Claim::Learning(Preference | Convention))
}

/// Finds a quote. Searches the cited event first, then nearby events, and then the whole session,
/// where exactly one event must contain the quote.
fn look_up<'p>(pages: &'p Pages, event: u64, quote: &str) -> Option<(&'p TranscriptLine, &'p str)> {
    let quote = quote.trim().trim_matches(['"', '“', '”', '«', '»']).trim();
    // Models mark omitted words with ellipses. Each remaining piece must be verbatim.
    let mut pieces: Vec<&str> = quote.split("[…]").flat_map(|part| part.split("...")).collect();
    pieces.retain(|piece| MIN_FAR_CHARS <= piece.trim().chars().count());
    pieces.sort_by_key(|piece| Reverse(piece.len()));
    let mut pieces = std::iter::once(quote).chain(pieces);
    pieces.find_map(|words| find_words(pages, event, words.trim().trim_matches('…').trim()))
}

fn find_words<'p>(
    pages: &'p Pages,
    event: u64,
    quote: &str,
) -> Option<(&'p TranscriptLine, &'p str)> {
    let n_chars = quote.chars().count();
    if n_chars == 0 || MAX_QUOTE_CHARS < n_chars {
        return None;
    }
    // Outside the cited event, a single letter, such as "B" for the second option, is ambiguous.
    let reach = if n_chars == 1 { 0 } else { NEAR };
    let distance = |line: &&TranscriptLine| line.sequence.abs_diff(event);
    let mut near: Vec<&TranscriptLine> =
        pages.lines().filter(|line| distance(line) <= reach).collect();
    near.sort_by_key(distance);
    let find = |line: &'p TranscriptLine| Some((line, line.words_of(quote)?));
    let found = near.into_iter().find_map(find);
    if found.is_some() || n_chars < MIN_FAR_CHARS {
        return found;
    }
    let mut far = pages.lines().filter_map(find);
    let only = far.next()?;
    far.next().is_none().then_some(only)
}
