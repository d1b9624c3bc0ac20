//! Provides an up-to-date map's analyses, file contents, imports and history.

use std::collections::BTreeMap;
use std::io::Read as _;

use nacre_base::git::GitProgram;
use nacre_base::platform;
use nacre_base::platform::fd::OwnedFd;
use nacre_base::platform::fs::Mode;
use nacre_types::MapRevision;
use xxhash_rust::xxh3::Xxh3;

use super::git::head_commit;
use super::look::{READABLE_FILE, open_root};
use super::options::{CacheWrites, RefreshOptions};
use super::read::{MAX_READ_BYTES, Reading, UnverifiedFile, analysis_in, depth_of};
use super::refresh::Current;
use crate::artifact::{
    AnalysisKey, Blobs, Cache, Derived, FileFacts, FileHash, FileOutline, FileRow, Imports,
    RelativePath,
};
use crate::languages::{Analysis, Depth, Language, MAX_TEXT_BYTES, Problem};
use crate::resolve::{Manifest, Resolver, is_manifest};
use crate::shares::in_batches;

const BATCH: usize = 512;

const MAX_MANIFEST_BYTES: u64 = 1 << 20;

const MAX_COMMITS: &str = "--max-count=500";

impl Current {
    pub fn revision(&self) -> MapRevision {
        self.artifact.head().revision
    }

    pub fn facts(&self) -> Vec<FileFacts> {
        let files = self.artifact.files().into_iter();
        files.filter_map(|(path, row)| self.facts_of(path, row)).collect()
    }

    pub fn facts_at(&self, path: &str) -> Option<FileFacts> {
        self.facts_of(path, self.artifact.find(path)?)
    }

    fn facts_of(&self, path: &str, row: FileRow) -> Option<FileFacts> {
        Some(FileFacts {
            path: RelativePath::new(path)?,
            hash: row.hash,
            language: Language::of_path(path),
            lines: row.lines,
            analysis: self.analysis_of(path, row.hash).unwrap_or_default(),
        })
    }

    pub fn analysis_at(&self, path: &str) -> Option<Analysis> {
        self.analysis_of(path, self.artifact.find(path)?.hash)
    }

    fn analysis_of(&self, path: &str, hash: FileHash) -> Option<Analysis> {
        analysis_in(&self.analyses, AnalysisKey::new(hash, Language::of_path(path)?))
    }

    /// Returns the names of the symbols that a file defines, one per line.
    pub fn names_at(&self, path: &str) -> String {
        let symbols = self.analysis_at(path).unwrap_or_default().symbols;
        symbols.into_iter().map(|symbol| symbol.name).collect::<Vec<_>>().join("\n")
    }

