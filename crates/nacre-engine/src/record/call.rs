//! What a tool call is counted and reported by: its kind, what it changed, how it failed.

use nacre_core::safefs::RelPath;
use serde::{Deserialize, Serialize};

/// What kind of thing a tool does; counted and reported by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    Read,
    Search,
    Write,
    Execute,
    Network,
    Meta,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Created,
    Edited,
    Deleted,
}

/// A file that a call changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub path: String,
    pub kind: ChangeKind,
}

impl Change {
    pub fn new(path: &RelPath, kind: ChangeKind) -> Self {
        Self { path: path.as_str().to_owned(), kind }
    }
}

/// How a call changed a file, for whoever watches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePatch {
    pub path: String,
    /// A unified diff without secrets, cut where it is long.
    pub diff: String,
    pub added: u32,
    pub removed: u32,
}

/// Why a call did not work; closed, and never read out of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The arguments do not fit the schema.
    Arguments,
    UnknownTool,
    /// The spec of the agent does not allow it.
    Denied,
    BudgetSpent,
    NotFound,
    /// The place is no file of the kind that the tool works on.
    WrongKind,
    TooLarge,
    TimedOut,
    Cancelled,
    /// The text to replace does not occur.
    NoMatch,
    /// The text to replace occurs more than once.
    ManyMatches,
    Overlap,
    /// The file is not what was read.
    Stale,
    Unsupported,
    /// A program could not be started, or ended badly.
    Exec,
    /// The confinement that the call needs cannot be had here.
    Unconfined,
    /// The address may not be reached.
    Blocked,
    Network,
    Io,
}

impl Fault {
    /// A stable word for logs, counters and the model.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Arguments => "arguments",
            Self::UnknownTool => "unknown_tool",
            Self::Denied => "denied",
            Self::BudgetSpent => "budget_spent",
            Self::NotFound => "not_found",
            Self::WrongKind => "wrong_kind",
            Self::TooLarge => "too_large",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::NoMatch => "no_match",
            Self::ManyMatches => "many_matches",
            Self::Overlap => "overlap",
            Self::Stale => "stale",
            Self::Unsupported => "unsupported",
            Self::Exec => "exec",
            Self::Unconfined => "unconfined",
            Self::Blocked => "blocked",
            Self::Network => "network",
            Self::Io => "io",
        }
    }
}

/// What an agent really did, as the host saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunEffects {
    /// Files that changed, in the order in which they did.
    pub changed: Vec<Change>,
    pub tool_calls: u32,
    pub failed_calls: u32,
    pub denied_calls: u32,
    pub memory_changes: u32,
    /// The lines of files that it was shown.
    pub shown: super::ShownLines,
}

impl RunEffects {
    /// Whether anything outside the conversation is different now.
    pub fn changed_something(&self) -> bool {
        !self.changed.is_empty() || self.memory_changes != 0
    }
}
