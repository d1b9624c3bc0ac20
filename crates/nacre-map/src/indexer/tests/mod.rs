//! Tests the indexer on real directories and real repositories.
#![expect(clippy::disallowed_methods, reason = "the tests play the person who works on the code")]

mod affected;
mod deadlines;
mod defects;
mod deltas;
mod git_bombs;
mod hostile;
pub(crate) mod oracle;
mod repositories;
mod rule_bombs;
mod words;

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nacre_base::fs::Owner;
use nacre_base::git::GitProgram;

use super::read::analysis_in;
use super::words::file_key;
use super::{
    CacheWrites, Counting, Current, Deadline, Excludes, ReadProgress, RefreshOptions, Sensitive,
    Verify, WordCounting, refresh,
};
use crate::artifact::{AnalysisKey, Cache, FileRow, Project};
use crate::languages::{Analysis, Language};

/// One day. Also serves as the current time in tests that do not depend on the time.
const DAY_NS: i64 = 24 * 60 * 60 * 1_000_000_000;
const NOON_NS: i64 = 1_800_000_000_000_000_000;

/// A project directory and its cache directory.
pub(crate) struct TestTree {
    dir: tempfile::TempDir,
}

impl TestTree {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        Self { dir }
    }

    /// Creates a tree with an empty repository.
    pub(crate) fn with_git() -> Self {
        let tree = Self::new();
        tree.git(&["init", "-q", "-b", "main"]);
        tree
    }

    pub(crate) fn root(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join("work")
    }

    fn cache_folder(&self) -> PathBuf {
        self.dir.path().join("cache/codemap")
    }

    pub(crate) fn cache(&self) -> Cache {
        cache_in(&self.cache_folder())
    }

    pub(crate) fn project(&self) -> Project {
        Project::at(self.root())
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let full = self.root().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.root().join(path)).unwrap();
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        let to = self.root().join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(self.root().join(from), to).unwrap();
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(&self.root(), args)
    }

    pub(crate) fn commit_all(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "a change"]);
    }

    pub(crate) fn look(&self) -> Current {
        refresh(&self.cache(), &self.project(), &options()).unwrap()
    }

    /// Refreshes the map without requesting words.
    pub(crate) fn glance(&self) -> Current {
        let options = RefreshOptions { words: WordCounting::Later, ..options() };
        refresh(&self.cache(), &self.project(), &options).unwrap()
    }

    /// Refreshes the map at a later time, when no file is doubtful any more, until there is nothing
    /// left to write.
    pub(crate) fn settle(&self) -> Current {
        let looked_ns = clock_ns() + 10_000_000_000;
        let options = RefreshOptions { looked_ns, ..options() };
        refresh(&self.cache(), &self.project(), &options).unwrap();
        refresh(&self.cache(), &self.project(), &options).unwrap()
    }

    /// Returns the files in a map built from scratch.
    fn cold(&self) -> Vec<Seen> {
        seen(&self.cold_look())
    }

    /// Returns the words counted by a build from scratch.
    fn cold_words(&self) -> Vec<CountedFile> {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_in(folder.path());
        count_words(&refresh(&cache, &self.project(), &options()).unwrap(), &cache)
    }

    /// Returns every file's stored words after building from scratch, counting and merging.
    fn cold_packs(&self) -> Vec<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_in(folder.path());
        merged_packs(&refresh(&cache, &self.project(), &options()).unwrap(), &cache, folder.path())
    }

    pub(crate) fn cold_look(&self) -> Current {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_in(folder.path());
        let current = refresh(&cache, &self.project(), &options()).unwrap();
        // Open the packs before their directory is removed.
        assert!(current.analyses.n_bytes() < usize::MAX);
        current
    }

    fn paths(&self) -> Vec<String> {
        let current = self.look();
        current.artifact.files().into_iter().map(|(path, _)| path.to_owned()).collect()
    }
}

fn cache_in(folder: &Path) -> Cache {
    let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
    Cache::new(folder.to_owned(), owner)
}

