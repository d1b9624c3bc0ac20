//! Locates and reads a repository's git directory without trusting its contents.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use crate::platform;
use crate::platform::fd::OwnedFd;
use crate::platform::fs::{FileType, Mode, OFlags};

/// Maximum size of short files such as `HEAD`. Larger ones are rejected.
pub const MAX_SMALL_BYTES: u64 = 256 << 10;

/// Even the index of a repository with half a million files is smaller than this.
pub const MAX_INDEX_BYTES: u64 = 128 << 20;

/// A repository with more object files than this is rejected. Git packs loose objects once there
/// are 6,700, so real repositories have far fewer.
const MAX_OBJECT_FILES: usize = 500_000;

/// Names the repositories whose objects git reads too, as in a clone made with `--shared`.
pub(super) const ALTERNATES: &str = "objects/info/alternates";

/// Directories in `objects` contain only files, except for `info`, which may contain one more level
/// of directories.
const OBJECTS_DEPTH: usize = 2;

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Nonblocking, so that opening a pipe instead of a file returns immediately.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// Files that git opens for every command, with their maximum sizes. All of them must be plain
/// files.
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

/// Directories inside the git directory. If one of them is a link, its content belongs to another
/// repository.
const OWN_FOLDERS: &str =
    "objects objects/info objects/pack refs refs/heads refs/tags info logs worktrees";

/// The git directory of a work tree: a `.git` directory, or the directory that a `.git` file points
/// to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitFolder {
    tree: PathBuf,
    own: PathBuf,
    common: PathBuf,
}

