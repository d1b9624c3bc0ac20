//! Requests and reports for undo, including dry runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The change to undo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UndoRequest {
    /// A prefix or suffix of the ID of a change or run. Leave it empty with `last`.
    pub run: String,
    /// Undo the newest change that has not been undone yet.
    pub last: bool,
    /// Keep memories that were changed since then, and restore the rest.
    pub keep_changed: bool,
    /// Show the files that would be restored, without changing anything.
    pub dry_run: bool,
}

/// The result of an undo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoReport {
    /// The ID of this undo, which can itself be undone.
    pub run: String,
    /// The change that was undone.
    pub of: String,
    /// The undone command, without `nacre`.
    pub command: String,
    pub dry_run: bool,
    pub paths: Vec<String>,
    pub memories: Vec<UndoneMemory>,
    /// Files that were kept because they were changed later.
    pub kept: Vec<KeptFile>,
    /// Current and restored file contents. Only present in a dry run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Vec<PlannedChange>>,
    /// Additional notes for the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A memory that an undo changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoneMemory {
    pub id: String,
    pub done: UndoneHow,
}

names! {
    /// The change that an undo made to a memory.
    pub enum UndoneHow {
        /// The memory was new and was removed.
        Removed = "removed",
        /// The memory had been removed and was restored.
        Restored = "restored",
        /// The memory's earlier content was restored.
        Reverted = "reverted",
    }
}

/// A file that was kept because it was changed later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptFile {
    pub path: String,
    /// The later change. Absent if the file was edited outside Nacre.
    pub by: Option<String>,
}

/// Changes in this project and in the user's global store, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoListReport {
    pub changes: Vec<ChangeEntry>,
    /// Total number of changes, including those not listed.
    pub total: usize,
}

/// A change in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeEntry {
    pub id: String,
    /// The command that made the change, without `nacre`.
    pub command: String,
    pub at: String,
    /// Number of runs in the change. A sync has one run per session.
    pub runs: usize,
    pub added: usize,
    pub changed: usize,
    pub removed: usize,
    /// Examples of changed memories.
    pub memories: Vec<String>,
    /// Other changed objects, such as a file, agents or projects.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The change that this one undid.
    pub undoes: Option<String>,
    /// The undo that reverted this change, if any.
    pub undone_by: Option<String>,
    /// Whether `nacre undo` can undo this change.
    pub undoable: bool,
}

/// A file that would be created, changed or removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedChange {
    /// Path relative to the store.
    pub path: String,
    /// Current text, or `None` if the file would be created.
    pub before: Option<String>,
    /// New text, or `None` if the file would be removed.
    pub after: Option<String>,
}
