//! Whether a memory was overturned, and whether anything shows it. The one rule: search, ask, brief, maintain and doctor
//! use it.
//!
//! A link has two ends. What the older file says itself (`superseded_by`, or the status `superseded`) is agreed: no other
//! file can say it in its place. What only a newer file says (`supersedes`) is a claim. It counts, for people write it by
//! hand, but any file of a clone can make it: it is always reported as not verified, and it hides nothing from a brief.

use super::id::MemoryId;
use super::kinds::Status;
use super::layout::{Located, StoreArea};
use super::record::Memory;
use super::store::{MemoryError, Store, memory_of};

/// How a memory stands towards those that say that they overturned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overturned {
    No,
    /// Its own file says so.
    Agreed,
    /// Only a newer file says so: not verified.
    Claimed,
}

impl Overturned {
    /// The rule. `is_claimed` says whether another memory claims to overturn this one, see [`Memory::claims`].
    pub fn of(memory: &Memory, is_claimed: bool) -> Self {
        if memory.says_overturned() {
            Self::Agreed
        } else if is_claimed {
            Self::Claimed
        } else {
            Self::No
        }
    }
}

impl Memory {
    /// Whether its own file says that it was overturned.
    pub fn says_overturned(&self) -> bool {
        self.status == Status::Superseded || self.superseded_by.is_some()
    }

    /// Whether it was put away, by its place or by its status.
    pub fn is_archived(&self) -> bool {
        self.at.area == StoreArea::Archived || self.status == Status::Archived
    }

    /// Whether it claims to overturn `older`. An archived memory overturns nothing, and none overturns itself.
    pub fn claims(&self, older: &MemoryId) -> bool {
        !self.is_archived() && self.at.id != *older && self.supersedes.contains(older)
    }

    /// Whether nothing but the claim of another memory says that this one does not hold.
    pub fn is_only_claimed(&self) -> bool {
        !self.is_archived() && Overturned::of(self, true) == Overturned::Claimed
    }
}

impl Store {
    /// The memories that claim to overturn `older`. Reads every file, but parses only those that name it.
    pub fn claimants(&self, older: &MemoryId) -> Result<Vec<Memory>, MemoryError> {
        let name = memchr::memmem::Finder::new(older.as_str().as_bytes());
        let claimant = |at: &Located, bytes: Result<Vec<u8>, _>| {
            let bytes = bytes.ok().filter(|bytes| name.find(bytes).is_some())?;
            memory_of(at, Ok(bytes)).ok().filter(|memory| memory.claims(older))
        };
        Ok(self.read_all(&self.files()?.located, claimant).into_iter().flatten().collect())
    }

    /// Those of the memories that `memory` claims to overturn whose files do not say so.
    pub fn unverified_claims(&self, memory: &Memory) -> Vec<MemoryId> {
        let is_unverified = |older: &&MemoryId| {
            let known = self.locate_exactly(older).ok().flatten();
            let known = known.filter(|_| memory.claims(older)).and_then(|at| self.load(&at).ok());
            known.is_some_and(|known| known.is_only_claimed())
        };
        memory.supersedes.iter().filter(is_unverified).cloned().collect()
    }
}
