//! Which files and symbols changed, and which files are affected.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Report;
use super::{AnalysisDepth, MapHeader, Since, SymbolKind};

/// Since when to list changes, and how many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DeltaRequest {
    /// A folder inside the project, or a registered name. Without it, the project around the current folder.
    #[serde(alias = "project_root")]
    pub project: Option<String>,
    /// Read every file again instead of trusting its times.
    pub refresh: bool,
    /// Fail when the map was not up to date, and write nothing.
    pub strict: bool,
    /// The client that has then seen the map as it is now.
    pub client: Option<String>,
    /// Without it, `git:HEAD`, or where there is no commit, since the map was first made.
    pub since: Option<Since>,
    /// List at most this many files; 0 or nothing for all.
    pub limit: Option<usize>,
    /// Continue after this path, the `next` of the answer before.
    pub after: Option<String>,
    /// Tokens that the answer may have, counted on its JSON: affected files are left to the counts by folder, then files to
    /// the next page, until it fits.
    pub budget: Option<usize>,
}

/// What is asked of a map that is open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DeltaQuestion {
    pub client: Option<String>,
    pub since: Option<Since>,
    pub limit: Option<usize>,
    pub after: Option<String>,
    pub budget: Option<usize>,
}

/// Which project to read again, and how many of its changes to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RefreshRequest {
    /// A folder inside the project, or a registered name. Without it, the project around the current folder.
    #[serde(alias = "project_root")]
    pub project: Option<String>,
    /// List at most this many files; 0 or nothing for all.
    pub limit: Option<usize>,
    /// Continue after this path, the `next` of the answer before.
    pub after: Option<String>,
}

/// What changed, and up to which state of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeltaReport {
    #[serde(flatten)]
    pub map: MapHeader,
    pub delta: CodeDelta,
}

impl Report for DeltaReport {}

/// What changed, as much of it as was asked for; the counts are of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodeDelta {
    pub since: Since,
    pub added: usize,
    pub modified: usize,
    pub removed: usize,
    pub renamed: usize,
    pub files: Vec<FileDelta>,
    /// The path to continue after, when there is more.
    pub next: Option<String>,
    /// Files that use what changed, as many as fit a budget.
    pub affected: Vec<AffectedFile>,
    /// How many there are in all.
    pub affected_total: usize,
    /// How many of all lie in each folder, most first; empty for a short list that is whole.
    pub affected_folders: Vec<AffectedFolder>,
}

impl CodeDelta {
    pub fn is_empty(&self) -> bool {
        self.added + self.modified + self.removed + self.renamed == 0
    }
}

/// What became of a file or a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CodeChange {
    Added,
    Modified,
    Removed,
    /// The same bytes under another path.
    Renamed,
}

/// What became of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileDelta {
    pub path: String,
    pub change: CodeChange,
    /// Where a renamed file was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    pub old_hash: Option<String>,
    pub new_hash: Option<String>,
    /// What became of the symbols of a modified file; absent where what it held before is not known any more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub symbols: Option<SymbolDeltas>,
}

/// What became of the symbols of a modified file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolDeltas {
    /// How closely both texts were analysed; a glance does not see into bodies.
    pub depth: AnalysisDepth,
    pub changed: Vec<SymbolDelta>,
}

/// What became of one symbol of a modified file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolDelta {
    pub name: String,
    pub kind: SymbolKind,
    pub change: CodeChange,
    /// Whether the code that uses it may have to change, too.
    pub is_signature: bool,
}

/// A file that uses a symbol that changed its shape or is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AffectedFile {
    pub path: String,
    /// Imports between it and what changed: 1 for a file that imports it itself, or needs no import.
    pub depth: u32,
    /// What it uses; empty for a file that imports one that is gone.
    pub symbols: Vec<String>,
}

/// A folder with affected files in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AffectedFolder {
    /// Empty for the root.
    pub path: String,
    pub files: usize,
}
