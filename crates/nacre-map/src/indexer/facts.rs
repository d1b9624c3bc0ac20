//! What is known of the files of a project, for whoever makes something of it.

use std::collections::BTreeMap;

use super::look::open_root;
use super::options::RefreshOptions;
use super::read::{Doubt, ReadFiles, Reading, read_all};
use super::refresh::Current;
use crate::artifact::{
    AnalysisKey, Cache, Change, ChangedFile, FileFacts, FileHash, FileOutline, FileRow, RelativePath,
    Revision, estimated_tokens,
};
use crate::languages::{Analysis, Depth, Language, MAX_TEXT_BYTES, Outline, Problem};
use crate::resolve::is_manifest;
use crate::shares::in_batches;

/// So many analyses are read by a thread at once.
const BATCH: usize = 512;

/// What says which files a program made.
const ATTRIBUTES_FILE: &str = ".gitattributes";

/// What a file held before and after, and how many lines that were.
type NetChange = ((Option<FileHash>, Option<FileHash>), (u32, u32));

impl Current {
    pub fn revision(&self) -> Revision {
        self.artifact.head().revision
    }

    /// Everything that is known of every file, in the order of the paths.
    pub fn facts(&self) -> Vec<FileFacts> {
        let files = self.artifact.files().into_iter();
        files.filter_map(|(path, row)| self.facts_of(path, row)).collect()
    }

    /// The names of what one file defines, one a line.
    pub fn names_at(&self, path: &str) -> String {
        let row = self.artifact.find(path);
        let key = row.zip(Language::of_path(path));
        let key = key.map(|(row, language)| AnalysisKey::new(row.hash, language));
        key.map(|key| self.analyses.names(key)).unwrap_or_default().join("\n")
    }

    /// What is known of every file as a whole, in the order of the paths.
    pub fn outlines<'a>(&'a self, n_threads: usize) -> Vec<FileOutline<'a>> {
        let files = self.artifact.files();
        let batches = in_batches(files.len(), BATCH, n_threads, |batch| {
            let outline = |(path, row): &(&'a str, FileRow)| self.outline_at(path, row.hash);
            files[batch].iter().map(outline).collect::<Vec<_>>()
        });
        let mut outlines = Vec::with_capacity(files.len());
        batches.into_iter().for_each(|batch| outlines.extend(batch));
        outlines
    }

    fn outline_at<'a>(&'a self, path: &'a str, hash: FileHash) -> FileOutline<'a> {
        let language = Language::of_path(path);
        let outline = language.and_then(|language| self.outline_of(language, hash));
        FileOutline { path, language, outline: outline.unwrap_or_default() }
    }

    /// What is known of some files as a whole, each with its place among all.
    pub fn outlines_at<'p>(&self, paths: &[&'p str]) -> Vec<(usize, &'p str, Outline<'_>)> {
        let outline = |path: &&'p str| {
            let (row, language) = (self.artifact.find(path)?, Language::of_path(path)?);
            let idx = self.artifact.position(path)?;
            Some((idx, *path, self.outline_of(language, row.hash)?))
        };
        paths.iter().filter_map(outline).collect()
    }

    /// What is known of a text as a whole.
    pub fn outline_of(&self, language: Language, hash: FileHash) -> Option<Outline<'_>> {
        self.analyses.outline(AnalysisKey::new(hash, language), language)
    }

    /// The files whose texts changed since a revision; `None` when files came or went, or what gives names to folders or says
    /// which files a program made changed, or it is not known any more.
    pub fn changed_since(&self, since: Revision) -> Option<Vec<ChangedFile<'_>>> {
        if since.epoch != self.revision().epoch {
            return None;
        }
        let mut net: BTreeMap<String, NetChange> = BTreeMap::new();
        for (_, change) in self.artifact.changes_since(since.number)? {
            let Change { path, before, after, lines } = change;
            let was = net.entry(path).or_insert(((before, after), lines));
            (was.0.1, was.1.1) = (after, lines.1);
        }
        net.retain(|_, ((before, after), _)| before != after);
        if net.is_empty() {
            return Some(Vec::new());
        }
        let changed = |(path, (hashes, lines)): (String, NetChange)| {
            let (before, after) = (hashes.0?, hashes.1?);
            let idx = self.artifact.position(&path)?;
            let look = |hash| {
                let language = Language::of_path(&path)?;
                self.outline_of(language, hash)
            };
            let (before, after) = (look(before), look(after));
            let is_known = before.is_some() && after.is_some();
            let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
            let name = path.rsplit('/').next().unwrap_or(&path);
            let is_ruling = is_manifest(name) || name == ATTRIBUTES_FILE;
            let path = path.clone();
            (!is_ruling).then_some(ChangedFile { idx, path, before, after, is_known, lines })
        };
        net.into_iter().map(changed).collect()
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

    /// What is known of the text of a file.
    pub fn analysis_at(&self, path: &str) -> Option<Analysis> {
        self.analysis_of(path, self.artifact.find(path)?)
    }

    fn analysis_of(&self, path: &str, row: FileRow) -> Option<Analysis> {
        self.analyses.get(AnalysisKey::new(row.hash, Language::of_path(path)?))
    }

    /// The files that were only glanced at, of some.
    pub fn shallow(&self, paths: &[&str]) -> Vec<String> {
        let is_shallow = |path: &&&str| {
            let Some((row, language)) = self.artifact.find(path).zip(Language::of_path(path))
            else {
                return false;
            };
            let is_read = !row.marks.is_unread && row.stamp.size <= MAX_TEXT_BYTES as u64;
            let depth = self.analyses.depth(AnalysisKey::new(row.hash, language));
            let is_glanced = depth.is_none_or(|depth| depth == Depth::Glance);
            // A text that its grammar could make nothing of is not tried again.
            let has_failed = || {
                let outline = self.outline_of(language, row.hash);
                outline.is_some_and(|outline| outline.problem == Some(Problem::Broken))
            };
            is_read && is_glanced && language.has_grammar() && !has_failed()
        };
        paths.iter().filter(is_shallow).map(|path| (*path).to_owned()).collect()
    }

    /// Looks at files by their grammars that were only glanced at, and keeps what is found; says how many there were.
    ///
    /// A file that has changed meanwhile stays as it is in this answer: the next look sees it.
    pub fn deepen(&mut self, cache: &Cache, paths: &[&str], options: &RefreshOptions) -> usize {
        let doubt = |path: String| Doubt { path, size: None, before: None };
        let doubts: Vec<Doubt> = self.shallow(paths).into_iter().map(doubt).collect();
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
            deadline: &options.deadline,
            progress: &options.progress,
            keep: &|held| cache.keep_held(held),
            keep_words: None,
        };
        let ReadFiles { packs: new, n_postponed, .. } = read_all(&reading, &doubts);
        if new.is_empty() {
            return 0;
        }
        let kept = cache.keep_analyses(&new);
        self.analyses = cache.analyses();
        if kept.is_err() {
            self.analyses.hold(new);
        }
        doubts.len() - n_postponed
    }
}
