//! Many paths in one stretch of memory, in order: git tracks as many as there are files.

use xxhash_rust::xxh3::xxh3_64;

/// Paths, which are in order and each once when they are settled.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PathList {
    /// A zero follows each path.
    text: String,
    /// Where each path ends.
    ends: Vec<usize>,
}

impl PathList {
    pub(super) fn push(&mut self, path: &str) {
        self.text.push_str(path);
        self.ends.push(self.text.len());
        self.text.push('\0');
    }

    /// Puts all paths in order; mostly they are already.
    pub(super) fn settle(&mut self) {
        if self.iter().is_sorted_by(|one, other| one < other) {
            return;
        }
        let mut paths: Vec<&str> = self.iter().collect();
        paths.sort_unstable();
        paths.dedup();
        let mut settled = Self::default();
        paths.into_iter().for_each(|path| settled.push(path));
        *self = settled;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).map(|idx| self.at(idx))
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        self.get(self.first_from(path)) == Some(path)
    }

    /// Whether something lies in a folder.
    pub(super) fn has_below(&self, folder: &str) -> bool {
        let below = format!("{folder}/");
        self.get(self.first_from(&below)).is_some_and(|path| path.starts_with(&below))
    }

    /// Tells this list from others.
    pub(super) fn identity(&self) -> u64 {
        xxh3_64(self.text.as_bytes())
    }

    /// The place of the first path that does not come before another.
    fn first_from(&self, path: &str) -> usize {
        let (mut first, mut end) = (0, self.ends.len());
        while first < end {
            let middle = first.midpoint(end);
            if self.at(middle) < path { first = middle + 1 } else { end = middle }
        }
        first
    }

    fn get(&self, idx: usize) -> Option<&str> {
        (idx < self.ends.len()).then(|| self.at(idx))
    }

    fn at(&self, idx: usize) -> &str {
        let start = idx.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
        &self.text[start..self.ends[idx]]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn listed<'p>(paths: impl Iterator<Item = &'p str>) -> PathList {
        let mut list = PathList::default();
        paths.for_each(|path| list.push(path));
        list.settle();
        list
    }

    proptest! {
        #[test]
        fn a_list_is_a_set_of_paths_in_order(
            paths in prop::collection::vec("[ab]{1,2}(/[ab.-]{1,2}){0,2}", 0..12),
            asked in "[ab]{1,2}(/[ab.-]{1,2}){0,2}",
        ) {
            let set: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
            let list = listed(paths.iter().map(String::as_str));
            prop_assert_eq!(list.iter().collect::<Vec<_>>(), set.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(list.contains(&asked), set.contains(asked.as_str()));
            let below = format!("{asked}/");
            prop_assert_eq!(list.has_below(&asked), set.iter().any(|path| path.starts_with(&below)));
            let again = listed(set.iter().copied());
            prop_assert_eq!(list.identity(), again.identity());
        }
    }
}
