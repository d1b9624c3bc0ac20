//! Computes the changes since a commit, including uncommitted ones.
//!
//! Git lists the files in the commit and in its index, and the artifact describes the state on
//! disk. Git never reads the work tree, because that would run the repository's filters. Changes
//! outside the map are not listed.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use nacre_base::git::{Git, GitFault, GitFolder, MAX_INDEX_BYTES, next_object};
use ring::digest::{Algorithm, Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

use super::delta::{Delta, KnownAnalyses, SinceError};
use super::git::{Tracked, object_bytes};
use super::git_index::{self, IndexEntry, PathBudget};
use super::options::RefreshOptions;
use super::read::{MAX_READ_BYTES, depth_of};
use super::refresh::Current;
use super::walk::join;
use crate::artifact::{AnalysisKey, FileHash, FileRow, Stamp};
use crate::languages::{self, Depth, Language, MAX_TEXT_BYTES};

type Result<T, E = SinceError> = std::result::Result<T, E>;

const GIT_LINK: &str = "160000";

const MAX_DEPTH: usize = 8;
const MAX_MOUNTED: usize = 1_000;

/// Maximum size of the listings for a commit and its submodules. This is enough for half a million
/// files whose paths total 64 MB. The limit is needed because a commit can contain the same
/// directory any number of times.
const MAX_TREE_BYTES: u64 = 96 << 20;
const MAX_TREE_FILES: usize = 750_000;

const MAX_INDEX_LISTING_BYTES: u64 = 192 << 20;

const MAX_DIFFERING: usize = 250_000;
const MAX_DIFFERING_BYTES: usize = 32 << 20;

/// Number of files to process between deadline checks.
const FILES_A_LOOK: usize = 1_000;

const BATCH: usize = 200;
const MAX_BATCH_BYTES: u64 = 64 << 20;

/// Maximum number of old file contents to read; for any others, only hashes are compared. Git is
/// started once per batch.
const MAX_CONTENTS: usize = 20_000;

/// Maximum number of changed files to parse. Any others are compared line by line.
const MAX_CLOSER: usize = 2_000;
const MAX_CONTENT_BYTES: u64 = 512 << 20;

struct Old<'t> {
    path: String,
    object: &'t str,
    hash: FileHash,
    is_gone: bool,
}

struct TreeFile<'t> {
    object: &'t str,
    path: &'t str,
    is_same: bool,
}

#[derive(Default)]
struct Tree<'t> {
    files: Vec<TreeFile<'t>>,
    mounted: Vec<(&'t str, &'t str)>,
}

struct Comparison<'c> {
    current: &'c Current,
    options: &'c RefreshOptions,
    known: KnownAnalyses<'c>,
    /// Files whose content differs from the commit, with their hashes in the commit.
    differing: Vec<(String, FileHash)>,
    held: HashSet<String>,
    /// Paths of submodules whose commit is missing.
    silent: HashSet<String>,
    n_read: u64,
    left_tree_bytes: u64,
    left_tree_files: usize,
    left_mounted: usize,
    left_differing: usize,
    left_differing_bytes: usize,
    left_contents: usize,
}

pub fn delta_since_git(
    current: &Current,
    options: &RefreshOptions,
    reference: &str,
) -> Result<Delta> {
    let root = &current.project.root;
    let program = &options.git;
    let none = || SinceError::NoCommit { reference: reference.chars().take(80).collect() };
    let git = program.open(GitFolder::of(root).ok_or_else(none)?)?;
    let commit = commit_of(&git, reference)?.ok_or_else(none)?;
    let mut comparison = Comparison::new(current, options);
    comparison.compare(&git, "", &commit, 0)?;
    comparison.look_closer();
    let Comparison { known, differing, held, silent, .. } = comparison;
    let mut net = BTreeMap::new();
    for (path, hash) in differing {
        let after = current.artifact.find(&path).map(|row| row.hash);
        net.insert(path, (Some(hash), after));
    }
    let tracked = match silent.is_empty() {
        true => Tracked::default(),
        false => Tracked::read(root, program, &options.deadline),
    };
    // If a submodule's commit is missing, its files are not compared.
    let is_in_silent =
        |path: &str| path.match_indices('/').any(|(at, _)| silent.contains(&path[..at]));
    let is_silent = |path: &str| tracked.has(path) && is_in_silent(path);
    for (path, row) in current.artifact.files() {
        if !held.contains(path) && !is_silent(path) {
            net.insert(path.to_owned(), (None, Some(row.hash)));
        }
    }
    Ok(Delta::of(net, &known))
}

