//! As little of a project as a ranking needs: paths, the words of each file, and who imports whom.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::words::Bag;

/// A project's files in the order of their paths, without what is in them.
pub struct Sketch<'s> {
    pub(super) paths: Vec<&'s str>,
    /// The words of a file, by its place.
    pub(super) bag: &'s (dyn Fn(usize) -> Option<Bag<'s>> + Sync),
    /// What each file imports, each one once, in order.
    pub(super) imported: Vec<Vec<usize>>,
    /// Who imports each file, each one once, in order.
    pub(super) importers: Vec<Vec<usize>>,
    by_path: HashMap<&'s str, usize, RandomState>,
}

impl<'s> Sketch<'s> {
    /// Takes files in the order of their paths, and the places of the files that each imports.
    pub fn new(
        paths: Vec<&'s str>,
        bag: &'s (dyn Fn(usize) -> Option<Bag<'s>> + Sync),
        mut imported: Vec<Vec<usize>>,
    ) -> Self {
        let by_path = paths.iter().enumerate().map(|(idx, path)| (*path, idx)).collect();
        imported.resize(paths.len(), Vec::new());
        let mut importers = vec![Vec::new(); paths.len()];
        for (from, all) in imported.iter_mut().enumerate() {
            all.retain(|to| *to < paths.len());
            for to in all.iter() {
                importers[*to].push(from);
            }
        }
        Self { paths, bag, imported, importers, by_path }
    }

    pub(super) fn find(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }
}
