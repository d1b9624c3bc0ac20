//! Reads what git knows about a project: its root, tracked files and private ignore rules.

use std::collections::BTreeSet;
use std::hash::Hash as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nacre_base::git::{GitFolder, GitProgram, MAX_INDEX_BYTES, parse_settings};
use xxhash_rust::xxh3::Xxh3;

use super::excludes::Excludes;
use super::git_index::{self, IndexPaths, PathBudget};
use super::options::Deadline;
use super::rules::Rules;
use crate::artifact::Stamp;

/// About ten times the space that a hundred thousand branches and tags need.
const MAX_REFS_BYTES: u64 = 64 << 20;

/// Half a million files need about two thirds of this limit.
const MAX_LISTING_BYTES: u64 = 128 << 20;

const EXCLUDE_FILE: &str = ".git/info/exclude";

const MAX_LINK_DEPTH: usize = 8;
const MAX_LINKS: usize = 1000;

/// Returns the root of the project that contains `folder`. If `folder` is in a submodule, this is
/// the root of the outermost repository.
pub fn project_root(folder: &Path) -> Option<PathBuf> {
    let repositories = folder.ancestors().filter(|dir| dir.join(".git").symlink_metadata().is_ok());
    let mut innermost = None;
    for root in repositories {
        innermost.get_or_insert(root);
        if !GitFolder::of(root).is_some_and(|git| git.is_submodule()) {
            return Some(root.to_owned());
        }
    }
    innermost.map(Path::to_owned)
}

/// Returns a hash of the checked-out commit, or 0 if there is none.
pub(super) fn head_commit(root: &Path) -> u64 {
    let Some(git) = GitFolder::of(root) else { return 0 };
    let Some(head) = git.read("HEAD") else { return 0 };
    let named = head.strip_prefix("ref:").map(str::trim);
    // A branch is stored in its own file, in `packed-refs`, or, in newer repositories, in a
    // reftable.
    let own = named.and_then(|name| git.read_shared(name));
    let own = own.or_else(|| find_packed_ref(&git, named?));
    let tables = git.read_shared("reftable/tables.list");
    let mut hasher = Xxh3::new();
    for text in [Some(head), own, tables].into_iter().flatten() {
        hasher.update(text.trim().as_bytes());
        hasher.update(&[0]);
    }
    hasher.digest()
}

fn find_packed_ref(git: &GitFolder, named: &str) -> Option<String> {
    let packed = git.read_shared_bytes("packed-refs", MAX_REFS_BYTES)?;
    let packed = String::from_utf8(packed).ok()?;
    packed.lines().find(|line| line.split(' ').nth(1) == Some(named)).map(str::to_owned)
}

#[derive(Debug, Default)]
pub(super) struct Tracked {
    /// Sorted.
    files: Vec<String>,
    links: BTreeSet<String>,
    exclude: String,
    /// Number of entries left out because they are nested too deeply or exceed the budget.
    pub(super) n_left_out: u32,
    pub(super) identity: u64,
}

struct IndexReader<'r> {
    root: &'r Path,
    program: &'r GitProgram,
    budget: PathBudget<'r>,
    tracked: Tracked,
}

impl Tracked {
    pub(super) fn read(root: &Path, program: &GitProgram, deadline: &Deadline) -> Self {
        let Some(git) = GitFolder::of(root) else { return Self::default() };
        let exclude = git.read_shared("info/exclude").unwrap_or_default();
        let tracked = Self { exclude, ..Self::default() };
        let mut reader = IndexReader { root, program, budget: PathBudget::new(deadline), tracked };
        reader.take_in("", 0);
        let mut tracked = reader.tracked;
        tracked.files.sort_unstable();
        tracked.files.dedup();
        let mut hasher = Xxh3::new();
        hasher.update(&tracked.n_left_out.to_le_bytes());
        let Self { files, links, exclude, .. } = &tracked;
        for path in files.iter().chain([&String::new()]).chain(links).chain([exclude]) {
            hasher.update(path.as_bytes());
            hasher.update(&[0]);
        }
        tracked.identity = hasher.digest();
        tracked
    }

    /// Returns the rules that apply to the whole repository: the user's own and the repository's
    /// private ones.
    pub(super) fn rules(&self, excludes: &Excludes) -> Option<Arc<Rules>> {
        Rules::private(excludes.rules.clone(), EXCLUDE_FILE, &self.exclude)
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    pub(super) fn has(&self, file: &str) -> bool {
        self.files.binary_search_by(|path| path.as_str().cmp(file)).is_ok()
    }

    pub(super) fn has_below(&self, folder: &str) -> bool {
        let below = format!("{folder}/");
        let first = self.files.partition_point(|path| *path < below);
        self.files.get(first).is_some_and(|path| path.starts_with(&below))
    }

    pub(super) fn is_submodule(&self, folder: &str) -> bool {
        self.links.contains(folder)
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
                tracked.files.extend(files.iter().map(|path| format!("{prefix}/{path}")));
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
        // Fall back to git for index formats that this parser does not support.
        let git = self.program.open(git).ok()?;
        let listing = git.ask_within(&["ls-files", "--stage", "-z"], MAX_LISTING_BYTES).ok()?;
        Some(git_index::parse_listing(&listing, &mut self.budget, n_above))
    }
}

/// Returns a hash that changes whenever the result of [`Tracked::read`] might change. Computing the
/// hash requires only two stamps. Returns `None` if changes can be detected only by reading the
/// index.
pub(super) fn stamp(root: &Path) -> Option<u64> {
    let Some(git) = GitFolder::of(root) else { return Some(0) };
    // Submodules have separate indexes, and a split index is partly stored in another file.
    if git.has_modules() {
        return None;
    }
    let mut hasher = Xxh3::new();
    for file in [git.own().join("index"), git.common().join("info/exclude")] {
        Stamp::at(&file).unwrap_or_default().hash(&mut hasher);
    }
    Some(hasher.digest())
}

pub(super) fn object_bytes(git: &GitFolder) -> usize {
    let config = git.read_shared("config").unwrap_or_default();
    let settings = parse_settings(&config);
    let format = settings.iter().rfind(|(key, _)| key == "extensions.objectformat");
    if format.is_some_and(|(_, value)| value.eq_ignore_ascii_case("sha256")) { 32 } else { 20 }
}
