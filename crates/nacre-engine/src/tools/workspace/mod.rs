//! The files that an agent works on: bounded reads, walks that do not follow symbolic links, and
//! changes to single files.
//!
//! The root is opened once, and everything below it is accessed relative to open handles, so that
//! replacing a directory with a symbolic link has no effect. Denied names are checked here as well,
//! because a walk visits files that no footprint lists.

mod walk;

use std::fmt::Display;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use nacre_base::ContentHash;
use nacre_base::fs::{Access, FsError, OpenFile, RelPath, WriteScope};
use nacre_map::indexer::Sensitive;

use crate::record::Fault;
use crate::tools::footprint::Area;
use crate::tools::tool::{Result, ToolError};

pub use nacre_map::indexer::BadGlob;
pub(crate) use walk::{Walk, WalkEnd};

/// Maximum size of a file. Larger files are neither read nor written.
pub(crate) const MAX_FILE_BYTES: u64 = 16 << 20;

#[derive(Debug)]
pub struct Workspace {
    root: Arc<PathBuf>,
    scope: WriteScope,
    denied: Denied,
}

#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("Cannot use the directory as a workspace")]
    Folder(#[from] FsError),
    #[error("Invalid glob for files that the agent must not access")]
    Glob(#[from] BadGlob),
}

impl Workspace {
    /// Opens the directory. `denied` contains the agent's globs, which apply in addition to the
    /// built-in ones.
    pub fn open(root: &Path, denied: &[String]) -> Result<Self, WorkspaceError> {
        let scope = WriteScope::open(root, Access::Shared)?;
        let denied = Denied::new(denied)?;
        Ok(Self { root: Arc::new(root.to_owned()), scope, denied })
    }

    pub fn root(&self) -> &Arc<PathBuf> {
        &self.root
    }

    /// Parses a path, which may be relative or an absolute path inside the workspace.
    pub fn place(&self, text: &str) -> Result<RelPath> {
        place_below(&self.root, text)
    }

    /// Like `place`, but for a directory. `None` means the root.
    pub(crate) fn folder(&self, text: Option<&str>) -> Result<Option<RelPath>> {
        text.map_or(Ok(None), |text| folder_below(&self.root, text))
    }

    pub fn denied(&self) -> &Denied {
        &self.denied
    }

    pub fn read(&self, path: &RelPath) -> Result<Vec<u8>> {
        self.check_reading(path)?;
        self.scope.read(path, MAX_FILE_BYTES).map_err(|error| tool_error(&error, path))
    }

    pub(crate) fn open_file(&self, path: &RelPath) -> Result<OpenFile> {
        self.check_reading(path)?;
        self.scope.open_file(path).map_err(|error| tool_error(&error, path))
    }

    pub(crate) fn mode(&self, path: &RelPath) -> Option<u32> {
        self.scope.mode(path)
    }

    pub fn read_text(&self, path: &RelPath) -> Result<String> {
        let bytes = self.read(path)?;
        if is_binary(&bytes) {
            return Err(not_text(path));
        }
        String::from_utf8(bytes).map_err(|_| not_text(path))
    }

    /// Creates a file, and restores its previous permission bits if they are known.
    pub(crate) fn create(&self, path: &RelPath, bytes: &[u8], mode: Option<u32>) -> Result<()> {
        self.check_writing(path)?;
        self.scope.create_file_as(path, bytes, mode).map_err(|error| tool_error(&error, path))
    }

    /// Replaces a file if it has not changed since it was read.
    pub(crate) fn replace(
        &self,
        path: &RelPath,
        before: ContentHash,
        bytes: &[u8],
        mode: Option<u32>,
    ) -> Result<()> {
        self.check_writing(path)?;
        let replaced = self.scope.replace_file_as(path, before, bytes, mode);
        replaced.map_err(|error| tool_error(&error, path))
    }

    pub(crate) fn remove(&self, path: &RelPath, before: ContentHash) -> Result<()> {
        self.check_writing(path)?;
        self.scope.remove_file(path, before).map_err(|error| tool_error(&error, path))
    }

    pub(crate) fn rename(&self, from: &RelPath, to: &RelPath, before: ContentHash) -> Result<()> {
        self.check_writing(from)?;
        self.check_writing(to)?;
        self.scope.move_file(from, to, before).map_err(|error| tool_error(&error, to))
    }

    fn check_reading(&self, path: &RelPath) -> Result<()> {
        check(path, self.denied.forbids_reading(&Area::File(path.clone())))
    }

    fn check_writing(&self, path: &RelPath) -> Result<()> {
        check(path, self.denied.forbids_writing(&Area::File(path.clone())))
    }
}

fn check(path: &RelPath, is_denied: bool) -> Result<()> {
    match is_denied {
        true => {
            let what = format!("`{path}` is protected");
            Err(ToolError::new(Fault::Denied, what, "Do without it."))
        }
        false => Ok(()),
    }
}

/// Returns whether a file is binary, according to git's heuristic.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(8_000).any(|byte| *byte == 0)
}

