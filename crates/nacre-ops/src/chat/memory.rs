//! What a turn leaves in memory when it ends, source by source: what was said is taken in, brought into the form of a
//! claim, and committed.
//!
//! It is bounded and stands in the way of no answer: what fails here is done by `sync` later. `sync` reads the same session
//! again, perhaps with a model; a claim that is known is not added twice, by the rule that compares claims everywhere.

use nacre_core::config::{EmbeddingChoice, StrategyChoice};
use nacre_core::memory::{Draft, Speaker, Status, Trust};
use nacre_core::transcript::trace_at;
use nacre_engine::flows::candidate::{Candidate, Extraction};
use nacre_engine::flows::change::Reversal;
use nacre_engine::flows::extract::Rules;
use nacre_engine::flows::run::RunMode;
use nacre_engine::flows::strategy::{SessionTrace, read_session};
use nacre_engine::model::Role;
use nacre_engine::record::state::{SessionRecord, State};

use super::export;
use crate::cancel::Cancel;
use crate::error::OpError;
use crate::host::{Host, Reading, SESSIONS_FOLDER, ScopedStore, ask_rules};
use crate::operations::CommandChange;
use crate::operations::memory::said_already;

/// A longer session is left to `sync`.
const MAX_TRACE_BYTES: u64 = 4 << 20;

/// Nobody states more in one turn.
const MAX_CLAIMS: usize = 8;

/// Where a turn is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemorySource {
    /// The conversation itself, as the trace that recall and `sync` read.
    Session,
    /// What the person stated about the project.
    Project,
    /// The same where there is no project: it is the person's own.
    User,
}

impl MemorySource {
    const ALL: [Self; 3] = [Self::Session, Self::Project, Self::User];

    /// The store that it commits to; `None` where it has nothing to do here.
    fn store(self, host: &Host) -> Result<Option<ScopedStore>, OpError> {
        let has_project = host.project.is_some();
        match self {
            Self::Session => Ok(None),
            Self::Project if has_project => host.project_store(),
            Self::User if !has_project => Ok(host.stores_to_read(None)?.into_iter().next()),
            Self::Project | Self::User => Ok(None),
        }
    }

    fn commit(self, host: &Host, turn: &EndedTurn<'_>) -> Result<(), OpError> {
        if self == Self::Session {
            return export::keep(host, turn.state, turn.session);
        }
        let Some(scoped) = self.store(host)? else { return Ok(()) };
        // With another model it is not known at once what is said already; a sync takes its time for that.
        if scoped.settings.search.embedding != EmbeddingChoice::Builtin {
            return Ok(());
        }
        let Some(extraction) = read(host, &scoped, turn)? else { return Ok(()) };
        let source = format!("{}:{}", extraction.agent.as_str(), extraction.session);
        let stated = extraction.candidates.into_iter().filter(|claim| turn.states(claim));
        let drafts: Vec<(Draft, Status)> =
            stated.take(MAX_CLAIMS).map(|claim| normalised(claim, &source)).collect();
        add(host, &scoped, drafts)
    }
}

/// A turn that is over.
pub(super) struct EndedTurn<'a> {
    pub(super) state: &'a State,
    pub(super) session: &'a SessionRecord,
    /// The person's words in it.
    pub(super) said: &'a str,
}

impl EndedTurn<'_> {
    /// Commits the turn to every source. Best effort.
    pub(super) fn remember(&self, host: &Host) {
        for source in MemorySource::ALL {
            // What is missing is made up for by the next turn, or by a sync.
            let _ = source.commit(host, self);
        }
    }

    /// Whether a claim rests on the person's words in this turn.
    fn states(&self, claim: &Candidate) -> bool {
        let is_theirs = |quote: &nacre_core::memory::Quote| {
            quote.speaker == Speaker::User && self.said.contains(quote.text.trim())
        };
        !claim.is_repeated && claim.quotes.iter().any(is_theirs)
    }
}

/// Reads the session by rules alone; `None` where it is too long for that.
fn read(
    host: &Host,
    scoped: &ScopedStore,
    turn: &EndedTurn<'_>,
) -> Result<Option<Extraction>, OpError> {
    let path = host.home()?.join(SESSIONS_FOLDER).join(format!("{}.jsonl", turn.session.id));
    if path.metadata().map_or(true, |file| MAX_TRACE_BYTES < file.len()) {
        return Ok(None);
    }
    let trace = trace_at(&path)?;
    let reading =
        Reading::open(host, Some(StrategyChoice::Offline), Role::Extract, &Cancel::new())?;
    let store = &scoped.store;
    let is_forgotten = |title: &str, body: &str| store.is_forgotten(title, body).unwrap_or(false);
    let rules = Rules { is_forgotten: &is_forgotten, ..Rules::default() };
    let ask_rules = ask_rules(&scoped.settings);
    let trace = SessionTrace { trace: &trace, words: &ask_rules.words };
    let read = read_session(trace, rules, reading.reader(&ask_rules), None)?;
    Ok(Some(read.extraction))
}

/// A claim as a memory, and its status.
fn normalised(claim: Candidate, source: &str) -> (Draft, Status) {
    let draft = Draft {
        claim: claim.claim,
        title: claim.title,
        body: claim.body,
        tags: claim.tags,
        applies: Vec::new(),
        related: Vec::new(),
        source: source.to_owned(),
        confidence: claim.confidence,
        basis: Some(claim.basis),
        quotes: claim.quotes,
        limit: Trust::User,
    };
    (draft, claim.status)
}

/// Adds what no memory says yet, as one change that can be undone.
fn add(host: &Host, scoped: &ScopedStore, drafts: Vec<(Draft, Status)>) -> Result<(), OpError> {
    let new: Vec<(Draft, Status)> = drafts
        .into_iter()
        .filter(|(draft, _)| said_already(host, scoped, draft).is_none())
        .collect();
    if new.is_empty() {
        return Ok(());
    }
    let wait = host.settings().lock.wait;
    let mut batch = scoped.store.begin(&host.owner("chat"), wait)?.by_reader();
    for (draft, status) in &new {
        let holds = *status == Status::Active && scoped.store.level_of(draft).is_told_unasked();
        match holds {
            true => batch.add(draft, host.now())?,
            false => batch.add_candidate(draft, host.now())?,
        };
    }
    CommandChange::new(RunMode::Memory, "chat").commit(host, scoped, batch, Reversal::Plan)?;
    Ok(())
}
