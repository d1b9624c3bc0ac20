//! Requests and reports about code changes, on demand and continuously.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AnalysisDepth, MapCommand, MapHeader, MapRevision, Report, Since, SymbolKind};

/// Selects the changes to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DeltaRequest {
    /// A folder in the project, or the name of a registered project. Defaults to the project that
    /// contains the current folder.
    #[serde(alias = "project_root")]
    pub project: Option<String>,
    /// Read every file again instead of trusting modification times.
    pub refresh: bool,
    /// Fail if the map is not up to date, and write nothing.
    pub strict: bool,
    /// The client that receives the current state of the map with this answer.
    pub client: Option<String>,
    /// Start of the changes. Defaults to `git:HEAD`, or without a commit, to the creation of the
    /// map.
    pub since: Option<Since>,
    /// Maximum number of files; 0 or absent means all.
    pub limit: Option<usize>,
    /// Continue after this path, which is the `next` of the previous answer.
    pub after: Option<String>,
    /// Maximum number of tokens of the answer as JSON. To fit, affected files are reduced to counts
    /// by folder, and then files are moved to the next page.
    pub budget: Option<usize>,
}

/// Updates the map of a project and lists the changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RefreshRequest {
    /// A folder in the project, or the name of a registered project. Defaults to the project that
    /// contains the current folder.
    #[serde(alias = "project_root")]
    pub project: Option<String>,
    /// Maximum number of files; 0 or absent means all.
    pub limit: Option<usize>,
    /// Continue after this path, which is the `next` of the previous answer.
    pub after: Option<String>,
}

/// The changes, with the state of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeltaReport {
    #[serde(flatten)]
    pub map: MapHeader,
    pub delta: CodeDelta,
}

/// The requested part of the changes. Counts cover all changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodeDelta {
    pub since: Since,
    pub added: usize,
    pub modified: usize,
    pub removed: usize,
    pub renamed: usize,
    pub files: Vec<FileDelta>,
    /// The path to continue after, if there are more files.
    pub next: Option<String>,
    /// Files that use changed symbols, as many as fit the budget.
    pub affected: Vec<AffectedFile>,
    /// Total number of affected files.
    pub affected_total: usize,
    /// Number of affected files in each folder, the largest first; empty if the list of files is
    /// short and complete.
    pub affected_folders: Vec<AffectedFolder>,
}

impl CodeDelta {
    pub fn is_empty(&self) -> bool {
        self.added + self.modified + self.removed + self.renamed == 0
    }
}

names! {
    /// Kind of change of a file or symbol.
    pub enum CodeChange {
        Added = "added",
        Modified = "modified",
        Removed = "removed",
        /// The same content under another path.
        Renamed = "renamed",
    }
}

impl CodeChange {
    pub fn sign(self) -> char {
        match self {
            Self::Added => '+',
            Self::Modified => '~',
            Self::Removed => '-',
            Self::Renamed => '>',
        }
    }
}

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileDelta {
    pub path: String,
    pub change: CodeChange,
    /// Former path of a renamed file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    pub old_hash: Option<String>,
    pub new_hash: Option<String>,
    /// Changed symbols of a modified file; absent if its former content is unknown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub symbols: Option<SymbolDeltas>,
}

/// Changed symbols of a modified file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolDeltas {
    /// Depth of analysis of both versions. A shallow analysis does not cover function bodies.
    pub depth: AnalysisDepth,
    pub changed: Vec<SymbolDelta>,
}

/// The change of one symbol in a modified file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolDelta {
    pub name: String,
    pub kind: SymbolKind,
    pub change: CodeChange,
    /// Whether code that uses the symbol may have to change.
    pub is_signature: bool,
}

/// A file that uses a symbol whose signature changed or that was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AffectedFile {
    pub path: String,
    /// Number of imports between the file and the change; 1 if it imports the changed file itself
    /// or needs no import.
    pub depth: u32,
    /// Changed symbols that it uses; empty if it imports a removed file.
    pub symbols: Vec<String>,
}

/// A folder with affected files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AffectedFolder {
    /// Path of the folder; empty for the root.
    pub path: String,
    pub files: usize,
}

/// Options for watching a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WatchRequest {
    /// A folder in the project, or the name of a registered project. Defaults to the project that
    /// contains the current folder.
    pub project: Option<String>,
    /// Polling interval in milliseconds, if the system reports no changes. Defaults to 2000, at
    /// least 50.
    pub interval_ms: Option<u64>,
    /// Poll even if the system can report changes.
    pub poll: bool,
    /// Stop after this number of changes; 0 means never.
    pub count: usize,
}

/// One line of the output of a watch.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum WatchLine {
    Notice(WatchNotice),
    Change(Box<DeltaReport>),
}

impl Report for WatchLine {}

/// A status message of a watch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WatchNotice {
    pub command: MapCommand,
    pub notice: WatchNoticeKind,
    pub mode: WatchMode,
    pub revision: MapRevision,
    pub watched_folders: usize,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
}

names! {
    /// Kind of a status message.
    pub enum WatchNoticeKind {
        /// The system now reports every change.
        Watching = "watching",
        /// The code is now polled at each interval.
        Polling = "polling",
        /// The system lost events, so everything was checked.
        Overflow = "overflow",
    }

    /// How changes are detected.
    pub enum WatchMode {
        Events = "events",
        Polling = "polling",
    }
}
