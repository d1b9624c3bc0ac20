//! Adds decisions and learnings. The user's own words need no further evidence. A memory recorded
//! by an agent needs a quote that occurs in a trace.

use nacre_base::ShownLine;
use nacre_memory::search::MemoryIndex;
use nacre_memory::{
    Actor, Batch, Claim, Draft, MAX_APPLIES, MAX_APPLIES_CHARS, Memory, Quote, Speaker, Status,
    Trust, hazards_of,
};
use nacre_types::{
    DropReason, LearningKind, MemoryAddRequest, MemoryChange, MemoryChangeReport,
    MemoryRecordReport, MemoryRecordRequest, MemoryType, RunMode,
};

use super::change::warn_redacted;
use crate::host::connections;
use crate::memory::cited::{CitedWords, FoundWords, Standing, find_cited, judge};
use crate::prelude::*;
use crate::recording::CommandChange;
use crate::run::change::Reversal;
use crate::sync::pipeline as sync;

pub const DEFAULT_CONFIDENCE: f64 = 0.9;

const QUOTE_HINT: &str = "Quote the user's exact words: --quote \"WORDS\"";

pub fn add(host: &Host, request: &MemoryAddRequest, events: &Events) -> Result<MemoryChangeReport> {
    let scoped = host.store_to_write(request.scope)?;
    let store = &scoped.store;
    let draft = draft_added(host, store, request)?;
    let known = said_already(host, &scoped, &draft);
    let mut batch = store.begin(&host.owner("memory add"), host.settings().lock.wait)?;
    warn_unquoted(host, events);
    let id = stage_added(host, store, &mut batch, request, &draft)?;
    let redacted = batch.redactions().clone();
    let command = CommandChange::new(RunMode::Memory, "memory add");
    command.commit(host, &scoped, batch, Reversal::Plan)?;
    warn_redacted(events, &redacted);
    let is_superseded =
        |older: &MemoryId| store.get(older.as_str()).is_ok_and(|older| older.says_overturned());
    if let Some((older, title)) = known.filter(|(older, _)| !is_superseded(older)) {
        let message = format!("`{older}` already contains this: {}", ShownLine(&title));
        let undo = command.id().unwrap_or_default();
        events.warning(message, Some(&format!("To keep only the older memory: nacre undo {undo}")));
    }
    let at = store.locate(id.as_str())?;
    let path = store.path().join(at.path.as_str()).display().to_string();
    Ok(MemoryChangeReport {
        done: MemoryChange::Added,
        id: id.to_string(),
        path: Some(path),
        change: command.id(),
    })
}

pub(super) fn warn_unquoted(host: &Host, events: &Events) {
    if host.actor == Actor::Agent {
        events.warning("An agent's claim without a quote must be reviewed", Some(QUOTE_HINT));
    }
}

pub(super) fn stage_added(
    host: &Host,
    store: &Store,
    batch: &mut Batch<'_>,
    request: &MemoryAddRequest,
    draft: &Draft,
) -> Result<MemoryId> {
    Ok(match &request.supersedes {
        older if host.actor == Actor::Agent => {
            let older = older.iter().map(|older| Ok(store.locate(older)?.id));
            let older: Vec<MemoryId> = older.collect::<Result<_>>()?;
            let related = draft.related.iter().cloned().chain(older).collect();
            batch.add_candidate(&Draft { related, ..draft.clone() }, host.now())?
        }
        Some(older) => batch.add_superseding(older, draft, host.now())?,
        None => batch.add(draft, host.now())?,
    })
}

/// Returns a memory that already contains the claim, for a warning. Errors are ignored.
pub(crate) fn said_already(
    host: &Host,
    scoped: &ScopedStore,
    draft: &Draft,
) -> Option<(MemoryId, String)> {
    // The vector is not stored, because text that the user adds and then forgets must not remain in
    // an index.
    let index = MemoryIndex::peek(&scoped.store, host.now()).ok()?;
    sync::said_already(&scoped.store, &index, draft).ok().flatten()
}

