//! The folder that git keeps a repository in, found and read without trusting it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use crate::platform;
use crate::platform::fd::OwnedFd;
use crate::platform::fs::{FileType, Mode, OFlags};

use super::config_text::parse_settings;

/// The files beside an index are short; more of one is not read.
pub const MAX_SMALL_BYTES: u64 = 256 << 10;

/// An index of half a million files is smaller.
pub const MAX_INDEX_BYTES: u64 = 128 << 20;

/// More files below `objects` are not looked through, and then git is not used: it packs them after 6,700.
const MAX_OBJECT_FILES: usize = 500_000;

/// Folders in `objects` hold files, but for `info`, which holds one more.
const OBJECTS_DEPTH: usize = 2;

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A pipe in the place of a file keeps nobody waiting.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// What git opens by itself before it does anything. In the place of each only a plain file may stand, no larger than this.
const READ_BY_GIT: &[(&str, u64)] = &[
    ("HEAD", MAX_SMALL_BYTES),
    ("config", 1 << 20),
    ("config.worktree", 1 << 20),
    ("index", MAX_INDEX_BYTES),
    ("packed-refs", 64 << 20),
    ("shallow", 64 << 20),
    ("info/attributes", 8 << 20),
    ("info/exclude", 8 << 20),
    ("info/grafts", 8 << 20),
    ("info/sparse-checkout", 64 << 20),
    ("objects/info/alternates", MAX_SMALL_BYTES),
    ("objects/info/commit-graph", 4 << 30),
    ("objects/pack/multi-pack-index", 4 << 30),
];

/// Folders of git that a link in their place would make another repository's.
const OWN_FOLDERS: &[&str] = &[
    "objects",
    "objects/info",
    "objects/pack",
    "refs",
    "refs/heads",
    "refs/tags",
    "info",
    "logs",
    "worktrees",
];

/// The git folder of a work tree: a `.git` folder, or the one that a `.git` file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitFolder {
    tree: PathBuf,
    own: PathBuf,
    common: PathBuf,
}

impl GitFolder {
    /// The git folder of the work tree `tree`. `None` where there is none, where a link stands in its place, and where it
    /// belongs to another work tree.
    pub fn of(tree: &Path) -> Option<Self> {
        let path = tree.join(".git");
        let kind = FileType::from_raw_mode(platform::fs::lstat(&path).ok()?.st_mode);
        if kind.is_dir() {
            let has_other = platform::fs::lstat(path.join("commondir")).is_ok();
            let folder = Self { tree: tree.to_owned(), own: path.clone(), common: path };
            return (!has_other).then_some(folder);
        }
        let text = read_text_at(&path, MAX_SMALL_BYTES)?;
        let named = text.strip_prefix("gitdir:")?.lines().next()?.trim();
        let own = std::fs::canonicalize(tree.join(named)).ok().filter(|own| own.is_dir())?;
        let common = match read_text_at(&own.join("commondir"), MAX_SMALL_BYTES) {
            Some(name) => std::fs::canonicalize(own.join(name.trim())).ok()?,
            None => own.clone(),
        };
        let folder = Self { tree: tree.to_owned(), own, common };
        folder.leads_back().then_some(folder)
    }

    /// Whether a folder upwards has a `.git`, usable or not.
    pub fn is_around(folder: &Path) -> bool {
        folder.ancestors().any(|dir| platform::fs::lstat(dir.join(".git")).is_ok())
    }

    /// The git folder of the nearest folder upwards that has a `.git`.
    pub fn around(folder: &Path) -> Option<Self> {
        let tree = folder.ancestors().find(|dir| platform::fs::lstat(dir.join(".git")).is_ok())?;
        Self::of(tree)
    }

    /// Whether the folder that a `.git` file names says that it belongs to this work tree: a linked worktree by its `gitdir`,
    /// a submodule by its `core.worktree`.
    fn leads_back(&self) -> bool {
        let Ok(tree) = std::fs::canonicalize(&self.tree) else { return false };
        let named = if self.own == self.common {
            let config = self.read_shared("config").unwrap_or_default();
            let settings = parse_settings(&config);
            let named = settings.into_iter().rfind(|(key, _)| key == "core.worktree");
            named.map(|(_, value)| self.own.join(value))
        } else if self.own.parent() == Some(&self.common.join("worktrees")) {
            let file = self.read("gitdir").map(|text| self.own.join(text.trim()));
            file.filter(|file| file.ends_with(".git"))
                .and_then(|file| Some(file.parent()?.to_owned()))
        } else {
            None
        };
        named.and_then(|named| std::fs::canonicalize(named).ok()) == Some(tree)
    }

    /// The work tree.
    pub fn tree(&self) -> &Path {
        &self.tree
    }

    /// The folder with `HEAD` and the index.
    pub fn own(&self) -> &Path {
        &self.own
    }

    /// The folder that all worktrees of the repository share.
    pub fn common(&self) -> &Path {
        &self.common
    }

    /// Whether another repository is mounted in this one, or this one in another.
    pub fn has_modules(&self) -> bool {
        [&self.own, &self.common].iter().any(|folder| folder.join("modules").is_dir())
    }

    /// Whether the work tree is mounted in another repository.
    pub fn is_submodule(&self) -> bool {
        // A folder of that name above the repository says nothing.
        let mut inside = self.own.components().skip_while(|part| !is_named(part, ".git"));
        inside.any(|part| is_named(&part, "modules"))
    }

    /// A short text of the work tree's own folder.
    pub fn read(&self, name: &str) -> Option<String> {
        text(read_below(&self.own, name, MAX_SMALL_BYTES)?)
    }

