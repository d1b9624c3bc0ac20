//! Errors as shown to users: a message, its causes and hints. Codes and hints for errors from other
//! crates are assigned here.

use std::error::Error;
use std::{fmt, io};

use nacre_base::config::ConfigError;
use nacre_base::config::projects::ProjectError;
use nacre_base::fs::FsError;
use nacre_engine::record::state::StateError;
use nacre_map::indexer::{BadGlob, RefreshError, SinceError};
use nacre_map::search::{FilterError, PatternError, QueryError};
use nacre_map::slices::TooSmall;
use nacre_memory::messages::MessageSearchError;
use nacre_memory::search::{EmbedError, IndexError, RecordIndexError, SearchError};
use nacre_memory::{MemoryError, MemoryId};
use nacre_team::people::PeopleError;
use nacre_types::ErrorCode::{
    Ambiguous, Busy, Cancelled, Conflict, DatabaseAway, Failed, Invalid, NotFound, OutputClosed,
    Refused, TooLarge, Unavailable, Usage,
};
use nacre_types::{ErrorCode, ErrorReport, Failure, KeptFile};

use crate::maintain::MaintainError;
use crate::run::folder::UndoError;
use crate::sync::pipeline::SyncError;

const MAX_CHANGED: usize = 5;

pub type Result<T, E = OpError> = std::result::Result<T, E>;

#[derive(Clone, Debug)]
pub struct OpError {
    pub code: ErrorCode,
    pub message: String,
    /// Sorted from outermost to innermost.
    pub causes: Vec<String>,
    /// Suggestions for the user, including a command to run.
    pub hints: Vec<String>,
}

impl OpError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), causes: Vec::new(), hints: Vec::new() }
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Failed, message)
    }

    pub fn cancelled() -> Self {
        Self::new(Cancelled, "Cancelled")
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Usage, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(NotFound, message)
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    #[must_use]
    pub fn because(mut self, cause: impl fmt::Display) -> Self {
        self.causes.push(cause.to_string());
        self
    }

    pub fn wrap(error: &dyn Error) -> Self {
        Self::from_error(Failed, error, None)
    }

    pub fn from_error(code: ErrorCode, error: &dyn Error, hint: Option<String>) -> Self {
        let mut causes = Vec::new();
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            // A transparent error wrapper has the same text as its source.
            if text != message && causes.last() != Some(&text) {
                causes.push(text.clone());
            }
            source = cause.source();
        }
        if message.is_empty() {
            message = "The operation failed".to_owned();
        }
        Self { code, message, causes, hints: hint.into_iter().collect() }
    }
}

impl From<OpError> for ErrorReport {
    fn from(error: OpError) -> Self {
        Self { error: error.into() }
    }
}

impl From<OpError> for Failure {
    fn from(error: OpError) -> Self {
        let OpError { code, message, causes, hints } = error;
        Self { code, message, causes, hints }
    }
}

impl From<Failure> for OpError {
    fn from(failure: Failure) -> Self {
        let Failure { code, message, causes, hints } = failure;
        Self { code, message, causes, hints }
    }
}

macro_rules! from_contained {
    ($($error:ident { $($variant:ident),+ })+) => {$(
        impl From<$error> for OpError {
            fn from(error: $error) -> Self {
                match error {
                    $($error::$variant(error) => error.into(),)+
                }
            }
        }
    )+};
}

from_contained! {
    SearchError { Memory, Index }
    IndexError { Fs, Embed }
    MaintainError { Memory, Search, Embed }
    MessageSearchError { Catalog, Index }
}

impl From<FsError> for OpError {
    fn from(error: FsError) -> Self {
        let (code, hint) = match &error {
            FsError::Busy { .. } => {
                (Busy, Some("Wait for it to finish, or run `nacre config set lock.wait_ms 60000`"))
            }
            FsError::Conflict { .. } => {
                (Conflict, Some("Nothing was changed. Check the file and run the command again"))
            }
            FsError::Interrupted { .. } => {
                let hint = "Free some disk space, then run `nacre doctor`. The next command \
                 completes or undoes the change";
                (Failed, Some(hint))
            }
            FsError::NotAFolder { .. } | FsError::NotAFile { .. } => {
                let hint = "Nacre does not follow links inside a store. Replace the link with a regular \
                     file or directory";
                (Refused, Some(hint))
            }
            FsError::BadPath { .. } => {
                let hint = "Use a path relative to the directory, without `..` or a leading `/`";
                (Failed, Some(hint))
            }
            FsError::Io { .. } => (Failed, error.io_kind().and_then(io_hint)),
            FsError::TooLarge { .. } => (TooLarge, None),
            FsError::TwiceChanged { .. } | FsError::Reserved { .. } => (Failed, None),
        };
        Self::from_error(code, &error, hint.map(str::to_owned))
    }
}

