//! What git says of a project: where its root is, what it tracks, and what else it leaves out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nacre_core::base::git::{GitFolder, GitProgram, MAX_INDEX_BYTES, parse_settings};
use xxhash_rust::xxh3::Xxh3;

use super::deadline::Deadline;
use super::excludes::Excludes;
use super::git_index::{self, IndexPaths, PathBudget};
use super::look::stamp_at;
use super::path_list::PathList;
use super::rules::Rules;

/// A hundred thousand branches and tags take a tenth of this.
const MAX_REFS_BYTES: u64 = 64 << 20;

/// What git prints about every file that it tracks. Half a million files take two thirds of this.
const MAX_LISTING_BYTES: u64 = 128 << 20;

/// The private rules of a repository, as people know the file.
const EXCLUDE_FILE: &str = ".git/info/exclude";

/// Repositories are mounted in each other so deep, and so often, at most.
const MAX_LINK_DEPTH: usize = 8;
const MAX_LINKS: usize = 1000;

/// The root of the project that `folder` belongs to: its repository, with the submodules that it lies in.
pub fn project_root(folder: &Path) -> Option<PathBuf> {
    let repositories = folder.ancestors().filter(|dir| dir.join(".git").symlink_metadata().is_ok());
    let mut innermost = None;
    for root in repositories {
        if innermost.is_none() {
            innermost = Some(root);
        }
        if !GitFolder::of(root).is_some_and(|git| git.is_submodule()) {
            return Some(root.to_owned());
        }
    }
    innermost.map(Path::to_owned)
}

/// The folder with the index of the repository at `root`, by which it is noticed that git tracks something else.
pub fn git_folder(root: &Path) -> Option<PathBuf> {
    GitFolder::of(root).map(|git| git.own().to_owned())
}

/// Tells the commit that is checked out from others. 0 where there is none.
pub(super) fn head_commit(root: &Path) -> u64 {
    let Some(git) = GitFolder::of(root) else { return 0 };
    let Some(head) = git.read("HEAD") else { return 0 };
    let named = head.strip_prefix("ref:").map(str::trim);
    // A branch that has no file of its own is a line in one for all of them; newer repositories have tables instead.
    let own = named.and_then(|name| git.read_shared(name));
    let own = own.or_else(|| packed_ref(&git, named?));
    let tables = git.read_shared("reftable/tables.list");
    let mut hasher = Xxh3::new();
    for text in [Some(head), own, tables].into_iter().flatten() {
        hasher.update(text.trim().as_bytes());
        hasher.update(&[0]);
    }
    hasher.digest()
}

fn packed_ref(git: &GitFolder, named: &str) -> Option<String> {
    let packed = git.read_shared_bytes("packed-refs", MAX_REFS_BYTES)?;
    let packed = String::from_utf8(packed).ok()?;
    packed.lines().find(|line| line.split(' ').nth(1) == Some(named)).map(str::to_owned)
}

/// What git says of the files of a project.
#[derive(Debug, Default)]
pub(super) struct Tracked {
    files: PathList,
    links: BTreeSet<String>,
    /// The rules that are not in the repository.
    exclude: String,
    /// How many entries are left out: they lie too deep, or there are too many.
    n_left_out: u32,
    /// Tells this answer from others.
    identity: u64,
}

/// Reads the indexes of a repository and of those that are mounted in it.
struct IndexReader<'r> {
    root: &'r Path,
    program: &'r GitProgram,
    budget: PathBudget<'r>,
    tracked: Tracked,
}

impl Tracked {
    /// Asks the index of the repository at `root` and those of its submodules. What there is no time for is left out.
    pub(super) fn read(root: &Path, program: &GitProgram, deadline: &Deadline) -> Self {
        let Some(git) = GitFolder::of(root) else { return Self::default() };
        let exclude = git.read_shared("info/exclude").unwrap_or_default();
        let tracked = Self { exclude, ..Self::default() };
        let mut reader = IndexReader { root, program, budget: PathBudget::new(deadline), tracked };
        reader.take_in("", 0);
        let mut tracked = reader.tracked;
        tracked.files.settle();
        let mut hasher = Xxh3::new();
        hasher.update(&tracked.files.identity().to_le_bytes());
        hasher.update(&tracked.n_left_out.to_le_bytes());
        for path in tracked.links.iter().chain([&tracked.exclude]) {
            hasher.update(path.as_bytes());
            hasher.update(&[0]);
        }
        tracked.identity = hasher.digest();
        tracked
    }

