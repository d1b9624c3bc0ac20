//! Records what an agent learned while it works, with the words of its session that prove it.
//!
//! The words are looked up: what nobody said, and what speaks for the person without a word of theirs, waits in the review.
//! What a memory says already is not added again.

use std::path::Path;

use nacre_api::wire::{ErrorCode, MemoryChange, MemoryRecordReport, MemoryRecordRequest};
use nacre_core::base::ShownLine;
use nacre_core::memory::{
    Actor, Draft, MAX_APPLIES, MAX_APPLIES_CHARS, MemoryId, Quote, Speaker, Status, Trust,
    hazards_of,
};
use nacre_engine::flows::candidate::DropReason;
use nacre_engine::flows::change::Reversal;
use nacre_engine::flows::cited::{AgentClaim, CitedWords, FoundWords, Standing, find_cited, judge};
use nacre_engine::flows::run::RunMode;

use super::add::{claim, said_already};
use super::changes::warn_redacted;
use super::wire::speaker;
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, ScopedStore, connections};
use crate::operations::recording::CommandChange;

/// A longer quote is a passage, and a shorter one stands anywhere.
const MAX_QUOTE_CHARS: usize = 600;
const MIN_QUOTE_CHARS: usize = 8;

/// More tags tell nothing.
const MAX_TAGS: usize = 12;
const MAX_TAG_CHARS: usize = 60;

/// Records a claim that an agent makes; `by` is the way it came.
pub fn record(
    host: &Host,
    request: &MemoryRecordRequest,
    by: &str,
    events: &Events,
) -> Result<MemoryRecordReport, OpError> {
    check(request)?;
    let scoped = host.store_to_write(request.scope)?;
    let scoped = ScopedStore { store: scoped.store.acting_as(Actor::Agent), ..scoped };
    // What is said in the owner's sessions is not for others to find out.
    let is_person = host.actor == Actor::Person;
    let found = if is_person { None } else { look_up(host, &scoped, request) };
    let standing = standing(&scoped, request, found.as_ref())?;
    events.cancel().check()?;
    let draft = draft(host, (request, by), found.as_ref(), standing)?;
    let standing = quarantined(&scoped, &draft, standing, events);
    let known = said_already(host, &scoped, &draft);
    if let Some((id, title)) = known.filter(|_| request.supersedes.is_none()) {
        events.warning(format!("It says: {}", ShownLine(&title)), None);
        return Ok(MemoryRecordReport {
            done: MemoryChange::LeftUnchanged,
            id: id.to_string(),
            path: None,
            status: None,
            speaker: None,
            place: None,
            change: None,
        });
    }
    let (id, change) = store(host, &scoped, (request, by), (&draft, standing.status), events)?;
    let at = scoped.store.locate(id.as_str())?;
    let path = scoped.store.path().join(at.path.as_str()).display().to_string();
    Ok(MemoryRecordReport {
        done: MemoryChange::Added,
        id: id.to_string(),
        path: Some(path),
        status: Some(standing.status.as_str().to_owned()),
        speaker: found.as_ref().map(|found| speaker(found.quote.speaker)),
        place: found.map(|found| found.quote.place),
        change,
    })
}

fn check(request: &MemoryRecordRequest) -> Result<(), OpError> {
    let MemoryRecordRequest { quote, tags, applies, .. } = request;
    let n_chars = quote.trim().chars().count();
    if !(MIN_QUOTE_CHARS..=MAX_QUOTE_CHARS).contains(&n_chars) {
        let message =
            format!("`quote` has {n_chars} characters; {MIN_QUOTE_CHARS} to {MAX_QUOTE_CHARS} fit");
        return Err(OpError::usage(message)
            .hint("Quote the sentence that decided it, word for word as it was said"));
    }
    let is_long = |tag: &String| MAX_TAG_CHARS < tag.chars().count();
    if MAX_TAGS < tags.len() || tags.iter().any(is_long) {
        let message = format!("A memory has at most {MAX_TAGS} tags of {MAX_TAG_CHARS} characters");
        return Err(OpError::usage(message));
    }
    let is_long = |text: &String| MAX_APPLIES_CHARS < text.chars().count();
    if MAX_APPLIES < applies.len() || applies.iter().any(is_long) {
        let message = format!(
            "`applies` has at most {MAX_APPLIES} situations of {MAX_APPLIES_CHARS} characters"
        );
        return Err(OpError::usage(message));
    }
    Ok(())
}

/// The words as they stand in a trace of this machine. Best effort: traces that cannot be read prove nothing.
fn look_up(host: &Host, scoped: &ScopedStore, request: &MemoryRecordRequest) -> Option<FoundWords> {
    let root = scoped.store.path().parent().filter(|_| !scoped.store.scope().is_private());
    let root: Option<&Path> = root.or(host.project.as_ref().map(|project| project.path.as_path()));
    let cited = CitedWords {
        text: request.quote.trim(),
        session: request.session.as_deref().filter(|session| !session.is_empty()),
        root,
        kept_out: scoped.store.words(),
    };
    find_cited(&connections(host, &[]).ok()?, &cited)
}

