//! Errors as the user meets them: what could not be done, why, and what to type.

use std::error::Error;
use std::io;

use nacre_core::config::ConfigError;
use nacre_core::config::projects::ProjectError;
use nacre_core::memory::MemoryError;
use nacre_core::safefs::FsError;
use nacre_core::search::{IndexError, SearchError};
use nacre_engine::flows::maintain::MaintainError;
use nacre_engine::flows::run::UndoError;
use nacre_engine::flows::sync::SyncError;

/// How a command ended; the process's exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All of it was done.
    Done = 0,
    /// It could not be done.
    Failed = 1,
    /// It was not understood.
    Usage = 2,
    /// Some of it was done; the rest was reported.
    Partial = 3,
    /// Another process is writing.
    Busy = 4,
}

impl Exit {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::Partial => "partial",
            Self::Busy => "busy",
        }
    }
}

/// A command that could not be carried out.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) exit: Exit,
    /// What could not be done.
    pub(crate) message: String,
    /// Why, outermost first.
    pub(crate) causes: Vec<String>,
    /// What the person can do, with the command to type.
    pub(crate) hints: Vec<String>,
}

impl CommandError {
    /// An error that only this command knows.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, message: message.into(), causes: Vec::new(), hints: Vec::new() }
    }

    /// A request that makes no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::failed(message) }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub(super) fn from_error(exit: Exit, error: &dyn Error, hint: Option<String>) -> Self {
        let mut causes = Vec::new();
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            // A wrapper that says what its source says adds nothing.
            if text != message && causes.last() != Some(&text) {
                causes.push(text.clone());
            }
            source = cause.source();
        }
        if message.is_empty() {
            message = "Something could not be done".to_owned();
        }
        Self { exit, message, causes, hints: hint.into_iter().collect() }
    }
}

impl From<FsError> for CommandError {
    fn from(error: FsError) -> Self {
        let exit = if matches!(error, FsError::Busy { .. }) { Exit::Busy } else { Exit::Failed };
        let hint = match &error {
            FsError::Busy { .. } => {
                Some("Wait for it to end, or run `nacre config set lock.wait_ms 60000`".to_owned())
            }
            FsError::Conflict { .. } => {
                Some("Nothing was changed. Look at the file and run the command again".to_owned())
            }
            FsError::Interrupted { .. } => Some(
                "Free the disk, then run `nacre doctor`: the next command finishes or undoes it"
                    .to_owned(),
            ),
            FsError::NotAFolder { .. } | FsError::NotAFile { .. } => Some(
                "Nacre follows no links inside a store; put a plain file or folder there"
                    .to_owned(),
            ),
            FsError::Io { .. } => error.io_kind().and_then(io_hint).map(str::to_owned),
            FsError::BadPath { .. }
            | FsError::TooLarge { .. }
            | FsError::TwiceChanged { .. }
            | FsError::Reserved { .. } => None,
        };
        Self::from_error(exit, &error, hint)
    }
}

fn io_hint(kind: io::ErrorKind) -> Option<&'static str> {
    const HINTS: &[(io::ErrorKind, &str)] = &[
        (io::ErrorKind::StorageFull, "Free some space on the disk"),
        (io::ErrorKind::QuotaExceeded, "Free some of your quota"),
        (
            io::ErrorKind::ReadOnlyFilesystem,
            "The disk is mounted read-only; reading commands still work",
        ),
        (
            io::ErrorKind::PermissionDenied,
            "Check the owner and mode of the file: `ls -ld` shows them",
        ),
    ];
    HINTS.iter().find(|(known, _)| *known == kind).map(|(_, hint)| *hint)
}

