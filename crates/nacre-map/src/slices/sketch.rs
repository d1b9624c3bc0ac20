//! As little of a project as a ranking needs: paths, the words of each file, and who imports whom.

use super::made_paths::MadePaths;
use crate::artifact::Lists;
use crate::words::Bag;

/// A project's files in the order of their paths, without what is in them.
pub struct Sketch<'s> {
    pub(super) paths: Vec<&'s str>,
    /// The words of a file, by its place.
    pub(super) bag: &'s (dyn Fn(usize) -> Option<Bag<'s>> + Sync),
    /// Files that the project says a program made.
    pub(super) made: &'s MadePaths,
    /// What each file imports, each one once, in order.
    pub(super) imported: Lists,
    /// Who imports each file, each one once, in order.
    pub(super) importers: Lists,
}

impl<'s> Sketch<'s> {
    /// Takes files in the order of their paths, and the places of the files that each imports.
    pub fn new(
        paths: Vec<&'s str>,
        bag: &'s (dyn Fn(usize) -> Option<Bag<'s>> + Sync),
        made: &'s MadePaths,
        imported: Lists,
    ) -> Self {
        let importers = imported.inverted(paths.len());
        Self { paths, bag, made, imported, importers }
    }

    /// The same without imports.
    pub fn of_words(
        paths: Vec<&'s str>,
        bag: &'s (dyn Fn(usize) -> Option<Bag<'s>> + Sync),
        made: &'s MadePaths,
    ) -> Self {
        Self { paths, bag, made, imported: Lists::default(), importers: Lists::default() }
    }

    pub(super) fn find(&self, path: &str) -> Option<usize> {
        self.paths.binary_search(&path).ok()
    }
}
