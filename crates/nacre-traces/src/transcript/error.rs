//! Errors that occur while reading transcripts, and whether a retry can succeed.

use std::io;
use std::path::PathBuf;

/// An error that prevents a transcript, or the directory that contains it, from being read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("Cannot open trace `{}`", path.display())]
    Open { path: PathBuf, source: io::Error },
    #[error("Cannot read trace `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("Cannot look into `{}`", path.display())]
    Walk { path: PathBuf, source: io::Error },
    #[error("Cannot read trace `{}`: it is not a regular file", path.display())]
    NotAFile { path: PathBuf },
    #[error("Cannot read trace `{}`: it is larger than {limit} bytes", path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("Cannot read trace `{}`: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: &'static str },
    #[error("Cannot query trace database `{}`", path.display())]
    Store { path: PathBuf, source: Fault },
    #[error("Cannot read trace database `{}` now: another program is writing to it", path.display())]
    Busy { path: PathBuf },
    #[error("Left trace `{}` for the next sync: the time limit for traces was reached", path.display())]
    LeftOut { path: PathBuf },
    #[error("Cannot find session `{session}` in `{}`", path.display())]
    NoSession { path: PathBuf, session: String },
    #[error("Stopped searching `{}` after {limit} entries", path.display())]
    TooManyEntries { path: PathBuf, limit: usize },
}

/// Whether and when a retry can succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retryability {
    /// The transcript was removed or replaced after it was found.
    Gone,
    /// The agent is writing to the transcript, so the next attempt may succeed.
    Soon,
    /// Other transcripts used up the budget. The next sync reads this one.
    NextSync,
    /// The file used up its budget, so the rest of its content is not read. A retry with the same
    /// content would fail again.
    Spent,
    /// A system error that may be temporary.
    Maybe,
    None,
}

impl Error {
    pub fn hope(&self) -> Retryability {
        match self {
            Self::Open { source, .. } | Self::Read { source, .. }
                if matches!(
                    source.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Retryability::Gone
            }
            Self::Open { .. } | Self::Read { .. } => Retryability::Maybe,
            Self::NotAFile { .. } | Self::NoSession { .. } => Retryability::Gone,
            Self::Busy { .. } => Retryability::Soon,
            Self::LeftOut { .. } => Retryability::NextSync,
            Self::Store { source: Fault::TooSlow, .. } => Retryability::Spent,
            Self::Walk { .. } => Retryability::Maybe,
            Self::TooLarge { .. }
            | Self::Unreadable { .. }
            | Self::Store { .. }
            | Self::TooManyEntries { .. } => Retryability::None,
        }
    }
}

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("The database is in use or changed while it was read")]
    Busy,
    #[error("A table has generated columns, which no agent's database uses")]
    Computed,
    #[error("The database takes too long to read for its size")]
    TooSlow,
    #[error("The database is damaged")]
    Corrupt(#[source] Box<rusqlite::Error>),
    #[error("The database has an unexpected layout")]
    Schema(#[source] Box<rusqlite::Error>),
}