    /// The rules of no folder: a person's own, and those of the repository that are not in it.
    pub(super) fn rules(&self, excludes: &Excludes) -> Option<Arc<Rules>> {
        Rules::private(excludes.rules(), EXCLUDE_FILE, &self.exclude)
    }

    /// All files that are tracked, in order.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter()
    }

    pub(super) fn has(&self, file: &str) -> bool {
        self.files.contains(file)
    }

    pub(super) fn has_below(&self, folder: &str) -> bool {
        self.files.has_below(folder)
    }

    pub(super) fn is_submodule(&self, folder: &str) -> bool {
        self.links.contains(folder)
    }

    pub(super) fn n_left_out(&self) -> u32 {
        self.n_left_out
    }

    pub(super) fn identity(&self) -> u64 {
        self.identity
    }
}

impl IndexReader<'_> {
    fn take_in(&mut self, prefix: &str, depth: usize) {
        let Some(git) = GitFolder::of(&self.root.join(prefix)) else { return };
        let Some(paths) = self.read_index(git, prefix.len()) else { return };
        let IndexPaths { files, links, n_left_out } = paths;
        let tracked = &mut self.tracked;
        tracked.n_left_out = tracked.n_left_out.saturating_add(n_left_out);
        let links: Vec<String> = match prefix {
            "" => {
                tracked.files = files;
                links
            }
            prefix => {
                files.iter().for_each(|path| tracked.files.push(&format!("{prefix}/{path}")));
                links.iter().map(|path| format!("{prefix}/{path}")).collect()
            }
        };
        for link in links {
            let tracked = &mut self.tracked;
            let is_new = tracked.links.len() < MAX_LINKS && tracked.links.insert(link.clone());
            if is_new && depth < MAX_LINK_DEPTH {
                self.take_in(&link, depth + 1);
            }
        }
    }

    fn read_index(&mut self, git: GitFolder, n_above: usize) -> Option<IndexPaths> {
        let index = git.read_bytes("index", MAX_INDEX_BYTES)?;
        let mut budget = self.budget.clone();
        if let Some(paths) = git_index::parse(&index, object_bytes(&git), &mut budget, n_above) {
            self.budget = budget;
            return Some(paths);
        }
        drop(index);
        // Git can read what cannot be read here.
        let git = self.program.open(git).ok()?;
        let listing = git.ask_within(&["ls-files", "--stage", "-z"], MAX_LISTING_BYTES).ok()?;
        Some(git_index::parse_listing(&listing, &mut self.budget, n_above))
    }
}

/// Changes whenever [`Tracked::read`] might answer otherwise; costs a look at two files. `None` where only asking tells.
pub(super) fn stamp(root: &Path) -> Option<u64> {
    let Some(git) = GitFolder::of(root) else { return Some(0) };
    // Submodules have indexes of their own, and those that share one have it elsewhere.
    if git.has_modules() {
        return None;
    }
    let mut hasher = Xxh3::new();
    for file in [git.own().join("index"), git.common().join("info/exclude")] {
        let stamp = stamp_at(&file).unwrap_or_default();
        for word in [stamp.size, stamp.inode] {
            hasher.update(&word.to_le_bytes());
        }
        for time in [stamp.mtime_ns, stamp.ctime_ns] {
            hasher.update(&time.to_le_bytes());
        }
    }
    Some(hasher.digest())
}

/// How many bytes the name of an object has.
pub(super) fn object_bytes(git: &GitFolder) -> usize {
    let config = git.read_shared("config").unwrap_or_default();
    let settings = parse_settings(&config);
    let format = settings.iter().rfind(|(key, _)| key == "extensions.objectformat");
    if format.is_some_and(|(_, value)| value.eq_ignore_ascii_case("sha256")) { 32 } else { 20 }
}