fn io_hint(kind: io::ErrorKind) -> Option<&'static str> {
    use io::ErrorKind::{
        NotFound, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
    };
    const HINTS: &[(io::ErrorKind, &str)] = &[
        (StorageFull, "Free some disk space"),
        (QuotaExceeded, "Free some of your disk quota"),
        (ReadOnlyFilesystem, "The disk is mounted read-only. Commands that only read still work"),
        (PermissionDenied, "Check the file's owner and mode with `ls -ld`"),
        (NotFound, "Name an existing file or directory; `ls` lists them"),
    ];
    HINTS.iter().find(|(known, _)| *known == kind).map(|(_, hint)| *hint)
}

impl From<MemoryError> for OpError {
    fn from(error: MemoryError) -> Self {
        if let MemoryError::Fs(error) = error {
            return error.into();
        }
        let quoted = |ids: &[MemoryId]| {
            ids.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(" or ")
        };
        let not_ours = "Nothing was changed. Nacre did not write this run directory";
        let (code, hint) = match &error {
            MemoryError::Unknown { nearest, .. } if nearest.is_empty() => {
                (NotFound, "`nacre memory list` lists all ids".to_owned())
            }
            MemoryError::Unknown { nearest, .. } => {
                (NotFound, format!("Did you mean {}?", quoted(nearest)))
            }
            MemoryError::Duplicate { .. } => {
                (Ambiguous, "`nacre doctor` lists the files".to_owned())
            }
            MemoryError::Ambiguous { nearest, .. } => {
                (Ambiguous, format!("Type more of the id, such as {}", quoted(nearest)))
            }
            MemoryError::Unreadable(_) | MemoryError::Sidecar { .. } => {
                (Invalid, "`nacre doctor` lists every broken file and line".to_owned())
            }
            MemoryError::EmptyTitle => {
                (Invalid, "nacre memory add \"Use SQLite for the queue\"".to_owned())
            }
            MemoryError::InvalidText(_) => (Invalid, "Fix the line and try again".to_owned()),
            MemoryError::TooLong { .. } => {
                (TooLarge, "Shorten it, or split it into two memories".to_owned())
            }
            MemoryError::AlreadyArchived { id } => (Conflict, format!("nacre memory restore {id}")),
            MemoryError::NotArchived { id } => (Conflict, format!("nacre memory show {id}")),
            MemoryError::NotACandidate { .. } => {
                (Conflict, "`nacre review` lists the candidates".to_owned())
            }
            MemoryError::SummaryNotArchivable { id } => {
                (Refused, format!("nacre memory forget {id} --yes"))
            }
            MemoryError::SummaryNotJudged { id } => (Refused, format!("nacre memory edit {id}")),
            MemoryError::NotSupersedable { id, .. } => (Refused, format!("nacre memory show {id}")),
            MemoryError::OwnerOnly { id, .. } => (
                Refused,
                format!("Ask the user to review it: nacre review, nacre memory show {id}"),
            ),
            MemoryError::UsersWords { id } => (
                Refused,
                format!("Submit the new claim for review: memory_add with `supersedes` {id}"),
            ),
            MemoryError::NotShown { .. } => {
                (Refused, "Show it first: nacre review --list".to_owned())
            }
            MemoryError::NotUndoable { .. } => (Refused, not_ours.to_owned()),
            MemoryError::Fs(_) | MemoryError::NotARunFile { .. } | MemoryError::NoLevel { .. } => {
                (Refused, String::new())
            }
        };
        Self::from_error(code, &error, Some(hint))
    }
}

impl From<RecordIndexError> for OpError {
    fn from(error: RecordIndexError) -> Self {
        match error {
            RecordIndexError::Index(error) => error.into(),
            RecordIndexError::Embed(error) => error.into(),
            RecordIndexError::Shared { is_passing, .. } => {
                let code = if is_passing { DatabaseAway } else { Failed };
                let hint = "The database may be temporarily unavailable; try again";
                Self::from_error(code, &error, is_passing.then(|| hint.to_owned()))
            }
        }
    }
}

impl From<SyncError> for OpError {
    fn from(error: SyncError) -> Self {
        match error {
            SyncError::Memory(error) => error.into(),
            SyncError::Search(error) => error.into(),
            SyncError::Embed(error) => error.into(),
            SyncError::Trace(error) => error.into(),
            SyncError::Ask(error) => error.into(),
            SyncError::State(error) => Self::from_error(Failed, &error, None),
            SyncError::NoTrace(_) => Self::from_error(
                Failed,
                &error,
                Some("`nacre trace` lists the known sessions".to_owned()),
            ),
        }
    }
}

