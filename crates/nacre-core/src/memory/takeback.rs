//! What an undo may put back: memories, their evidence and their counters, each in its place and readable.
//!
//! The plan of an undo lies in a run's folder, and a repository may ship such a folder. So every step is judged as if a
//! stranger had written it: the path, the size and the content. One bad step refuses the whole undo.

use super::batch::Batch;
use super::document::{Document, MAX_FILE_BYTES};
use super::id::MemoryId;
use super::layout::{self, Located};
use super::record::Memory;
use super::revision::PlannedChange;
use super::sidecar::{self, Evidence, MAX_SIDECAR_BYTES, State};
use super::store::MemoryError;
use crate::safefs::RelPath;

/// A file that an undo may change.
enum Target {
    Memory(Located),
    Evidence(MemoryId),
    State(MemoryId),
}

impl Target {
    /// What lies at `path`; `None` where an undo has nothing to do.
    fn at(path: &RelPath) -> Option<Self> {
        let id_in = |folder: &str| {
            path.as_str().strip_prefix(folder)?.strip_suffix(".json")?.parse::<MemoryId>().ok()
        };
        if let Some(id) = id_in("meta/evidence/") {
            return Some(Self::Evidence(id));
        }
        if let Some(id) = id_in("meta/state/") {
            return Some(Self::State(id));
        }
        let at = Located::from_path(path.as_str()).filter(layout::is_exact)?;
        Some(Self::Memory(at))
    }
}

impl Batch<'_> {
    /// Stages what undoes a change, where the file is still what that change made of it. Refuses what no run of ours
    /// could have planned.
    pub fn take_back(&mut self, change: &PlannedChange) -> Result<(), MemoryError> {
        let path = change.path.clone();
        let refuse = |reason: &'static str| {
            Err(MemoryError::NotUndoable { path: change.path.clone(), reason })
        };
        let Some(target) = Target::at(&path) else {
            return refuse("it is neither a memory nor its evidence nor its state");
        };
        if let Some(reason) = change.before.as_ref().and_then(|before| self.fault(&target, before))
        {
            return refuse(reason);
        }
        if let (Target::Memory(at), Some(before)) = (&target, &change.before) {
            self.put_back_level(&at.id, before);
        }
        match (&change.after, &change.before) {
            (Some(after), Some(before)) => self.set.replace(path, after, before.clone()),
            (Some(after), None) => self.set.remove(path, after),
            (None, Some(before)) => self.set.create(path, before.clone()),
            (None, None) => {}
        }
        Ok(())
    }

    /// Why these bytes cannot be put back there; `None` where they can.
    fn fault(&self, target: &Target, bytes: &[u8]) -> Option<&'static str> {
        let limit = match target {
            Target::Memory(_) => MAX_FILE_BYTES as u64,
            Target::Evidence(_) | Target::State(_) => MAX_SIDECAR_BYTES,
        };
        if bytes.len() as u64 > limit {
            return Some("what would be put back is too large");
        }
        let is_sound = match target {
            Target::Memory(at) => Document::from_bytes(bytes.to_vec())
                .is_ok_and(|document| Memory::read(at.clone(), document).is_ok()),
            Target::Evidence(id) => {
                sidecar::parse(bytes).is_ok_and(|evidence: Evidence| evidence.id == *id)
            }
            Target::State(id) => sidecar::parse(bytes).is_ok_and(|state: State| {
                // A plan must not make a stranger's memory one of ours.
                state.id == *id && (!state.own || self.store.is_own(id))
            }),
        };
        (!is_sound).then_some("what would be put back is not such a file")
    }
}
