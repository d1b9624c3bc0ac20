//! What git says of a project: where its root is, what it tracks, and what else it leaves out.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::excludes::Excludes;
use super::git_index::{self, IndexPaths};
use super::look::stamp_at;
use super::path_list::PathList;
use super::program::ask;
use super::rules::Rules;

/// No index is larger; a million files take a tenth of this.
const MAX_INDEX_BYTES: u64 = 1 << 30;

/// The files beside an index are short.
const MAX_SMALL_BYTES: u64 = 256 << 10;

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
        if !is_submodule(root) {
            return Some(root.to_owned());
        }
    }
    innermost.map(Path::to_owned)
}

/// Whether the repository at `root` is mounted in another one.
fn is_submodule(root: &Path) -> bool {
    let Some(folder) = linked_folder(root) else { return false };
    let is = |name: &'static str| move |part: &Component<'_>| part.as_os_str() == name;
    // A folder of that name above the repository says nothing.
    let mut inside = folder.components().skip_while(|part| !is(".git")(part));
    inside.any(|part| is("modules")(&part))
}

/// The folder that a `.git` file names.
fn linked_folder(root: &Path) -> Option<PathBuf> {
    let text = read_small(&root.join(".git"))?;
    Some(root.join(text.strip_prefix("gitdir:")?.trim()))
}

/// The folder with the index of the repository at `root`, by which it is noticed that git tracks something else.
pub fn git_folder(root: &Path) -> Option<PathBuf> {
    let folder = root.join(".git");
    if folder.symlink_metadata().ok()?.is_dir() { Some(folder) } else { linked_folder(root) }
}

/// The folder that all worktrees of a repository share.
pub(super) fn common_folder(git: &Path) -> PathBuf {
    let named = read_small(&git.join("commondir"));
    named.map_or_else(|| git.to_owned(), |name| git.join(name.trim()))
}

/// Tells the commit that is checked out from others. 0 where there is none.
pub(super) fn head_commit(root: &Path) -> u64 {
    let Some(git) = git_folder(root) else { return 0 };
    let Some(head) = read_small(&git.join("HEAD")) else { return 0 };
    let common = common_folder(&git);
    let named = head.strip_prefix("ref:").map(str::trim);
    // A branch that has no file of its own is a line in one for all of them; newer repositories have tables instead.
    let own = named.and_then(|name| read_small(&common.join(name)));
    let own = own.or_else(|| {
        let packed = std::fs::read_to_string(common.join("packed-refs")).ok()?;
        let line = packed.lines().find(|line| line.split(' ').nth(1) == named)?;
        Some(line.to_owned())
    });
    let tables = read_small(&common.join("reftable/tables.list"));
    let mut hasher = Xxh3::new();
    for text in [Some(head), own, tables].into_iter().flatten() {
        hasher.update(text.trim().as_bytes());
        hasher.update(&[0]);
    }
    hasher.digest()
}

fn read_small(file: &Path) -> Option<String> {
    if !file.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let file = std::fs::File::open(file).ok()?;
    file.take(MAX_SMALL_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
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
    pub(super) fn read(root: &Path) -> Self {
        let Some(git) = git_folder(root) else { return Self::default() };
        let exclude = read_small(&common_folder(&git).join("info/exclude")).unwrap_or_default();
        let mut tracked = Self { exclude, ..Self::default() };
        tracked.take_in(root, "", 0);
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

    fn take_in(&mut self, root: &Path, prefix: &str, depth: usize) {
        let at = root.join(prefix);
        let Some(git) = git_folder(&at) else { return };
        let Some(IndexPaths { files, links }) = read_index(&at, &git) else { return };
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
            if depth < MAX_LINK_DEPTH && self.links.len() < MAX_LINKS {
                self.take_in(root, &link, depth + 1);
            }
            self.links.insert(link);
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
    let Some(git) = git_folder(root) else { return Some(0) };
    let common = common_folder(&git);
    // Submodules have indexes of their own, and those that share one have it elsewhere.
    if git.join("modules").is_dir() || common.join("modules").is_dir() {
        return None;
    }
    let mut hasher = Xxh3::new();
    for file in [git.join("index"), common.join("info/exclude")] {
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

fn read_index(root: &Path, git: &Path) -> Option<IndexPaths> {
    let file = std::fs::File::open(git.join("index")).ok()?;
    let size = file.metadata().ok()?.len().min(MAX_INDEX_BYTES);
    let mut index = Vec::with_capacity(usize::try_from(size).ok()?.saturating_add(1));
    file.take(MAX_INDEX_BYTES).read_to_end(&mut index).ok()?;
    let hash_bytes = if names_sha256(git) { 32 } else { 20 };
    git_index::parse(&index, hash_bytes).or_else(|| ask_git(root))
}

fn names_sha256(git: &Path) -> bool {
    let config = read_small(&common_folder(git).join("config")).unwrap_or_default();
    let config = config.to_ascii_lowercase();
    config.lines().any(|line| {
        let mut parts = line.split('=').map(str::trim);
        parts.next() == Some("objectformat") && parts.next() == Some("sha256")
    })
}

/// Lets git read an index that this room cannot.
fn ask_git(root: &Path) -> Option<IndexPaths> {
    let answer = ask(root, &["ls-files", "--stage", "-z"])?;
    let mut paths = IndexPaths::default();
    for entry in answer.split(|byte| *byte == 0) {
        let Ok(entry) = std::str::from_utf8(entry) else { continue };
        let Some((about, path)) = entry.split_once('\t') else { continue };
        match about.split(' ').next() {
            Some("160000") => paths.links.push(path.to_owned()),
            Some(mode) if mode.starts_with("100") => paths.files.push(path),
            _ => {}
        }
    }
    Some(paths)
}