/// Returns a short version ID for a file's content, so that a call can refer to it.
pub(crate) fn version_of(bytes: &[u8]) -> String {
    ContentHash::of(bytes).to_string()[..12].to_owned()
}

/// Version control data, which is never read, written or walked.
const CLOSED: &[&str] = &[".git", ".hg", ".svn", "git~1"];

/// Directories that agents may read but that only their owner may write to.
const OWNED: &[&str] = &[".nacre"];

/// The names that an agent must not access.
#[derive(Clone, Debug)]
pub struct Denied(Sensitive);

impl Denied {
    /// Denies the built-in list of secret files and all matches for `globs`. A glob without a `/`
    /// applies in every directory.
    pub fn new(globs: &[String]) -> Result<Self, BadGlob> {
        Sensitive::new(globs).map(Self)
    }

    /// Returns git pathspecs that exclude the denied files.
    pub(crate) fn exclusions(&self) -> Vec<String> {
        let forms = self.0.globs().flat_map(|glob| [format!("{glob}/**"), glob]);
        forms.map(|form| format!(":(exclude,icase,glob){form}")).collect()
    }

    pub(crate) fn forbids_reading(&self, area: &Area) -> bool {
        match area {
            Area::File(path) | Area::Tree(Some(path)) => {
                is_at(path, CLOSED) || self.is_sensitive(path)
            }
            Area::Tree(None) => false,
        }
    }

    pub(crate) fn forbids_writing(&self, area: &Area) -> bool {
        match area {
            Area::File(path) | Area::Tree(Some(path)) => {
                is_at(path, OWNED) || self.forbids_reading(area)
            }
            Area::Tree(None) => false,
        }
    }

    pub(crate) fn is_sensitive(&self, path: &RelPath) -> bool {
        self.0.rule_above(path.as_str()).is_some()
    }
}

fn is_at(path: &RelPath, names: &[&str]) -> bool {
    path.components().any(|part| is_one_of(part, names))
}

pub(crate) fn is_machinery(name: &str) -> bool {
    is_one_of(name, CLOSED) || is_one_of(name, OWNED)
}

fn is_one_of(part: &str, names: &[&str]) -> bool {
    names.iter().any(|name| part.eq_ignore_ascii_case(name))
}

const NAME_A_PLACE: &str = "Use a path in the workspace, such as `src/main.rs`.";

/// Parses a path written by a model, and normalizes forms such as `./src/`.
pub(crate) fn place(text: &str) -> Result<RelPath> {
    let plain = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
    RelPath::new(plain)
        .map_err(|error| ToolError::new(Fault::Arguments, error.to_string(), NAME_A_PLACE))
}

pub(crate) fn place_below(root: &Path, text: &str) -> Result<RelPath> {
    place(&relative(root, text)?)
}

/// Like `place`, but for a directory. `None` is the root.
pub(crate) fn folder_below(root: &Path, text: &str) -> Result<Option<RelPath>> {
    match text {
        "" | "." | "./" | "/" => Ok(None),
        _ => Some(relative(root, text)?).filter(|t| !t.is_empty()).map(|t| place(&t)).transpose(),
    }
}

/// Converts an absolute path to one relative to `root`. A relative path is returned unchanged.
fn relative(root: &Path, text: &str) -> Result<String> {
    let path = Path::new(text);
    if !path.is_absolute() {
        return Ok(text.to_owned());
    }
    let below = |path: &Path, root: &Path| {
        // Collecting the components removes `.` and double slashes.
        let rest: PathBuf = path.strip_prefix(root).ok()?.components().collect();
        Some(rest.to_string_lossy().into_owned())
    };
    let found = below(path, root).or_else(|| {
        let real = nacre_base::platform::canonicalize(root).ok()?;
        below(path, &real).or_else(|| below(&resolve_path(path)?, &real))
    });
    found.ok_or_else(|| {
        ToolError::new(Fault::Arguments, format!("`{text}` is outside the workspace"), NAME_A_PLACE)
    })
}

