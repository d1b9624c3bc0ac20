//! What changed since a commit, with everything that is not committed.
//!
//! Git tells what the commit holds and what it last saw of each file; the artifact tells what is on the disk now. Git itself
//! never looks at the work tree: that would run the repository's filters. What the map does not show is not told of, either.

use std::collections::{BTreeMap, HashSet};

use nacre_core::base::git::{Git, GitFault, GitFolder, GitProgram, MAX_INDEX_BYTES};
use ring::digest::{Algorithm, Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

use super::delta::{Delta, Known, SinceError};
use super::git::{MAX_LISTING_BYTES, Tracked, object_bytes};
use super::git_index::{self, IndexEntry};
use super::look::stamp_at;
use super::read::MAX_READ_BYTES;
use super::refresh::Current;
use super::sensitive::Sensitive;
use super::walk::join;
use crate::artifact::{AnalysisKey, FileHash, FileRow};
use crate::languages::{self, Language, MAX_TEXT_BYTES};

const GIT_LINK: &str = "160000";

/// Submodules lie so deep in each other at most.
const MAX_DEPTH: usize = 8;

/// This many contents, and bytes of them, are in memory at once.
const BATCH: usize = 200;
const MAX_BATCH_BYTES: u64 = 64 << 20;

/// Of more old contents than this only the names are compared.
const MAX_CONTENT_BYTES: u64 = 512 << 20;

/// A file of the commit that is otherwise now: its path, the object that it was, and the hash of its bytes.
struct Old {
    path: String,
    object: String,
    hash: FileHash,
}

/// A plain file of a commit.
struct TreeFile<'t> {
    object: &'t str,
    path: &'t str,
    /// Whether it is the same now, as far as git's index tells.
    is_same: bool,
}

/// What a commit holds of a repository and of those that are mounted in it, beside what is on the disk.
struct Comparison<'c> {
    current: &'c Current,
    program: &'c GitProgram,
    known: Known<'c>,
    differing: Vec<Old>,
    /// Every plain file of the commit.
    held: HashSet<String>,
    /// Where repositories are mounted whose commit is not here.
    silent: Vec<String>,
    /// How many bytes of old contents were read.
    n_read: u64,
}

/// What changed since the commit that `reference` names.
pub fn delta_since_git(
    current: &Current,
    sensitive: &Sensitive,
    program: &GitProgram,
    reference: &str,
) -> Result<Delta, SinceError> {
    let root = &current.project.root;
    let none = || SinceError::NoCommit { reference: reference.chars().take(80).collect() };
    let git = program.open(GitFolder::of(root).ok_or_else(none)?)?;
    let commit = commit_of(&git, reference)?.ok_or_else(none)?;
    let mut comparison = Comparison::new(current, program);
    comparison.compare(&git, "", &commit, 0)?;
    let Comparison { known, differing, held, silent, .. } = comparison;
    let mut net = BTreeMap::new();
    for old in differing {
        if sensitive.rule_above(&old.path).is_none() {
            let after = current.artifact.find(&old.path).map(|row| row.hash);
            net.insert(old.path, (Some(old.hash), after));
        }
    }
    let tracked = Tracked::read(root, program);
    // A submodule whose commit is not here says nothing of its files.
    let is_silent = |path: &str| tracked.has(path) && silent.iter().any(|at| is_below(path, at));
    for (path, row) in current.artifact.files() {
        if !held.contains(path) && !is_silent(path) {
            net.insert(path.to_owned(), (None, Some(row.hash)));
        }
    }
    Ok(Delta::of(net, &known))
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// The full name of a commit; `None` where git knows none of that name.
fn commit_of(git: &Git, reference: &str) -> Result<Option<String>, GitFault> {
    let asked = format!("{reference}^{{commit}}");
    match git.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &asked]) {
        Ok(answer) => Ok(String::from_utf8(answer).ok().map(|name| name.trim().to_owned())),
        Err(GitFault::Failed { .. }) => Ok(None),
        Err(fault) => Err(fault),
    }
}

