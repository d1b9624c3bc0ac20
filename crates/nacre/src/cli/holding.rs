//! Which store holds the memory that a person named, and where else the same id stands.
//!
//! A repository can ship any id, also one of a person's own. So the choice is never silent: the other places are named,
//! with the flag that chooses them.

use nacre_core::config::ScopeMode;
use nacre_core::memory::MemoryId;
use serde::Serialize;

use super::error::CommandError;
use super::runtime::{Runtime, ScopedStore, Whose};
use super::ui::Ui;

/// Other places that a warning names; more say nothing new.
const MAX_NAMED: usize = 3;

/// The store that holds a memory.
pub(crate) struct Holding {
    pub(crate) scoped: ScopedStore,
    /// Where else its id stands.
    pub(crate) also_in: Vec<OtherPlace>,
}

/// Another file of the same id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct OtherPlace {
    pub(crate) scope: &'static str,
    pub(crate) path: String,
}

impl Runtime {
    /// The store, among those to read, that holds the memory `id`. A whole id comes before the start of one. Warns where
    /// the id stands elsewhere, too.
    pub(crate) fn store_of(
        &self,
        ui: &mut Ui,
        scope: Option<ScopeMode>,
        id: &str,
    ) -> Result<Holding, CommandError> {
        let mut stores = self.stores_to_read(scope)?;
        let (number, id) = self.locate(&stores, id)?;
        let also_in = other_places(&stores, number, &id)?;
        let scoped = stores.swap_remove(number);
        warn(ui, &scoped, &id, &also_in);
        Ok(Holding { scoped, also_in })
    }

    /// The number of the store that is meant, and the whole id.
    fn locate(&self, stores: &[ScopedStore], id: &str) -> Result<(usize, MemoryId), CommandError> {
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
        Err(first_error.map_or_else(|| self.no_project(), CommandError::from))
    }
}

/// Every file of the id but the one that is meant.
fn other_places(
    stores: &[ScopedStore],
    meant: usize,
    id: &MemoryId,
) -> Result<Vec<OtherPlace>, CommandError> {
    let mut others = Vec::new();
    for (number, scoped) in stores.iter().enumerate() {
        let places = scoped.store.places(id)?;
        others.extend(places.iter().skip(usize::from(number == meant)).map(|at| OtherPlace {
            scope: scoped.whose.as_str(),
            path: scoped.store.path().join(at.path.as_str()).display().to_string(),
        }));
    }
    Ok(others)
}

fn warn(ui: &mut Ui, meant: &ScopedStore, id: &MemoryId, also_in: &[OtherPlace]) {
    if also_in.is_empty() {
        return;
    }
    let mut places: Vec<&str> =
        also_in.iter().take(MAX_NAMED).map(|other| other.path.as_str()).collect();
    if also_in.len() > MAX_NAMED {
        places.push("…");
    }
    let whose = meant.whose.as_str();
    let is_elsewhere = also_in.iter().any(|other| other.scope != whose);
    let hint = match (is_elsewhere, meant.whose) {
        (true, Whose::Project) => "`--scope global_only` takes the global one",
        (true, Whose::Global) => "`--scope project_only` takes the project's",
        (false, _) => "`nacre doctor` tells what to do",
    };
    ui.warning(
        format!("`{id}` is taken from the {whose} store; the same id is in {}", places.join(", ")),
        Some(hint),
    );
}