fn commit_of(git: &Git, reference: &str) -> Result<Option<String>, GitFault> {
    let asked = format!("{reference}^{{commit}}");
    match git.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &asked]) {
        Ok(answer) => Ok(String::from_utf8(answer).ok().map(|name| name.trim().to_owned())),
        Err(GitFault::Failed { .. }) => Ok(None),
        Err(fault) => Err(fault),
    }
}

impl<'c> Comparison<'c> {
    fn new(current: &'c Current, options: &'c RefreshOptions) -> Self {
        Self {
            current,
            options,
            known: KnownAnalyses { stored: &current.analyses, more: BTreeMap::new() },
            differing: Vec::new(),
            held: HashSet::new(),
            silent: HashSet::new(),
            n_read: 0,
            left_tree_bytes: MAX_TREE_BYTES,
            left_tree_files: MAX_TREE_FILES,
            left_mounted: MAX_MOUNTED,
            left_differing: MAX_DIFFERING,
            left_differing_bytes: MAX_DIFFERING_BYTES,
            left_contents: MAX_CONTENTS,
        }
    }

    fn compare(&mut self, git: &Git, prefix: &str, commit: &str, depth: usize) -> Result<()> {
        let args = ["ls-tree", "-r", "-z", "--full-tree", commit];
        let listing = match git.ask_within(&args, self.left_tree_bytes) {
            Err(GitFault::TooLong { .. }) => return Err(SinceError::TooLarge),
            answer => answer?,
        };
        self.left_tree_bytes = self.left_tree_bytes.saturating_sub(listing.len() as u64);
        let Tree { mut files, mounted } = self.tree(&listing)?;
        self.mark_same(git, prefix, &mut files)?;
        let mut differing = self.otherwise(git, prefix, &files)?;
        let paths = files.iter().map(|file| join(prefix, file.path));
        self.held.extend(paths.filter(|path| self.current.artifact.find(path).is_some()));
        self.take_all_contents(git, &mut differing)?;
        self.differing.extend(differing.into_iter().map(|old| (old.path, old.hash)));
        for (path, commit) in mounted {
            let path = join(prefix, path);
            if !self.compare_mounted(&path, commit, depth)? {
                self.pay_for(&path)?;
                self.silent.insert(path);
            }
        }
        Ok(())
    }

    fn compare_mounted(&mut self, path: &str, commit: &str, depth: usize) -> Result<bool> {
        let left = self.left_mounted.checked_sub(1).filter(|_| depth < MAX_DEPTH);
        let Some(left) = left else { return Ok(false) };
        self.left_mounted = left;
        let folder = self.current.project.root.join(path);
        let Some(git) = self.options.git.open_at(&folder) else { return Ok(false) };
        match self.compare(&git, path, commit, depth + 1) {
            Err(fault @ (SinceError::TooLarge | SinceError::TimedOut)) => Err(fault),
            told => Ok(told.is_ok()),
        }
    }

