//! Errors as the user meets them: what could not be done, why, and what to type. Every error of the rooms below gets its
//! code and its hint here.

use std::error::Error;
use std::io;

use nacre_api::wire::{ErrorCode, ErrorReport, Failure};
use nacre_core::config::ConfigError;
use nacre_core::config::projects::ProjectError;
use nacre_core::memory::MemoryError;
use nacre_core::people::PeopleError;
use nacre_core::safefs::FsError;
use nacre_core::search::{EmbedError, IndexError, RecordIndexError, SearchError};
use nacre_engine::flows::maintain::MaintainError;
use nacre_engine::flows::run::{ChangedSince, UndoError};
use nacre_engine::flows::sync::SyncError;
use nacre_engine::record::state::StateError;
use nacre_map::indexer::{BadGlob, RefreshError, SinceError};
use nacre_map::search::{FilterError, PatternError, QueryError};
use nacre_map::slices::TooSmall;

/// Changed files that an error names.
const MAX_CHANGED: usize = 5;

/// An operation that could not be carried out.
#[derive(Clone, Debug)]
pub struct OpError {
    pub code: ErrorCode,
    /// What could not be done.
    pub message: String,
    /// Why, outermost first.
    pub causes: Vec<String>,
    /// What the person can do, with the command to type.
    pub hints: Vec<String>,
}

impl OpError {
    /// An error that only this operation knows.
    pub fn failed(message: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::Failed,
            message: message.into(),
            causes: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// The caller stopped the operation.
    pub fn cancelled() -> Self {
        Self { code: ErrorCode::Cancelled, ..Self::failed("Cancelled") }
    }

    /// A request that makes no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: ErrorCode::Usage, ..Self::failed(message) }
    }

    /// There is nothing of that name.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self { code: ErrorCode::NotFound, ..Self::failed(message) }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub fn from_error(code: ErrorCode, error: &dyn Error, hint: Option<String>) -> Self {
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

impl From<FsError> for OpError {
    fn from(error: FsError) -> Self {
        let code = fs_code(&error);
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
            FsError::BadPath { .. } => Some(
                "Name a file below the folder, without `..` and without a leading `/`".to_owned(),
            ),
            FsError::TooLarge { .. } | FsError::TwiceChanged { .. } | FsError::Reserved { .. } => {
                None
            }
        };
        Self::from_error(code, &error, hint)
    }
}

fn fs_code(error: &FsError) -> ErrorCode {
    match error {
        FsError::Busy { .. } => ErrorCode::Busy,
        FsError::Conflict { .. } => ErrorCode::Conflict,
        FsError::TooLarge { .. } => ErrorCode::TooLarge,
        FsError::NotAFolder { .. } | FsError::NotAFile { .. } => ErrorCode::Refused,
        FsError::Interrupted { .. }
        | FsError::Io { .. }
        | FsError::BadPath { .. }
        | FsError::TwiceChanged { .. }
        | FsError::Reserved { .. } => ErrorCode::Failed,
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
        (io::ErrorKind::NotFound, "Name a file or folder that is there; `ls` shows them"),
    ];
    HINTS.iter().find(|(known, _)| *known == kind).map(|(_, hint)| *hint)
}

impl From<MemoryError> for OpError {
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
            MemoryError::SummaryNotArchivable { id } => format!("nacre memory forget {id} --yes"),
            MemoryError::SummaryNotJudged { id } => format!("nacre memory edit {id}"),
            MemoryError::NotACandidate { .. } => "`nacre review` lists the candidates".to_owned(),
            MemoryError::NotSupersedable { id, .. } => format!("nacre memory show {id}"),
            MemoryError::OwnerOnly { id } => {
                format!("Ask the user to look at it: nacre memory show {id}")
            }
            MemoryError::UsersWords { id } => {
                format!("Add the new claim to the review: memory_add with `supersedes` {id}")
            }
            MemoryError::NotARunFile { .. } | MemoryError::NoLevel { .. } => String::new(),
            MemoryError::NotUndoable { .. } => {
                "Nothing was changed. This run folder was not written by this program".to_owned()
            }
            MemoryError::InvalidText(_) => "Mend the line and try again".to_owned(),
            MemoryError::Fs(_) => String::new(),
        };
        if let MemoryError::Fs(error) = error {
            return error.into();
        }
        Self::from_error(memory_code(&error), &error, Some(hint))
    }
}

