//! Changes existing memories by superseding, confirming, judging or merging them, and previews the
//! changes in a batch.

use crate::sidecar::adjust_confidence;

use super::batch::{ids, later, set_time};
use super::draft::{SummaryDraft, set_applies};
use super::hazard::hazards;
use super::layout;
use super::life::own_status;
use super::sidecar::{Feedback, Verdict};
use crate::prelude::*;

/// Maximum number of sessions to list. The oldest is dropped first.
const MAX_CONFIRMED_IN: usize = 64;

const MAX_FEEDBACK: usize = 64;

/// Replaces a note that contains an instruction, unless the owner wrote the note.
const WITHHELD: &str = "(note removed: it contained an instruction)";

/// Maximum number of quotes per memory. Further quotes would not strengthen the evidence.
const MAX_QUOTES: usize = 50;

/// Local state that maintenance keeps between runs.
pub const UPKEEP_FILE: &str = "meta/maintain.json";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedChange {
    pub path: RelPath,
    pub before: Option<Vec<u8>>,
    pub after: Option<Vec<u8>>,
}

impl Batch<'_> {
    pub fn add_candidate(&mut self, draft: &Draft, now: Timestamp) -> Result<MemoryId> {
        self.add_as(draft, Status::Candidate, &[], now)
    }

    pub fn replace_candidate(
        &mut self,
        old: &MemoryId,
        draft: &Draft,
        now: Timestamp,
    ) -> Result<MemoryId> {
        let memory = self.candidate(old.as_str())?;
        if !self.may_overturn(draft, &memory) {
            return self.add_candidate(draft, now);
        }
        let id = self.add_as(draft, Status::Candidate, std::slice::from_ref(old), now)?;
        self.stage_superseded(&memory, &id, now)?;
        Ok(id)
    }

    /// Stages a claim that supersedes the memory `old`. A less trusted claim is staged as a
    /// candidate, and `old` is kept.
    pub fn supersede(&mut self, old: &MemoryId, draft: &Draft, now: Timestamp) -> Result<MemoryId> {
        let memory = self.memory(old.as_str())?;
        if !self.may_overturn(draft, &memory) {
            let related = draft.related.iter().chain([old]).cloned().collect();
            return self.add_candidate(&Draft { related, ..draft.clone() }, now);
        }
        let id = self.add_as(draft, Status::Active, std::slice::from_ref(old), now)?;
        self.stage_superseded(&memory, &id, now)?;
        Ok(id)
    }

    pub fn update_summary(
        &mut self,
        id: &MemoryId,
        draft: &SummaryDraft,
        now: Timestamp,
    ) -> Result<MemoryId> {
        let memory = self.store.get(id.as_str())?;
        if memory.at.memory_type != MemoryType::Summary {
            return Err(MemoryError::NotARunFile { path: memory.at.path });
        }
        let mut document = memory.document.clone();
        document.set_text("title", &self.clean_title(&draft.title)?);
        for (key, value) in [("description", &draft.description), ("run_id", &draft.run_id)] {
            let value = self.redact(value);
            document.set_text(key, &value);
        }
        document.set_list("related", &ids(&unite(&draft.related, &memory.related)));
        document.set_list("tags", &self.redact_all(&draft.tags));
        document.set_body(&self.body_text(&draft.body));
        self.stage_replacement(&memory, document, now)?;
        let level = draft.trust().min(self.actor.limit());
        self.grade(&memory.at, level);
        Ok(memory.at.id)
    }

    /// Stages a session's confirmation. Repeated confirmations from the same session count only
    /// once.
    pub fn confirm(&mut self, id: &MemoryId, session: &str, now: Timestamp) -> Result<()> {
        let mut state = self.state_of(id)?;
        if state.confirmed_in.iter().any(|known| known == session) {
            return Ok(());
        }
        state.confirm(now);
        state.confirmed_in.push(session.to_owned());
        let n_over = state.confirmed_in.len().saturating_sub(MAX_CONFIRMED_IN);
        state.confirmed_in.drain(..n_over);
        self.stage_state(id, &state)
    }

    /// Records that an answer cited these memories. Duplicates and removed memories are skipped.
    pub fn cite(&mut self, ids: &[MemoryId], now: Timestamp) -> Result<()> {
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

    /// Records when these memories were first offered to an agent. Removed memories are skipped.
    pub fn offer(&mut self, ids: &[MemoryId], now: Timestamp) -> Result<()> {
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

    pub fn judge(
        &mut self,
        id: &str,
        verdict: Verdict,
        note: Option<&str>,
        now: Timestamp,
    ) -> Result<(MemoryId, f64, f64)> {
        let memory = self.memory(id)?;
        let id = memory.at.id.clone();
        if memory.at.memory_type == MemoryType::Summary {
            return Err(MemoryError::SummaryNotJudged { id });
        }
        let before = memory.confidence.unwrap_or(0.5);
        let after = adjust_confidence(before, verdict);
        let mut state = self.state_of(&id)?;
        // A verdict is about usefulness. It does not make a foreign or quarantined memory trusted.
        let is_trusted = !self.store.trust_of(&memory).waits();
        // A memory judged wrong is archived immediately, and a later verdict that it is useful
        // restores it.
        let (status, area) = match (verdict, memory.at.area) {
            (Verdict::Wrong, StoreArea::Active) => {
                state.put_away_as_wrong(own_status(&memory, Some(&state)));
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
        };
        let is_owner = self.actor == Actor::Owner;
        let status = status.filter(|status| (is_trusted && is_owner) || *status != Status::Active);
        let is_harmless = |note: &str| is_owner || hazards(note, []).is_empty();
        let note = note.map(|note| if is_harmless(note) { note } else { WITHHELD });
        let note = note.map(|note| self.redact(note));
        let by = Some(self.actor);
        state.feedback.push(Feedback { verdict, by, note, at: stamp(now) });
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
            self.levels_of(&id).for_each(|level| level.trust = Trust::Human);
        }
        Ok((id, before, after))
    }

    pub(super) fn stage_quotes(&mut self, id: &MemoryId, quotes: &[Quote]) -> Result<()> {
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

    /// Stages a local file. Only paths below `workspace/` and some below `meta/` are allowed.
    pub fn put_file(&mut self, path: RelPath, bytes: Vec<u8>) -> Result<()> {
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

    pub fn remove_file(&mut self, path: RelPath) -> Result<()> {
        if let Some(before) = self.store.scope().read_optional(&path, MAX_LOCAL_BYTES)? {
            self.set.remove(path, &before);
        }
        Ok(())
    }

    pub fn plan(&self) -> Result<Vec<PlannedChange>> {
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

/// Maximum size of a local file. The limit is high enough for transcripts, which are the largest of
/// these files.
const MAX_LOCAL_BYTES: u64 = 1 << 30;

fn stamp(now: Timestamp) -> String {
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// New values for one memory. Fields that are `None` do not change.
#[derive(Clone, Debug, Default)]
pub struct Revision {
    pub title: Option<String>,
    pub body: Option<String>,
    pub tags: Option<Vec<String>>,
    pub applies: Option<Vec<String>>,
    pub related: Option<Vec<MemoryId>>,
    pub supersedes: Option<Vec<MemoryId>>,
    pub superseded_by: Option<MemoryId>,
    pub confidence: Option<f64>,
    pub status: Option<Status>,
    pub area: Option<StoreArea>,
    pub quotes: Vec<Quote>,
    pub state: Option<LocalState>,
    /// When the new text was stated. If `None`, `updated` does not change.
    pub said: Option<Timestamp>,
    /// The trust level of the new text. The memory's level never exceeds this level.
    pub trust: Option<Trust>,
}

impl Batch<'_> {
    /// Writes the new values into a document.
    pub(super) fn apply(&mut self, revision: &Revision, document: &mut Document) -> Result<()> {
        if let Some(title) = &revision.title {
            document.set_text("title", &self.clean_title(title)?);
        }
        if let Some(body) = &revision.body {
            document.set_body(&self.body_text(body));
        }
        if let Some(tags) = &revision.tags {
            document.set_list("tags", &self.redact_all(tags));
        }
        if let Some(applies) = &revision.applies {
            set_applies(document, &self.redact_all(applies));
        }
        for (key, links) in [("related", &revision.related), ("supersedes", &revision.supersedes)] {
            if let Some(links) = links {
                document.set_list(key, &ids(links));
            }
        }
        if let Some(newer) = &revision.superseded_by {
            document.set_text("superseded_by", newer.as_str());
        }
        if let Some(confidence) = revision.confidence {
            document.set_number("confidence", confidence.clamp(0.0, 1.0));
        }
        if let Some(status) = revision.status {
            document.set_text("status", status.as_str());
        }
        Ok(())
    }

    /// Stages everything that a run changes in one memory. Fails if the file has changed since it
    /// was read.
    pub fn revise(&mut self, memory: &Memory, revision: &Revision) -> Result<()> {
        let mut document = memory.document.clone();
        self.apply(revision, &mut document)?;
        if let Some(said) = revision.said.filter(|_| document.as_str() != memory.document.as_str())
        {
            set_time(&mut document, "updated", later(memory, said));
        }
        self.stage_quotes(&memory.at.id, &revision.quotes)?;
        if let Some(state) = &revision.state {
            self.stage_state(&memory.at.id, state)?;
        }
        let before = memory.document.as_str().as_bytes();
        let bytes = self.bytes_of(document)?;
        let to = match revision.area.filter(|area| *area != memory.at.area) {
            Some(area) => {
                let to = layout::claim_path(memory.at.memory_type, area, &memory.at.id)?;
                self.set.relocate(memory.at.path.clone(), before, to.clone(), bytes);
                to
            }
            None => {
                self.set.replace(memory.at.path.clone(), before, bytes);
                memory.at.path.clone()
            }
        };
        self.keep_level(memory, to);
        self.lower_revised(memory, revision);
        Ok(())
    }
}

pub fn unite<T: Clone + PartialEq>(first: &[T], second: &[T]) -> Vec<T> {
    let mut all = first.to_vec();
    for one in second {
        if !all.contains(one) {
            all.push(one.clone());
        }
    }
    all
}