fn standing(
    scoped: &ScopedStore,
    request: &MemoryRecordRequest,
    found: Option<&FoundWords>,
) -> Result<Standing, OpError> {
    let MemoryRecordRequest { title, body, r#type, kind, quote, .. } = request;
    let claimed = AgentClaim {
        claim: claim(*r#type, *kind)?,
        title: title.trim(),
        body: body.trim(),
        words: quote.trim(),
        found,
    };
    let is_forgotten =
        |title: &str, body: &str| scoped.store.is_forgotten(title, body).unwrap_or(false);
    judge(&claimed, &is_forgotten).map_err(refused)
}

/// Why a claim is not worth keeping, and what would be.
fn refused(reason: DropReason) -> OpError {
    let (message, hint) = match reason {
        DropReason::NoEvidence => (
            "The quote speaks of something else than the memory",
            "Quote the words that decided it",
        ),
        DropReason::Secret => {
            ("It holds a secret", "Say it without the secret: where it lies, not what it is")
        }
        DropReason::TooShort => (
            "It says too little",
            "The title is one sentence, the body says why and what follows in 30 characters or more",
        ),
        DropReason::TooLong => (
            "It is too long",
            "At most 200 characters for the title and 4000 for the body; make two memories of it",
        ),
        DropReason::Tautology => {
            ("The body only repeats the title", "Say why, or what to do about it")
        }
        DropReason::AboutNacre => {
            ("It is about Nacre's own work", "Keep what holds for the project")
        }
        DropReason::Forgotten => {
            ("A person threw this away before", "Leave it, unless the person asks for it")
        }
        DropReason::Derivable
        | DropReason::Injected
        | DropReason::Recalled
        | DropReason::NotDurable
        | DropReason::Revoked
        | DropReason::Repeated
        | DropReason::Weak
        | DropReason::OverCap
        | DropReason::Unread => {
            ("It is not worth keeping", "Keep decisions, preferences, pitfalls and their reasons")
        }
    };
    OpError { code: ErrorCode::Refused, ..OpError::failed(message) }.hint(hint)
}

fn draft(
    host: &Host,
    (request, by): (&MemoryRecordRequest, &str),
    found: Option<&FoundWords>,
    standing: Standing,
) -> Result<Draft, OpError> {
    let MemoryRecordRequest { title, body, r#type, kind, tags, applies, quote, .. } = request;
    let now = host.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let unproven = || Quote {
        text: quote.trim().to_owned(),
        speaker: Speaker::Assistant,
        place: format!("nacre {by}"),
        at: now,
    };
    Ok(Draft {
        claim: claim(*r#type, *kind)?,
        title: title.trim().to_owned(),
        body: body.trim().to_owned(),
        tags: tags.clone(),
        applies: applies.clone(),
        related: Vec::new(),
        source: found.map_or_else(|| by.to_owned(), |found| found.source.clone()),
        confidence: standing.confidence,
        basis: Some(standing.basis),
        quotes: vec![found.map_or_else(unproven, |found| found.quote.clone())],
        limit: standing.limit,
    })
}

/// What gives an order that the person did not give waits for them, and they are told why.
fn quarantined(
    scoped: &ScopedStore,
    draft: &Draft,
    standing: Standing,
    events: &Events,
) -> Standing {
    if scoped.store.level_of(draft) != Trust::Quarantined {
        return standing;
    }
    let found = hazards_of(&draft.title, &draft.body, &draft.quotes);
    let why = found.first().map_or("it gives an order", |hazard| hazard.kind.as_str());
    let hint = "It is used nowhere until a person accepts it: nacre review";
    events.warning(format!("It waits in the review: {why}"), Some(hint));
    Standing { status: Status::Candidate, ..standing }
}

/// Adds it. A claim that goes to review, or is trusted less than the memory it would supersede, names that memory as
/// related instead.
fn store(
    host: &Host,
    scoped: &ScopedStore,
    (request, by): (&MemoryRecordRequest, &str),
    (draft, status): (&Draft, Status),
    events: &Events,
) -> Result<(MemoryId, Option<String>), OpError> {
    let store = &scoped.store;
    let mut batch = store.begin(&host.owner(by), host.settings().lock.wait)?;
    let now = host.now();
    let may_replace = |older: &str| {
        let older = store.get(older)?;
        Ok::<_, OpError>(store.level_of(draft).can_replace(store.trust_of(&older)))
    };
    let id = match (&request.supersedes, status) {
        (Some(older), Status::Active) if may_replace(older)? => {
            batch.add_superseding(older, draft, now)?
        }
        (Some(older), _) => {
            let related = vec![store.locate(older)?.id];
            let hint = "It waits with it in the review: nacre review";
            events.warning(format!("`{older}` still holds until a person agrees"), Some(hint));
            batch.add_candidate(&Draft { related, ..draft.clone() }, now)?
        }
        (None, Status::Active) => batch.add(draft, now)?,
        (None, _) => batch.add_candidate(draft, now)?,
    };
    let redacted = batch.redactions().clone();
    let typed = format!("{by} memory_add");
    let command = CommandChange::new(RunMode::Memory, &typed);
    command.commit(host, scoped, batch, Reversal::Plan)?;
    warn_redacted(events, &redacted);
    Ok((id, command.id()))
}
