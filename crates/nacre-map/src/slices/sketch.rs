//! As little of a project as a ranking needs: paths, names of symbols, and who imports whom.

use std::collections::HashMap;

use crate::artifact::RelativePath;

/// A project's files in the order of their paths, without what is in them.
#[derive(Debug, Default)]
pub struct Sketch {
    pub(super) files: Vec<SketchedFile>,
    /// What each file imports, each one once, in order.
    pub(super) imported: Vec<Vec<usize>>,
    /// Who imports each file, each one once, in order.
    pub(super) importers: Vec<Vec<usize>>,
    by_path: HashMap<RelativePath, usize>,
}

#[derive(Debug)]
pub(super) struct SketchedFile {
    pub(super) path: RelativePath,
    /// One symbol a line.
    pub(super) names: String,
}

impl Sketch {
    /// Takes files in the order of their paths, with the names of their symbols, one a line, and the places of the files that
    /// each imports.
    pub fn new(
        files: impl IntoIterator<Item = (RelativePath, String)>,
        mut imported: Vec<Vec<usize>>,
    ) -> Self {
        let files: Vec<SketchedFile> =
            files.into_iter().map(|(path, names)| SketchedFile { path, names }).collect();
        let by_path =
            files.iter().enumerate().map(|(idx, file)| (file.path.clone(), idx)).collect();
        imported.resize(files.len(), Vec::new());
        let mut importers = vec![Vec::new(); files.len()];
        for (from, all) in imported.iter_mut().enumerate() {
            all.retain(|to| *to < files.len());
            for to in all.iter() {
                importers[*to].push(from);
            }
        }
        Self { files, imported, importers, by_path }
    }

    /// Takes the names over that a closer look at a file found.
    pub fn rename(&mut self, path: &RelativePath, names: String) {
        if let Some(idx) = self.by_path.get(path) {
            self.files[*idx].names = names;
        }
    }

    pub(super) fn find(&self, path: &str) -> Option<usize> {
        self.by_path.get(&RelativePath::new(path)?).copied()
    }
}