impl From<UndoError> for OpError {
    fn from(error: UndoError) -> Self {
        let (code, hint) = match error {
            UndoError::Memory(error) => return error.into(),
            UndoError::Fs(error) => return error.into(),
            UndoError::Changed { ref id, ref files, has_rest } => {
                return conflict_error(&error, id, files, has_rest);
            }
            UndoError::Unknown(_) => (NotFound, "`nacre runs` lists all runs".to_owned()),
            UndoError::Ambiguous { .. } => {
                (Ambiguous, "Type more of the id; `nacre runs` lists all runs".to_owned())
            }
            UndoError::BadPlan { .. } => {
                (Refused, "Nothing was changed. Nacre did not write this run directory".to_owned())
            }
            UndoError::Nothing(_) => (Refused, "`nacre runs ID` shows its actions".to_owned()),
            UndoError::AlreadyUndone { ref by, .. } => {
                (Refused, format!("Restore it: nacre undo {by}"))
            }
            UndoError::Gone(_) => {
                let hint =
                    "Git's history contains the committed versions: git log -- .nacre/memory";
                (Refused, hint.to_owned())
            }
            UndoError::OtherCommand { ref command, .. } => {
                (Refused, format!("Run `nacre {command}`"))
            }
        };
        Self::from_error(code, &error, Some(hint))
    }
}

fn conflict_error(error: &UndoError, id: &str, files: &[KeptFile], has_rest: bool) -> OpError {
    let who = |file: &KeptFile| match &file.by {
        Some(by) => format!("`{}` was changed by {by}", file.path),
        None => format!("`{}` was edited", file.path),
    };
    let causes = files.iter().take(MAX_CHANGED).map(who);
    let mut op = OpError::from_error(Conflict, error, None);
    op.causes = causes.collect();
    if files.len() > MAX_CHANGED {
        op.causes.push(format!("{} more files", files.len() - MAX_CHANGED));
    }
    if let Some(by) = files.iter().find_map(|file| file.by.as_ref()) {
        op = op.hint(format!("Nothing was changed. Undo the later change first: nacre undo {by}"));
    }
    match has_rest {
        true => {
            op.hint(format!("Keep these and restore the others: nacre undo {id} --keep-changed"))
        }
        false => op.hint("There is nothing else to restore. Nothing was changed"),
    }
}

impl From<ConfigError> for OpError {
    fn from(error: ConfigError) -> Self {
        let code = if error.is_in_command() { Usage } else { Invalid };
        let list = || "`nacre config` lists all keys and values".to_owned();
        let hint = error.hint().or_else(|| error.is_in_command().then(list));
        Self::from_error(code, &error, hint)
    }
}

impl From<ProjectError> for OpError {
    fn from(error: ProjectError) -> Self {
        let code = match &error {
            ProjectError::Config(_) => Failed,
            ProjectError::BadName { .. } | ProjectError::BadPath { .. } => Usage,
            ProjectError::NameTaken { .. } | ProjectError::PathTaken { .. } => Conflict,
            ProjectError::NoSuchProject { .. } => NotFound,
        };
        let hint = error.hint();
        Self::from_error(code, &error, hint)
    }
}

impl From<io::Error> for OpError {
    fn from(error: io::Error) -> Self {
        let is_closed = error.kind() == io::ErrorKind::BrokenPipe;
        let code = if is_closed { OutputClosed } else { Failed };
        Self::from_error(code, &error, None)
    }
}

impl From<EmbedError> for OpError {
    fn from(error: EmbedError) -> Self {
        let hint = match error {
            EmbedError::Fs(error) => return error.into(),
            EmbedError::Service(_) => {
                "Check search.endpoint_url, search.endpoint_model and NACRE_EMBEDDING_KEY, or use \
                 the built-in model: nacre config set search.embedding builtin"
            }
            EmbedError::Damaged { .. } => "Reinstall Nacre: its built-in model is damaged",
        };
        Self::from_error(Failed, &error, Some(hint.to_owned()))
    }
}

impl From<TooSmall> for OpError {
    fn from(error: TooSmall) -> Self {
        let hint = format!("Use at least `--budget {}`", error.needed);
        Self::from_error(Invalid, &error, Some(hint))
    }
}

