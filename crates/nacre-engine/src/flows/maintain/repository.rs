//! What a repository holds and once held, asked of git.
//!
//! A file is gone only with proof: its history has a commit that deleted it, nothing took its place, and it is neither in
//! the last commit nor on disk. Without git there is no proof, and what is only not checked out is still in the commit.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use aho_corasick::AhoCorasick;
use ignore::WalkBuilder;
use jiff::Timestamp;
use nacre_core::base::git::{Git, GitFault, GitProgram};
use nacre_core::safefs::RelPath;

/// Names that are looked up in history in one run; the others wait for the next.
const MAX_LOOKED_UP: usize = 512;
const MAX_SYMBOLS: usize = 64;

/// Bounds of the search for symbols; beyond them nothing is said to be missing.
const MAX_FILES: usize = 20_000;
const MAX_FILE_BYTES: u64 = 1 << 20;
const MAX_TOTAL_BYTES: u64 = 256 << 20;
const MAX_TIME: Duration = Duration::from_secs(1);

/// Names that are searched for, their bytes, and how often they may be found: names may stand within each other.
const MAX_NAMES: usize = 4096;
const MAX_NAME_BYTES: usize = 256 << 10;
const MAX_HITS: usize = 4_000_000;

/// Folders that programs fill.
const MADE: &[&str] =
    &["target", "node_modules", "build", "dist", "out", "__pycache__", "venv", "vendor"];

/// Nacre's own folder names what memories name.
const NOT_OURS: &[&str] = &["--", ".", ":(exclude).nacre"];

/// What is known of a file or a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    Here,
    /// It once was, and is no more.
    Gone,
    Unknown,
}

/// A checkout, looked at once.
#[derive(Debug)]
pub(super) struct Repository {
    root: PathBuf,
    git: Option<Git>,
    /// The files of the last commit by their last component; `None` where there is no commit.
    tracked: Option<HashMap<String, Vec<String>>>,
}

impl Repository {
    pub(super) fn open(program: &GitProgram, root: &Path) -> Self {
        let git = program.open_at(root);
        let list = ["ls-tree", "-r", "-z", "--full-tree", "--name-only", "HEAD"];
        let listed = git.as_ref().and_then(|git| text(git.ask(&list)));
        let tracked = listed.map(|listed| {
            let mut by_name: HashMap<String, Vec<String>> = HashMap::new();
            for path in listed.split('\0').filter(|path| !path.is_empty()) {
                let name = path.rsplit('/').next().unwrap_or(path);
                by_name.entry(name.to_owned()).or_default().push(path.to_owned());
            }
            by_name
        });
        Self { root: root.to_owned(), git, tracked }
    }

    /// What is known of these files.
    pub(super) fn files(&self, names: &BTreeSet<String>) -> BTreeMap<String, Fact> {
        let mut facts = BTreeMap::new();
        let mut missing = Vec::new();
        for name in names {
            let fact = if self.is_here(name) { Fact::Here } else { Fact::Unknown };
            facts.insert(name.clone(), fact);
            let is_path = RelPath::new(name).is_ok() && name.contains('/');
            if fact == Fact::Unknown && is_path && self.tracked.is_some() {
                missing.push(name.as_str());
            }
        }
        missing.truncate(MAX_LOOKED_UP);
        for name in self.deleted(&missing) {
            facts.insert(name, Fact::Gone);
        }
        facts
    }

    /// On disk, or in the last commit, also by the end of its path.
    fn is_here(&self, name: &str) -> bool {
        let is_tracked = self.tracked.as_ref().is_some_and(|tracked| {
            let last = name.rsplit('/').next().unwrap_or(name);
            let same = tracked.get(last).map(Vec::as_slice).unwrap_or_default();
            same.iter().any(|path| {
                path.strip_suffix(name).is_some_and(|head| head.is_empty() || head.ends_with('/'))
            })
        });
        let is_on_disk = RelPath::new(name)
            .is_ok_and(|path| self.root.join(path.as_str()).symlink_metadata().is_ok());
        is_tracked || is_on_disk
    }

    /// Of these files those that a commit deleted and no other file took the place of.
    fn deleted(&self, names: &[&str]) -> Vec<String> {
        if names.is_empty() {
            return Vec::new();
        }
        let literal: Vec<String> = names.iter().map(|name| format!(":(literal){name}")).collect();
        let literal: Vec<&str> = literal.iter().map(String::as_str).collect();
        let log = ["log", "--name-only", "--no-renames", "--diff-filter=D", "--format=:%H"];
        let only = ["HEAD", "--"];
        let listed = self.ask(&[log.as_slice(), &only, &literal].concat()).unwrap_or_default();
        let mut last: BTreeMap<&str, &str> = BTreeMap::new();
        let mut commit = "";
        for line in listed.lines().filter(|line| !line.is_empty()) {
            match line.strip_prefix(':') {
                Some(hash) => commit = hash,
                None => {
                    last.entry(line).or_insert(commit);
                }
            }
        }
        let mut renames: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
        let mut gone = Vec::new();
        for (name, commit) in last {
            let renamed = renames.entry(commit).or_insert_with(|| self.renamed_in(commit));
            let to = renamed.iter().find(|(from, _)| from == name).map(|(_, to)| to);
            if to.is_none_or(|to| !self.is_here(to)) {
                gone.push(name.to_owned());
            }
        }
        gone
    }

