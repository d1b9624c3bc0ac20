//! Takes back what a command changed, by the one id that it printed.

mod find;
mod list;
mod outside;
mod wire;

use nacre_api::wire::{UndoReport, UndoRequest};
use nacre_engine::flows::change::{Reversal, StoredChange};
use nacre_engine::flows::undo::{self as flow, UndoContext, Undone};

use self::find::{FoundChange, OpenedStore, find, last, stores};
pub use self::list::list;
use self::outside::{undo_projects, undo_text};
use crate::error::OpError;
use crate::host::Host;
use crate::operations::recording::BY_AGENT;

pub fn undo(host: &Host, request: &UndoRequest) -> Result<UndoReport, OpError> {
    let stores = stores(host)?;
    let found = match (request.last, request.run.is_empty()) {
        (true, true) => last(&stores)?,
        (false, false) => find(&stores, &request.run)
            .map_err(|error| OpError::from(error).hint("`nacre undo list` shows every change"))?,
        (true, false) => {
            return Err(
                OpError::usage("An id and `--last` exclude each other").hint("nacre undo --last")
            );
        }
        (false, true) => {
            return Err(OpError::usage("Which change?")
                .hint("The newest one: nacre undo --last")
                .hint("`nacre undo list` shows the ids"));
        }
    };
    let is_agents = |change: &StoredChange| change.command.ends_with(BY_AGENT);
    if !found.parts.iter().all(|(_, change)| is_agents(change)) {
        host.check_user("undo the change of somebody else")?;
    }
    if let Some(done) = undo_outside(host, &stores, &found, request.dry_run) {
        return done;
    }
    if found.parts.len() > 1 {
        // All stores are looked at before the first is changed.
        undo_parts(host, &stores, &found, &UndoRequest { dry_run: true, ..request.clone() })?;
    }
    let parts = undo_parts(host, &stores, &found, request)?;
    let mut report = wire::undo_report(&found, parts, request.dry_run);
    report.notes.extend(found.parts.iter().filter_map(|(_, change)| trust_note(change)));
    Ok(report)
}

/// Takes back a change outside the memories; `None` where it is one of memories.
fn undo_outside(
    host: &Host,
    stores: &[OpenedStore],
    found: &FoundChange,
    dry_run: bool,
) -> Option<Result<UndoReport, OpError>> {
    let (number, change) = found.parts.first()?;
    match &change.reversal {
        Reversal::Agents { agents, register } => {
            let parts = (agents.as_slice(), register.as_ref());
            Some(super::connect::undo(host, change, parts, dry_run))
        }
        Reversal::Text { text } => Some(undo_text(host, &stores[*number], change, text, dry_run)),
        Reversal::Projects { added, removed } => {
            Some(undo_projects(host, change, (added, removed), dry_run))
        }
        Reversal::Plan
        | Reversal::Moved { .. }
        | Reversal::Gone
        | Reversal::Command { .. }
        | Reversal::Trust { .. } => None,
    }
}

/// Which memories are no longer trusted.
fn trust_note(change: &StoredChange) -> Option<String> {
    let Reversal::Trust { memories } = &change.reversal else { return None };
    let ids: Vec<&str> = memories.iter().map(|memory| memory.id.as_str()).collect();
    Some(format!("Wait to be trusted again: {}", ids.join(", ")))
}

fn undo_parts(
    host: &Host,
    stores: &[OpenedStore],
    found: &FoundChange,
    request: &UndoRequest,
) -> Result<Vec<Undone>, OpError> {
    let mut done: Vec<Undone> = Vec::new();
    for (number, change) in &found.parts {
        let id = done.first().map(|first| first.run.to_string());
        done.push(undo_part(host, &stores[*number], change, request, id.as_deref())?);
    }
    Ok(done)
}

fn undo_part(
    host: &Host,
    opened: &OpenedStore,
    change: &StoredChange,
    request: &UndoRequest,
    id: Option<&str>,
) -> Result<Undone, OpError> {
    let ctx = UndoContext {
        store: &opened.scoped.store,
        owner: &host.owner("undo"),
        patience: host.settings().lock.wait,
        now: host.now(),
        id,
        keep_changed: request.keep_changed,
        dry_run: request.dry_run,
    };
    Ok(flow::undo(&ctx, change, &opened.changes)?)
}
