//! The map of a project's code: what is asked of it, and what every answer about it says first.

mod bench;
mod context;
mod delta;
mod explain;
mod explore;
mod search_code;
mod since;
mod symbol;
mod watch;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use bench::{
    BenchLatency, BenchMapReport, BenchMapRequest, BenchQuestion, BenchedLocalisation,
    BenchedQuestion, BenchedRepo, LocalisationScore, LocalisedTask, TokenCost,
};
pub use context::{
    ContextFile, ContextQuestion, ContextReport, ContextRequest, ContextSlice, ContextSymbol,
    LeftOut, SymbolForm, WhyRelevant,
};
pub use delta::{
    AffectedFile, AffectedFolder, CodeChange, CodeDelta, DeltaQuestion, DeltaReport, DeltaRequest,
    FileDelta, RefreshRequest, SymbolDelta, SymbolDeltas,
};
pub use explain::{ExplainReport, ExplainRequest, MapVerdict};
pub use explore::{
    CodeApart, CodeArea, CommandPurpose, EntryKind, EntryPoint, ExploreQuestion, ExploreReport,
    ExploreRequest, HotPath, LanguageCount, Listed, MapDetail, ModuleGraph, ModuleNode, Overview,
    ProjectCommand, PublicSurface, SurfaceSymbol, TopImport,
};
pub use search_code::{
    CodeSearchMode, MatchGroup, MatchSymbol, MatchedCode, MatchedFile, MatchedLine,
    SearchCodeReport, SearchCodeRequest,
};
pub use since::{MapRevision, Since};
pub use symbol::{AnalysisDepth, AnalysisProblem, SymbolKind};
pub use watch::{
    WatchAnswer, WatchLine, WatchMode, WatchNotice, WatchNoticeKind, WatchQuestion, WatchReply,
    WatchRequest,
};

/// The form of a payload. A budget is counted on the bytes of that form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MapFormat {
    /// One object in one line.
    #[default]
    Json,
    Text,
}

/// Which command an answer is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MapCommand {
    Explore,
    Context,
    Delta,
    Refresh,
    Explain,
    Watch,
    SearchCode,
}

impl MapCommand {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Explore => "explore",
            Self::Context => "context",
            Self::Delta => "delta",
            Self::Refresh => "refresh",
            Self::Explain => "explain",
            Self::Watch => "watch",
            Self::SearchCode => "search-code",
        }
    }
}

/// How the map came to be up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheStatus {
    /// Nothing had changed.
    Hit,
    /// There was no artifact that could be read.
    Miss,
    /// Something had changed, or everything was read because it was asked for.
    Refreshed,
    /// The artifact was old, and everything was read again.
    StaleRebuild,
}

impl CacheStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Miss => "miss",
            Self::Refreshed => "refreshed",
            Self::StaleRebuild => "stale_rebuild",
        }
    }
}

/// What every answer about the map says first: of which project, and of which state of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapHeader {
    pub command: MapCommand,
    pub project_root: String,
    pub project_id: String,
    pub cache_status: CacheStatus,
    pub revision: MapRevision,
    pub stats: MapStats,
}

/// What bringing the map up to date cost, and what it saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapStats {
    pub file_count: usize,
    pub total_bytes: u64,
    pub reused_entries: usize,
    pub rehashed_entries: usize,
    /// Files that are too large, or that may not be read.
    pub unread_files: usize,
    /// Files that there was no time for; the next command reads them.
    pub postponed_files: usize,
    pub skipped: SkippedCounts,
}

/// What lies in the project and is not part of the map, counted by why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedCounts {
    /// Where keys and passwords usually lie.
    pub denied: u32,
    pub links: u32,
    /// Pipes, sockets and devices.
    pub special: u32,
    /// Folders that could not be opened.
    pub unreadable: u32,
    /// Names that are not valid UTF-8.
    pub unnamable: u32,
    /// Repositories that are not submodules of this one.
    pub nested: u32,
    /// Folders that lie too deep, and tracked files that do or are too many.
    pub too_deep: u32,
    /// Folders left out because their rules are beyond what is read.
    pub unread_rules: u32,
}

impl SkippedCounts {
    /// All of them together.
    pub fn total(self) -> u32 {
        let Self { denied, links, special, unreadable, unnamable, nested, too_deep, unread_rules } =
            self;
        denied + links + special + unreadable + unnamable + nested + too_deep + unread_rules
    }
}