    /// Parses the output of `git ls-tree -r -z`.
    fn tree<'t>(&mut self, listing: &'t [u8]) -> Result<Tree<'t>> {
        let mut tree = Tree::default();
        for (number, line) in listing.split(|byte| *byte == 0).enumerate() {
            self.check_time(number)?;
            let Ok(line) = std::str::from_utf8(line) else { continue };
            let Some((about, path)) = line.split_once('\t') else { continue };
            let left = self.left_tree_files.checked_sub(1);
            self.left_tree_files = left.ok_or(SinceError::TooLarge)?;
            let object = about.rsplit(' ').next().unwrap_or_default();
            match about.split(' ').next() {
                _ if !git_index::is_clean(path) => {}
                Some(GIT_LINK) => tree.mounted.push((path, object)),
                Some(mode) if mode.starts_with("100") => {
                    tree.files.push(TreeFile { object, path, is_same: false });
                }
                // Symbolic links are not part of the map.
                _ => {}
            }
        }
        Ok(tree)
    }

    fn check_time(&self, number: usize) -> Result<()> {
        let is_asked = number % FILES_A_LOOK == FILES_A_LOOK - 1;
        if is_asked && self.options.deadline.is_over() { Err(SinceError::TimedOut) } else { Ok(()) }
    }

    fn mark_same(
        &self,
        git: &Git,
        prefix: &str,
        files: &mut [TreeFile<'_>],
    ) -> Result<(), GitFault> {
        let written_ns = Stamp::at(&git.folder().own().join("index")).map_or(0, |it| it.mtime_ns);
        let mut next = 0;
        let mut budget = PathBudget::new(&self.options.deadline);
        each_indexed(git, |entry| {
            budget.take(entry.path.len())?;
            // Both lists are sorted by path.
            while files.get(next).is_some_and(|file| file.path.as_bytes() < entry.path) {
                next += 1;
            }
            let file = files.get_mut(next).filter(|file| file.path.as_bytes() == entry.path);
            let Some(file) = file else { return ControlFlow::Continue(()) };
            let is_there = !entry.is_unmerged() && is_named(file.object, entry.object);
            file.is_same = is_there
                && match self.current.artifact.find(&join(prefix, file.path)) {
                    // If a file was written after the index, its content may have changed while its
                    // stamp stayed the same.
                    Some(row) => entry.mtime_ns < written_ns && is_as_seen(&row, &entry),
                    None => entry.is_left_out(),
                };
            ControlFlow::Continue(())
        })
    }

    /// Returns the files in the commit that have since been changed or removed.
    fn otherwise<'t>(
        &mut self,
        git: &Git,
        prefix: &str,
        files: &[TreeFile<'t>],
    ) -> Result<Vec<Old<'t>>> {
        let algorithm = match object_bytes(git.folder()) {
            32 => &SHA256,
            _ => &SHA1_FOR_LEGACY_USE_ONLY,
        };
        let mut differing = Vec::new();
        for (number, file) in files.iter().filter(|file| !file.is_same).enumerate() {
            self.check_time(number)?;
            let path = join(prefix, file.path);
            let is_gone = self.current.artifact.find(&path).is_none();
            let is_same = match is_gone {
                false => self
                    .current
                    .bytes(&path, MAX_READ_BYTES)
                    .is_some_and(|bytes| blob_name(algorithm, &bytes) == file.object),
                // A file that exists but is not in the map counts as unchanged.
                true => Stamp::at(&self.current.project.root.join(&path)).is_some(),
            };
            if is_same || self.options.sensitive.rule_above(&path).is_some() {
                continue;
            }
            self.pay_for(&path)?;
            // The object ID serves as the hash until the bytes have been read.
            let hash = FileHash::of(file.object.as_bytes());
            differing.push(Old { path, object: file.object, hash, is_gone });
        }
        Ok(differing)
    }

    fn pay_for(&mut self, path: &str) -> Result<()> {
        let n_files = self.left_differing.checked_sub(1);
        let n_bytes = self.left_differing_bytes.checked_sub(path.len());
        (self.left_differing, self.left_differing_bytes) =
            n_files.zip(n_bytes).ok_or(SinceError::TooLarge)?;
        Ok(())
    }

    /// Parses both versions of each differing file so that they can be compared.
    fn look_closer(&mut self) {
        let current = self.current;
        for (path, _) in self.differing.iter().take(MAX_CLOSER) {
            let Some((row, language)) = current.artifact.find(path).zip(Language::of_path(path))
            else {
                continue;
            };
            let key = AnalysisKey::new(row.hash, language);
            let is_known = depth_of(&current.analyses, key) == Some(Depth::Full);
            if is_known || !language.has_grammar() || self.options.deadline.is_over() {
                continue;
            }
            if let Some(text) = current.text(path) {
                self.known.more.insert(key, languages::analyse(language, text.as_bytes()));
            }
        }
    }

    /// Reads each distinct old content from git once. Contents of files that still exist come
    /// first.
    fn take_all_contents(&mut self, git: &Git, differing: &mut [Old<'_>]) -> Result<()> {
        differing.sort_unstable_by(|a, b| (a.is_gone, a.object).cmp(&(b.is_gone, b.object)));
        let is_same = |a: &Old<'_>, b: &Old<'_>| (a.is_gone, a.object) == (b.is_gone, b.object);
        let mut contents: Vec<&mut [Old<'_>]> =
            differing.chunk_by_mut(is_same).take(self.left_contents).collect();
        self.left_contents -= contents.len();
        for (number, batch) in contents.chunks_mut(BATCH).enumerate() {
            // The first batch is always read, even after the deadline.
            if 0 < number && self.options.deadline.is_over() {
                return Err(SinceError::TimedOut);
            }
            self.take_contents(git, batch);
        }
        Ok(())
    }

    /// Reads old contents. Each inner slice lists files with the same content. If git's output
    /// exceeds the limit, the batch is split in half.
    fn take_contents(&mut self, git: &Git, asked: &mut [&mut [Old<'_>]]) {
        if asked.is_empty() || MAX_CONTENT_BYTES < self.n_read {
            return;
        }
        let objects: Vec<&str> =
            asked.iter().filter_map(|files| files.first()).map(|old| old.object).collect();
        let lines = format!("{}\n", objects.join("\n")).into_bytes();
        match git.ask_with(&["cat-file", "--batch"], lines, MAX_BATCH_BYTES) {
            Ok(answer) => self.take_batch(&answer, asked),
            Err(GitFault::TooLong { limit }) if 1 < asked.len() => {
                self.n_read = self.n_read.saturating_add(limit);
                let (head, tail) = asked.split_at_mut(asked.len() / 2);
                self.take_contents(git, head);
                self.take_contents(git, tail);
            }
            Err(_) => {}
        }
    }

    fn take_batch(&mut self, answer: &[u8], asked: &mut [&mut [Old<'_>]]) {
        self.n_read = self.n_read.saturating_add(answer.len() as u64);
        let mut rest = answer;
        for files in asked {
            let Some((bytes, after)) = next_object(rest) else { return };
            rest = after;
            let bytes = bytes.filter(|bytes| bytes.len() as u64 <= MAX_READ_BYTES);
            let Some(bytes) = bytes else { continue };
            let hash = FileHash::of(bytes);
            for old in files.iter_mut() {
                old.hash = hash;
                if let Some(language) = Language::of_path(&old.path)
                    && bytes.len() <= MAX_TEXT_BYTES
                {
                    let key = AnalysisKey::new(hash, language);
                    let analyse = || languages::analyse(language, bytes);
                    self.known.more.entry(key).or_insert_with(analyse);
                }
            }
        }
    }
}

fn is_as_seen(row: &FileRow, entry: &IndexEntry<'_>) -> bool {
    // Git may have been built without support for sub-second timestamps.
    let unit = if entry.mtime_ns % 1_000_000_000 == 0 { 1_000_000_000 } else { 1 };
    row.stamp.mtime_ns / unit == entry.mtime_ns / unit
        && row.stamp.size & u64::from(u32::MAX) == u64::from(entry.size)
}

fn is_named(hex: &str, object: &[u8]) -> bool {
    hex.len() == 2 * object.len()
        && hex.as_bytes().chunks(2).zip(object).all(|(digits, byte)| {
            let text = std::str::from_utf8(digits).unwrap_or_default();
            u8::from_str_radix(text, 16).is_ok_and(|number| number == *byte)
        })
}

fn blob_name(algorithm: &'static Algorithm, bytes: &[u8]) -> String {
    let mut context = Context::new(algorithm);
    context.update(format!("blob {}\0", bytes.len()).as_bytes());
    context.update(bytes);
    context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Visits the entries in git's index in path order. If the parser does not support the index
/// format, git reads the index.
fn each_indexed(
    git: &Git,
    mut visit: impl FnMut(IndexEntry<'_>) -> ControlFlow<()>,
) -> Result<(), GitFault> {
    let folder = git.folder();
    let index = folder.read_bytes("index", MAX_INDEX_BYTES).unwrap_or_default();
    // Check the whole index first: if reading it failed partway through, the fallback would visit
    // some entries again.
    if git_index::each_entry(&index, object_bytes(folder), |_| ControlFlow::Continue(())).is_some()
    {
        let _ = git_index::each_entry(&index, object_bytes(folder), visit);
        return Ok(());
    }
    let args = ["ls-files", "--stage", "--debug", "-z"];
    let listing = git.ask_within(&args, MAX_INDEX_LISTING_BYTES)?;
    git_index::each_listed(&listing, &mut visit);
    Ok(())
}
