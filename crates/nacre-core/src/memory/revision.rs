//! What later words do to a memory: overturn it, confirm it, judge it; and what a batch is about to change.

use std::borrow::Cow;
use std::collections::BTreeSet;

use jiff::Timestamp;

use super::batch::Batch;
use super::draft::{Draft, SummaryDraft};
use super::id::MemoryId;
use super::kinds::{MemoryType, Status};
use super::layout::{self, StoreArea};
use super::life::own_status;
use super::record::Memory;
use super::sidecar::{Evidence, Feedback, MAX_SIDECAR_BYTES, Quote, State, Verdict, render};
use super::store::MemoryError;
use super::trust::{Actor, Trust};
use super::upkeep::Revision;
use crate::safefs::RelPath;

/// Sessions that are counted by name; one more and the oldest is forgotten.
const MAX_CONFIRMED_IN: usize = 64;

/// What people said that is kept.
const MAX_FEEDBACK: usize = 64;

/// Quotes of one memory that are kept: what was said fifty times needs no more proof.
const MAX_QUOTES: usize = 50;

/// What upkeep remembers between its runs, on this machine.
pub const UPKEEP_FILE: &str = "meta/maintain.json";

/// What a batch is about to do to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedChange {
    pub path: RelPath,
    /// What stands there now.
    pub before: Option<Vec<u8>>,
    /// What will stand there.
    pub after: Option<Vec<u8>>,
}

