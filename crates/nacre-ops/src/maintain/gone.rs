//! Finds memories about files or symbols that are no longer in the repository, according to git.
//!
//! A file is gone only if a commit deleted it, no other file replaced it, and it is neither in the
//! last commit nor on disk. A memory is kept if any of its files still exists, or if the memory
//! could be about the removal itself.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use aho_corasick::AhoCorasick;
use ignore::WalkBuilder;
use nacre_base::git::{Git, GitFault, GitProgram};
use nacre_memory::search::{files_named, symbols_named};

use super::gather::{CollectedMemory, Collection};
use crate::prelude::*;

/// A repository's working tree and history.
#[derive(Clone, Debug)]
pub struct Checkout {
    pub root: PathBuf,
    pub git: GitProgram,
}

/// Words that suggest that a text is about a removal.
const FAREWELLS: &str = include_str!("farewells.txt");

/// Returns the indexes of memories whose files or symbols are gone, with the reason for each
/// memory.
pub(super) fn find_gone(
    collection: &Collection,
    checkout: Option<&Checkout>,
    clock: &dyn Fn() -> Duration,
) -> BTreeMap<usize, String> {
    let Some(Checkout { root, git }) = checkout else { return BTreeMap::new() };
    let named: Vec<NamedThings> = collection.held.iter().map(NamedThings::of).collect();
    if named.iter().all(|named| named.files.is_empty() && named.symbols.is_empty()) {
        return BTreeMap::new();
    }
    let repository = Repository::open(git, root);
    let files: BTreeSet<String> = named.iter().flat_map(|named| named.files.clone()).collect();
    let files = repository.files(&files);
    let symbols = repository.symbols(&symbols_to_ask(&named, &files), clock);
    let reason = |(idx, named): (usize, &NamedThings)| Some((idx, named.reason(&files, &symbols)?));
    named.iter().enumerate().filter_map(reason).collect()
}

/// Returns the symbols to search for, with the earliest time at which each was mentioned. Skips
/// memories that name a file already known to exist or to be missing.
fn symbols_to_ask(
    named: &[NamedThings],
    files: &BTreeMap<String, Presence>,
) -> BTreeMap<String, Timestamp> {
    let mut symbols: BTreeMap<String, Timestamp> = BTreeMap::new();
    for one in
        named.iter().filter(|one| one.files.iter().all(|file| files[file] == Presence::Unknown))
    {
        for symbol in &one.symbols {
            let when = symbols.entry(symbol.clone()).or_insert(one.when);
            *when = one.when.min(*when);
        }
    }
    symbols
}

struct NamedThings {
    files: Vec<String>,
    symbols: Vec<String>,
    when: Timestamp,
}

impl NamedThings {
    fn of(one: &CollectedMemory) -> Self {
        let text = format!("{}\n{}", one.memory.title, one.claim());
        let lower = text.to_lowercase();
        let when = one.memory.created.unwrap_or(one.said);
        if !one.is_standing() || FAREWELLS.lines().any(|word| lower.contains(word)) {
            return Self { files: Vec::new(), symbols: Vec::new(), when };
        }
        Self { files: files_named(&text), symbols: symbols_named(&text), when }
    }

    fn reason(
        &self,
        files: &BTreeMap<String, Presence>,
        symbols: &BTreeMap<String, Presence>,
    ) -> Option<String> {
        let fact = |facts: &BTreeMap<String, Presence>, name: &String| {
            facts.get(name).copied().unwrap_or(Presence::Unknown)
        };
        let judge = |names: &[String], facts: &BTreeMap<String, Presence>| {
            let is_here = names.iter().any(|name| fact(facts, name) == Presence::Here);
            let gone = names.iter().find(|name| fact(facts, name) == Presence::Gone);
            gone.filter(|_| !is_here).cloned()
        };
        let is_file_here = self.files.iter().any(|name| fact(files, name) == Presence::Here);
        let gone = judge(&self.files, files)
            .or_else(|| judge(&self.symbols, symbols).filter(|_| !is_file_here))?;
        Some(format!("`{gone}` is no longer in the repository"))
    }
}

const MAX_LOOKED_UP: usize = 512;
const MAX_SYMBOLS: usize = 64;

/// Limits for the symbol search. If any of these limits is exceeded, no symbols are reported as
/// gone.
const MAX_FILES: usize = 20_000;
const MAX_FILE_BYTES: u64 = 1 << 20;
const MAX_TOTAL_BYTES: u64 = 256 << 20;
const MAX_TIME: Duration = Duration::from_secs(1);

/// Maximum number of names to search for, their maximum total length, and the maximum number of
/// matches.
const MAX_NAMES: usize = 4096;
const MAX_NAME_BYTES: usize = 256 << 10;
const MAX_HITS: usize = 4_000_000;

