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
    let mut waiting = Waiting::default();
    let files = store.located().unwrap_or_default();
    store.visit(&files, |_, memory| {
        match memory.ok().map(|memory| store.trust_of(&memory)) {
            Some(Trust::Foreign) => waiting.foreign += 1,
            Some(Trust::Quarantined) => waiting.quarantined += 1,
            Some(Trust::Derived | Trust::Assistant | Trust::User | Trust::Human) | None => {}
        }
        std::ops::ControlFlow::Continue(())
    });
    waiting
}