pub(super) fn draft_added(host: &Host, store: &Store, request: &MemoryAddRequest) -> Result<Draft> {
    let confidence = request.confidence.unwrap_or(DEFAULT_CONFIDENCE);
    if !(0.0..=1.0).contains(&confidence) {
        return Err(OpError::usage("`--confidence` must be a number from 0 to 1")
            .hint("Use 0.9 if you are sure"));
    }
    let MemoryAddRequest { title, body, r#type, kind, tags, applies, related, .. } = request;
    let said = [title.as_str(), body.as_str()].join("\n\n").trim().to_owned();
    let is_agents = host.actor == Actor::Agent;
    Ok(Draft {
        claim: claim(*r#type, *kind)?,
        title: title.clone(),
        body: body.clone(),
        tags: tags.clone(),
        applies: applies.clone(),
        related: related.iter().map(|id| Ok(store.locate(id)?.id)).collect::<Result<_>>()?,
        source: if is_agents { "agent" } else { "human" }.to_owned(),
        confidence,
        basis: None,
        importance: None,
        quotes: vec![Quote {
            text: said,
            speaker: if is_agents { Speaker::Assistant } else { Speaker::Human },
            place: "nacre memory add".to_owned(),
            at: host.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }],
        limit: Trust::Human,
    })
}

pub(super) fn claim(of: Option<MemoryType>, kind: Option<LearningKind>) -> Result<Claim> {
    match (of.unwrap_or(MemoryType::Decision), kind) {
        (MemoryType::Decision, None) => Ok(Claim::Decision),
        (MemoryType::Learning, kind) => Ok(Claim::Learning(kind.unwrap_or_default())),
        (MemoryType::Decision, Some(_)) => Err(OpError::usage("A decision cannot have a kind")
            .hint("Add `--type learning` to set the kind of learning")),
        (MemoryType::Summary, _) => {
            Err(OpError::usage("Only a sync can write a summary")
                .hint("Add a decision or a learning"))
        }
    }
}

/// Maximum and minimum length of a quote. Longer quotes are entire passages, and shorter ones can
/// match by chance.
const MAX_QUOTE_CHARS: usize = 600;
const MIN_QUOTE_CHARS: usize = 8;

const MAX_TAGS: usize = 12;
const MAX_TAG_CHARS: usize = 60;

pub fn record(
    host: &Host,
    request: &MemoryRecordRequest,
    by: &str,
    events: &Events,
) -> Result<MemoryRecordReport> {
    check_recorded(request)?;
    let scoped = host.store_to_write(request.scope)?;
    let scoped = ScopedStore { store: scoped.store.acting_as(Actor::Agent), ..scoped };
    // Only the owner's own agents may search the owner's traces.
    let is_person = host.actor == Actor::Person;
    let found = if is_person { None } else { look_up(host, &scoped, request) };
    let claim = claim(request.r#type, request.kind)?;
    let (title, body, quote) = (request.title.trim(), request.body.trim(), request.quote.trim());
    let is_forgotten =
        |title: &str, body: &str| scoped.store.is_forgotten(title, body).unwrap_or(false);
    let standing = judge(claim, title, body, quote, found.as_ref(), &is_forgotten);
    let standing = standing.map_err(explain_drop)?;
    events.check_cancelled()?;
    let draft = draft_recorded(host, request, claim, by, found.as_ref(), standing);
    let standing = check_hazards(&scoped, &draft, standing, events);
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
    let older = request.supersedes.as_deref();
    let older = older.map(|older| scoped.store.get(older)).transpose()?;
    let is_active = standing.status == Status::Active;
    let mut batch = scoped.store.begin(&host.owner(by), host.settings().lock.wait)?;
    let id = stage(&mut batch, &draft, older.as_ref(), is_active, host.now(), events)?;
    let redacted = batch.redactions().clone();
    let typed = format!("{by} memory_add");
    let command = CommandChange::new(RunMode::Memory, &typed);
    command.commit(host, &scoped, batch, Reversal::Plan)?;
    warn_redacted(events, &redacted);
    let at = scoped.store.locate(id.as_str())?;
    let path = scoped.store.path().join(at.path.as_str()).display().to_string();
    Ok(MemoryRecordReport {
        done: MemoryChange::Added,
        id: id.to_string(),
        path: Some(path),
        status: Some(standing.status.as_str().to_owned()),
        speaker: found.as_ref().map(|found| found.quote.speaker),
        place: found.map(|found| found.quote.place),
        change: command.id(),
    })
}

fn check_recorded(request: &MemoryRecordRequest) -> Result<()> {
    let MemoryRecordRequest { quote, tags, applies, .. } = request;
    let n_chars = quote.trim().chars().count();
    if !(MIN_QUOTE_CHARS..=MAX_QUOTE_CHARS).contains(&n_chars) {
        let message = format!(
            "`quote` must be {MIN_QUOTE_CHARS} to {MAX_QUOTE_CHARS} characters long, but is \
             {n_chars}"
        );
        return Err(OpError::usage(message).hint("Quote the decisive sentence word for word"));
    }
    let is_long = |tag: &String| MAX_TAG_CHARS < tag.chars().count();
    if MAX_TAGS < tags.len() || tags.iter().any(is_long) {
        let message =
            format!("A memory can have at most {MAX_TAGS} tags of {MAX_TAG_CHARS} characters each");
        return Err(OpError::usage(message));
    }
    let is_long = |text: &String| MAX_APPLIES_CHARS < text.chars().count();
    if MAX_APPLIES < applies.len() || applies.iter().any(is_long) {
        let message = format!(
            "`applies` can contain at most {MAX_APPLIES} situations of {MAX_APPLIES_CHARS} \
             characters each"
        );
        return Err(OpError::usage(message));
    }
    Ok(())
}

/// Searches the traces for the quoted words. Unreadable traces are skipped.
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

pub(super) fn explain_drop(reason: DropReason) -> OpError {
    let (message, hint) = match reason {
        DropReason::NoEvidence => (
            "The quote is about something other than the memory",
            "Quote the words that led to the decision",
        ),
        DropReason::Secret => {
            ("It holds a secret", "Omit the secret: say where it is stored, not what it is")
        }
        DropReason::TooShort => (
            "The memory is too short",
            "Write one sentence as the title, and at least 30 characters about reasons and \
             consequences as the body",
        ),
        DropReason::TooLong => (
            "It is too long",
            "The limit is 200 characters for the title and 4000 for the body; split it into two \
             memories",
        ),
        DropReason::Tautology => {
            ("The body only repeats the title", "Add the reason, or what to do about it")
        }
        DropReason::AboutNacre => {
            ("The memory is about Nacre's own work", "Record what applies to the project")
        }
        DropReason::Forgotten => (
            "The user has already deleted this memory",
            "Do not add it again unless the user asks for it",
        ),
        DropReason::Derivable
        | DropReason::Injected
        | DropReason::Recalled
        | DropReason::NotDurable
        | DropReason::Revoked
        | DropReason::Repeated
        | DropReason::Weak
        | DropReason::OverCap
        | DropReason::LeftOut
        | DropReason::Unread => (
            "The memory is not worth keeping",
            "Record decisions, preferences, pitfalls and their reasons",
        ),
    };
    OpError::new(ErrorCode::Refused, message).hint(hint)
}

fn draft_recorded(
    host: &Host,
    request: &MemoryRecordRequest,
    claim: Claim,
    by: &str,
    found: Option<&FoundWords>,
    standing: Standing,
) -> Draft {
    let MemoryRecordRequest { title, body, tags, applies, quote, .. } = request;
    let now = host.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let unproven = || Quote {
        text: quote.trim().to_owned(),
        speaker: Speaker::Assistant,
        place: format!("nacre {by}"),
        at: now,
    };
    Draft {
        claim,
        title: title.trim().to_owned(),
        body: body.trim().to_owned(),
        tags: tags.clone(),
        applies: applies.clone(),
        related: Vec::new(),
        source: found.map_or_else(|| by.to_owned(), |found| found.source.clone()),
        confidence: standing.confidence,
        basis: Some(standing.basis),
        importance: None,
        quotes: vec![found.map_or_else(unproven, |found| found.quote.clone())],
        limit: standing.limit,
    }
}

fn check_hazards(
    scoped: &ScopedStore,
    draft: &Draft,
    standing: Standing,
    events: &Events,
) -> Standing {
    if scoped.store.level_of(draft) != Trust::Quarantined {
        return standing;
    }
    let found = hazards_of(&draft.title, &draft.body);
    let why = found.first().map_or("it contains an instruction", |hazard| hazard.kind.as_str());
    let hint = "It is not used until the user accepts it: nacre review";
    events.warning(format!("The memory must be reviewed: {why}"), Some(hint));
    Standing { status: Status::Candidate, ..standing }
}

/// Stages the memory. A memory that must be reviewed, or that is less trusted than the memory it
/// would supersede, is only linked to that memory as related.
fn stage(
    batch: &mut Batch<'_>,
    draft: &Draft,
    older: Option<&Memory>,
    is_active: bool,
    now: Timestamp,
    events: &Events,
) -> Result<MemoryId> {
    let Some(older) = older else {
        let added = if is_active { batch.add(draft, now) } else { batch.add_candidate(draft, now) };
        return Ok(added?);
    };
    if is_active && batch.may_overturn(draft, older) {
        return Ok(batch.add_superseding(older.at.id.as_str(), draft, now)?);
    }
    let hint = "Both memories are queued for review: nacre review";
    events.warning(
        format!("`{}` remains valid until the user accepts the new memory", older.at.id),
        Some(hint),
    );
    Ok(batch.add_candidate(&Draft { related: vec![older.at.id.clone()], ..draft.clone() }, now)?)
}