fn memory_code(error: &MemoryError) -> ErrorCode {
    match error {
        MemoryError::Unknown { .. } => ErrorCode::NotFound,
        MemoryError::Ambiguous { .. } => ErrorCode::Ambiguous,
        MemoryError::TooLong { .. } => ErrorCode::TooLarge,
        MemoryError::AlreadyArchived { .. }
        | MemoryError::NotArchived { .. }
        | MemoryError::NotACandidate { .. } => ErrorCode::Conflict,
        MemoryError::Unreadable(_)
        | MemoryError::EmptyTitle
        | MemoryError::InvalidText(_)
        | MemoryError::Sidecar { .. } => ErrorCode::Invalid,
        MemoryError::SummaryNotArchivable { .. }
        | MemoryError::SummaryNotJudged { .. }
        | MemoryError::NotSupersedable { .. }
        | MemoryError::OwnerOnly { .. }
        | MemoryError::UsersWords { .. }
        | MemoryError::NoLevel { .. }
        | MemoryError::NotARunFile { .. }
        | MemoryError::NotUndoable { .. } => ErrorCode::Refused,
        MemoryError::Fs(error) => fs_code(error),
    }
}

impl From<SearchError> for OpError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Memory(error) => error.into(),
            SearchError::Index(error) => error.into(),
        }
    }
}

impl From<RecordIndexError> for OpError {
    fn from(error: RecordIndexError) -> Self {
        match error {
            RecordIndexError::Index(error) => error.into(),
            RecordIndexError::Embed(error) => error.into(),
            RecordIndexError::Shared { is_passing, .. } => {
                let code = if is_passing { ErrorCode::DatabaseAway } else { ErrorCode::Failed };
                let hint = is_passing.then(|| "The database may come back; try again".to_owned());
                Self::from_error(code, &error, hint)
            }
        }
    }
}

impl From<IndexError> for OpError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Fs(error) => error.into(),
            IndexError::Embed(error) => error.into(),
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
            SyncError::State(error) => Self::from_error(ErrorCode::Failed, &error, None),
            SyncError::NoTrace(_) => Self::from_error(
                ErrorCode::Failed,
                &error,
                Some("`nacre trace list` shows the sessions that were seen".to_owned()),
            ),
        }
    }
}

impl From<MaintainError> for OpError {
    fn from(error: MaintainError) -> Self {
        match error {
            MaintainError::Memory(error) => error.into(),
            MaintainError::Search(error) => error.into(),
            MaintainError::Embed(error) => error.into(),
        }
    }
}

impl From<UndoError> for OpError {
    fn from(error: UndoError) -> Self {
        let (code, hint) = match &error {
            UndoError::Unknown(_) => {
                (ErrorCode::NotFound, "`nacre runs` shows every run".to_owned())
            }
            UndoError::Ambiguous { .. } => {
                (ErrorCode::Ambiguous, "Give more of it; `nacre runs` shows every run".to_owned())
            }
            UndoError::BadPlan { .. } => (
                ErrorCode::Refused,
                "Nothing was changed. This run folder was not written by this program".to_owned(),
            ),
            UndoError::Nothing(_) => {
                (ErrorCode::Refused, "`nacre runs show ID` shows what it did".to_owned())
            }
            UndoError::AlreadyUndone { by, .. } => {
                (ErrorCode::Refused, format!("Bring it back: nacre undo {by}"))
            }
            UndoError::Gone(_) => (
                ErrorCode::Refused,
                "What was committed is in git's history: git log -- .nacre/memory".to_owned(),
            ),
            UndoError::OtherCommand { command, .. } => {
                (ErrorCode::Refused, format!("Run `nacre {command}`"))
            }
            UndoError::Changed { id, files, has_rest } => {
                return changed_since(&error, id, files, *has_rest);
            }
            UndoError::Memory(_) | UndoError::Fs(_) => return failed_undo(error),
        };
        Self::from_error(code, &error, Some(hint))
    }
}

/// What the store or the file system says of itself.
fn failed_undo(error: UndoError) -> OpError {
    if let UndoError::Memory(error) = error {
        return error.into();
    }
    if let UndoError::Fs(error) = error {
        return error.into();
    }
    OpError::from_error(ErrorCode::Failed, &error, None)
}

