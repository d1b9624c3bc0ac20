//! Where the imports of a project's files lead, by the places of the files in the order of their paths.
//!
//! A folder that is imported as a whole is a node of its own, behind the files, and its files say that they belong to it: a
//! package of Go has many importers and many files, and not all pairs of them are worth writing down.

use super::lists::Lists;

/// A folder that is imported as a whole stands for at most so many of its files.
const MAX_FOLDER_FILES: usize = 64;

/// Where imports lead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imports {
    pub inside: InsideImports,
    pub outside: OutsideImports,
}

/// Imports that lead to files of the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InsideImports {
    /// What each file imports, each once and in order: files, and folders behind all files. No file imports itself.
    pub nodes: Lists,
    /// The folder that each file belongs to, by its number, where somebody imports that as a whole.
    pub folders: Vec<Option<u32>>,
    pub n_folders: usize,
}

/// Imports that do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutsideImports {
    /// The packages of others that each file imports, by their places in `packages`, each once and in order.
    pub of_files: Lists,
    pub packages: Vec<String>,
    /// Imports that should lead to a file and do not.
    pub n_missing: u32,
}

/// Who imports each file.
#[derive(Debug)]
pub struct Importers<'i> {
    inside: &'i InsideImports,
    of_nodes: Lists,
}

impl Importers<'_> {
    /// The files that import a file itself, or the folder that it lies in as a whole.
    pub fn of(&self, file: usize) -> impl Iterator<Item = usize> {
        let nodes = [Some(file), self.inside.folder_of(file)];
        nodes
            .into_iter()
            .flatten()
            .flat_map(|node| self.of_nodes.of(node))
            .map(|from| *from as usize)
    }
}

impl InsideImports {
    pub fn n_files(&self) -> usize {
        self.folders.len()
    }

    /// The node of the folder that a file belongs to, where somebody imports that as a whole.
    pub fn folder_of(&self, file: usize) -> Option<usize> {
        let number = self.folders.get(file).copied().flatten()?;
        Some(self.n_files() + number as usize)
    }

    pub fn importers(&self) -> Importers<'_> {
        let of_nodes = self.nodes.inverted(self.n_files() + self.n_folders);
        Importers { inside: self, of_nodes }
    }

    /// The files that each file imports, each once and in order: in the place of a folder its first files.
    pub fn files(&self) -> Lists {
        if self.n_folders == 0 {
            return self.nodes.clone();
        }
        let n_files = self.n_files();
        let members = self.members();
        let mut files = Lists::default();
        let mut imported: Vec<u32> = Vec::new();
        for (from, nodes) in (0..).zip(self.nodes.iter()) {
            imported.clear();
            for node in nodes {
                match (*node as usize).checked_sub(n_files) {
                    None => imported.push(*node),
                    Some(folder) => {
                        let mates = members.get(folder).into_iter().flatten();
                        imported.extend(mates.filter(|to| **to != from));
                    }
                }
            }
            imported.sort_unstable();
            imported.dedup();
            files.push(imported.iter().copied());
        }
        files
    }

    /// The first files of each folder.
    fn members(&self) -> Vec<Vec<u32>> {
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); self.n_folders];
        for (file, folder) in (0..).zip(&self.folders) {
            let all = folder.and_then(|folder| members.get_mut(folder as usize));
            if let Some(all) = all.filter(|all| all.len() < MAX_FOLDER_FILES) {
                all.push(file);
            }
        }
        members
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stands_for_its_files() {
        let inside = InsideImports {
            nodes: Lists::from_iter([vec![1, 3], vec![], vec![3]]),
            folders: vec![None, Some(0), Some(0)],
            n_folders: 1,
        };
        assert_eq!(inside.files(), Lists::from_iter([vec![1, 2], vec![], vec![1]]));
        let importers = inside.importers();
        assert_eq!(importers.of(1).collect::<Vec<_>>(), [0, 0, 2]);
        assert_eq!(importers.of(0).count(), 0);
    }
}
