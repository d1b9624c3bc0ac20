//! What git says of a project: where its root is, what it tracks, and what else it leaves out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nacre_core::base::git::{Git, GitFolder, GitProgram, MAX_INDEX_BYTES, parse_settings};
use xxhash_rust::xxh3::Xxh3;

use super::excludes::Excludes;
use super::git_index::{self, IndexPaths};
use super::look::stamp_at;
use super::path_list::PathList;
use super::rules::Rules;

/// A hundred thousand branches and tags take a tenth of this.
const MAX_REFS_BYTES: u64 = 64 << 20;

/// What git prints about every file that it tracks.
pub(super) const MAX_LISTING_BYTES: u64 = 256 << 20;

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
    /// Tells this answer from others.
    identity: u64,
}

impl Tracked {
    /// Asks the index of the repository at `root` and those of its submodules.
    pub(super) fn read(root: &Path, program: &GitProgram) -> Self {
        let Some(git) = GitFolder::of(root) else { return Self::default() };
        let exclude = git.read_shared("info/exclude").unwrap_or_default();
        let mut tracked = Self { exclude, ..Self::default() };
        tracked.take_in(program, root, "", 0);
        tracked.files.settle();
        let mut hasher = Xxh3::new();
        hasher.update(&tracked.files.identity().to_le_bytes());
        for path in tracked.links.iter().chain([&tracked.exclude]) {
            hasher.update(path.as_bytes());
            hasher.update(&[0]);
        }
        tracked.identity = hasher.digest();
        tracked
    }

    fn take_in(&mut self, program: &GitProgram, root: &Path, prefix: &str, depth: usize) {
        let Some(git) = GitFolder::of(&root.join(prefix)) else { return };
        let Some(IndexPaths { files, links }) = read_index(git, program) else { return };
        let links: Vec<String> = match prefix {
            "" => {
                self.files = files;
                links
            }
            prefix => {
                files.iter().for_each(|path| self.files.push(&format!("{prefix}/{path}")));
                links.iter().map(|path| format!("{prefix}/{path}")).collect()
            }
        };
        for link in links {
            let is_new = self.links.len() < MAX_LINKS && self.links.insert(link.clone());
            if is_new && depth < MAX_LINK_DEPTH {
                self.take_in(program, root, &link, depth + 1);
            }
        }
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

    pub(super) fn identity(&self) -> u64 {
        self.identity
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

fn read_index(git: GitFolder, program: &GitProgram) -> Option<IndexPaths> {
    let index = git.read_bytes("index", MAX_INDEX_BYTES)?;
    git_index::parse(&index, object_bytes(&git)).or_else(|| ask_git(&program.open(git).ok()?))
}

/// How many bytes the name of an object has.
pub(super) fn object_bytes(git: &GitFolder) -> usize {
    let config = git.read_shared("config").unwrap_or_default();
    let settings = parse_settings(&config);
    let format = settings.iter().rfind(|(key, _)| key == "extensions.objectformat");
    if format.is_some_and(|(_, value)| value.eq_ignore_ascii_case("sha256")) { 32 } else { 20 }
}

/// Lets git read an index that this room cannot.
fn ask_git(git: &Git) -> Option<IndexPaths> {
    let answer = git.ask_within(&["ls-files", "--stage", "-z"], MAX_LISTING_BYTES).ok()?;
    let mut paths = IndexPaths::default();
    for entry in answer.split(|byte| *byte == 0) {
        let Ok(entry) = std::str::from_utf8(entry) else { continue };
        let Some((about, path)) = entry.split_once('\t') else { continue };
        match about.split(' ').next() {
            _ if !git_index::is_clean(path) => {}
            Some("160000") => paths.links.push(path.to_owned()),
            Some(mode) if mode.starts_with("100") => paths.files.push(path),
            _ => {}
        }
    }
    Some(paths)
}