impl<'c> Comparison<'c> {
    fn new(current: &'c Current, program: &'c GitProgram) -> Self {
        Self {
            current,
            program,
            known: Known { analyses: &current.analyses, more: BTreeMap::new() },
            differing: Vec::new(),
            held: HashSet::new(),
            silent: Vec::new(),
            n_read: 0,
        }
    }

    /// Compares a commit of the repository at `prefix`, and those of its submodules, with the disk.
    fn compare(
        &mut self,
        git: &Git,
        prefix: &str,
        commit: &str,
        depth: usize,
    ) -> Result<(), GitFault> {
        let args = ["ls-tree", "-r", "-z", "--full-tree", commit];
        let listing = git.ask_within(&args, MAX_LISTING_BYTES)?;
        let (mut files, mut mounted) = (Vec::new(), Vec::new());
        for line in listing.split(|byte| *byte == 0) {
            let Ok(line) = std::str::from_utf8(line) else { continue };
            let Some((about, path)) = line.split_once('\t') else { continue };
            let object = about.rsplit(' ').next().unwrap_or_default();
            match about.split(' ').next() {
                _ if !git_index::is_clean(path) => {}
                Some(GIT_LINK) => mounted.push((join(prefix, path), object)),
                Some(mode) if mode.starts_with("100") => {
                    files.push(TreeFile { object, path, is_same: false });
                }
                // A link held no bytes that the map would show.
                _ => {}
            }
        }
        self.mark_same(git, prefix, &mut files)?;
        let mut differing = self.otherwise(git, prefix, &files);
        self.held.extend(files.iter().map(|file| join(prefix, file.path)));
        for batch in differing.chunks_mut(BATCH) {
            self.take_contents(git, batch);
        }
        self.differing.extend(differing);
        for (path, commit) in mounted {
            let inner = (depth < MAX_DEPTH).then(|| self.mounted_at(&path)).flatten();
            let is_told =
                inner.is_some_and(|git| self.compare(&git, &path, commit, depth + 1).is_ok());
            if !is_told {
                self.silent.push(path);
            }
        }
        Ok(())
    }

    fn mounted_at(&self, path: &str) -> Option<Git> {
        self.program.open_at(&self.current.project.root.join(path))
    }