impl GitFolder {
    /// Returns the git directory of the work tree `tree`, or `None` if it is missing, is a link, or
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
        let own =
            crate::platform::canonicalize(tree.join(named)).ok().filter(|own| own.is_dir())?;
        let common = match read_text_at(&own.join("commondir"), MAX_SMALL_BYTES) {
            Some(name) => crate::platform::canonicalize(own.join(name.trim())).ok()?,
            None => own.clone(),
        };
        let folder = Self { tree: tree.to_owned(), own, common };
        folder.leads_back().then_some(folder)
    }

    /// Returns whether `folder` or one of its parents contains a `.git`, even an unusable one.
    pub fn is_around(folder: &Path) -> bool {
        folder.ancestors().any(|dir| platform::fs::lstat(dir.join(".git")).is_ok())
    }

    /// Returns the git directory of the nearest parent that contains a `.git`.
    pub fn around(folder: &Path) -> Option<Self> {
        let tree = folder.ancestors().find(|dir| platform::fs::lstat(dir.join(".git")).is_ok())?;
        Self::of(tree)
    }

    /// Checks that a directory named by a `.git` file points back to this work tree: via `gitdir`
    /// for a linked worktree, or `core.worktree` for a submodule.
    fn leads_back(&self) -> bool {
        let Ok(tree) = crate::platform::canonicalize(&self.tree) else { return false };
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
        named.and_then(|named| crate::platform::canonicalize(named).ok()) == Some(tree)
    }

    pub fn tree(&self) -> &Path {
        &self.tree
    }

    pub fn own(&self) -> &Path {
        &self.own
    }

    pub fn common(&self) -> &Path {
        &self.common
    }

    pub fn has_modules(&self) -> bool {
        [&self.own, &self.common].iter().any(|folder| folder.join("modules").is_dir())
    }

    pub fn is_submodule(&self) -> bool {
        let mut inside = self.own.components().skip_while(|part| !is_named(part, ".git"));
        inside.any(|part| is_named(&part, "modules"))
    }

    pub fn read(&self, name: &str) -> Option<String> {
        text(read_below(&self.own, name, MAX_SMALL_BYTES)?)
    }

    pub fn read_shared(&self, name: &str) -> Option<String> {
        text(read_below(&self.common, name, MAX_SMALL_BYTES)?)
    }

    pub fn read_bytes(&self, name: &str, limit: u64) -> Option<Vec<u8>> {
        read_below(&self.own, name, limit)
    }

    pub fn read_shared_bytes(&self, name: &str, limit: u64) -> Option<Vec<u8>> {
        read_below(&self.common, name, limit)
    }

    /// Returns the first file that git must not open: a link, a pipe, a device, a file that is too
    /// large, or one that refers to another repository's objects.
    pub(super) fn unreadable(&self) -> Option<PathBuf> {
        self.unreadable_file()
            .or_else(|| self.find_unsafe_index())
            .or_else(|| self.leading_out())
            .or_else(|| self.find_linked_object())
    }

    fn leading_out(&self) -> Option<PathBuf> {
        let is_other = |path: &PathBuf| {
            let stat = platform::fs::lstat(path);
            stat.is_ok_and(|stat| !FileType::from_raw_mode(stat.st_mode).is_dir())
        };
        let folders = OWN_FOLDERS.split(' ').map(|name| self.common.join(name)).find(is_other);
        let alternates = self.common.join(ALTERNATES);
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

    /// Returns the first entry below `objects` that is neither a file nor a directory. If this
    /// entry is a link, git would read another repository's objects.
    fn find_linked_object(&self) -> Option<PathBuf> {
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

    /// Returns the first file of a split index that is not a plain file in this repository. Git
    /// updates the timestamp of these files on every read, so they must not be links to files
    /// elsewhere.
    fn find_unsafe_index(&self) -> Option<PathBuf> {
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

fn read_below(folder: &Path, name: &str, limit: u64) -> Option<Vec<u8>> {
    let file = File::from(open_below(folder, name)?);
    let size = file.metadata().ok().filter(std::fs::Metadata::is_file)?.len().min(limit);
    let mut bytes = Vec::with_capacity(usize::try_from(size).ok()?.saturating_add(1));
    file.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn open_below(folder: &Path, name: &str) -> Option<OwnedFd> {
    // Links in the path to the directory belong to the user. Links below the directory belong to
    // the repository.
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

/// Parses git configuration into pairs of a lower-case `section.key` and its value, in file order.
/// Sections with a subsection name are skipped.
pub fn parse_settings(text: &str) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    let mut section = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut rest = line.trim_start();
        if let Some(header) = rest.strip_prefix('[') {
            let Some((name, after)) = header.split_once(']') else { continue };
            section = (!name.contains('"')).then(|| name.trim().to_ascii_lowercase());
            rest = after.trim_start();
        }
        let Some((section, (key, value))) = section.as_ref().zip(rest.split_once('=')) else {
            continue;
        };
        let mut value = value.to_owned();
        while value.ends_with('\\') && !value.ends_with("\\\\") {
            value.pop();
            value.push_str(lines.next().unwrap_or_default());
        }
        settings.push((format!("{section}.{}", key.trim().to_ascii_lowercase()), plain(&value)));
    }
    settings
}

fn plain(value: &str) -> String {
    let mut plain = String::new();
    let mut n_kept = 0;
    let mut is_quoted = false;
    let mut chars = value.trim_start().chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => plain.extend(chars.next().map(|escaped| match escaped {
                'n' => '\n',
                't' => '\t',
                other => other,
            })),
            c => plain.push(c),
        }
        if is_quoted || !c.is_whitespace() {
            n_kept = plain.len();
        }
    }
    plain.truncate(n_kept);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = "[core]\n\tbare = false ; no\n\texcludesFile = \"~/my ignores\" # mine\n[Core] ExcludesFile=a\\\\b\n\
                    [core \"other\"]\nexcludesfile = never\n[include]\npath = a\\\nb\n[broken\nexcludesfile = x\n[core]\nexcludesfile =\n";
        let shown: Vec<String> =
            parse_settings(text).iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(
            shown,
            [
                "core.bare=false",
                "core.excludesfile=~/my ignores",
                "core.excludesfile=a\\b",
                "include.path=ab",
                "include.excludesfile=x",
                "core.excludesfile=",
            ]
        );
    }
}
