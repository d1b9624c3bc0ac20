//! Restores files for an undo: memories, evidence, state and tombstones.
//!
//! An undo follows the plan in a run's directory, which may come from a cloned repository. The
//! plan's paths, sizes and contents are therefore untrusted, and a single invalid step causes the
//! entire undo to be rejected.

use super::document::MAX_FILE_BYTES;
use super::layout;
use super::revision::PlannedChange;
use super::tombstone;
use crate::prelude::*;

const MAX_DEPTH: usize = 8;

enum Target {
    Memory(Located),
    Evidence(MemoryId),
    State(MemoryId),
    Tombstone,
}

impl Target {
    /// Parses the path of a file to restore. Returns `None` for a path that an undo may not change.
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
        if path.as_str().starts_with(tombstone::FOLDER) {
            return Some(Self::Tombstone);
        }
        let at = Located::from_path(path.as_str()).filter(layout::is_exact)?;
        Some(Self::Memory(at))
    }
}

impl Batch<'_> {
    /// Stages reverting a change if the file has not been modified since. Fails if no run could
    /// have planned the change.
    pub fn take_back(&mut self, change: &PlannedChange) -> Result<()> {
        let path = change.path.clone();
        let target = self.undoable(change)?;
        if let (Target::Memory(at), Some(before)) = (&target, &change.before) {
            self.put_back_level(at, before);
        }
        if let (Target::Evidence(id), Some(before)) = (&target, &change.before) {
            self.note_evidence(id, before);
        }
        match (&change.after, &change.before) {
            (Some(after), Some(before)) => self.set.replace(path, after, before.clone()),
            (Some(after), None) => self.set.remove(path, after),
            (None, Some(before)) => self.set.create(path, before.clone()),
            (None, None) => {}
        }
        Ok(())
    }

    pub fn check_take_back(&self, change: &PlannedChange) -> Result<()> {
        self.undoable(change).map(|_| ())
    }

    fn undoable(&self, change: &PlannedChange) -> Result<Target> {
        let refuse = |reason: &'static str| {
            Err(MemoryError::NotUndoable { path: change.path.clone(), reason })
        };
        let Some(target) = Target::at(&change.path) else {
            return refuse("it is not a memory, evidence or state file");
        };
        let fault = |before: &Vec<u8>| self.fault(&target, &change.path, before);
        match change.before.as_ref().and_then(fault) {
            Some(reason) => refuse(reason),
            None => Ok(target),
        }
    }

    /// Stages putting back all files that `set_aside` moved. Returns the paths that an undo may not
    /// restore.
    pub fn bring_back(&mut self, aside: &RelPath) -> Result<Vec<String>> {
        let mut left = Vec::new();
        for from in self.files_below(aside, MAX_DEPTH)? {
            let tail = from.as_str().strip_prefix(aside.as_str()).unwrap_or_default();
            let to = RelPath::new(tail.trim_start_matches('/'))?;
            let bytes = self.store.scope().read(&from, MAX_SIDECAR_BYTES)?;
            let is_ours = match Target::at(&to) {
                Some(Target::State(id)) => self.is_sound_state(&id, &bytes),
                Some(Target::Memory(_) | Target::Evidence(_)) => true,
                Some(Target::Tombstone) => false,
                None => to.as_str().starts_with("memory/"),
            };
            if let Some(Target::Memory(at)) = Target::at(&to) {
                self.put_back_level(&at, &bytes);
            }
            if is_ours {
                self.set.relocate(from, &bytes, to, bytes.clone());
            } else {
                left.push(from.as_str().to_owned());
            }
        }
        Ok(left)
    }

    fn files_below(&self, folder: &RelPath, depth: usize) -> Result<Vec<RelPath>> {
        let mut files = Vec::new();
        for entry in self.store.scope().list(folder)? {
            let path = folder.join(&entry.name)?;
            match entry.kind {
                EntryKind::Folder if depth > 0 => {
                    files.extend(self.files_below(&path, depth - 1)?);
                }
                EntryKind::File => files.push(path),
                EntryKind::Folder | EntryKind::Other => {}
            }
        }
        Ok(files)
    }

    /// Returns whether these bytes are a valid state for `id`. A state with `own` must have the
    /// user's mark, because a plan could otherwise claim ownership of a foreign memory.
    fn is_sound_state(&self, id: &MemoryId, bytes: &[u8]) -> bool {
        serde_json::from_slice(bytes).is_ok_and(|state: LocalState| {
            let is_ours = self.store.is_own(id) || self.store.is_marked(&state);
            state.id == *id && (!state.own || is_ours)
        })
    }

    fn fault(&self, target: &Target, path: &RelPath, bytes: &[u8]) -> Option<&'static str> {
        let limit = match target {
            Target::Memory(_) => MAX_FILE_BYTES as u64,
            Target::Evidence(_) | Target::State(_) | Target::Tombstone => MAX_SIDECAR_BYTES,
        };
        if bytes.len() as u64 > limit {
            return Some("the content to restore is too large");
        }
        let is_sound = match target {
            Target::Memory(at) => Document::from_bytes(bytes.to_vec())
                .is_ok_and(|document| Memory::read(at.clone(), document).is_ok()),
            Target::Evidence(id) => {
                serde_json::from_slice(bytes).is_ok_and(|evidence: Evidence| evidence.id == *id)
            }
            Target::State(id) => self.is_sound_state(id, bytes),
            Target::Tombstone => tombstone::is_at(path, bytes),
        };
        (!is_sound).then_some("the content to restore is not valid for this path")
    }
}
