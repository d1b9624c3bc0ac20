//! Which store holds the memory that a person named, and where else the same id stands.
//!
//! A repository can ship any id, also one of a person's own. So the choice is never silent: the other places are named,
//! with the flag that chooses them.

use nacre_api::wire::{OtherPlace, Scope, StoreScope};
use nacre_core::memory::MemoryId;

use super::{Host, ScopedStore};
use crate::error::OpError;
use crate::events::Events;

/// Other places that a warning names; more say nothing new.
const MAX_NAMED: usize = 3;

/// The store that holds a memory.
pub struct Holding {
    pub scoped: ScopedStore,
    /// Where else its id stands.
    pub also_in: Vec<OtherPlace>,
}

impl Host {
    /// The store, among those to read, that holds the memory `id`. A whole id comes before the start of one. Warns where
    /// the id stands elsewhere, too.
    pub fn store_of(
        &self,
        events: &Events,
        scope: Option<Scope>,
        id: &str,
    ) -> Result<Holding, OpError> {
        let mut stores = self.stores_to_read(scope)?;
        let (number, id) = self.locate(&stores, id)?;
        let also_in = other_places(&stores, number, &id)?;
        let scoped = stores.swap_remove(number);
        warn(events, &scoped, &id, &also_in);
        Ok(Holding { scoped, also_in })
    }

    /// The number of the store that is meant, and the whole id.
    fn locate(&self, stores: &[ScopedStore], id: &str) -> Result<(usize, MemoryId), OpError> {
        if let Ok(whole) = id.parse::<MemoryId>() {
            for (number, scoped) in stores.iter().enumerate() {
                if !scoped.store.places(&whole)?.is_empty() {
                    return Ok((number, whole));
                }
            }
        }
        let mut first_error = None;
        for (number, scoped) in stores.iter().enumerate() {
            match scoped.store.locate(id) {
                Ok(at) => return Ok((number, at.id)),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.map_or_else(|| self.no_project(), OpError::from))
    }
}

/// Every file of the id but the one that is meant.
fn other_places(
    stores: &[ScopedStore],
    meant: usize,
    id: &MemoryId,
) -> Result<Vec<OtherPlace>, OpError> {
    let mut others = Vec::new();
    for (number, scoped) in stores.iter().enumerate() {
        let places = scoped.store.places(id)?;
        others.extend(places.iter().skip(usize::from(number == meant)).map(|at| OtherPlace {
            scope: scoped.scope,
            path: scoped.store.path().join(at.path.as_str()).display().to_string(),
        }));
    }
    Ok(others)
}

fn warn(events: &Events, meant: &ScopedStore, id: &MemoryId, also_in: &[OtherPlace]) {
    if also_in.is_empty() {
        return;
    }
    let mut places: Vec<&str> =
        also_in.iter().take(MAX_NAMED).map(|other| other.path.as_str()).collect();
    if also_in.len() > MAX_NAMED {
        places.push("…");
    }
    let whose = meant.scope.as_str();
    let is_elsewhere = also_in.iter().any(|other| other.scope != meant.scope);
    let hint = match (is_elsewhere, meant.scope) {
        (true, StoreScope::Project) => "`--scope global_only` takes the global one",
        (true, StoreScope::Global) => "`--scope project_only` takes the project's",
        (false, _) => "`nacre doctor` tells what to do",
    };
    events.warning(
        format!("`{id}` is taken from the {whose} store; the same id is in {}", places.join(", ")),
        Some(hint),
    );
}
