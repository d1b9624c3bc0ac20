//! Who has to look again when something that others use has changed its shape.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::Serialize;

use super::delta::Delta;

/// A file that imports, directly or by others, one whose symbols changed their shape.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Affected {
    pub path: String,
    /// 1 for a file that imports a changed one itself.
    pub depth: u32,
}

/// Lists the files that a delta affects, by how far they are from it and then by path.
///
/// `edges` are resolved imports: who imports, and what. A change inside of bodies affects nobody.
pub fn affected<'e>(
    delta: &Delta,
    edges: impl IntoIterator<Item = (&'e str, &'e str)>,
) -> Vec<Affected> {
    let reshaped = delta.reshaped();
    if reshaped.is_empty() {
        return Vec::new();
    }
    let mut importers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (importer, imported) in edges {
        importers.entry(imported).or_default().push(importer);
    }
    let mut seen: BTreeSet<&str> = reshaped.iter().copied().collect();
    let mut waiting: VecDeque<(&str, u32)> = reshaped.iter().map(|path| (*path, 0)).collect();
    let mut found = Vec::new();
    while let Some((path, depth)) = waiting.pop_front() {
        for importer in importers.get(path).into_iter().flatten() {
            if seen.insert(importer) {
                found.push(Affected { path: (*importer).to_owned(), depth: depth + 1 });
                waiting.push_back((importer, depth + 1));
            }
        }
    }
    found.sort_by(|a, b| (a.depth, &a.path).cmp(&(b.depth, &b.path)));
    found
}
