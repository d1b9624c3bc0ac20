//! What an undo did, as it goes over the wire.

use std::collections::BTreeMap;

use nacre_api::wire::{KeptFile, UndoReport, UndoneHow, UndoneMemory};
use nacre_core::memory::{Located, PlannedChange};
use nacre_engine::flows::run::ChangedSince;
use nacre_engine::flows::undo::Undone;

use super::find::FoundChange;
use crate::operations::changes::shared_changes;

pub(super) fn undo_report(found: &FoundChange, parts: Vec<Undone>, dry_run: bool) -> UndoReport {
    let mut report = UndoReport {
        run: parts.first().map(|part| part.run.to_string()).unwrap_or_default(),
        of: found.id.clone(),
        command: found.command.clone(),
        dry_run,
        paths: Vec::new(),
        memories: Vec::new(),
        kept: Vec::new(),
        changes: None,
        notes: Vec::new(),
    };
    for part in parts {
        report.paths.extend(part.paths);
        report.memories.extend(memories(&part.changes));
        report.kept.extend(part.kept.into_iter().map(kept));
        if dry_run {
            report.changes.get_or_insert_default().extend(shared_changes(part.changes));
        }
    }
    report
}

fn kept(of: ChangedSince) -> KeptFile {
    KeptFile { path: of.path, by: of.by }
}

/// The memories of a plan. One that is moved is reverted.
fn memories(changes: &[PlannedChange]) -> Vec<UndoneMemory> {
    let mut by_id: BTreeMap<String, (bool, bool)> = BTreeMap::new();
    for change in changes {
        let Some(at) = Located::from_path(change.path.as_str()) else { continue };
        let entry = by_id.entry(at.id.to_string()).or_default();
        entry.0 |= change.before.is_some();
        entry.1 |= change.after.is_some();
    }
    let undone = by_id.into_iter().map(|(id, (was, is))| {
        let done = match (was, is) {
            (false, _) => UndoneHow::Restored,
            (true, true) => UndoneHow::Reverted,
            (true, false) => UndoneHow::Removed,
        };
        UndoneMemory { id, done }
    });
    undone.collect()
}