pub(crate) fn options() -> RefreshOptions {
    RefreshOptions {
        now_ns: NOON_NS,
        looked_ns: clock_ns(),
        trust: Verify::Stamps,
        keeping: CacheWrites::On,
        words: WordCounting::Now,
        sensitive: Sensitive::new(&[]).unwrap(),
        excludes: Excludes::default(),
        git: program(),
        n_threads: 2,
        deadline: Deadline::never(),
        progress: ReadProgress::default(),
    }
}

pub(crate) fn program() -> GitProgram {
    GitProgram::new(std::env::var_os("PATH").unwrap_or_default())
}

pub(crate) fn clock_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(since.as_nanos()).unwrap()
}

fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always"])
        .args(["-c", "init.templateDir=", "-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?}: {text}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A file's data in the map, without anything that depends on when it was refreshed.
pub(crate) type Seen = (String, FileRow, Option<Analysis>);

pub(crate) fn seen(current: &Current) -> Vec<Seen> {
    let files = current.artifact.files().into_iter();
    files
        .map(|(path, row)| {
            let language = Language::of_path(path);
            let analysis = language.and_then(|language| {
                analysis_in(&current.analyses, AnalysisKey::new(row.hash, language))
            });
            (path.to_owned(), FileRow { is_doubtful: false, ..row }, analysis)
        })
        .collect()
}

/// A file with its words in the storage format.
pub(crate) type CountedFile = (String, Option<String>);

/// Returns all files' words, using only stored words if they are complete.
pub(crate) fn count_words(current: &Current, cache: &Cache) -> Vec<CountedFile> {
    counted_and(current, cache, CacheWrites::Off)
}

/// Returns all files' words, whether or not they are stored.
pub(crate) fn counted_and(
    current: &Current,
    cache: &Cache,
    keeping: CacheWrites,
) -> Vec<CountedFile> {
    let deadline = Deadline::never();
    let counting = Counting { keeping, n_threads: 2, deadline: &deadline };
    let files = current.artifact.files();
    let bags = current.bags(cache, &files, counting);
    let words = |idx: usize| bags.of(idx).map(|bag| format!("{bag:?}"));
    files.iter().enumerate().map(|(idx, (path, _))| ((*path).to_owned(), words(idx))).collect()
}

/// Returns all files' stored words after counting and merging them.
fn merged_packs(current: &Current, cache: &Cache, folder: &Path) -> Vec<Vec<u8>> {
    counted_and(current, cache, CacheWrites::On);
    let live: HashSet<u64> =
        current.artifact.files().iter().filter_map(|(path, row)| file_key(path, row)).collect();
    cache.merge_words(&current.project, &|key| live.contains(&key));
    let is_words = |path: &Path| path.file_name().unwrap().to_string_lossy().starts_with("words-");
    let packs = bytes_of(folder).into_iter().filter(|(path, ..)| is_words(path));
    packs.map(|(_, bytes, _)| bytes).collect()
}

/// Resets a file's modification time, as tools that unpack or restore files do.
fn set_modified(path: &Path, time: SystemTime) {
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Returns all cache files with their contents, except the lock.
fn bytes_of(folder: &Path) -> Vec<(PathBuf, Vec<u8>, u64)> {
    let mut files = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            if metadata.is_dir() {
                waiting.push(path);
            } else {
                files.push((path.clone(), fs::read(&path).unwrap(), metadata.ino()));
            }
        }
    }
    files.sort();
    files
}

/// Waits for the file system's clock to tick, so that the next change gets a different stamp.
fn tick(folder: &Path) {
    let probe = folder.join("tick");
    let stamp = || {
        fs::write(&probe, "").unwrap();
        probe.metadata().unwrap().modified().unwrap()
    };
    let first = stamp();
    while stamp() == first {
        std::thread::sleep(Duration::from_millis(1));
    }
    fs::remove_file(&probe).unwrap();
}
