//! Requests and reports for listing code changes, either once or continuously.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AnalysisDepth, MapCommand, MapDetail, MapHeader, MapRevision, Report, Since, SymbolKind,
};

/// Selects the changes to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DeltaRequest {
    /// A directory in the project, or the name of a registered project. Defaults to the project
    /// that contains the current directory.
    #[serde(alias = "project_root")]
    pub project: Option<String>,
    /// Reread every file instead of relying on modification times.
    pub refresh: bool,
    /// Do not write the map, and fail if it is out of date.
    pub strict: bool,
    /// Name of a client to mark as up to date with this revision. A later delta can start at
    /// `client:NAME`.
    pub client: Option<String>,
    /// Where the delta starts. Defaults to `git:HEAD`. If there is no commit, it starts at the
    /// creation of the map.
    pub since: Option<Since>,
    /// Maximum number of files; 0 or absent means all.
    pub limit: Option<usize>,
    /// Start after this path. Use the `next` value from the previous response.
    pub after: Option<String>,
    /// Maximum number of tokens in the response as JSON. If the response is too long, the list of
    /// affected files is first reduced to counts by directory; then changed files are moved to the
    /// next page.
    pub budget: Option<usize>,
    /// Accepted as in other requests, but has no effect: all changes are listed alike.
    pub detail: Option<MapDetail>,
}

/// Updates a project's map and lists the changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RefreshRequest {
    /// A directory in the project, or the name of a registered project. Defaults to the project
    /// that contains the current directory.
    #[serde(alias = "project_root")]
    pub project: Option<String>,
    /// Maximum number of files; 0 or absent means all.
    pub limit: Option<usize>,
    /// Start after this path. Use the `next` value of the previous response.
    pub after: Option<String>,
    /// Accepted as in other requests, but has no effect: every file is reread.
    pub refresh: bool,
    /// Accepted as in other requests, but has no effect: all changes are listed alike.
    pub detail: Option<MapDetail>,
}

/// The changes, and the state of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeltaReport {
    #[serde(flatten)]
    pub map: MapHeader,
    pub delta: CodeDelta,
}

/// The requested page of changes. Counts cover all pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodeDelta {
    pub since: Since,
    pub added: usize,
    pub modified: usize,
    pub removed: usize,
    pub renamed: usize,
    pub files: Vec<FileDelta>,
    /// The path after which the next page starts. Absent on the last page.
    pub next: Option<String>,
    /// Files that use changed symbols, as many as fit the budget.
    pub affected: Vec<AffectedFile>,
    /// Total number of affected files.
    pub affected_total: usize,
    /// Number of affected files in each directory, largest first. Empty if `affected` is short and
    /// lists all files.
    pub affected_folders: Vec<AffectedFolder>,
}

impl CodeDelta {
    pub fn is_empty(&self) -> bool {
        self.added + self.modified + self.removed + self.renamed == 0
    }
}

names! {
    /// How a file or symbol changed.
    pub enum CodeChange {
        Added = "added",
        Modified = "modified",
        Removed = "removed",
        /// The same content is now at another path.
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

/// The changes in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileDelta {
    pub path: String,
    pub change: CodeChange,
    /// Previous path of a renamed file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    pub old_hash: Option<String>,
    pub new_hash: Option<String>,
    /// Changed symbols of a modified file. Absent if its previous content is unknown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub symbols: Option<SymbolDeltas>,
}

/// Changed symbols of a modified file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolDeltas {
    /// How thoroughly both versions were analyzed. A shallow analysis does not cover function
    /// bodies.
    pub depth: AnalysisDepth,
    pub changed: Vec<SymbolDelta>,
}

/// A changed symbol in a modified file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolDelta {
    pub name: String,
    pub kind: SymbolKind,
    pub change: CodeChange,
    /// Whether the signature changed, in which case callers may need to change too.
    pub is_signature: bool,
}

/// A file that uses a symbol that was removed or whose signature changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AffectedFile {
    pub path: String,
    /// Number of imports that separate the file from the change. It is 1 if the file imports the
    /// changed file directly, or needs no import to use it.
    pub depth: u32,
    /// Changed symbols that the file uses. Empty if the file imports a removed file.
    pub symbols: Vec<String>,
}

/// A directory with affected files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AffectedFolder {
    /// Path of the directory; empty for the project root.
    pub path: String,
    pub files: usize,
}

/// Options for watching a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WatchRequest {
    /// A directory in the project, or the name of a registered project. Defaults to the project
    /// that contains the current directory.
    pub project: Option<String>,
    /// Polling interval in milliseconds, used if the system does not report changes. Defaults to
    /// 2000; the minimum is 50.
    pub interval_ms: Option<u64>,
    /// Poll even if the system can report changes.
    pub poll: bool,
    /// Stop after this many changes; 0 means no limit.
    pub count: usize,
}

/// A line of watch output.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum WatchLine {
    Notice(WatchNotice),
    Change(Box<DeltaReport>),
}

impl Report for WatchLine {}

/// A status message from a watch.
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
    /// The kind of status message.
    pub enum WatchNoticeKind {
        /// The system now reports file changes.
        Watching = "watching",
        /// Files are now polled for changes at a fixed interval.
        Polling = "polling",
        /// The system dropped events, so all files were checked.
        Overflow = "overflow",
    }

    /// How changes are detected.
    pub enum WatchMode {
        Events = "events",
        Polling = "polling",
    }
}