    pub fn outlines(&self, n_threads: usize) -> Vec<FileOutline<'_>> {
        let files: Vec<(&str, FileHash)> =
            self.artifact.files().into_iter().map(|(path, row)| (path, row.hash)).collect();
        self.outlines_of(&files, n_threads)
    }

    fn outlines_of<'p>(
        &self,
        files: &[(&'p str, FileHash)],
        n_threads: usize,
    ) -> Vec<FileOutline<'p>> {
        let outline = |(path, hash): &(&'p str, FileHash)| {
            let language = Language::of_path(path);
            let analysis = language
                .and_then(|language| Some(self.analysis_of(path, *hash)?.into_outline(language)));
            FileOutline { path, language, outline: analysis.unwrap_or_default() }
        };
        let batches = in_batches(files.len(), BATCH, n_threads, |batch| {
            files[batch].iter().map(outline).collect::<Vec<_>>()
        });
        batches.into_iter().flatten().collect()
    }

    /// Returns which of the given files have only been analysed line by line.
    pub fn shallow(&self, paths: &[&str]) -> Vec<String> {
        let is_shallow = |path: &&&str| {
            let Some((row, language)) = self.artifact.find(path).zip(Language::of_path(path))
            else {
                return false;
            };
            let is_read = !row.is_unread && row.stamp.size <= MAX_TEXT_BYTES as u64;
            let key = AnalysisKey::new(row.hash, language);
            let is_glanced =
                depth_of(&self.analyses, key).is_none_or(|depth| depth == Depth::Glance);
            // Do not parse a file again if its grammar has already rejected it.
            let has_failed = || {
                let analysis = analysis_in(&self.analyses, key);
                analysis.is_some_and(|analysis| analysis.problem == Some(Problem::Broken))
            };
            is_read && is_glanced && language.has_grammar() && !has_failed()
        };
        paths.iter().filter(is_shallow).map(|path| (*path).to_owned()).collect()
    }

    /// Parses files that have only been analysed line by line, stores the results, and returns the
    /// number of files parsed. A file that changed in the meantime keeps its old analysis.
    pub fn deepen(&mut self, cache: &Cache, paths: &[&str], options: &RefreshOptions) -> usize {
        let unverified = |path: String| UnverifiedFile { path, size: None, before: None };
        let files: Vec<UnverifiedFile> = self.shallow(paths).into_iter().map(unverified).collect();
        let Ok(root) = open_root(&self.project.root) else { return 0 };
        let reading = Reading {
            root: &root,
            analyses: &self.analyses,
            options,
            depth: Depth::Full,
            counts_words: false,
        };
        let mut analyses = Blobs::new();
        let read = reading.read_all(&files, |mut found| analyses.append(&mut found.analyses));
        if analyses.is_empty() {
            return 0;
        }
        let stored = cache.store_analyses(&analyses);
        self.analyses = cache.analyses();
        if stored.is_err() {
            self.analyses.hold(analyses);
        }
        files.len() - read.n_postponed
    }

    pub fn imports(&self, cache: &Cache, keeping: CacheWrites, n_threads: usize) -> Imports {
        let files: Vec<(&str, FileHash)> =
            self.artifact.files().into_iter().map(|(path, row)| (path, row.hash)).collect();
        self.imports_of(cache, keeping, &files, n_threads)
    }

    /// Resolves the imports of some files. `files` must be sorted by path.
    pub(super) fn imports_of(
        &self,
        cache: &Cache,
        keeping: CacheWrites,
        files: &[(&str, FileHash)],
        n_threads: usize,
    ) -> Imports {
        // The key includes the last full verification, because it may replace unchanged files'
        // analyses with deeper ones.
        let mut hasher = Xxh3::new();
        hasher.update(&self.artifact.head().verified_ns.to_le_bytes());
        for (path, hash) in files {
            hasher.update(path.as_bytes());
            hasher.update(&[0]);
            hasher.update(&hash.0.to_le_bytes());
        }
        let key = hasher.digest();
        if let Some(imports) = cache.load_derived(&self.project, Derived::Imports, key) {
            return imports;
        }
        let outlines = self.outlines_of(files, n_threads);
        let manifests = self.manifests(outlines.iter().map(|file| file.path));
        let imports = Resolver::new(&outlines, &manifests).follow_all(n_threads);
        if keeping == CacheWrites::On {
            let _ = cache.store_derived(&self.project, Derived::Imports, key, &imports);
        }
        imports
    }

    fn manifests<'p>(&self, paths: impl Iterator<Item = &'p str>) -> Vec<Manifest> {
        let read = |path: &str| {
            let path = RelativePath::new(path).filter(|path| is_manifest(path.name()))?;
            let mut text = String::new();
            let file = std::fs::File::open(path.below(&self.project.root)).ok()?;
            file.take(MAX_MANIFEST_BYTES).read_to_string(&mut text).ok()?;
            Some(Manifest { path, text })
        };
        paths.filter_map(read).collect()
    }

    /// Returns the content of a file, or `None` if the file has changed since the map was built.
    pub fn text(&self, path: &str) -> Option<String> {
        String::from_utf8(self.bytes(path, MAX_TEXT_BYTES as u64)?).ok()
    }

    pub fn texts(&self) -> Option<Texts> {
        Some(Texts { root: open_root(&self.project.root).ok()? })
    }

    /// Returns the bytes of a file, or `None` if the file is larger than `limit` or has changed
    /// since the map was built.
    pub(super) fn bytes(&self, path: &str, limit: u64) -> Option<Vec<u8>> {
        let row = self.artifact.find(path)?;
        self.texts()?.read(path, &row, limit)
    }

    /// Returns a hash of the checked-out commit. This takes one or two short reads.
    pub fn commit(&self) -> u64 {
        head_commit(&self.project.root)
    }

    pub fn churn(
        &self,
        cache: &Cache,
        keeping: CacheWrites,
        program: &GitProgram,
    ) -> BTreeMap<String, u32> {
        let key = self.commit();
        if let Some(churn) = cache.load_derived(&self.project, Derived::Churn, key) {
            return churn;
        }
        // The root commit is omitted because it only adds files and may be slow to list.
        let args = [
            "log",
            MAX_COMMITS,
            "--no-merges",
            "--min-parents=1",
            "--no-renames",
            "--format=",
            "--name-only",
            "-z",
        ];
        let git = program.open_at(&self.project.root);
        let log = git.and_then(|git| git.ask(&args).ok()).unwrap_or_default();
        let mut churn: BTreeMap<String, u32> = BTreeMap::new();
        let log = String::from_utf8_lossy(&log);
        for path in log.split(['\0', '\n']).filter(|path| !path.is_empty()) {
            *churn.entry(path.to_owned()).or_default() += 1;
        }
        if keeping == CacheWrites::On && !churn.is_empty() {
            let _ = cache.store_derived(&self.project, Derived::Churn, key, &churn);
        }
        churn
    }
}

/// Reads files and verifies that they match the map.
#[derive(Debug)]
pub struct Texts {
    root: OwnedFd,
}

impl Texts {
    /// Returns the content of a file, or `None` if the file has changed since the map was built.
    pub fn bytes(&self, path: &str, row: &FileRow) -> Option<Vec<u8>> {
        self.read(path, row, MAX_READ_BYTES)
    }

    fn read(&self, path: &str, row: &FileRow, limit: u64) -> Option<Vec<u8>> {
        if row.is_unread {
            return None;
        }
        let file = platform::fs::openat(&self.root, path, READABLE_FILE, Mode::empty()).ok()?;
        let size = usize::try_from(row.stamp.size.min(limit)).unwrap_or_default();
        let mut bytes = Vec::with_capacity(size + 1);
        std::fs::File::from(file).take(limit + 1).read_to_end(&mut bytes).ok()?;
        (FileHash::of(&bytes) == row.hash).then_some(bytes)
    }
}
