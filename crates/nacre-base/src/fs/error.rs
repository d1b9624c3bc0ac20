//! File system errors, and the path checks that return them.

use std::io;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::path::{PathFault, RelPath};

pub type Result<T, E = FsError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum FsError {
    #[error("`{}` cannot be used as a path: {why}", crate::ShownLine(path))]
    BadPath { path: String, why: PathFault },
    #[error("Cannot {action} `{}`", path.display())]
    Io { action: FsAction, path: PathBuf, source: io::Error },
    /// A link, directory, device or pipe where a plain file was expected.
    #[error("`{}` is not a plain file", path.display())]
    NotAFile { path: PathBuf },
    /// A parent directory is a symbolic link, which could point outside the scope.
    #[error("`{}` is not a plain folder", path.display())]
    NotAFolder { path: PathBuf },
    /// The file is larger than anything Nacre writes.
    #[error("`{}` is {size} bytes, which exceeds the limit of {limit}", path.display())]
    TooLarge { path: PathBuf, size: u64, limit: u64 },
    #[error("Changed by another program in the meantime: {}", list(paths))]
    Conflict { paths: Vec<RelPath> },
    #[error("The path `{path}` occurs twice in one change set")]
    TwiceChanged { path: RelPath },
    #[error("`{path}` is inside the journal, which must not be changed")]
    Reserved { path: RelPath },
    #[error("Another process is writing to `{}`{}", path.display(), owner_suffix(owner.as_ref()))]
    Busy { path: PathBuf, owner: Option<Owner> },
    /// A journaled change could be neither completed nor undone. The next writer tries again.
    #[error("A change to `{}` was interrupted", path.display())]
    Interrupted { path: PathBuf, source: Box<Self> },
}

impl FsError {
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        if let Self::Interrupted { source, .. } = self {
            return source.io_kind();
        }
        if let Self::Io { source, .. } = self { Some(source.kind()) } else { None }
    }

    pub fn is_missing(&self) -> bool {
        self.io_kind() == Some(io::ErrorKind::NotFound)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FsAction {
    #[error("open the folder")]
    OpenFolder,
    #[error("make the folder")]
    MakeFolder,
    #[error("read")]
    Read,
    #[error("write")]
    Write,
    #[error("move into place")]
    Move,
    #[error("remove")]
    Remove,
    #[error("lock")]
    Lock,
}

fn list(paths: &[RelPath]) -> String {
    paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
}

fn owner_suffix(owner: Option<&Owner>) -> String {
    owner.map_or_else(String::new, |owner| {
        let command = crate::ShownLine(&owner.command);
        format!(" (`{command}`, process {}, since {})", owner.pid, crate::ShownLine(&owner.since))
    })
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub pid: u32,
    pub command: String,
    /// When the lock was taken.
    pub since: String,
}

const MAX_SHOWN_CHARS: usize = 120;

impl RelPath {
    pub fn new(text: &str) -> Result<Self> {
        let shown = || text.chars().take(MAX_SHOWN_CHARS).collect();
        Self::validate(text).map_err(|why| FsError::BadPath { path: shown(), why })
    }

    pub fn join(&self, name: &str) -> Result<Self> {
        Self::new(&format!("{self}/{name}"))
    }
}

impl FromStr for RelPath {
    type Err = FsError;

    fn from_str(text: &str) -> Result<Self> {
        Self::new(text)
    }
}

nacre_types::text_in_json!(RelPath);

pub(super) const JOURNAL: &str = "journal";

/// Refuses paths inside the journal. The comparison ignores case because some file systems do.
pub(super) fn refuse_journal(path: &RelPath) -> Result<()> {
    match path.components().next() {
        Some(first) if first.eq_ignore_ascii_case(JOURNAL) => {
            Err(FsError::Reserved { path: path.clone() })
        }
        _ => Ok(()),
    }
}