impl From<MemoryError> for CommandError {
    fn from(error: MemoryError) -> Self {
        let hint = match &error {
            MemoryError::Unknown { nearest, .. } if nearest.is_empty() => {
                "`nacre memory list` shows every id".to_owned()
            }
            MemoryError::Unknown { nearest, .. } => {
                let names: Vec<String> = nearest.iter().map(|id| format!("`{id}`")).collect();
                format!("Did you mean {}?", names.join(" or "))
            }
            MemoryError::Ambiguous { nearest, .. } => {
                let names: Vec<String> = nearest.iter().map(|id| format!("`{id}`")).collect();
                format!("Give more of it, such as {}", names.join(" or "))
            }
            MemoryError::Unreadable(_) | MemoryError::Sidecar { .. } => {
                "`nacre doctor` shows every broken file with its line".to_owned()
            }
            MemoryError::EmptyTitle => "nacre memory add \"Use SQLite for the queue\"".to_owned(),
            MemoryError::TooLong { .. } => "Say it shorter, or make two memories of it".to_owned(),
            MemoryError::AlreadyArchived { id } => format!("nacre memory restore {id}"),
            MemoryError::NotArchived { id } => format!("nacre memory show {id}"),
            MemoryError::SummaryNotArchivable { id } => format!("nacre memory forget {id}"),
            MemoryError::SummaryNotJudged { id } => format!("nacre memory edit {id}"),
            MemoryError::NotARunFile { .. } => String::new(),
            MemoryError::NotUndoable { .. } => {
                "Nothing was changed. This run folder was not written by this program".to_owned()
            }
            MemoryError::InvalidText(_) => "Mend the line and try again".to_owned(),
            MemoryError::Fs(_) => String::new(),
        };
        if let MemoryError::Fs(error) = error {
            return error.into();
        }
        Self::from_error(Exit::Failed, &error, Some(hint))
    }
}

impl From<SearchError> for CommandError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Memory(error) => error.into(),
            SearchError::Index(error) => error.into(),
        }
    }
}

impl From<IndexError> for CommandError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Fs(error) => error.into(),
            IndexError::Embed(error) => error.into(),
        }
    }
}

impl From<SyncError> for CommandError {
    fn from(error: SyncError) -> Self {
        match error {
            SyncError::Memory(error) => error.into(),
            SyncError::Search(error) => error.into(),
            SyncError::Embed(error) => error.into(),
            SyncError::Trace(error) => error.into(),
            SyncError::Ask(error) => error.into(),
            SyncError::State(error) => Self::from_error(Exit::Failed, &error, None),
            SyncError::NoTrace(_) => Self::from_error(
                Exit::Failed,
                &error,
                Some("`nacre trace list` shows the sessions that were seen".to_owned()),
            ),
        }
    }
}

impl From<MaintainError> for CommandError {
    fn from(error: MaintainError) -> Self {
        match error {
            MaintainError::Memory(error) => error.into(),
            MaintainError::Search(error) => error.into(),
            MaintainError::Embed(error) => error.into(),
        }
    }
}

impl From<UndoError> for CommandError {
    fn from(error: UndoError) -> Self {
        let hint = match error {
            UndoError::Memory(error) => return error.into(),
            UndoError::Fs(error) => return error.into(),
            UndoError::Unknown(_) => "`nacre run list` shows every run",
            UndoError::Ambiguous { .. } => "Give more of it; `nacre run list` shows every run",
            UndoError::BadPlan { .. } => {
                "Nothing was changed. This run folder was not written by this program"
            }
            UndoError::Nothing(_) => "`nacre run show ID` shows what it did",
            UndoError::Changed { .. } => {
                "Undo the later run first, or change the files by hand: `nacre memory edit ID`"
            }
        };
        Self::from_error(Exit::Failed, &error, Some(hint.to_owned()))
    }
}

impl From<ConfigError> for CommandError {
    fn from(error: ConfigError) -> Self {
        let hint = error.hint();
        let exit = if error.is_in_command() { Exit::Usage } else { Exit::Failed };
        Self::from_error(exit, &error, hint)
    }
}

impl From<ProjectError> for CommandError {
    fn from(error: ProjectError) -> Self {
        let hint = error.hint();
        Self::from_error(Exit::Failed, &error, hint)
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::from_error(Exit::Failed, &error, None)
    }
}
