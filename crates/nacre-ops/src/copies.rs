//! Removes all copies of a forgotten memory, and verifies that they are gone.
//!
//! A copy is reported as gone only if a search no longer finds it. Locations that cannot be
//! accessed are reported as pending.

use nacre_base::fs::EntryKind;
use nacre_memory::search::{MemoryIndex, index_path, purge_index};
use nacre_types::{CheckedCopy, CopyPlace, CopyState, StoreScope};

use super::hook_notes;
use super::server::forget_shared;
use super::team::note_forgotten;
use crate::prelude::*;
use crate::run::folder::is_named_by_runs;

const PATIENCE: Duration = Duration::from_secs(10);

pub(super) const DRAFTS: &str = "drafts";

/// The result for each location. When several memories are forgotten, a pending result is never
/// replaced by a better one.
#[derive(Debug, Default)]
pub(super) struct Copies(pub(super) BTreeMap<CopyPlace, CheckedCopy>);

impl Copies {
    /// Removes all other copies of `id`, which has just been forgotten in a store.
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
        let notes = hook_notes::forget_told(host, id.as_str());
        let notes = notes.and_then(|is_gone| Ok(remove_drafts(host, store, id)? && is_gone));
        self.note(CopyPlace::Notes, notes);
        if scoped.scope == StoreScope::Project {
            if let Some(outcome) = forget_shared(host, id, events) {
                self.note(CopyPlace::SharedIndex, outcome);
            }
            self.note_servers(host, id);
        }
    }

    fn note(&mut self, place: CopyPlace, is_gone: Result<bool>) {
        match is_gone {
            Ok(true) => self.put(place, CopyState::Gone, None),
            Ok(false) => self.put(place, CopyState::Waits, Some("a copy was found".to_owned())),
            Err(error) => self.put(place, CopyState::Waits, Some(error.message)),
        }
    }

    fn note_servers(&mut self, host: &Host, id: &MemoryId) {
        let name = host.project.as_ref().and_then(|project| project.name.clone());
        let Some(name) = name else { return };
        match note_forgotten(host, &name, id.as_str()) {
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

fn has_no_file(store: &Store, id: &MemoryId) -> Result<bool> {
    let has_sidecar = store.evidence(id)?.is_some() || store.state(id)?.is_some();
    Ok(store.places(id)?.is_empty() && !has_sidecar)
}

/// Removes the memory from the index. The index is first updated, because it may still contain the
/// old text of memories that linked to this memory.
fn leaves_index(host: &Host, scoped: &ScopedStore, id: &MemoryId) -> Result<bool> {
    let store = &scoped.store;
    if !index_path(store).is_some_and(|path| path.is_dir()) {
        return Ok(true);
    }
    let owner = host.owner("memory forget");
    MemoryIndex::open(store, &owner, host.now())?;
    Ok(purge_index(store, &owner, PATIENCE, id)?)
}

pub(super) fn draft_name(store: &Store, id: &MemoryId) -> String {
    let place = ContentHash::of(store.path().as_os_str().as_encoded_bytes()).short();
    format!("{place}-{id}")
}

fn remove_drafts(host: &Host, store: &Store, id: &MemoryId) -> Result<bool> {
    let (scope, folder) = (host.home_scope()?, RelPath::new(DRAFTS)?);
    let name = draft_name(store, id);
    let drafts = || -> Result<Vec<RelPath>> {
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
