//! What is known of the files of a project, for whoever makes something of it.

use super::look::open_root;
use super::read::{Doubt, Reading, read_all};
use super::refresh::{Current, RefreshOptions};
use crate::artifact::{
    AnalysisKey, Cache, FileFacts, FileRow, RelativePath, Revision, estimated_tokens,
};
use crate::languages::{Analysis, Depth, Language};

impl Current {
    pub fn revision(&self) -> Revision {
        self.artifact.head().revision
    }

    /// Everything that is known of every file, in the order of the paths.
    pub fn facts(&self) -> Vec<FileFacts> {
        let files = self.artifact.files().into_iter();
        files.filter_map(|(path, row)| self.facts_of(path, row)).collect()
    }

    /// All paths in order, with the names of what each file defines, one a line.
    pub fn names(&self) -> Vec<(RelativePath, String)> {
        let files = self.artifact.files().into_iter();
        files.filter_map(|(path, row)| self.names_of(path, row)).collect()
    }

    /// The names of what one file defines.
    pub fn names_at(&self, path: &str) -> Option<(RelativePath, String)> {
        self.names_of(path, self.artifact.find(path)?)
    }

    fn names_of(&self, path: &str, row: FileRow) -> Option<(RelativePath, String)> {
        let key = Language::of_path(path).map(|language| AnalysisKey::new(row.hash, language));
        let names = key.map(|key| self.analyses.names(key)).unwrap_or_default();
        Some((RelativePath::new(path)?, names.join("\n")))
    }

    /// Everything that is known of one file.
    pub fn facts_at(&self, path: &str) -> Option<FileFacts> {
        self.facts_of(path, self.artifact.find(path)?)
    }

    fn facts_of(&self, path: &str, row: FileRow) -> Option<FileFacts> {
        Some(FileFacts {
            path: RelativePath::new(path)?,
            stamp: row.stamp,
            hash: row.hash,
            language: Language::of_path(path),
            lines: row.lines,
            tokens: estimated_tokens(row.stamp.size),
            analysis: self.analysis_of(path, row).unwrap_or_default(),
        })
    }

    fn analysis_of(&self, path: &str, row: FileRow) -> Option<Analysis> {
        self.analyses.get(AnalysisKey::new(row.hash, Language::of_path(path)?))
    }

    /// Looks at files by their grammars that were only glanced at, and keeps what is found; says how many there were.
    ///
    /// A file that has changed meanwhile stays as it is in this answer: the next look sees it.
    pub fn deepen(&mut self, cache: &Cache, paths: &[&str], options: &RefreshOptions) -> usize {
        let is_shallow = |path: &&str| {
            let Some((row, language)) = self.artifact.find(path).zip(Language::of_path(path))
            else {
                return false;
            };
            let depth = self.analyses.depth(AnalysisKey::new(row.hash, language));
            depth.is_none_or(|depth| depth == Depth::Glance)
        };
        let doubt = |path: &str| Doubt { path: path.to_owned(), size: 0, before: None };
        let doubts: Vec<Doubt> = paths.iter().copied().filter(is_shallow).map(doubt).collect();
        let Ok(root) = open_root(&self.project.root) else { return 0 };
        if doubts.is_empty() {
            return 0;
        }
        let reading = Reading {
            root: &root,
            analyses: &self.analyses,
            depth: Depth::Full,
            looked_ns: options.looked_ns,
            n_threads: options.n_threads,
        };
        let (_, new) = read_all(&reading, &doubts);
        let n_new = new.len();
        match cache.keep_analyses(&new) {
            Ok(()) => self.analyses = cache.analyses(),
            Err(_) => self.analyses.hold(new),
        }
        n_new
    }
}