impl Batch<'_> {
    /// Stages a claim that is not yet relied on.
    pub fn add_candidate(
        &mut self,
        draft: &Draft,
        now: Timestamp,
    ) -> Result<MemoryId, MemoryError> {
        self.add_as(draft, Status::Candidate, &[], now)
    }

    /// Stages a candidate in the place of another one, which nobody needs to look at any more.
    pub fn replace_candidate(
        &mut self,
        old: &MemoryId,
        draft: &Draft,
        now: Timestamp,
    ) -> Result<MemoryId, MemoryError> {
        let memory = self.store.get(old.as_str())?;
        if !memory.is_candidate() {
            let (id, status) = (memory.at.id, memory.status);
            return Err(MemoryError::NotACandidate { id, status });
        }
        if !self.may_overturn(draft, &memory) {
            return self.add_candidate(draft, now);
        }
        let id = self.add_as(draft, Status::Candidate, std::slice::from_ref(old), now)?;
        self.stage_superseded(&memory, &id, now)?;
        Ok(id)
    }

    /// Stages a claim that supersedes the memory `old`. A claim that is trusted less goes to review beside it.
    pub fn supersede(
        &mut self,
        old: &MemoryId,
        draft: &Draft,
        now: Timestamp,
    ) -> Result<MemoryId, MemoryError> {
        let memory = self.store.get(old.as_str())?;
        if !self.may_overturn(draft, &memory) {
            let related = draft.related.iter().chain([old]).cloned().collect();
            return self.add_candidate(&Draft { related, ..draft.clone() }, now);
        }
        let id = self.add_as(draft, Status::Active, std::slice::from_ref(old), now)?;
        self.stage_superseded(&memory, &id, now)?;
        Ok(id)
    }

    /// Stages a newer text of a summary, in place.
    pub fn update_summary(
        &mut self,
        id: &MemoryId,
        draft: &SummaryDraft,
        now: Timestamp,
    ) -> Result<MemoryId, MemoryError> {
        let memory = self.store.get(id.as_str())?;
        let mut document = memory.document.clone();
        document.set_text("title", &self.clean_title(&draft.title)?);
        for (key, value) in [("description", &draft.description), ("run_id", &draft.run_id)] {
            let value = self.redact(value);
            document.set_text(key, &value);
        }
        let related = draft.related.iter().chain(&memory.related);
        let mut all: Vec<Cow<'_, str>> = Vec::new();
        for id in related {
            if !all.iter().any(|known| known == id.as_str()) {
                all.push(Cow::Borrowed(id.as_str()));
            }
        }
        document.set_list("related", &all);
        document.set_list("tags", &self.redact_all(&draft.tags));
        document.set_body(&self.body_text(&draft.body));
        self.stage_replacement(&memory, document, now)?;
        let level = draft.trust().min(self.actor.limit());
        self.levels.insert(memory.at.id.clone(), Some(level));
        Ok(memory.at.id)
    }

    /// Stages that a session said a memory again; the same session counts once.
    pub fn confirm(
        &mut self,
        id: &MemoryId,
        session: &str,
        now: Timestamp,
    ) -> Result<(), MemoryError> {
        let mut state = self.state_of(id)?;
        if state.confirmed_in.iter().any(|known| known == session) {
            return Ok(());
        }
        state.confirmations += 1;
        state.last_confirmed = Some(stamp(now));
        state.confirmed_in.push(session.to_owned());
        let n_over = state.confirmed_in.len().saturating_sub(MAX_CONFIRMED_IN);
        state.confirmed_in.drain(..n_over);
        self.stage_state(id, &state)
    }

    /// Stages that an answer cited these memories: each once, however often the answer names it. One that is gone
    /// by now is not counted.
    pub fn cite(&mut self, ids: &[MemoryId], now: Timestamp) -> Result<(), MemoryError> {
        let cited: BTreeSet<&MemoryId> = ids.iter().collect();
        for id in cited {
            if self.store.locate_exactly(id)?.is_none() {
                continue;
            }
            let mut state = self.state_of(id)?;
            state.citations = state.citations.saturating_add(1);
            state.last_cited = Some(stamp(now));
            state.offered.get_or_insert_with(|| stamp(now));
            self.stage_state(id, &state)?;
        }
        Ok(())
    }

    /// Stages that these memories were offered to somebody; only the first time counts. One that is gone by now is left out.
    pub fn offer(&mut self, ids: &[MemoryId], now: Timestamp) -> Result<(), MemoryError> {
        for id in self.store.never_offered(ids) {
            if self.store.locate_exactly(&id)?.is_none() {
                continue;
            }
            let mut state = self.state_of(&id)?;
            state.offered = Some(stamp(now));
            self.stage_state(&id, &state)?;
        }
        Ok(())
    }

    /// Stages what a person says of a memory; returns its confidence before and after.
    pub fn judge(
        &mut self,
        id: &str,
        verdict: Verdict,
        note: Option<&str>,
        now: Timestamp,
    ) -> Result<(MemoryId, f64, f64), MemoryError> {
        let memory = self.store.get(id)?;
        let id = memory.at.id.clone();
        if memory.at.memory_type == MemoryType::Summary {
            return Err(MemoryError::SummaryNotJudged { id });
        }
        let before = memory.confidence.unwrap_or(0.5);
        let after = verdict.adjusted(before);
        let mut state = self.state_of(&id)?;
        // Feedback is about use. What came from elsewhere, or gives an order, is trusted by name.
        let is_trusted = !self.store.trust_of(&memory).waits();
        let (status, area) = judged(&memory, &mut state, verdict);
        let is_owner = self.actor == Actor::Owner;
        let status = status.filter(|status| (is_trusted && is_owner) || *status != Status::Active);
        let note = note.map(|note| self.redact(note));
        state.feedback.push(Feedback { verdict, note, at: stamp(now) });
        let n_over = state.feedback.len().saturating_sub(MAX_FEEDBACK);
        state.feedback.drain(..n_over);
        let is_vouched = verdict == Verdict::Useful && is_trusted && is_owner;
        state.own |= is_vouched;
        let revision = Revision {
            confidence: Some(after),
            status,
            area,
            state: Some(state),
            said: Some(now),
            ..Revision::default()
        };
        self.revise(&memory, &revision)?;
        if is_vouched {
            self.levels.insert(id.clone(), Some(Trust::Human));
        }
        Ok((id, before, after))
    }

    /// Adds to the evidence of a memory what it does not hold yet.
    pub(super) fn stage_quotes(
        &mut self,
        id: &MemoryId,
        quotes: &[Quote],
    ) -> Result<(), MemoryError> {
        if quotes.is_empty() {
            return Ok(());
        }
        let path = layout::evidence_path(id)?;
        let before = self.store.scope().read_optional(&path, MAX_SIDECAR_BYTES)?;
        if let Some(before) = &before {
            self.note_evidence(id, before);
        }
        let mut evidence =
            self.store.evidence(id)?.unwrap_or_else(|| Evidence::new(id.clone(), Vec::new()));
        for quote in quotes {
            let quote = self.redact_quote(quote);
            let is_known = evidence.quotes.iter().any(|known| known.text == quote.text);
            if !is_known && evidence.quotes.len() < MAX_QUOTES {
                evidence.quotes.push(quote);
            }
        }
        self.set.put(path, before.as_deref(), render(&evidence));
        Ok(())
    }

    /// Stages a file of a run: anything below `meta/` or `workspace/` that is no memory's.
    pub fn put_file(&mut self, path: RelPath, bytes: Vec<u8>) -> Result<(), MemoryError> {
        let is_ours = path.as_str().starts_with("workspace/")
            || path.as_str() == UPKEEP_FILE
            || path.as_str().starts_with("meta/sessions/")
            || path.as_str().starts_with("meta/traces/");
        if !is_ours {
            return Err(MemoryError::NotARunFile { path });
        }
        let before = self.store.scope().read_optional(&path, MAX_LOCAL_BYTES)?;
        self.set.put(path, before.as_deref(), bytes);
        Ok(())
    }

    /// Stages the removal of a file of a run, where it is there.
    pub fn remove_file(&mut self, path: RelPath) -> Result<(), MemoryError> {
        if let Some(before) = self.store.scope().read_optional(&path, MAX_LOCAL_BYTES)? {
            self.set.remove(path, &before);
        }
        Ok(())
    }

    /// Everything that is staged, beside what stands there now.
    pub fn plan(&self) -> Result<Vec<PlannedChange>, MemoryError> {
        let planned = |(path, after): (&RelPath, Option<&[u8]>)| {
            Ok(PlannedChange {
                path: path.clone(),
                before: self.store.scope().read_optional(path, MAX_LOCAL_BYTES)?,
                after: after.map(<[u8]>::to_vec),
            })
        };
        self.set.outcomes().map(planned).collect()
    }
}