/// Names the files and who changed them, and the two ways on.
fn changed_since(error: &UndoError, id: &str, files: &[ChangedSince], has_rest: bool) -> OpError {
    let who = |file: &ChangedSince| match &file.by {
        Some(by) => format!("`{}` was changed by {by}", file.path),
        None => format!("`{}` was edited", file.path),
    };
    let causes = files.iter().take(MAX_CHANGED).map(who);
    let mut op = OpError::from_error(ErrorCode::Conflict, error, None);
    op.causes = causes.collect();
    if files.len() > MAX_CHANGED {
        op.causes.push(format!("{} more files", files.len() - MAX_CHANGED));
    }
    if let Some(by) = files.iter().find_map(|file| file.by.as_ref()) {
        op = op.hint(format!("Nothing was changed. Undo the later change first: nacre undo {by}"));
    }
    match has_rest {
        true => op.hint(format!(
            "Leave these as they are and put back the rest: nacre undo {id} --keep-changed"
        )),
        false => op.hint("Nothing else of it is left to put back; nothing was changed"),
    }
}

impl From<ConfigError> for OpError {
    fn from(error: ConfigError) -> Self {
        let code = if error.is_in_command() { ErrorCode::Usage } else { ErrorCode::Invalid };
        let list = || "`nacre config show` lists every key and its value".to_owned();
        let hint = error.hint().or_else(|| error.is_in_command().then(list));
        Self::from_error(code, &error, hint)
    }
}

impl From<ProjectError> for OpError {
    fn from(error: ProjectError) -> Self {
        let code = match &error {
            ProjectError::Config(_) => ErrorCode::Failed,
            ProjectError::BadName { .. } | ProjectError::BadPath { .. } => ErrorCode::Usage,
            ProjectError::NameTaken { .. } | ProjectError::PathTaken { .. } => ErrorCode::Conflict,
            ProjectError::NoSuchProject { .. } => ErrorCode::NotFound,
        };
        let hint = error.hint();
        Self::from_error(code, &error, hint)
    }
}

impl From<io::Error> for OpError {
    fn from(error: io::Error) -> Self {
        let is_closed = error.kind() == io::ErrorKind::BrokenPipe;
        let code = if is_closed { ErrorCode::OutputClosed } else { ErrorCode::Failed };
        Self::from_error(code, &error, None)
    }
}

impl From<EmbedError> for OpError {
    fn from(error: EmbedError) -> Self {
        let hint = match error {
            EmbedError::Fs(error) => return error.into(),
            EmbedError::Service(_) => {
                "Check search.endpoint_url, search.endpoint_model and NACRE_EMBEDDING_KEY, or go \
                 without: nacre config set search.embedding builtin"
            }
            EmbedError::Damaged { .. } => "Install Nacre again: its own model is broken",
        };
        Self::from_error(ErrorCode::Failed, &error, Some(hint.to_owned()))
    }
}

impl From<TooSmall> for OpError {
    fn from(error: TooSmall) -> Self {
        let hint = format!("Give at least `--budget {}`", error.needed);
        Self::from_error(ErrorCode::Invalid, &error, Some(hint))
    }
}