    /// A short text of the shared folder.
    pub fn read_shared(&self, name: &str) -> Option<String> {
        text(read_below(&self.common, name, MAX_SMALL_BYTES)?)
    }

    /// The bytes of a file of the work tree's own folder, `limit` at most.
    pub fn read_bytes(&self, name: &str, limit: u64) -> Option<Vec<u8>> {
        read_below(&self.own, name, limit)
    }

    /// The bytes of a file of the shared folder, `limit` at most.
    pub fn read_shared_bytes(&self, name: &str, limit: u64) -> Option<Vec<u8>> {
        read_below(&self.common, name, limit)
    }

    /// The first file that git would open and should not: a pipe, a link, a device, one that is too large, or one that leads
    /// to the objects of another repository.
    pub(super) fn unreadable(&self) -> Option<PathBuf> {
        self.unreadable_file()
            .or_else(|| self.shared_index())
            .or_else(|| self.leading_out())
            .or_else(|| self.linked_object())
    }

    /// The first folder that is a link, or names another repository.
    fn leading_out(&self) -> Option<PathBuf> {
        let is_other = |path: &PathBuf| {
            let stat = platform::fs::lstat(path);
            stat.is_ok_and(|stat| !FileType::from_raw_mode(stat.st_mode).is_dir())
        };
        let folders = OWN_FOLDERS.iter().map(|name| self.common.join(name)).find(is_other);
        let alternates = self.common.join("objects/info/alternates");
        let names_other = platform::fs::lstat(&alternates).is_ok_and(|stat| 0 < stat.st_size);
        let head = self.read("HEAD").unwrap_or_default();
        let branch = head.strip_prefix("ref:").map(|name| self.common.join(name.trim()));
        let is_link = |path: &PathBuf| {
            let stat = platform::fs::lstat(path);
            stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_symlink())
        };
        let branch = branch.filter(|path| {
            let below = path.ancestors().take_while(|at| *at != self.common);
            path.starts_with(&self.common) && below.map(Path::to_owned).any(|at| is_link(&at))
        });
        folders.or_else(|| names_other.then_some(alternates)).or(branch)
    }

    /// The first link below the objects, or anything else that is neither a file nor a folder: through it git would read what
    /// belongs to another repository.
    fn linked_object(&self) -> Option<PathBuf> {
        let mut n_left = MAX_OBJECT_FILES;
        let mut waiting = vec![(self.common.join("objects"), OBJECTS_DEPTH)];
        while let Some((folder, depth)) = waiting.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let kind = entry.file_type().ok().filter(|kind| kind.is_file() || kind.is_dir());
                if n_left == 0 || kind.is_none() {
                    return Some(entry.path());
                }
                n_left -= 1;
                if depth > 0 && kind.is_some_and(|kind| kind.is_dir()) {
                    waiting.push((entry.path(), depth - 1));
                }
            }
        }
        None
    }

    /// The first part of a split index that is not a plain file of this repository alone: git sets its time whenever it reads it.
    fn shared_index(&self) -> Option<PathBuf> {
        let mut entries = std::fs::read_dir(&self.own).ok()?.take(MAX_OBJECT_FILES).flatten();
        entries.find_map(|entry| {
            let is_shared = entry.file_name().to_string_lossy().starts_with("sharedindex.");
            let stat = is_shared.then(|| platform::fs::lstat(entry.path()).ok())??;
            let is_plain = FileType::from_raw_mode(stat.st_mode).is_file() && stat.st_nlink == 1;
            let is_small = stat.st_size.unsigned_abs() <= MAX_INDEX_BYTES;
            (!is_plain || !is_small).then(|| entry.path())
        })
    }

    fn unreadable_file(&self) -> Option<PathBuf> {
        let folders = [Some(&self.own), Some(&self.common).filter(|_| self.own != self.common)];
        for folder in folders.into_iter().flatten() {
            for (name, limit) in READ_BY_GIT {
                let path = folder.join(name);
                let Ok(stat) = platform::fs::lstat(&path) else { continue };
                let is_plain = FileType::from_raw_mode(stat.st_mode).is_file();
                if !is_plain || *limit < stat.st_size.unsigned_abs() {
                    return Some(path);
                }
            }
        }
        None
    }
}

fn is_named(part: &Component<'_>, name: &str) -> bool {
    part.as_os_str() == name
}

fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok()
}

fn read_text_at(path: &Path, limit: u64) -> Option<String> {
    text(read_below(path.parent()?, path.file_name()?.to_str()?, limit)?)
}

/// The bytes of the plain file `name` below `folder`, never through a link below it.
fn read_below(folder: &Path, name: &str, limit: u64) -> Option<Vec<u8>> {
    let file = File::from(open_below(folder, name)?);
    let size = file.metadata().ok().filter(std::fs::Metadata::is_file)?.len().min(limit);
    let mut bytes = Vec::with_capacity(usize::try_from(size).ok()?.saturating_add(1));
    file.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn open_below(folder: &Path, name: &str) -> Option<OwnedFd> {
    // The way to the folder is the person's own; below it every link is the repository's.
    let passage = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = platform::fs::open(folder, passage, Mode::empty()).ok()?;
    let mut names = Path::new(name).components().peekable();
    while let Some(part) = names.next() {
        let Component::Normal(part) = part else { return None };
        let flags = if names.peek().is_some() { FOLDER } else { FILE };
        at = platform::fs::openat(&at, part, flags, Mode::empty()).ok()?;
    }
    Some(at)
}
