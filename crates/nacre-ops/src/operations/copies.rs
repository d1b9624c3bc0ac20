//! The copies of a memory that is forgotten: takes it out of each place that may hold one, and looks there afterwards.
//!
//! Gone is only what was looked for and not found. What cannot be reached now waits, and the report says where.

use std::collections::BTreeMap;
use std::time::Duration;

use nacre_api::wire::{CheckedCopy, CopyPlace, CopyState, StoreScope};
use nacre_core::base::ContentHash;
use nacre_core::config::EmbeddingChoice;
use nacre_core::memory::{MemoryId, Store};
use nacre_core::safefs::{EntryKind, RelPath};
use nacre_core::search::{MemoryIndex, index_path, purge_index};
use nacre_engine::flows::scrub::is_named_by_runs;

use super::{hook_notes, shared_index, team_state};
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, ScopedStore};

/// How long another process's index write is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where the drafts of edits lie, below the person's data.
pub(super) const DRAFTS: &str = "drafts";

/// What was found in each place; one that waits is not made better by another memory that is gone from it.
#[derive(Debug, Default)]
pub(super) struct Copies(BTreeMap<CopyPlace, CheckedCopy>);

impl Copies {
    /// Takes `id`, which was just forgotten in a store, out of every other place.
    pub(super) fn take_out(
        &mut self,
        host: &Host,
        scoped: &ScopedStore,
        id: &MemoryId,
        events: &Events,
    ) {
        let store = &scoped.store;
        self.note(CopyPlace::Files, has_no_file(store, id));
        let is_named = is_named_by_runs(store, id).map_err(OpError::from);
        self.note(CopyPlace::Runs, is_named.map(|is_named| !is_named));
        self.note(CopyPlace::Index, leaves_index(host, scoped, id));
        self.note(CopyPlace::Notes, leaves_notes(host, store, id));
        if scoped.scope == StoreScope::Project {
            if let Some(outcome) = shared_index::forget_shared(host, id, events) {
                self.note(CopyPlace::SharedIndex, outcome);
            }
            self.note_servers(host, id);
        }
    }

    pub(super) fn into_list(self) -> Vec<CheckedCopy> {
        self.0.into_values().collect()
    }

    fn note(&mut self, place: CopyPlace, is_gone: Result<bool, OpError>) {
        match is_gone {
            Ok(true) => self.put(place, CopyState::Gone, None),
            Ok(false) => self.put(place, CopyState::Waits, Some("it was found there".to_owned())),
            Err(error) => self.put(place, CopyState::Waits, Some(error.message)),
        }
    }

    fn note_servers(&mut self, host: &Host, id: &MemoryId) {
        let name = host.project.as_ref().and_then(|project| project.name.clone());
        let Some(name) = name else { return };
        match team_state::note_forgotten(host, &name, id.as_str()) {
            Ok(servers) if servers.is_empty() => {}
            Ok(servers) => self.put(CopyPlace::Server, CopyState::Waits, Some(servers.join(", "))),
            Err(error) => self.put(CopyPlace::Server, CopyState::Waits, Some(error.message)),
        }
    }

    fn put(&mut self, place: CopyPlace, state: CopyState, detail: Option<String>) {
        let copy = CheckedCopy { place, state, detail };
        match self.0.get(&place) {
            Some(before) if before.state == CopyState::Waits => {}
            Some(_) | None => drop(self.0.insert(place, copy)),
        }
    }
}

fn has_no_file(store: &Store, id: &MemoryId) -> Result<bool, OpError> {
    let has_sidecar = store.evidence(id)?.is_some() || store.state(id)?.is_some();
    Ok(store.places(id)?.is_empty() && !has_sidecar)
}

/// Other memories that named it are indexed anew first: what they said before leaves the index as well.
fn leaves_index(host: &Host, scoped: &ScopedStore, id: &MemoryId) -> Result<bool, OpError> {
    let ScopedStore { store, settings, .. } = scoped;
    if !index_path(store).is_some_and(|path| path.is_dir()) {
        return Ok(true);
    }
    let owner = host.owner("memory forget");
    // No service is asked for that.
    if settings.search.embedding == EmbeddingChoice::Builtin {
        let embedder = host.embedder(settings)?;
        MemoryIndex::open(store, &*embedder, &owner, host.now())?;
    }
    Ok(purge_index(store, &owner, PATIENCE, id)?)
}

fn leaves_notes(host: &Host, store: &Store, id: &MemoryId) -> Result<bool, OpError> {
    let is_told_nowhere = hook_notes::forget_told(host, id.as_str())?;
    Ok(remove_drafts(host, store, id)? && is_told_nowhere)
}

/// The start of the names of the drafts of a memory.
pub(super) fn draft_name(store: &Store, id: &MemoryId) -> String {
    let place = ContentHash::of(store.path().as_os_str().as_encoded_bytes()).short();
    format!("{place}-{id}")
}

fn remove_drafts(host: &Host, store: &Store, id: &MemoryId) -> Result<bool, OpError> {
    let (scope, folder) = (host.home_scope()?, RelPath::new(DRAFTS)?);
    let name = draft_name(store, id);
    let drafts = || -> Result<Vec<RelPath>, OpError> {
        let entries = scope.list(&folder)?.into_iter();
        let own = entries.filter(|entry| entry.kind == EntryKind::File);
        let own = own.filter(|entry| {
            let rest = entry.name.strip_prefix(&name);
            rest.is_some_and(|rest| rest.starts_with('.'))
        });
        own.map(|entry| Ok(folder.join(&entry.name)?)).collect()
    };
    let found = drafts()?;
    if found.is_empty() {
        return Ok(true);
    }
    let writer = scope.lock(&host.owner("memory forget"), host.settings().lock.wait)?;
    for path in &found {
        writer.remove_derived(path)?;
    }
    Ok(drafts()?.is_empty())
}