impl From<PeopleError> for OpError {
    fn from(error: PeopleError) -> Self {
        let (code, hint) = match error {
            PeopleError::Files(error) => return error.into(),
            PeopleError::BadName { .. } => {
                let rule = "Use letters, digits and `.@_-+`, starting with a letter or digit";
                (Usage, Some(rule))
            }
            PeopleError::TooMany { .. } => {
                (Conflict, Some("Revoke one first: nacre server token revoke ID"))
            }
            PeopleError::UnknownToken { .. } => {
                (NotFound, Some("`nacre server token` lists all tokens"))
            }
            PeopleError::Ambiguous { .. } => (Ambiguous, Some("Type more of it")),
            PeopleError::Shared { is_passing: true, .. } => (DatabaseAway, None),
            PeopleError::Newer { .. } => (Failed, Some("Update nacre")),
            PeopleError::File { .. } | PeopleError::Damaged | PeopleError::Shared { .. } => {
                (Failed, None)
            }
        };
        Self::from_error(code, &error, hint.map(str::to_owned))
    }
}

impl From<StateError> for OpError {
    fn from(error: StateError) -> Self {
        if let StateError::Fs(error) = error {
            return error.into();
        }
        let (code, hint) = match &error {
            StateError::Shared { is_passing: true, .. } => {
                (DatabaseAway, "The database may be temporarily unavailable; try again later")
            }
            StateError::Busy(_) => (Busy, "Wait for it to finish, then try again"),
            StateError::QueueFull { .. } => {
                (Busy, "Wait for one to finish; `nacre events` lists them")
            }
            StateError::SessionInUse { .. } => {
                (Busy, "Finish or cancel its task first; `nacre events` lists it")
            }
            StateError::NotHeld { .. } => return Self::from_error(Busy, &error, None),
            StateError::UnknownTask { .. } => (NotFound, "`nacre events` lists the latest tasks"),
            StateError::UnknownSession { .. } => return Self::from_error(NotFound, &error, None),
            StateError::Ambiguous { .. } => {
                (Ambiguous, "Type more of the id; `nacre events` lists the tasks")
            }
            StateError::Damaged { path, .. } => {
                let path = path.display();
                let hint =
                    format!("Rename it, and Nacre creates a new one: mv {path} {path}.damaged");
                return Self::wrap(&error).hint(hint);
            }
            StateError::Newer { .. } => {
                (Failed, "Use a newer version of Nacre, or move the file out of the way")
            }
            StateError::Shared { is_passing: false, .. }
            | StateError::Fs(_)
            | StateError::Open { .. }
            | StateError::Sql(_)
            | StateError::Move(_)
            | StateError::SessionExists { .. }
            | StateError::MessageOrder { .. }
            | StateError::NotJson(_) => return Self::wrap(&error),
        };
        Self::from_error(code, &error, Some(hint.to_owned()))
    }
}

impl From<RefreshError> for OpError {
    fn from(error: RefreshError) -> Self {
        let hint = "`nacre config set limits.map_seconds N` allows more time; `.gitignore` \
             excludes directories";
        Self::from_error(Failed, &error, error.is_late().then(|| hint.to_owned()))
    }
}

impl From<BadGlob> for OpError {
    fn from(error: BadGlob) -> Self {
        let hint = "`nacre config` shows which file sets `map.deny`".to_owned();
        Self::from_error(Invalid, &error, Some(hint))
    }
}

impl From<QueryError> for OpError {
    fn from(error: QueryError) -> Self {
        let hint = match &error {
            QueryError::Empty => "Enter search terms: `nacre search-code \"retry failed uploads\"`",
            QueryError::TooLong => "Search for a part of the text",
            QueryError::LineBreak => "Search for a part of one line",
            QueryError::Pattern(PatternError::Syntax { .. }) => {
                "Escape special characters, or search with `--fixed`"
            }
            QueryError::Pattern(PatternError::TooLarge) => "Use smaller repeat counts in `{}`",
        };
        Self::usage(error.to_string()).hint(hint)
    }
}

impl From<FilterError> for OpError {
    fn from(error: FilterError) -> Self {
        let hint = match &error {
            FilterError::Glob { .. } => "Examples of globs: `src/**/*.rs`, `*.py`, `!tests`",
            FilterError::TooMany => "Use `{a,b}` in a glob",
            FilterError::Language(_) => "`nacre explore` lists the project's languages",
        };
        Self::usage(error.to_string()).hint(hint)
    }
}

impl From<SinceError> for OpError {
    fn from(error: SinceError) -> Self {
        let (code, hint) = match &error {
            SinceError::NoCommit { .. } => (NotFound, "`git log --oneline` lists the commits"),
            SinceError::TimedOut => {
                (Unavailable, "`nacre config set limits.map_seconds N` allows more time")
            }
            SinceError::Git { .. } | SinceError::TooLarge => {
                (Unavailable, "`nacre delta --since REVISION` works without git")
            }
            SinceError::OtherArtifact { .. }
            | SinceError::Future { .. }
            | SinceError::TooOld { .. } => {
                (NotFound, "`nacre delta --since 0` lists everything in the map")
            }
        };
        Self::from_error(code, &error, Some(hint.to_owned()))
    }
}
