//! Changes, and taking them back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Outcome, PlannedChange, Report};

/// Which change to take back, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UndoRequest {
    /// The id of a change or of one run, or the start or end of it. Nothing with `last`.
    pub run: String,
    /// The newest change that is not undone.
    pub last: bool,
    /// Leave memories as they are that were changed since, and put back the others.
    pub keep_changed: bool,
    /// Say what would be put back, and change nothing.
    pub dry_run: bool,
}

/// What was put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoReport {
    /// The change that did it, which can itself be undone.
    pub run: String,
    /// The change that was taken back.
    pub of: String,
    /// What was typed then, without `nacre`.
    pub command: String,
    pub dry_run: bool,
    pub paths: Vec<String>,
    pub memories: Vec<UndoneMemory>,
    /// What was left as it is, because it was changed since.
    pub kept: Vec<KeptFile>,
    /// The files as they are and as they would be; only in a dry run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Vec<PlannedChange>>,
    /// What is to be known besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Report for UndoReport {
    fn outcome(&self) -> Outcome {
        Outcome::partial_if(!self.kept.is_empty())
    }
}

/// A memory that an undo changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoneMemory {
    pub id: String,
    pub done: UndoneHow,
}

/// What an undo did to a memory.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum UndoneHow {
    /// It was new, and is gone.
    Removed,
    /// It was gone, and is there again.
    Restored,
    /// It is as it was.
    Reverted,
}

impl UndoneHow {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Restored => "restored",
            Self::Reverted => "reverted",
        }
    }
}

/// A file that was changed since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptFile {
    pub path: String,
    /// The later change; nothing where somebody edited the file.
    pub by: Option<String>,
}

/// How many changes to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UndoListRequest {
    /// At most this many; 0 for all. Without it, the setting `memory.max_results`.
    pub limit: Option<usize>,
}

/// The changes of this project and of the person's own store, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoListReport {
    pub changes: Vec<ChangeEntry>,
    /// How many there are, listed or not.
    pub total: usize,
}

impl Report for UndoListReport {}

/// A change, in a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeEntry {
    pub id: String,
    /// What was typed, without `nacre`.
    pub command: String,
    pub at: String,
    /// How many runs it has: a sync has one for each session.
    pub runs: usize,
    pub added: usize,
    pub changed: usize,
    pub removed: usize,
    /// Some of the memories.
    pub memories: Vec<String>,
    /// What else it is about: a file, agents or projects.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The change that it took back.
    pub undoes: Option<String>,
    /// The undo that took it back.
    pub undone_by: Option<String>,
    /// Whether `nacre undo` can take it back.
    pub undoable: bool,
}