    /// Marks the files that git's index says are as they were in the commit.
    fn mark_same(
        &self,
        git: &Git,
        prefix: &str,
        files: &mut [TreeFile<'_>],
    ) -> Result<(), GitFault> {
        let written_ns = stamp_at(&git.folder().own().join("index")).map_or(0, |it| it.mtime_ns);
        let mut next = 0;
        each_indexed(git, |entry| {
            // Both are in the order of the paths.
            while files.get(next).is_some_and(|file| file.path.as_bytes() < entry.path) {
                next += 1;
            }
            let file = files.get_mut(next).filter(|file| file.path.as_bytes() == entry.path);
            let Some(file) = file else { return };
            let is_there = !entry.is_unmerged() && is_named(file.object, entry.object);
            file.is_same = is_there
                && match self.current.artifact.find(&join(prefix, file.path)) {
                    // A file that was written after the index may differ without a trace.
                    Some(row) => entry.mtime_ns < written_ns && is_as_seen(&row, &entry),
                    None => entry.is_left_out(),
                };
        })
    }

    /// The files that are otherwise now, or are gone.
    fn otherwise(&self, git: &Git, prefix: &str, files: &[TreeFile<'_>]) -> Vec<Old> {
        let algorithm = match object_bytes(git.folder()) {
            32 => &SHA256,
            _ => &SHA1_FOR_LEGACY_USE_ONLY,
        };
        let mut differing = Vec::new();
        for file in files.iter().filter(|file| !file.is_same) {
            let path = join(prefix, file.path);
            let is_same = match self.current.artifact.find(&path) {
                Some(_) => self
                    .current
                    .bytes(&path, MAX_READ_BYTES)
                    .is_some_and(|bytes| blob_name(algorithm, &bytes) == file.object),
                // It is there, and the map does not show it.
                None => stamp_at(&self.current.project.root.join(&path)).is_some(),
            };
            if !is_same {
                // Until its bytes are known it is told from others by its name.
                let hash = FileHash::of(file.object.as_bytes());
                differing.push(Old { path, object: file.object.to_owned(), hash });
            }
        }
        differing
    }

    /// Asks git what files held. Contents that are too many at once are asked for in halves.
    fn take_contents(&mut self, git: &Git, asked: &mut [Old]) {
        if asked.is_empty() || MAX_CONTENT_BYTES < self.n_read {
            return;
        }
        let objects: Vec<&str> = asked.iter().map(|old| old.object.as_str()).collect();
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

    fn take_batch(&mut self, answer: &[u8], asked: &mut [Old]) {
        self.n_read = self.n_read.saturating_add(answer.len() as u64);
        let mut rest = answer;
        for old in asked {
            let Some((bytes, after)) = next_object(rest) else { return };
            rest = after;
            let Some(bytes) = bytes else { continue };
            old.hash = FileHash::of(bytes);
            if let Some(language) = Language::of_path(&old.path)
                && bytes.len() <= MAX_TEXT_BYTES
            {
                let key = AnalysisKey::new(old.hash, language);
                let analyse = || languages::analyse(language, bytes);
                self.known.more.entry(key).or_insert_with(analyse);
            }
        }
    }
}

/// Whether a file still looks as it did when git last compared it.
fn is_as_seen(row: &FileRow, entry: &IndexEntry<'_>) -> bool {
    // A git that knows no fractions of a second writes none.
    let unit = if entry.mtime_ns % 1_000_000_000 == 0 { 1_000_000_000 } else { 1 };
    row.stamp.mtime_ns / unit == entry.mtime_ns / unit
        && row.stamp.size & u64::from(u32::MAX) == u64::from(entry.size)
}

/// Whether an object has this name in hexadecimal digits.
fn is_named(hex: &str, object: &[u8]) -> bool {
    hex.len() == 2 * object.len()
        && hex.as_bytes().chunks(2).zip(object).all(|(digits, byte)| {
            let text = std::str::from_utf8(digits).unwrap_or_default();
            u8::from_str_radix(text, 16).is_ok_and(|number| number == *byte)
        })
}

/// The name that git would give to a file with these bytes.
fn blob_name(algorithm: &'static Algorithm, bytes: &[u8]) -> String {
    let mut context = Context::new(algorithm);
    context.update(format!("blob {}\0", bytes.len()).as_bytes());
    context.update(bytes);
    context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hands over what git's index holds, in the order of the paths. What cannot be read here git is asked for.
fn each_indexed(git: &Git, mut visit: impl FnMut(IndexEntry<'_>)) -> Result<(), GitFault> {
    let folder = git.folder();
    let index = folder.read_bytes("index", MAX_INDEX_BYTES).unwrap_or_default();
    // A half-read index must not be visited twice.
    if git_index::each_entry(&index, object_bytes(folder), |_| {}).is_some() {
        let _ = git_index::each_entry(&index, object_bytes(folder), visit);
        return Ok(());
    }
    let listing = git.ask_within(&["ls-files", "--stage", "--debug", "-z"], MAX_LISTING_BYTES)?;
    git_index::each_listed(&listing, &mut visit);
    Ok(())
}

/// One object of a batch: its bytes, if git has it and they are not too many, and what follows.
fn next_object(answer: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let end = memchr::memchr(b'\n', answer)?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let rest = &answer[end + 1..];
    let Some(size) = head.split(' ').nth(2).and_then(|size| size.parse::<usize>().ok()) else {
        return Some((None, rest));
    };
    let (bytes, rest) = rest.split_at_checked(size)?;
    let bytes = (bytes.len() as u64 <= MAX_READ_BYTES).then_some(bytes);
    Some((bytes, rest.get(1..)?))
}
