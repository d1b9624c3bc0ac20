//! Finds a change by what a person typed: in the store around, in their own, and in those of all projects.

use std::collections::BTreeSet;

use nacre_core::base::ShownLine;
use nacre_engine::flows::change::{Reversal, StoredChange, changes};
use nacre_engine::flows::run::{RunId, UndoError};

use crate::error::OpError;
use crate::host::{Host, ScopedStore};

/// Fewer characters of the last part of an id name too many changes.
const MIN_SHORT: usize = 4;

/// A store with its changes.
pub(super) struct OpenedStore {
    pub(super) scoped: ScopedStore,
    /// The newest first.
    pub(super) changes: Vec<StoredChange>,
    /// Whether it is that of the project around, or the person's own.
    pub(super) is_near: bool,
}

/// A change, and the stores in which it left something.
pub(super) struct FoundChange {
    pub(super) id: String,
    pub(super) command: String,
    /// Numbers of stores, each with what was changed there.
    pub(super) parts: Vec<(usize, StoredChange)>,
}

/// The store around, the person's own, and those of all projects. One of another project that cannot be opened is left
/// out.
pub(super) fn stores(host: &Host) -> Result<Vec<OpenedStore>, OpError> {
    let mut opened: Vec<OpenedStore> = Vec::new();
    let near = host.project_store()?.into_iter().chain(host.global_store()?);
    for scoped in near {
        opened.push(OpenedStore::read(scoped, true)?);
    }
    for project in host.projects.iter() {
        let Ok(scoped) = host.store_at(&project.path) else { continue };
        if opened.iter().all(|known| known.scoped.store.path() != scoped.store.path()) {
            opened.extend(OpenedStore::read(scoped, false));
        }
    }
    if opened.is_empty() { Err(host.no_project()) } else { Ok(opened) }
}

impl OpenedStore {
    fn read(scoped: ScopedStore, is_near: bool) -> Result<Self, OpError> {
        let changes = changes(&scoped.store)?;
        Ok(Self { scoped, changes, is_near })
    }
}

/// The newest change of the stores near that is not undone and undoes nothing. One that cannot be undone is not stepped over:
/// who wants the newest back does not want an older one taken back.
pub(super) fn last(stores: &[OpenedStore]) -> Result<FoundChange, OpError> {
    let near = || stores.iter().filter(|opened| opened.is_near);
    let mut changes: Vec<&StoredChange> = near().flat_map(|opened| &opened.changes).collect();
    changes.retain(|change| change.is_own);
    // Stable: of two in the same second the one of the store around comes first.
    changes.sort_by_key(|change| std::cmp::Reverse(change.at));
    let is_open = |change: &&&StoredChange| change.undoes.is_none() && change.undone_by.is_none();
    let mut open = changes.iter().filter(is_open);
    let newest = open.next().ok_or_else(|| nothing_to_undo(&changes))?;
    if newest.reversal.is_undoable() {
        return Ok(whole(stores, &newest.id));
    }
    let before = open.find(|change| change.reversal.is_undoable());
    Err(not_undoable(newest, before.copied()))
}

fn nothing_to_undo(changes: &[&StoredChange]) -> OpError {
    let error = OpError::not_found("There is nothing to undo");
    match changes.iter().find(|change| change.undoes.is_some() && change.undone_by.is_none()) {
        Some(undo) => error.hint(format!("Take the last undo back: nacre undo {}", undo.id)),
        None => error.hint("`nacre undo list` shows what was changed"),
    }
}

/// Names the newest change, how it is taken back, and the one before it.
fn not_undoable(newest: &StoredChange, before: Option<&StoredChange>) -> OpError {
    let (id, typed) = (newest.id.clone(), ShownLine(&newest.command).to_string());
    let error = if let Reversal::Command { command } = &newest.reversal {
        OpError::from(UndoError::OtherCommand { id, command: command.clone() })
    } else {
        OpError::from(UndoError::Gone(id))
    };
    let message = format!("The newest change is `{typed}`. {}", error.message);
    let error = OpError { message, ..error };
    match before {
        Some(before) => error.hint(format!(
            "Nothing was changed. The change before it, `{}`: nacre undo {}",
            ShownLine(&before.command),
            before.id
        )),
        None => error,
    }
}

/// The change that `text` names, or else the run.
pub(super) fn find(stores: &[OpenedStore], text: &str) -> Result<FoundChange, UndoError> {
    let all = || stores.iter().flat_map(|opened| &opened.changes);
    if all().any(|change| change.id == text) {
        return Ok(whole(stores, text));
    }
    if let Ok(run) = text.parse::<RunId>()
        && let Some(found) = only(stores, &run)
    {
        return Ok(found);
    }
    let ids: BTreeSet<&str> =
        all().map(|change| change.id.as_str()).filter(|id| is_named(id, text)).collect();
    let runs: BTreeSet<&RunId> =
        all().flat_map(|change| &change.runs).filter(|run| run.is_named(text)).collect();
    match (ids.len(), runs.len()) {
        (1, _) => {
            Ok(ids.first().map(|id| whole(stores, id)).unwrap_or_else(|| whole(stores, text)))
        }
        (0, 1) => {
            let run = runs.first().and_then(|run| only(stores, run));
            run.ok_or_else(|| UndoError::Unknown(text.to_owned()))
        }
        (0, 0) => Err(UndoError::Unknown(text.to_owned())),
        (n_ids, n_runs) => {
            Err(UndoError::Ambiguous { id: text.to_owned(), n_found: n_ids.max(n_runs) })
        }
    }
}

/// Whether `text` is the start or the end of an id, or the start of its last part.
fn is_named(id: &str, text: &str) -> bool {
    let short = id.rsplit('-').next().unwrap_or_default();
    id.starts_with(text)
        || (text.len() >= MIN_SHORT && (id.ends_with(text) || short.starts_with(text)))
}

/// A change with all that it left anywhere.
fn whole(stores: &[OpenedStore], id: &str) -> FoundChange {
    let part = |(number, opened): (usize, &OpenedStore)| {
        let change = opened.changes.iter().find(|change| change.id == id)?;
        Some((number, change.clone()))
    };
    let parts: Vec<(usize, StoredChange)> = stores.iter().enumerate().filter_map(part).collect();
    let command = parts.first().map(|(_, change)| change.command.clone()).unwrap_or_default();
    FoundChange { id: id.to_owned(), command, parts }
}

/// One run alone.
fn only(stores: &[OpenedStore], run: &RunId) -> Option<FoundChange> {
    stores.iter().enumerate().find_map(|(number, opened)| {
        let change = opened.changes.iter().find(|change| change.runs.contains(run))?;
        let (id, command) = (run.to_string(), change.command.clone());
        let undone_by = opened.changes.iter().find(|other| {
            other.undoes.as_deref() == Some(run.as_str()) && other.undone_by.is_none()
        });
        let undone_by = undone_by.map(|other| other.id.clone()).or(change.undone_by.clone());
        let part = StoredChange { undone_by, ..change.only(run) };
        Some(FoundChange { id, command, parts: vec![(number, part)] })
    })
}
