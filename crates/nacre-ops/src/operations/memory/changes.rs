//! What all operations that change memories share: one change set a memory, and what its writer should know.

use nacre_api::wire::{
    ErrorReport, MemoryChange, MemoryChangesReport, MemoryFailure, MemoryIdsRequest,
};
use nacre_core::memory::{Batch, MemoryId, Redactions};
use nacre_core::safefs::RelPath;
use nacre_engine::flows::change::{Reversal, stage_scrub};
use nacre_engine::flows::run::RunMode;

use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, ScopedStore};
use crate::operations::recording::CommandChange;

/// Changes one memory of a store.
type Apply<'c> = dyn Fn(&ScopedStore, &mut Batch<'_>, &str) -> Result<MemoryId, OpError> + 'c;

/// What follows when one is changed.
type After<'c> = dyn Fn(&ScopedStore, &MemoryId) + 'c;

/// One kind of change to memories that are named by their ids.
pub(crate) struct Change<'c> {
    pub(crate) done: MemoryChange,
    pub(crate) mode: RunMode,
    /// What other processes see while it writes.
    pub(crate) command: &'c str,
    pub(crate) apply: &'c Apply<'c>,
    pub(crate) after: Option<&'c After<'c>>,
}

/// Makes the change to each of the memories. A single one that fails is an error; of several, the others are changed.
pub(crate) fn change_each(
    host: &Host,
    request: &MemoryIdsRequest,
    change: &Change<'_>,
    events: &Events,
) -> Result<MemoryChangesReport, OpError> {
    let MemoryIdsRequest { ids, scope } = request;
    let mut report = MemoryChangesReport {
        done: change.done,
        ids: Vec::new(),
        failed: Vec::new(),
        change: None,
        copies: Vec::new(),
    };
    let command = CommandChange::new(change.mode, change.command);
    if ids.is_empty() {
        return Err(OpError::usage("No memory is named").hint("`nacre memory list` shows every id"));
    }
    for id in ids {
        let changed = host
            .store_of(events, *scope, id)
            .and_then(|holding| change_one(host, &holding.scoped, (change, &command), id, events));
        match changed {
            Ok(id) => report.ids.push(id.to_string()),
            Err(error) if ids.len() == 1 => return Err(error),
            Err(error) => {
                events.warning(&error.message, error.hints.first().map(String::as_str));
                let ErrorReport { error: failure } = error.into();
                report.failed.push(MemoryFailure { id: id.clone(), failure });
            }
        }
    }
    report.change = command.id();
    Ok(report)
}

fn change_one(
    host: &Host,
    scoped: &ScopedStore,
    (change, command): (&Change<'_>, &CommandChange<'_>),
    id: &str,
    events: &Events,
) -> Result<MemoryId, OpError> {
    let mut batch = scoped.store.begin(&host.owner(change.command), host.settings().lock.wait)?;
    let id = (change.apply)(scoped, &mut batch, id)?;
    let mut reversal = Reversal::Plan;
    if change.done == MemoryChange::Forgotten {
        stage_scrub(&scoped.store, &mut batch, &id)?;
        reversal = Reversal::Gone;
    }
    warn_kept(events, &command.commit(host, scoped, batch, reversal)?);
    if let Some(after) = change.after {
        after(scoped, &id);
    }
    Ok(id)
}

/// Tells what kinds of secrets were kept out.
pub(crate) fn warn_redacted(events: &Events, redactions: &Redactions) {
    for kind in redactions.keys() {
        events.warning(
            format!("A secret was not stored; `[redacted:{kind}]` stands in its place"),
            None,
        );
    }
}

/// Tells of a person's bytes that could only be kept beside their file.
pub(super) fn warn_kept(events: &Events, kept: &[RelPath]) {
    for path in kept {
        events.warning(
            format!("Someone wrote into the file meanwhile; their version is `{path}`"),
            None,
        );
    }
}
