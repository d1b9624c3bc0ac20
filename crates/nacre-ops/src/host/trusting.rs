//! What came from elsewhere, and edits that the person made with other means than Nacre.

use nacre_core::memory::{Located, Memory, Store, Trust};
use nacre_core::safefs::Owner;

use super::{Host, ScopedStore};

/// Changed files that git is asked about by one command.
const MAX_ASKED: usize = 64;

/// How many memories of a store wait for the person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    pub foreign: usize,
    pub quarantined: usize,
}

impl Host {
    /// Keeps the level of memories that the person changed on this machine by other means than Nacre; tells whether any was. Best
    /// effort: what could not be settled waits.
    pub fn settle_edits(&self, scoped: &ScopedStore, files: &[Located]) -> bool {
        let store = &scoped.store;
        let edited: Vec<(Memory, Trust)> = files
            .iter()
            .filter_map(|at| store.load(at).ok())
            .filter_map(|memory| Some((kept_level(store, &memory)?, memory)))
            .take(MAX_ASKED)
            .filter(|(_, memory)| store.is_changed_here(&self.git(), &memory.at))
            .map(|(level, memory)| (memory, level))
            .collect();
        !edited.is_empty() && enter(store, &edited, &self.owner("trust")).is_some()
    }

    /// Counts what waits in a store, after the person's own edits were taken for theirs.
    pub fn count_waiting(&self, scoped: &ScopedStore) -> Waiting {
        let (waiting, changed) = look(&scoped.store);
        let is_settled = !changed.is_empty() && self.settle_edits(scoped, &changed);
        if is_settled { look(&scoped.store).0 } else { waiting }
    }
}

/// The level that a changed memory would keep; `None` where it has not changed, was not trusted, or gives an order now.
fn kept_level(store: &Store, memory: &Memory) -> Option<Trust> {
    let before = store.trust_before(&memory.at.id).filter(|level| !level.waits())?;
    (store.trust_of(memory) == Trust::Foreign).then_some(before)
}

fn enter(store: &Store, edited: &[(Memory, Trust)], owner: &Owner) -> Option<()> {
    let mut batch = store.begin(owner, std::time::Duration::ZERO).ok()?;
    for (memory, level) in edited {
        batch.keep(memory, *level);
    }
    batch.commit().ok().map(|_| ())
}

/// Counts what waits in a store. Reads every file.
pub fn count_waiting(store: &Store) -> Waiting {
    look(store).0
}

/// How many wait, and which of them were trusted once.
fn look(store: &Store) -> (Waiting, Vec<Located>) {
    let (mut waiting, mut changed) = (Waiting::default(), Vec::new());
    let files = store.located().unwrap_or_default();
    store.visit(&files, |at, memory| {
        let memory = memory.ok();
        changed.extend(memory.as_ref().and_then(|of| kept_level(store, of)).map(|_| at.clone()));
        match memory.map(|memory| store.trust_of(&memory)) {
            Some(Trust::Foreign) => waiting.foreign += 1,
            Some(Trust::Quarantined) => waiting.quarantined += 1,
            Some(Trust::Derived | Trust::Assistant | Trust::User | Trust::Human) | None => {}
        }
        std::ops::ControlFlow::Continue(())
    });
    (waiting, changed)
}
