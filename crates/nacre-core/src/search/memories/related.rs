//! The memories that belong to one memory, for `nacre memory related`.

use std::collections::HashSet;

use super::MemoryIndex;
use super::units;
use crate::memory::Memory;
use crate::search::kin::{self, Kin, KinKind};
use crate::search::words;

/// What two memories can share.
pub(super) const SHARED: &[(&str, KinKind)] = &[
    ("session", KinKind::SameSession),
    ("file", KinKind::SameFile),
    ("symbol", KinKind::SameSymbol),
    ("tag", KinKind::SharedTag),
];

/// A property that more memories than this have binds none of them.
const MAX_SHARING: u32 = 50;

impl MemoryIndex<'_> {
    /// The memories that belong to `id`, nearest first, each once.
    pub fn related(&self, id: &str) -> Vec<(Kin, Memory)> {
        let Some(row) = kin::row_of(&self.snapshot, id) else { return Vec::new() };
        let mut found = kin::linked(&self.snapshot, row);
        found.extend(self.pointing_at(id));
        found.extend(self.sharing(row));
        found.retain(|kin| kin.id != id);
        found.sort();
        let mut seen = HashSet::new();
        found.retain(|kin| seen.insert(kin.id.clone()));
        let pages = self.pages();
        let read =
            |kin: Kin| Some((kin.clone(), pages.read(kin::row_of(&self.snapshot, &kin.id)?)?));
        found.into_iter().filter_map(read).collect()
    }

    /// Memories whose own links name `id`.
    fn pointing_at(&self, id: &str) -> Vec<Kin> {
        let mut found = Vec::new();
        for row in (0..self.snapshot.n_rows()).filter(|row| self.snapshot.is_live(*row)) {
            let links = self.snapshot.links(row);
            found.extend(links.iter().filter(|link| link.to == id).map(|link| Kin {
                kind: KinKind::of_link(link.kind).reversed(),
                id: self.snapshot.key(row).to_owned(),
                shared: None,
            }));
        }
        found
    }

    /// Memories that have a property of this one.
    fn sharing(&self, row: usize) -> Vec<Kin> {
        let mut found = Vec::new();
        let Some(memory) = self.pages().read(row) else { return found };
        for (name, value) in units::facets_of(&memory) {
            let Some((_, kind)) = SHARED.iter().find(|(shared, _)| *shared == name) else {
                continue;
            };
            let term = words::facet(name, &value);
            if self.snapshot.n_holding(&term) > MAX_SHARING {
                continue;
            }
            found.extend(self.snapshot.postings(&term).map(|(row, _)| Kin {
                kind: *kind,
                id: self.snapshot.key(row).to_owned(),
                shared: Some(value.clone()),
            }));
        }
        found
    }
}
