//! Reviews memories: accepts and rejects candidates, restores archived memories, and supersedes
//! memories.

use crate::sidecar::adjust_confidence;

use super::batch::ids;
use super::draft::hazards_of;
use super::revision::Revision;
use super::sidecar::Verdict;
use super::store::display_mark_text;
use super::trust::trust_of_speaker;
use crate::prelude::*;

impl Batch<'_> {
    pub fn accept(&mut self, id: &str, older: Option<&str>, now: Timestamp) -> Result<MemoryId> {
        let memory = self.candidate(id)?;
        let id = memory.at.id.clone();
        if self.actor != Actor::Owner {
            return Err(MemoryError::OwnerOnly { id, what: "accept" });
        }
        let mut state = self.state_of(&id)?;
        self.check_shown(&memory, state.shown.as_deref())?;
        let mut document = memory.document.clone();
        document.set_text("status", Status::Active.as_str());
        if let Some(older) = older {
            let older = self.supersedable(older, Some(&id))?;
            let mut all = memory.supersedes.clone();
            if !all.contains(&older.at.id) {
                all.push(older.at.id.clone());
            }
            document.set_list("supersedes", &ids(&all));
            self.stage_superseded(&older, &id, now)?;
        }
        self.stage_replacement(&memory, document, now)?;
        self.grade(&memory.at, Trust::Human);
        state.confirm(now);
        self.stage_state(&id, &LocalState { own: true, ..state })?;
        Ok(id)
    }

    /// Fails if the candidate has changed since the user saw it, or if it is quarantined and the
    /// user has never seen it.
    fn check_shown(&self, memory: &Memory, shown: Option<&str>) -> Result<()> {
        let is_accepted = match shown {
            Some(mark) => self.store.scope().is_marked(&display_mark_text(memory), mark),
            None => self.store.trust_of(memory) != Trust::Quarantined,
        };
        if is_accepted {
            return Ok(());
        }
        let found = hazards_of(&memory.title, memory.document.body());
        let why = found.first().map_or("it was changed", |hazard| hazard.kind.as_str());
        Err(MemoryError::NotShown { id: memory.at.id.clone(), why })
    }

    pub fn note_shown(&mut self, memory: &Memory) -> Result<()> {
        let state = self.state_of(&memory.at.id)?;
        let name = display_mark_text(memory);
        if state.shown.as_deref().is_some_and(|mark| self.store.scope().is_marked(&name, mark)) {
            return Ok(());
        }
        let mark = self.store.mark(&name)?;
        self.stage_state(&memory.at.id, &LocalState { shown: Some(mark), ..state })
    }

    /// Stages a candidate's removal. A tombstone prevents later sessions from adding the candidate
    /// again.
    pub fn reject(&mut self, id: &str, now: Timestamp) -> Result<MemoryId> {
        let memory = self.candidate(id)?;
        if self.actor != Actor::Owner {
            let evidence = self.store.evidence(&memory.at.id)?;
            let mut quotes = evidence.iter().flat_map(|evidence| &evidence.quotes);
            let is_quote = quotes.any(|quote| trust_of_speaker(quote.speaker) >= Trust::User);
            if is_quote || self.store.trust_of(&memory) >= Trust::User {
                return Err(MemoryError::OwnerOnly { id: memory.at.id, what: "reject" });
            }
        }
        // The ledger stores the file's hash, so an undo can restore its trust level.
        self.stage_removal(&memory, now)?;
        Ok(memory.at.id)
    }

    /// Stages restoring an archived memory. This confirms the memory and separates it from the one
    /// it was merged into.
    pub fn restore(&mut self, id: &str, now: Timestamp) -> Result<MemoryId> {
        let memory = self.memory(id)?;
        let id = memory.at.id.clone();
        if memory.at.area != StoreArea::Archived {
            return Err(MemoryError::NotArchived { id });
        }
        let mut state = self.state_of(&id)?;
        // Restoring a memory that was judged wrong revokes that verdict.
        let confidence = memory.confidence.filter(|_| state.is_rejected());
        let revision = Revision {
            status: Some(state.status_to_restore()),
            area: Some(StoreArea::Active),
            confidence: confidence.map(|confidence| adjust_confidence(confidence, Verdict::Useful)),
            said: Some(now),
            // Only a change by the owner restores the previous trust level.
            trust: match self.actor {
                Actor::Owner | Actor::Reader => None,
                Actor::Agent => Some(Trust::Assistant),
                Actor::Person => Some(Actor::Person.limit()),
            },
            ..Revision::default()
        };
        state.bring_back(self.actor, now);
        self.revise(&memory, &Revision { state: Some(state), ..revision })?;
        Ok(id)
    }

    pub fn add_superseding(
        &mut self,
        older: &str,
        draft: &Draft,
        now: Timestamp,
    ) -> Result<MemoryId> {
        let older = self.supersedable(older, None)?;
        self.supersede(&older.at.id, draft, now)
    }

    pub(super) fn candidate(&self, id: &str) -> Result<Memory> {
        let memory = self.memory(id)?;
        if memory.is_candidate() {
            return Ok(memory);
        }
        let status = memory.status;
        Err(MemoryError::NotACandidate { id: memory.at.id, status })
    }

    fn supersedable(&self, older: &str, newer: Option<&MemoryId>) -> Result<Memory> {
        let memory = self.memory(older)?;
        let reason = match memory.at.memory_type {
            _ if newer == Some(&memory.at.id) => "a memory cannot supersede itself",
            _ if self.levels.contains_key(&memory.at.path) => "the same change already changes it",
            MemoryType::Summary => "a summary is a record of what happened",
            MemoryType::Decision | MemoryType::Learning if memory.is_archived() => "it is archived",
            MemoryType::Decision | MemoryType::Learning if memory.says_overturned() => {
                "it is already superseded"
            }
            MemoryType::Decision | MemoryType::Learning => return Ok(memory),
        };
        Err(MemoryError::NotSupersedable { id: memory.at.id, reason })
    }

    pub(super) fn stage_superseded(
        &mut self,
        older: &Memory,
        newer: &MemoryId,
        now: Timestamp,
    ) -> Result<()> {
        let mut document = older.document.clone();
        document.set_text("status", Status::Superseded.as_str());
        document.set_text("superseded_by", newer.as_str());
        self.stage_replacement(older, document, now)
    }
}

impl Memory {
    pub fn is_candidate(&self) -> bool {
        self.status == Status::Candidate && !self.is_archived() && !self.says_overturned()
    }
}
