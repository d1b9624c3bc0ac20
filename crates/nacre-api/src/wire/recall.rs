//! Searches over memories, what belongs to a memory, and the indexes behind both.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BrokenFile, MemoryEntry, MemoryType, OtherPlace, Outcome, Report, Scope, SearchMode, StoreScope,
};

/// What to search for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemorySearchRequest {
    /// Words, "quoted phrases" and filters such as `tag:auth`.
    pub query: String,
    #[serde(default)]
    pub r#type: Option<MemoryType>,
    #[serde(default)]
    pub tag: Option<String>,
    /// Only memories that changed since this day, moment or age, such as `2026-01` or `7d`.
    #[serde(default)]
    pub since: Option<String>,
    #[serde(default)]
    pub mode: SearchMode,
    /// Archived ones too.
    #[serde(default)]
    pub archived: bool,
    /// At most this many; 0 for all. Without it, the setting `memory.max_results`.
    #[serde(default)]
    pub limit: Option<usize>,
    #[serde(default)]
    pub scope: Option<Scope>,
    /// Those of every registered project, whatever `scope` says.
    #[serde(default)]
    pub all_projects: bool,
}

/// The memories that were found: the project's first, and of each store the best first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemorySearchReport {
    pub query: String,
    pub hits: Vec<FoundMemory>,
    /// How many there are, listed or not.
    pub total: usize,
    pub broken: Vec<BrokenFile>,
}

impl Report for MemorySearchReport {
    fn outcome(&self) -> Outcome {
        Outcome::partial_if(!self.broken.is_empty())
    }
}

/// A memory that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundMemory {
    #[serde(flatten)]
    pub memory: MemoryEntry,
    pub score: f32,
    /// The words around what was asked for.
    pub snippet: String,
    pub why: WhyFound,
    /// What it overturned, newest first.
    pub history: Vec<MemoryEntry>,
    /// Those of them whose own files do not say so.
    pub not_verified: Vec<String>,
}

/// Why a memory was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WhyFound {
    /// Terms of the question that it holds.
    pub terms: Vec<String>,
    /// Its part of the score that comes from words.
    pub lexical: f32,
    /// How near its meaning is to the question's, from 0 to 1.
    pub similarity: f32,
    /// Memories that pointed at it.
    pub edges: Vec<MemoryEdge>,
}

/// How two memories belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    Supersedes,
    #[serde(rename = "superseded by")]
    SupersededBy,
    Contradicts,
    /// Says nearly the same, later.
    #[serde(rename = "newer than")]
    NewerThan,
    Related,
    #[serde(rename = "same session")]
    SameSession,
    #[serde(rename = "same file")]
    SameFile,
    #[serde(rename = "same symbol")]
    SameSymbol,
    #[serde(rename = "shared tag")]
    SharedTag,
}

impl EdgeKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Supersedes => "supersedes",
            Self::SupersededBy => "superseded by",
            Self::Contradicts => "contradicts",
            Self::NewerThan => "newer than",
            Self::Related => "related",
            Self::SameSession => "same session",
            Self::SameFile => "same file",
            Self::SameSymbol => "same symbol",
            Self::SharedTag => "shared tag",
        }
    }
}

/// What ties a memory to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryEdge {
    pub kind: EdgeKind,
    pub id: String,
    /// The tag, file or symbol that both have.
    pub shared: Option<String>,
}

/// Which memory to look around.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryRelatedRequest {
    /// Its id, or the start of it.
    pub id: String,
    /// At most this many; 0 for all. Without it, the setting `memory.max_results`.
    #[serde(default)]
    pub limit: Option<usize>,
    #[serde(default)]
    pub scope: Option<Scope>,
}

/// The memories that belong to one, nearest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryRelatedReport {
    pub id: String,
    pub related: Vec<RelatedMemory>,
    /// How many there are, listed or not.
    pub total: usize,
    /// Where else its id stands.
    pub also_in: Vec<OtherPlace>,
}

impl Report for MemoryRelatedReport {}

/// A memory that belongs to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelatedMemory {
    pub edge: MemoryEdge,
    #[serde(flatten)]
    pub memory: MemoryEntry,
}

/// Which indexes to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IndexStatusRequest {
    pub scope: Option<Scope>,
}

/// What the indexes hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexStatusReport {
    pub indexes: Vec<IndexState>,
}

impl Report for IndexStatusReport {}

/// What the index of one store holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexState {
    pub scope: StoreScope,
    pub path: String,
    pub records: usize,
    pub segments: usize,
    pub bytes: u64,
    /// The embedding model.
    pub model: String,
    /// Files that changed since it was written.
    pub outdated: usize,
}

/// Which indexes to build again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IndexRebuildRequest {
    pub scope: Option<Scope>,
}

/// The indexes that were built again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexRebuildReport {
    pub done: IndexChange,
    pub indexes: Vec<RebuiltIndex>,
}

impl Report for IndexRebuildReport {}

/// What was done to an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IndexChange {
    Rebuilt,
}

/// One index that was built again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RebuiltIndex {
    pub scope: StoreScope,
    pub records: usize,
}
