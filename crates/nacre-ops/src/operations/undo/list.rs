//! Lists what was changed here, the newest first.

use nacre_api::wire::{ChangeEntry, UndoListReport, UndoListRequest};
use nacre_engine::flows::change::{Reversal, StoredChange};

use super::find::stores;
use crate::error::OpError;
use crate::host::Host;

pub fn list(host: &Host, request: &UndoListRequest) -> Result<UndoListReport, OpError> {
    let near = stores(host)?.into_iter().filter(|opened| opened.is_near);
    let mut changes: Vec<StoredChange> = near.flat_map(|opened| opened.changes).collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.at));
    let total = changes.len();
    let limit = match request.limit.unwrap_or(host.settings().memory.max_results) {
        0 => total,
        limit => limit,
    };
    Ok(UndoListReport { changes: changes.into_iter().take(limit).map(entry).collect(), total })
}

fn entry(change: StoredChange) -> ChangeEntry {
    ChangeEntry {
        undoable: change.reversal.is_undoable() && change.undone_by.is_none(),
        about: about(&change.reversal),
        id: change.id,
        command: change.command,
        at: change.at.to_string(),
        runs: change.runs.len(),
        added: change.counts.added,
        changed: change.counts.changed,
        removed: change.counts.removed,
        memories: change.memories,
        undoes: change.undoes,
        undone_by: change.undone_by,
    }
}

/// What a change is about that is not one of memories.
fn about(reversal: &Reversal) -> String {
    match reversal {
        Reversal::Agents { agents, .. } => {
            let names: Vec<&str> = agents.iter().map(|agent| agent.agent.as_str()).collect();
            names.join(", ")
        }
        Reversal::Text { text } => text.file.to_string(),
        Reversal::Projects { added, removed } => {
            let names: Vec<&str> =
                added.iter().chain(removed).map(|project| project.name.as_str()).collect();
            names.join(", ")
        }
        Reversal::Trust { memories } => match memories.as_slice() {
            [one] => one.id.clone(),
            memories => format!("{} memories", memories.len()),
        },
        Reversal::Command { command } => format!("taken back by `nacre {command}`"),
        Reversal::Plan | Reversal::Moved { .. } | Reversal::Gone => String::new(),
    }
}
