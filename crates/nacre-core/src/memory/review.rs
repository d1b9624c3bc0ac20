//! A person's word on a memory: a candidate holds from now on, or goes and does not come back; what was put away comes back;
//! and what a new memory supersedes.

use jiff::Timestamp;

use super::batch::{Batch, ids};
use super::draft::Draft;
use super::id::MemoryId;
use super::kinds::{MemoryType, Status};
use super::layout::StoreArea;
use super::record::Memory;
use super::sidecar::{State, Verdict};
use super::store::MemoryError;
use super::trust::{Actor, Trust};
use super::upkeep::Revision;

impl Batch<'_> {
    /// Stages that the owner accepts a candidate, and that it supersedes the memory `older`.
    pub fn accept(
        &mut self,
        id: &str,
        older: Option<&str>,
        now: Timestamp,
    ) -> Result<MemoryId, MemoryError> {
        let memory = self.candidate(id)?;
        let id = memory.at.id.clone();
        if self.actor != Actor::Owner {
            return Err(MemoryError::OwnerOnly { id });
        }
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
        self.levels.insert(id.clone(), Some(Trust::Human));
        let mut state = self.state_of(&id)?;
        state.confirm(now);
        self.stage_state(&id, &State { own: true, ..state })?;
        Ok(id)
    }

    /// Stages the end of a candidate. Its tombstone keeps a later session from bringing it back.
    pub fn reject(&mut self, id: &str, now: Timestamp) -> Result<MemoryId, MemoryError> {
        let memory = self.candidate(id)?;
        // The ledger keeps the hash of the file, so that an undo brings it back with the level that it had.
        self.stage_removal(&memory, now)?;
        Ok(memory.at.id)
    }

    /// Stages the return of a memory from the archive. A person wants it: that confirms it, and keeps it apart from
    /// the memory that it was merged into.
    pub fn restore(&mut self, id: &str, now: Timestamp) -> Result<MemoryId, MemoryError> {
        let memory = self.store.get(id)?;
        let id = memory.at.id.clone();
        if memory.at.area != StoreArea::Archived {
            return Err(MemoryError::NotArchived { id });
        }
        let mut state = self.state_of(&id)?;
        // Who brings back what was said to be wrong takes that back.
        let confidence = memory.confidence.filter(|_| state.is_rejected());
        let revision = Revision {
            status: Some(state.status_to_restore()),
            area: Some(StoreArea::Active),
            confidence: confidence.map(|confidence| Verdict::Useful.adjusted(confidence)),
            said: Some(now),
            ..Revision::default()
        };
        state.bring_back(now);
        self.revise(&memory, &Revision { state: Some(state), ..revision })?;
        Ok(id)
    }

    /// Stages a memory in a person's words that supersedes the memory `older`.
    pub fn add_superseding(
        &mut self,
        older: &str,
        draft: &Draft,
        now: Timestamp,
    ) -> Result<MemoryId, MemoryError> {
        let older = self.supersedable(older, None)?;
        self.supersede(&older.at.id, draft, now)
    }

    /// The candidate of this name.
    fn candidate(&self, id: &str) -> Result<Memory, MemoryError> {
        let memory = self.store.get(id)?;
        let n_found = self.store.places(&memory.at.id)?.len();
        if n_found > 1 {
            let id = memory.at.id.to_string();
            return Err(MemoryError::Ambiguous { id, n_found, nearest: Vec::new() });
        }
        if memory.is_candidate() {
            return Ok(memory);
        }
        let status = memory.status;
        Err(MemoryError::NotACandidate { id: memory.at.id, status })
    }

    /// The memory of this name, if another one may take its place.
    fn supersedable(&self, older: &str, newer: Option<&MemoryId>) -> Result<Memory, MemoryError> {
        let memory = self.store.get(older)?;
        let reason = match memory.at.memory_type {
            _ if newer == Some(&memory.at.id) => "no memory supersedes itself",
            MemoryType::Summary => "a summary is a record of what happened",
            MemoryType::Decision | MemoryType::Learning if memory.is_archived() => "it is archived",
            MemoryType::Decision | MemoryType::Learning if memory.says_overturned() => {
                "it is superseded already"
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
    ) -> Result<(), MemoryError> {
        let mut document = older.document.clone();
        document.set_text("status", Status::Superseded.as_str());
        document.set_text("superseded_by", newer.as_str());
        self.stage_replacement(older, document, now)
    }
}

impl Memory {
    /// Whether it waits for a person's word.
    pub fn is_candidate(&self) -> bool {
        self.status == Status::Candidate && !self.is_archived() && !self.says_overturned()
    }
}