fn resolve_path(path: &Path) -> Option<PathBuf> {
    if path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let (there, real) = path
        .ancestors()
        .find_map(|there| Some((there, nacre_base::platform::canonicalize(there).ok()?)))?;
    Some(real.join(path.strip_prefix(there).ok()?))
}

pub(crate) fn tool_error(error: &FsError, path: &RelPath) -> ToolError {
    let (fault, what, hint) = match error {
        error if error.is_missing() => {
            (Fault::NotFound, format!("`{path}` not found"), "Search for it with `file_find`.")
        }
        FsError::NotAFile { .. } => (
            Fault::WrongKind,
            format!("`{path}` is not a regular file"),
            "Links and directories cannot be opened; list a directory with `file_find`.",
        ),
        FsError::NotAFolder { .. } => (
            Fault::WrongKind,
            format!("A parent of `{path}` is not a plain directory"),
            "Links are not followed; use the real path.",
        ),
        FsError::TooLarge { size, limit, .. } => (
            Fault::TooLarge,
            format!("`{path}` is {size} bytes, which exceeds the limit of {limit}"),
            "Read it with `file_read`, or search for the part that you need with `file_search` and \
             `under`.",
        ),
        FsError::Conflict { paths } => {
            let at = paths.first().unwrap_or(path);
            let there = if at == path { "already exists, or " } else { "" };
            let what = format!("`{at}` {there}has changed since it was read");
            (Fault::Stale, what, "Read it again, then decide.")
        }
        FsError::Io { source, .. } if source.kind() == ErrorKind::NotADirectory => (
            Fault::WrongKind,
            format!("`{path}` is not a plain directory"),
            "Links are not followed; use a directory.",
        ),
        FsError::Io { source, .. } => {
            (Fault::Io, format!("Cannot use `{path}`: {}", source.kind()), "Try something else.")
        }
        FsError::BadPath { .. }
        | FsError::TwiceChanged { .. }
        | FsError::Reserved { .. }
        | FsError::Busy { .. }
        | FsError::Interrupted { .. } => (Fault::Io, error.to_string(), "Try something else."),
    };
    ToolError::new(fault, what, hint)
}

pub(crate) fn not_text(path: impl Display) -> ToolError {
    let what = format!("`{path}` is not a text file");
    ToolError::new(Fault::WrongKind, what, "Only text files can be read and edited.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_machinery_are_closed_by_name() {
        let denied = Denied::new(&["traces/".to_owned(), "/top.txt".to_owned()]).unwrap();
        let mut table = String::new();
        for path in [
            "src/main.rs",
            ".env",
            "app/.ENV.production",
            ".env.example",
            "environment.md",
            "certs/server.pem",
            "home/.ssh/config",
            "home/.ssh/.env.example",
            "id_ed25519.pub",
            "a/.Git/config",
            ".gitignore",
            ".nacre/memory/x.md",
            "traces/a/b.jsonl",
            "deep/traces/x",
            "top.txt",
            "deep/top.txt",
        ] {
            let area = Area::File(RelPath::new(path).unwrap());
            let reads = if denied.forbids_reading(&area) { "-" } else { "r" };
            let writes = if denied.forbids_writing(&area) { "-" } else { "w" };
            table += &format!("{reads}{writes} {path}\n");
        }
        insta::assert_snapshot!(table, @r"
        rw src/main.rs
        -- .env
        -- app/.ENV.production
        rw .env.example
        rw environment.md
        -- certs/server.pem
        -- home/.ssh/config
        -- home/.ssh/.env.example
        -- id_ed25519.pub
        -- a/.Git/config
        rw .gitignore
        r- .nacre/memory/x.md
        -- traces/a/b.jsonl
        -- deep/traces/x
        -- top.txt
        rw deep/top.txt
        ");
    }

    #[test]
    fn a_bad_glob_is_named() {
        let error = Denied::new(&["a[".to_owned()]).unwrap_err();
        assert!(error.to_string().starts_with("`a[` is not a valid glob"), "{error}");
    }
}
