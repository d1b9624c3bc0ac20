//! Adds a decision or a learning in the caller's own words.
//!
//! The owner's words are their own evidence. What an agent adds with a command in its shell goes to review,
//! because nothing proves it.

use nacre_api::wire::{
    LearningKind, MemoryAddRequest, MemoryChange, MemoryChangeReport, MemoryType,
};
use nacre_core::base::ShownLine;
use nacre_core::config::EmbeddingChoice;
use nacre_core::memory::{self, Actor, Claim, Draft, MemoryId, Quote, Speaker, Store, Trust};
use nacre_core::search::{Builtin, MemoryIndex};
use nacre_engine::flows::change::Reversal;
use nacre_engine::flows::run::RunMode;
use nacre_engine::flows::sync;

use super::changes::warn_redacted;
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, ScopedStore};
use crate::operations::recording::CommandChange;

/// What a person says is taken at its word.
pub const DEFAULT_CONFIDENCE: f64 = 0.9;

/// What an agent types to have a claim used at once.
const QUOTE_HINT: &str = "Give the user's words, exactly as they said them: --quote \"WORDS\"";

pub fn add(
    host: &Host,
    request: &MemoryAddRequest,
    events: &Events,
) -> Result<MemoryChangeReport, OpError> {
    let confidence = request.confidence.unwrap_or(DEFAULT_CONFIDENCE);
    if !(0.0..=1.0).contains(&confidence) {
        return Err(OpError::usage("`--confidence` is a number from 0 to 1")
            .hint("0.9 is usual for what you are sure of"));
    }
    let scoped = host.store_to_write(request.scope)?;
    let store = &scoped.store;
    let draft = draft(host, store, request, confidence)?;
    let known = said_already(host, &scoped, &draft);
    let mut batch = store.begin(&host.owner("memory add"), host.settings().lock.wait)?;
    let id = match &request.supersedes {
        older if host.actor == Actor::Agent => {
            events.warning("An agent's claim without a quote goes to review", Some(QUOTE_HINT));
            let older = older.iter().map(|older| Ok(store.locate(older)?.id));
            let older: Vec<MemoryId> = older.collect::<Result<_, OpError>>()?;
            let related = draft.related.iter().cloned().chain(older).collect();
            batch.add_candidate(&Draft { related, ..draft.clone() }, host.now())?
        }
        Some(older) => batch.add_superseding(older, &draft, host.now())?,
        None => batch.add(&draft, host.now())?,
    };
    let redacted = batch.redactions().clone();
    let command = CommandChange::new(RunMode::Memory, "memory add");
    command.commit(host, &scoped, batch, Reversal::Plan)?;
    warn_redacted(events, &redacted);
    let is_superseded =
        |older: &MemoryId| store.get(older.as_str()).is_ok_and(|older| older.says_overturned());
    if let Some((older, title)) = known.filter(|(older, _)| !is_superseded(older)) {
        let message = format!("`{older}` says this already: {}", ShownLine(&title));
        let undo = command.id().unwrap_or_default();
        events.warning(message, Some(&format!("Keep one of them: nacre undo {undo}")));
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

/// The memory that says it already. Best effort: a store that cannot be searched now gives no warning, and only the model
/// that is part of the program is asked, for others take their time.
pub(crate) fn said_already(
    host: &Host,
    scoped: &ScopedStore,
    draft: &Draft,
) -> Option<(MemoryId, String)> {
    if scoped.settings.search.embedding != EmbeddingChoice::Builtin {
        return None;
    }
    let builtin = Builtin::shipped().ok()?;
    // Read and not stored: what a person adds and forgets again must not stay in an index.
    let index = MemoryIndex::peek(&scoped.store, &builtin, host.now()).ok()?;
    let claim = (draft.claim.memory_type(), draft.title.as_str(), draft.body.as_str());
    sync::said_already(&scoped.store, &index, &builtin, claim).ok().flatten()
}

fn draft(
    host: &Host,
    store: &Store,
    request: &MemoryAddRequest,
    confidence: f64,
) -> Result<Draft, OpError> {
    let MemoryAddRequest { title, body, r#type, kind, tags, applies, related, .. } = request;
    let said = [title.as_str(), body.as_str()].join("\n\n").trim().to_owned();
    let is_agents = host.actor == Actor::Agent;
    Ok(Draft {
        claim: claim(*r#type, *kind)?,
        title: title.clone(),
        body: body.clone(),
        tags: tags.clone(),
        applies: applies.clone(),
        related: related_ids(store, related)?,
        source: if is_agents { "agent" } else { "human" }.to_owned(),
        confidence,
        basis: None,
        quotes: vec![Quote {
            text: said,
            speaker: if is_agents { Speaker::Assistant } else { Speaker::Human },
            place: "nacre memory add".to_owned(),
            at: host.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }],
        limit: Trust::Human,
    })
}

pub(super) fn claim(of: Option<MemoryType>, kind: Option<LearningKind>) -> Result<Claim, OpError> {
    match (of.unwrap_or(MemoryType::Decision), kind) {
        (MemoryType::Decision, None) => Ok(Claim::Decision),
        (MemoryType::Learning, kind) => Ok(Claim::Learning(core_kind(kind.unwrap_or_default()))),
        (MemoryType::Decision, Some(_)) => Err(OpError::usage("A decision has no kind")
            .hint("Add `--type learning` to say what kind of learning it is")),
        (MemoryType::Summary, _) => {
            Err(OpError::usage("A summary is written by a sync")
                .hint("Add a decision or a learning"))
        }
    }
}

fn core_kind(of: LearningKind) -> memory::LearningKind {
    match of {
        LearningKind::Insight => memory::LearningKind::Insight,
        LearningKind::Procedure => memory::LearningKind::Procedure,
        LearningKind::Pitfall => memory::LearningKind::Pitfall,
        LearningKind::Friction => memory::LearningKind::Friction,
        LearningKind::Preference => memory::LearningKind::Preference,
        LearningKind::Convention => memory::LearningKind::Convention,
        LearningKind::Context => memory::LearningKind::Context,
    }
}

/// The memories that were named, which must exist.
fn related_ids(store: &Store, ids: &[String]) -> Result<Vec<MemoryId>, OpError> {
    ids.iter().map(|id| Ok(store.locate(id)?.id)).collect()
}