const MADE: &[&str] =
    &["target", "node_modules", "build", "dist", "out", "__pycache__", "venv", "vendor"];

/// Excludes Nacre's own directory, because the memories in it contain the names.
const NOT_OURS: &[&str] = &["--", ".", ":(exclude).nacre"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Here,
    Gone,
    Unknown,
}

#[derive(Debug)]
struct Repository {
    root: PathBuf,
    git: Option<Git>,
    /// The files in the last commit, grouped by file name. `None` if the repository has no commits.
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

    pub(super) fn files(&self, names: &BTreeSet<String>) -> BTreeMap<String, Presence> {
        let mut facts = BTreeMap::new();
        let mut missing = Vec::new();
        for name in names {
            let fact = if self.is_here(name) { Presence::Here } else { Presence::Unknown };
            facts.insert(name.clone(), fact);
            let is_path = RelPath::new(name).is_ok() && name.contains('/');
            if fact == Presence::Unknown && is_path && self.tracked.is_some() {
                missing.push(name.as_str());
            }
        }
        missing.truncate(MAX_LOOKED_UP);
        for name in self.find_deleted(&missing) {
            facts.insert(name, Presence::Gone);
        }
        facts
    }

    /// Returns whether a file is on disk or in the last commit. A partial path matches if a full
    /// path ends with it.
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

    fn find_deleted(&self, names: &[&str]) -> Vec<String> {
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
            let renamed = renames.entry(commit).or_insert_with(|| {
                let show =
                    ["show", "-M", "-z", "--diff-filter=R", "--name-status", "--format=", commit];
                let shown = self.ask(&show).unwrap_or_default();
                let fields: Vec<&str> = shown.split('\0').collect();
                let renamed = |fields: &[&str]| (fields[1].to_owned(), fields[2].to_owned());
                fields.chunks_exact(3).map(renamed).collect()
            });
            let to = renamed.iter().find(|(from, _)| from == name).map(|(_, to)| to);
            if to.is_none_or(|to| !self.is_here(to)) {
                gone.push(name.to_owned());
            }
        }
        gone
    }

    /// Returns whether these symbols still exist, given the time when each was mentioned. If a
    /// limit is reached, the remaining symbols are reported as unknown.
    fn symbols(
        &self,
        named: &BTreeMap<String, Timestamp>,
        clock: &dyn Fn() -> Duration,
    ) -> BTreeMap<String, Presence> {
        let mut facts: BTreeMap<String, Presence> =
            named.keys().map(|name| (name.clone(), Presence::Unknown)).collect();
        if self.tracked.is_none() || named.is_empty() {
            return facts;
        }
        let mut n_bytes = 0;
        let fits = |name: &&str| {
            n_bytes += name.len();
            n_bytes <= MAX_NAME_BYTES
        };
        let names: Vec<&str> =
            named.keys().map(String::as_str).take(MAX_NAMES).take_while(fits).collect();
        let Some(absent) = self.absent(&names, clock) else { return facts };
        for name in names.iter().filter(|name| !absent.contains(**name)) {
            facts.insert((*name).to_owned(), Presence::Here);
        }
        for name in absent.into_iter().take(MAX_SYMBOLS) {
            let was_here = || self.was_here(name, named[name]);
            // If git fails, the symbol is not reported as gone.
            if self.holds("HEAD", name) == Some(false) && was_here() {
                facts.insert(name.to_owned(), Presence::Gone);
            }
        }
        facts
    }

    /// Returns the names that do not occur in any file, or `None` if a limit is reached.
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

    /// Lists the files in the working tree, except hidden and generated files. Ignore files are not
    /// read, because they could be links to arbitrary files.
    fn walk(&self) -> ignore::Walk {
        let is_wanted = |entry: &ignore::DirEntry| {
            let name = entry.file_name().to_string_lossy();
            entry.depth() == 0 || !(name.starts_with('.') || MADE.contains(&&*name))
        };
        WalkBuilder::new(&self.root).standard_filters(false).filter_entry(is_wanted).build()
    }

    fn was_here(&self, name: &str, when: Timestamp) -> bool {
        let before = format!("--before={when}");
        let commit = self.ask(&["rev-list", "-1", &before, "HEAD"]).unwrap_or_default();
        !commit.trim().is_empty() && self.holds(commit.trim(), name) == Some(true)
    }

    /// Returns whether a commit contains a word, or `None` if git fails.
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

fn text(answer: Result<Vec<u8>, GitFault>) -> Option<String> {
    answer.ok().map(|answer| String::from_utf8_lossy(&answer).into_owned())
}
