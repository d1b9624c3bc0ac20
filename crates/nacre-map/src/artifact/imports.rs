//! Resolved imports between a project's files. Files are identified by their index in path order.
//!
//! A directory that is imported as a whole, such as a Go package, is a separate node. Storing every
//! pair of an importer and an imported file would take too much space.

use serde::{Deserialize, Serialize};

/// Maximum number of files that stand in for a directory imported as a whole.
const MAX_FOLDER_FILES: usize = 64;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imports {
    /// The nodes that each file imports. Directory nodes come after all file nodes. A file never
    /// imports itself.
    pub nodes: Lists,
    /// For each file, the number of its directory, or `None` if no file imports that directory as a
    /// whole.
    pub folders: Vec<Option<u32>>,
    pub n_folders: usize,
    /// The external packages that each file imports, as indexes into `packages`.
    pub packages_of: Lists,
    pub packages: Vec<String>,
    pub n_missing: u32,
}

impl Imports {
    fn n_files(&self) -> usize {
        self.folders.len()
    }

    fn folder_of(&self, file: usize) -> Option<usize> {
        let number = self.folders.get(file).copied().flatten()?;
        Some(self.n_files() + number as usize)
    }

    /// Returns a function that lists a file's importers, including those that import its whole
    /// directory.
    pub fn importers(&self) -> impl Fn(usize) -> Vec<usize> {
        let of_nodes = self.nodes.invert(self.n_files() + self.n_folders);
        move |file| {
            let nodes = [Some(file), self.folder_of(file)].into_iter().flatten();
            nodes.flat_map(|node| of_nodes.of(node)).map(|from| *from as usize).collect()
        }
    }

    /// Returns the files that each file imports. An imported directory is represented by its first
    /// files.
    pub fn files(&self) -> Lists {
        let n_files = self.n_files();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); self.n_folders];
        for (file, folder) in self.folders.iter().enumerate() {
            let all = folder.and_then(|folder| members.get_mut(folder as usize));
            if let Some(all) = all.filter(|all| all.len() < MAX_FOLDER_FILES) {
                all.push(file);
            }
        }
        let mut files = Lists::default();
        for (from, nodes) in self.nodes.iter().enumerate() {
            let expand = |node: &u32| match (*node as usize).checked_sub(n_files) {
                None => vec![*node as usize],
                Some(folder) => members.get(folder).cloned().unwrap_or_default(),
            };
            files.push_set(nodes.iter().flat_map(expand).filter(|to| *to != from));
        }
        files
    }
}

/// Many short lists, stored in two vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lists {
    ends: Vec<u32>,
    pub items: Vec<u32>,
}

impl Lists {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn push_set(&mut self, list: impl Iterator<Item = usize>) {
        let mut list: Vec<u32> = list.filter_map(|item| u32::try_from(item).ok()).collect();
        list.sort_unstable();
        list.dedup();
        self.items.extend(list);
        self.ends.push(u32::try_from(self.items.len()).unwrap_or(u32::MAX));
    }

    /// Returns the list at an index, or an empty list if the index is out of range.
    pub fn of(&self, idx: usize) -> &[u32] {
        let Some(end) = self.ends.get(idx) else { return &[] };
        let start = idx.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.items.get(start as usize..*end as usize).unwrap_or_default()
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|idx| self.of(idx))
    }

    /// For each number below `n_lists`, returns the sorted indexes of the lists that contain it.
    pub fn invert(&self, n_lists: usize) -> Self {
        let mut lists: Vec<Vec<usize>> = vec![Vec::new(); n_lists];
        for (place, list) in self.iter().enumerate() {
            for item in list {
                if let Some(list) = lists.get_mut(*item as usize) {
                    list.push(place);
                }
            }
        }
        let mut inverted = Self::default();
        lists.into_iter().for_each(|list| inverted.push_set(list.into_iter()));
        inverted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists<const N: usize>(all: [Vec<usize>; N]) -> Lists {
        let mut lists = Lists::default();
        all.into_iter().for_each(|list| lists.push_set(list.into_iter()));
        lists
    }

    #[test]
    fn lists_are_inverted() {
        let all = lists([vec![2, 1], vec![], vec![2, 9, 9], vec![0, 1, 2]]);
        assert_eq!(all.invert(3), lists([vec![3], vec![0, 3], vec![0, 2, 3]]));
        assert_eq!((all.of(2), all.of(4)), (&[2, 9][..], &[][..]));
    }

    #[test]
    fn a_folder_stands_for_its_files() {
        let imports = Imports {
            nodes: lists([vec![1, 3], vec![], vec![3]]),
            folders: vec![None, Some(0), Some(0)],
            n_folders: 1,
            ..Imports::default()
        };
        assert_eq!(imports.files(), lists([vec![1, 2], vec![], vec![1]]));
        let importers = imports.importers();
        assert_eq!(importers(1), [0, 0, 2]);
        assert_eq!(importers(0), [0; 0]);
    }
}
