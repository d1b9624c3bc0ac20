//! Who has to look again when something that others use has changed its shape.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::Serialize;

use super::delta::Delta;
use super::refresh::{CacheWrites, Current};
use crate::artifact::{Cache, FileHash};

/// A file that imports, directly or by others, one whose symbols changed their shape.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Affected {
    pub path: String,
    /// 1 for a file that imports a changed one itself.
    pub depth: u32,
}

impl Current {
    /// Lists the files that a delta affects, by how far they are from it and then by path. Imports are followed only where
    /// something changed its shape: a change inside of bodies affects nobody.
    pub fn affected(&self, cache: &Cache, keeping: CacheWrites, delta: &Delta) -> Vec<Affected> {
        let reshaped = delta.reshaped();
        if reshaped.is_empty() {
            return Vec::new();
        }
        let gone = self.gone(delta, &reshaped);
        let mut files: Vec<(&str, FileHash)> =
            self.artifact.files().into_iter().map(|(path, row)| (path, row.hash)).collect();
        files.extend(gone.iter().map(|(path, hash)| (*path, *hash)));
        files.sort_unstable();
        let links = self.links(cache, keeping, &files);
        let find = |path: &&str| files.binary_search_by(|(known, _)| known.cmp(path)).ok();
        let mut waiting: VecDeque<(usize, u32)> =
            reshaped.iter().filter_map(find).map(|idx| (idx, 0)).collect();
        let mut seen: BTreeSet<usize> = waiting.iter().map(|(idx, _)| *idx).collect();
        let mut found = Vec::new();
        while let Some((idx, depth)) = waiting.pop_front() {
            for importer in links.importers(idx).filter(|importer| *importer < files.len()) {
                if seen.insert(importer) {
                    let path = files[importer].0.to_owned();
                    found.push(Affected { path, depth: depth + 1 });
                    waiting.push_back((importer, depth + 1));
                }
            }
        }
        found.sort_by(|a, b| (a.depth, &a.path).cmp(&(b.depth, &b.path)));
        found
    }

    /// Files that are not there any more, with what they held: who imported one still names it.
    fn gone<'d>(
        &self,
        delta: &'d Delta,
        reshaped: &BTreeSet<&'d str>,
    ) -> BTreeMap<&'d str, FileHash> {
        let of = |path: &str| self.artifact.find(path).is_none() && reshaped.contains(path);
        let changes = delta.files.iter();
        let before =
            changes.map(|file| (file.from.as_deref().unwrap_or(&file.path), file.old_hash));
        before
            .filter(|(path, _)| of(path))
            .map(|(path, hash)| (path, hash.unwrap_or_default()))
            .collect()
    }
}
