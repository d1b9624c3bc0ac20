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
use nacre_memory::{MemoryError, MemoryId};
use nacre_team::people::PeopleError;
use nacre_types::ErrorCode::{
    Ambiguous, Busy, Cancelled, Conflict, DatabaseAway, Failed, Invalid, NotFound, OutputClosed,
    Refused, TooLarge, Unavailable, Usage,
};
use nacre_types::{ErrorCode, ErrorReport, Failure, KeptFile};

use crate::run::folder::UndoError;
use crate::sync::pipeline::SyncError;

const MAX_CHANGED: usize = 5;
const NOT_OURS: &str = "Nothing was changed. Nacre did not write this run directory";

pub type Result<T, E = OpError> = std::result::Result<T, E>;

#[derive(Clone, Debug)]
pub struct OpError {
    pub code: ErrorCode,
    pub message: String,
    /// The underlying causes, outermost first.
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

/// Assigns a code and, where available, a hint to each kind of error.
macro_rules! hinted {
    ($error:ident: $($pattern:pat $(if $guard:expr)? => $code:expr $(, $hint:expr)?;)+) => {
        match &$error {
            $($pattern $(if $guard)? => {
                $crate::OpError::from_error($code, &$error, None)$(.hint($hint))?
            })+
        }
    };
}
pub(crate) use hinted;

impl From<FsError> for OpError {
    fn from(error: FsError) -> Self {
        if let FsError::Io { source, .. } = &error
            && let Some(hint) = io_hint(source.kind())
        {
            return Self::wrap(&error).hint(hint);
        }
        hinted! { error:
            FsError::Busy { .. } => Busy,
                "Wait for it to finish, or run `nacre config set lock.wait_ms 60000`";
            FsError::Conflict { .. } => Conflict,
                "Nothing was changed. Check the file and run the command again";
            FsError::Interrupted { .. } => Failed,
                "Free some disk space, then run `nacre doctor`. The next command completes or \
                 undoes the change";
            FsError::NotAFolder { .. } | FsError::NotAFile { .. } => Refused,
                "Nacre does not follow links inside a store. Replace the link with a regular \
                 file or directory";
            FsError::BadPath { .. } => Failed,
                "Use a path relative to the directory, without `..` or a leading `/`";
            FsError::TooLarge { .. } => TooLarge;
            FsError::Io { .. } | FsError::TwiceChanged { .. } | FsError::Reserved { .. } => Failed;
        }
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
        hinted! { error:
            MemoryError::Unknown { nearest, .. } if nearest.is_empty() => NotFound,
                "`nacre memory list` lists all ids";
            MemoryError::Unknown { nearest, .. } => NotFound,
                format!("Did you mean {}?", quoted(nearest));
            MemoryError::Duplicate { .. } => Ambiguous, "`nacre doctor` lists the files";
            MemoryError::Ambiguous { nearest, .. } => Ambiguous,
                format!("Type more of the id, such as {}", quoted(nearest));
            MemoryError::Unreadable(_) | MemoryError::Sidecar { .. } => Invalid,
                "`nacre doctor` lists every broken file and line";
            MemoryError::EmptyTitle => Invalid, "nacre memory add \"Use SQLite for the queue\"";
            MemoryError::InvalidText(_) => Invalid, "Fix the line and try again";
            MemoryError::TooLong { .. } => TooLarge, "Shorten it, or split it into two memories";
            MemoryError::AlreadyArchived { id } => Conflict, format!("nacre memory restore {id}");
            MemoryError::NotArchived { id } => Conflict, format!("nacre memory show {id}");
            MemoryError::NotACandidate { .. } => Conflict, "`nacre review` lists the candidates";
            MemoryError::SummaryNotArchivable { id } => Refused,
                format!("nacre memory forget {id} --yes");
            MemoryError::SummaryNotJudged { id } => Refused, format!("nacre memory edit {id}");
            MemoryError::NotSupersedable { id, .. } => Refused, format!("nacre memory show {id}");
            MemoryError::OwnerOnly { id, .. } => Refused,
                format!("Ask the user to review it: nacre review, nacre memory show {id}");
            MemoryError::UsersWords { id } => Refused,
                format!("Submit the new claim for review: memory_add with `supersedes` {id}");
            MemoryError::NotShown { .. } => Refused, "Show it first: nacre review --list";
            MemoryError::NotUndoable { .. } => Refused, NOT_OURS;
            MemoryError::Fs(_) | MemoryError::NotARunFile { .. } | MemoryError::NoLevel { .. } =>
                Refused, "";
        }
    }
}

impl From<SyncError> for OpError {
    fn from(error: SyncError) -> Self {
        match error {
            SyncError::Memory(error) => error.into(),
            SyncError::Trace(error) => error.into(),
            SyncError::Ask(error) => error.into(),
            SyncError::State(error) => Self::wrap(&error),
            SyncError::NoTrace(_) => {
                Self::wrap(&error).hint("`nacre trace` lists the known sessions")
            }
        }
    }
}

impl From<UndoError> for OpError {
    fn from(error: UndoError) -> Self {
        if let UndoError::Memory(error) = error {
            return error.into();
        }
        if let UndoError::Fs(error) = error {
            return error.into();
        }
        if let UndoError::Changed { id, files, has_rest } = &error {
            return conflict_error(&error, id, files, *has_rest);
        }
        hinted! { error:
            UndoError::Unknown(_) => NotFound, "`nacre runs` lists all runs";
            UndoError::Ambiguous { .. } => Ambiguous,
                "Type more of the id; `nacre runs` lists all runs";
            UndoError::BadPlan { .. } => Refused, NOT_OURS;
            UndoError::Nothing(_) => Refused, "`nacre runs ID` shows its actions";
            UndoError::AlreadyUndone { by, .. } => Refused,
                format!("Restore it: nacre undo {by}");
            UndoError::Gone(_) => Refused,
                "Git's history contains the committed versions: git log -- .nacre/memory";
            UndoError::OtherCommand { command, .. } => Refused, format!("Run `nacre {command}`");
            UndoError::Changed { .. } | UndoError::Memory(_) | UndoError::Fs(_) => Failed;
        }
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

impl From<TooSmall> for OpError {
    fn from(error: TooSmall) -> Self {
        let hint = format!("Use at least `--budget {}`", error.needed);
        Self::from_error(Invalid, &error, Some(hint))
    }
}

impl From<PeopleError> for OpError {
    fn from(error: PeopleError) -> Self {
        if let PeopleError::Files(error) = error {
            return error.into();
        }
        hinted! { error:
            PeopleError::BadName { .. } => Usage,
                "Use letters, digits and `.@_-+`, starting with a letter or digit";
            PeopleError::TooMany { .. } => Conflict,
                "Revoke one first: nacre server token revoke ID";
            PeopleError::UnknownToken { .. } => NotFound, "`nacre server token` lists all tokens";
            PeopleError::Ambiguous { .. } => Ambiguous, "Type more of it";
            PeopleError::Shared { is_passing: true, .. } => DatabaseAway;
            PeopleError::Newer { .. } => Failed, "Update nacre";
            PeopleError::File { .. } | PeopleError::Damaged | PeopleError::Shared { .. }
                | PeopleError::Files(_) => Failed;
        }
    }
}

impl From<StateError> for OpError {
    fn from(error: StateError) -> Self {
        if let StateError::Fs(error) = error {
            return error.into();
        }
        hinted! { error:
            StateError::Shared { is_passing: true, .. } => DatabaseAway,
                "The database may be temporarily unavailable; try again later";
            StateError::Busy(_) => Busy, "Wait for it to finish, then try again";
            StateError::QueueFull { .. } => Busy,
                "Wait for one to finish; `nacre events` lists them";
            StateError::SessionInUse { .. } => Busy,
                "Finish or cancel its task first; `nacre events` lists it";
            StateError::NotHeld { .. } => Busy;
            StateError::UnknownTask { .. } => NotFound, "`nacre events` lists the latest tasks";
            StateError::UnknownSession { .. } => NotFound;
            StateError::Ambiguous { .. } => Ambiguous,
                "Type more of the id; `nacre events` lists the tasks";
            StateError::Damaged { path, .. } => Failed,
                format!(
                    "Rename it, and Nacre creates a new one: mv {0} {0}.damaged", path.display()
                );
            StateError::Newer { .. } => Failed,
                "Use a newer version of Nacre, or move the file out of the way";
            StateError::Shared { is_passing: false, .. } | StateError::Fs(_)
                | StateError::Open { .. } | StateError::Sql(_) | StateError::Move(_)
                | StateError::SessionExists { .. } | StateError::MessageOrder { .. }
                | StateError::NotJson(_) => Failed;
        }
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
        hinted! { error:
            QueryError::Empty => Usage,
                "Enter search terms: `nacre search-code \"retry failed uploads\"`";
            QueryError::TooLong => Usage, "Search for a part of the text";
            QueryError::LineBreak => Usage, "Search for a part of one line";
            QueryError::Pattern(PatternError::Syntax { .. }) => Usage,
                "Escape special characters, or search with `--fixed`";
            QueryError::Pattern(PatternError::TooLarge) => Usage,
                "Use smaller repeat counts in `{}`";
        }
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
        hinted! { error:
            SinceError::NoCommit { .. } => NotFound, "`git log --oneline` lists the commits";
            SinceError::TimedOut => Unavailable,
                "`nacre config set limits.map_seconds N` allows more time";
            SinceError::SharedClone => Unavailable,
                "Copy them: git repack -ad && rm .git/objects/info/alternates";
            SinceError::Git { .. } | SinceError::TooLarge => Unavailable,
                "`nacre delta --since REVISION` works without git";
            SinceError::OtherArtifact { .. } | SinceError::Future { .. }
                | SinceError::TooOld { .. } => NotFound,
                "`nacre delta --since 0` lists everything in the map";
        }
    }
}