impl From<PeopleError> for OpError {
    fn from(error: PeopleError) -> Self {
        let (code, hint) = match error {
            PeopleError::Files(error) => return error.into(),
            PeopleError::BadName { .. } => {
                let rule = "Use letters, digits and `.@_-+`, beginning with a letter or digit";
                (ErrorCode::Usage, Some(rule))
            }
            PeopleError::TooMany { .. } => {
                (ErrorCode::Conflict, Some("End one first: nacre server token revoke ID"))
            }
            PeopleError::UnknownToken { .. } => {
                (ErrorCode::NotFound, Some("`nacre server token list` shows every token"))
            }
            PeopleError::Ambiguous { .. } => (ErrorCode::Ambiguous, Some("Write more of it")),
            PeopleError::Shared { is_passing: true, .. } => (ErrorCode::DatabaseAway, None),
            PeopleError::Newer { .. } => (ErrorCode::Failed, Some("Update nacre")),
            PeopleError::File { .. } | PeopleError::Damaged | PeopleError::Shared { .. } => {
                (ErrorCode::Failed, None)
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
        let code = match &error {
            StateError::Shared { is_passing: true, .. } => ErrorCode::DatabaseAway,
            StateError::Busy(_)
            | StateError::QueueFull { .. }
            | StateError::SessionInUse { .. }
            | StateError::NotHeld { .. } => ErrorCode::Busy,
            StateError::UnknownTask { .. } | StateError::UnknownSession { .. } => {
                ErrorCode::NotFound
            }
            StateError::Ambiguous { .. } => ErrorCode::Ambiguous,
            StateError::Damaged { .. }
            | StateError::Shared { is_passing: false, .. }
            | StateError::Newer { .. }
            | StateError::Open { .. }
            | StateError::Sql(_)
            | StateError::Move(_)
            | StateError::SessionExists { .. }
            | StateError::MessageOrder { .. }
            | StateError::NotJson(_)
            | StateError::Fs(_) => ErrorCode::Failed,
        };
        let hint = match &error {
            StateError::Damaged { path, .. } => Some(format!(
                "Move it away, and a new one is made: mv {0} {0}.damaged",
                path.display()
            )),
            StateError::Newer { .. } => {
                Some("Use the newer version, or move the file away".to_owned())
            }
            StateError::Busy(_) => Some("Wait for it to end, then try again".to_owned()),
            StateError::UnknownTask { .. } => {
                Some("`nacre events` shows the latest tasks".to_owned())
            }
            StateError::Ambiguous { .. } => {
                Some("Give more of the id; `nacre events` shows them".to_owned())
            }
            StateError::QueueFull { .. } => {
                Some("Wait for one to end; `nacre events` shows them".to_owned())
            }
            StateError::SessionInUse { .. } => {
                Some("End its task first; `nacre events` shows it".to_owned())
            }
            StateError::Shared { is_passing: true, .. } => {
                Some("The database may come back; try again then".to_owned())
            }
            StateError::Open { .. }
            | StateError::Shared { is_passing: false, .. }
            | StateError::Sql(_)
            | StateError::Move(_)
            | StateError::UnknownSession { .. }
            | StateError::SessionExists { .. }
            | StateError::NotHeld { .. }
            | StateError::MessageOrder { .. }
            | StateError::NotJson(_)
            | StateError::Fs(_) => None,
        };
        Self::from_error(code, &error, hint)
    }
}

impl From<RefreshError> for OpError {
    fn from(error: RefreshError) -> Self {
        let hint = error.is_late().then(|| {
            "`nacre config set limits.map_seconds N` allows more time; `.gitignore` leaves folders out"
                .to_owned()
        });
        Self::from_error(ErrorCode::Failed, &error, hint)
    }
}

impl From<BadGlob> for OpError {
    fn from(error: BadGlob) -> Self {
        let hint = "`nacre config show` tells which file sets `map.deny`".to_owned();
        Self::from_error(ErrorCode::Invalid, &error, Some(hint))
    }
}

impl From<QueryError> for OpError {
    fn from(error: QueryError) -> Self {
        let hint = match &error {
            QueryError::Empty => "Say what to find: `nacre search-code \"retry failed uploads\"`",
            QueryError::TooLong => "Search for a part of it",
            QueryError::LineBreak => "Search for a piece of one line",
            QueryError::Pattern(PatternError::Syntax { .. }) => {
                "Escape what is meant as it stands, or search with `--fixed`"
            }
            QueryError::Pattern(PatternError::TooLarge) => "Use smaller counts in `{}`",
        };
        Self::usage(error.to_string()).hint(hint)
    }
}

impl From<FilterError> for OpError {
    fn from(error: FilterError) -> Self {
        let hint = match &error {
            FilterError::Glob { .. } => "A glob is like `src/**/*.rs`, `*.py` or `!tests`",
            FilterError::TooMany => "Use `{a,b}` in a glob",
            FilterError::Language(_) => "`nacre explore` lists the languages of a project",
        };
        Self::usage(error.to_string()).hint(hint)
    }
}

impl From<SinceError> for OpError {
    fn from(error: SinceError) -> Self {
        let (code, hint) = match &error {
            SinceError::NoCommit { .. } => {
                (ErrorCode::NotFound, "`git log --oneline` shows the commits")
            }
            SinceError::TimedOut => {
                (ErrorCode::Unavailable, "`nacre config set limits.map_seconds N` allows more time")
            }
            SinceError::Git { .. } | SinceError::TooLarge => {
                (ErrorCode::Unavailable, "`nacre delta --since REVISION` needs no git")
            }
            SinceError::OtherArtifact { .. }
            | SinceError::Future { .. }
            | SinceError::TooOld { .. } => {
                (ErrorCode::NotFound, "`nacre delta --since 0` tells everything that is there")
            }
        };
        Self::from_error(code, &error, Some(hint.to_owned()))
    }
}