    /// The files that a commit renamed, and to what.
    fn renamed_in(&self, commit: &str) -> Vec<(String, String)> {
        let show = ["show", "-M", "-z", "--diff-filter=R", "--name-status", "--format=", commit];
        let shown = self.ask(&show).unwrap_or_default();
        let fields: Vec<&str> = shown.split('\0').collect();
        let renamed = |fields: &[&str]| (fields[1].to_owned(), fields[2].to_owned());
        fields.chunks_exact(3).map(renamed).collect()
    }

    /// What is known of these symbols, each with the time at which somebody spoke of it.
    ///
    /// Of those that are too many, and of all when the search takes too long, nothing is known.
    pub(super) fn symbols(
        &self,
        named: &BTreeMap<String, Timestamp>,
        clock: &dyn Fn() -> Duration,
    ) -> BTreeMap<String, Fact> {
        let mut facts: BTreeMap<String, Fact> =
            named.keys().map(|name| (name.clone(), Fact::Unknown)).collect();
        if self.tracked.is_none() || named.is_empty() {
            return facts;
        }
        let names = searched(named);
        let Some(absent) = self.absent(&names, clock) else { return facts };
        for name in names.iter().filter(|name| !absent.contains(**name)) {
            facts.insert((*name).to_owned(), Fact::Here);
        }
        for name in absent.into_iter().take(MAX_SYMBOLS) {
            let was_here = || self.was_here(name, named[name]);
            // Where git cannot say that a word is gone, it is not.
            if self.holds("HEAD", name) == Some(false) && was_here() {
                facts.insert(name.to_owned(), Fact::Gone);
            }
        }
        facts
    }

    /// The names that stand in no file; `None` when there is more to read than can be.
    fn absent<'n>(
        &self,
        names: &[&'n str],
        clock: &dyn Fn() -> Duration,
    ) -> Option<BTreeSet<&'n str>> {
        let finder = AhoCorasick::new(names).ok()?;
        let mut absent: BTreeSet<&str> = names.iter().copied().collect();
        let (began, mut n_files, mut n_bytes, mut n_hits) = (clock(), 0, 0, 0);
        for entry in self.walk().flatten() {
            let size = entry.metadata().map_or(0, |metadata| metadata.len());
            if absent.is_empty() {
                break;
            }
            if size > MAX_FILE_BYTES || !entry.file_type()?.is_file() {
                continue;
            }
            (n_files, n_bytes) = (n_files + 1, n_bytes + size);
            let is_late = MAX_TIME < clock().saturating_sub(began);
            if is_late || n_files > MAX_FILES || n_bytes > MAX_TOTAL_BYTES {
                return None;
            }
            let Ok(bytes) = std::fs::read(entry.path()) else { continue };
            for hit in finder.find_overlapping_iter(&bytes) {
                absent.remove(names[hit.pattern().as_usize()]);
                n_hits += 1;
                if n_hits > MAX_HITS {
                    return None;
                }
            }
        }
        Some(absent)
    }

    /// The files of the checkout, less what is hidden or made. Rules of the repository are not read: they could be any file.
    fn walk(&self) -> ignore::Walk {
        let is_wanted = |entry: &ignore::DirEntry| {
            let name = entry.file_name().to_string_lossy();
            entry.depth() == 0 || !(name.starts_with('.') || MADE.contains(&&*name))
        };
        WalkBuilder::new(&self.root).standard_filters(false).filter_entry(is_wanted).build()
    }

    /// Whether the repository held a word when somebody spoke of it.
    fn was_here(&self, name: &str, when: Timestamp) -> bool {
        let before = format!("--before={when}");
        let commit = self.ask(&["rev-list", "-1", &before, "HEAD"]).unwrap_or_default();
        !commit.trim().is_empty() && self.holds(commit.trim(), name) == Some(true)
    }

    /// Whether a commit holds a word; `None` where git cannot tell.
    fn holds(&self, commit: &str, word: &str) -> Option<bool> {
        let grep = ["grep", "-q", "-w", "-F", "-e", word, commit];
        match self.git.as_ref()?.ask(&[grep.as_slice(), NOT_OURS].concat()) {
            Ok(_) => Some(true),
            Err(GitFault::Failed { code: Some(1), .. }) => Some(false),
            Err(_) => None,
        }
    }

    fn ask(&self, args: &[&str]) -> Option<String> {
        text(self.git.as_ref()?.ask(args))
    }
}

/// Of these names as many as are searched for.
fn searched(named: &BTreeMap<String, Timestamp>) -> Vec<&str> {
    let mut n_bytes = 0;
    let fits = |name: &&str| {
        n_bytes += name.len();
        n_bytes <= MAX_NAME_BYTES
    };
    named.keys().map(String::as_str).take(MAX_NAMES).take_while(fits).collect()
}

fn text(answer: Result<Vec<u8>, GitFault>) -> Option<String> {
    answer.ok().map(|answer| String::from_utf8_lossy(&answer).into_owned())
}
