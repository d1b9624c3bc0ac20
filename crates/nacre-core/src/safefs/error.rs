//! What can go wrong with files, and with whom.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::owner::Owner;
use super::path::{PathFault, RelPath};

/// Why files could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum FsError {
    /// The text does not name a place below a scope.
    #[error("`{}` cannot be used as a path: {why}", crate::base::ShownLine(path))]
    BadPath { path: String, why: PathFault },
    /// The operating system refused.
    #[error("Cannot {action} `{}`", path.display())]
    Io { action: FsAction, path: PathBuf, source: io::Error },
    /// A link, folder, device or pipe stands where a plain file should.
    #[error("`{}` is not a plain file", path.display())]
    NotAFile { path: PathBuf },
    /// A folder on the way is a symbolic link, which could lead outside.
    #[error("`{}` is not a plain folder", path.display())]
    NotAFolder { path: PathBuf },
    /// The file is larger than anything we would have written.
    #[error("`{}` is {size} bytes, more than the {limit} allowed", path.display())]
    TooLarge { path: PathBuf, size: u64, limit: u64 },
    /// Somebody changed these files since they were read; nothing was written.
    #[error("Changed by someone else meanwhile: {}", list(paths))]
    Conflict { paths: Vec<RelPath> },
    /// One change set names a path twice.
    #[error("A change set names `{path}` twice")]
    TwiceChanged { path: RelPath },
    /// The journal belongs to the change sets themselves.
    #[error("`{path}` lies in the journal, which no change may touch")]
    Reserved { path: RelPath },
    /// Another process is writing.
    #[error("Another process is writing to `{}`{}", path.display(), owner_suffix(owner.as_ref()))]
    Busy { path: PathBuf, owner: Option<Owner> },
    /// A journaled change could neither be finished nor undone now; the next writer tries again.
    #[error("A change to `{}` was interrupted halfway", path.display())]
    Interrupted { path: PathBuf, source: Box<Self> },
}

impl FsError {
    /// The operating system's kind of refusal, when it was one.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Io { source, .. } => Some(source.kind()),
            Self::Interrupted { source, .. } => source.io_kind(),
            Self::BadPath { .. }
            | Self::NotAFile { .. }
            | Self::NotAFolder { .. }
            | Self::TooLarge { .. }
            | Self::Conflict { .. }
            | Self::TwiceChanged { .. }
            | Self::Reserved { .. }
            | Self::Busy { .. } => None,
        }
    }

    /// Whether the file or folder was not there.
    pub fn is_missing(&self) -> bool {
        self.io_kind() == Some(io::ErrorKind::NotFound)
    }
}

/// What was being done when the operating system refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FsAction {
    /// Opening a folder.
    OpenFolder,
    /// Making a folder.
    MakeFolder,
    /// Reading a file or folder.
    Read,
    /// Writing a file.
    Write,
    /// Moving a file into place.
    Move,
    /// Removing a file or folder.
    Remove,
    /// Taking the lock.
    Lock,
}

impl fmt::Display for FsAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenFolder => "open the folder",
            Self::MakeFolder => "make the folder",
            Self::Read => "read",
            Self::Write => "write",
            Self::Move => "move into place",
            Self::Remove => "remove",
            Self::Lock => "lock",
        })
    }
}

fn list(paths: &[RelPath]) -> String {
    paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
}

fn owner_suffix(owner: Option<&Owner>) -> String {
    owner.map_or_else(String::new, |owner| {
        let command = crate::base::ShownLine(&owner.command);
        format!(
            " (`{command}`, process {}, since {})",
            owner.pid,
            crate::base::ShownLine(&owner.since)
        )
    })
}