/// What a verdict makes of a memory's status and place. What is wrong is put away at once, and put back by a later word
/// that it is useful.
fn judged(
    memory: &Memory,
    state: &mut State,
    verdict: Verdict,
) -> (Option<Status>, Option<StoreArea>) {
    match (verdict, memory.at.area) {
        (Verdict::Wrong, StoreArea::Active) => {
            state.put_away_as_wrong(own_status(memory, Some(state)));
            (Some(Status::Archived), Some(StoreArea::Archived))
        }
        (Verdict::Useful, StoreArea::Archived) if state.is_put_away_as_wrong() => {
            let status = match state.status_to_restore() {
                Status::Superseded => Status::Superseded,
                Status::Active | Status::Candidate | Status::Stale | Status::Archived => {
                    Status::Active
                }
            };
            (state.life, state.status_before_archive) = (None, None);
            (Some(status), Some(StoreArea::Active))
        }
        (Verdict::Useful | Verdict::Wrong | Verdict::Outdated, _) => {
            state.heed(verdict);
            let status = match (verdict, memory.status) {
                (Verdict::Outdated, Status::Active | Status::Candidate) => Some(Status::Stale),
                (Verdict::Useful, Status::Candidate | Status::Stale) => Some(Status::Active),
                (Verdict::Useful | Verdict::Wrong | Verdict::Outdated, _) => None,
            };
            (status, None)
        }
    }
}

/// A transcript is the largest of them; its texts are bounded, and their number by the trace's size.
const MAX_LOCAL_BYTES: u64 = 1 << 30;

fn stamp(now: Timestamp) -> String {
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
