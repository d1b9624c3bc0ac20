//! Requests and reports for memory search, memory links, and search indexes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BrokenFile, MemoryEntry, MemoryType};

/// A search query and its limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemorySearchRequest {
    /// Words, "quoted phrases" and filters such as `tag:auth`.
    pub query: String,
    pub r#type: Option<MemoryType>,
    pub tag: Option<String>,
    /// Only memories changed since this date, time or age, such as `2026-01` or `7d`.
    pub since: Option<String>,
    #[serde(default)]
    pub mode: SearchMode,
    /// Include archived memories.
    #[serde(default)]
    pub archived: bool,
    /// Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
    pub limit: Option<usize>,
    pub scope: Option<Scope>,
    /// Search all registered projects, regardless of `scope`.
    #[serde(default)]
    pub all_projects: bool,
}

/// Search results. Project memories come first, and each store is sorted by best match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemorySearchReport {
    pub query: String,
    pub hits: Vec<FoundMemory>,
    /// Total number of matches, including those not listed.
    pub total: usize,
    pub broken: Vec<BrokenFile>,
}

/// A matching memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundMemory {
    #[serde(flatten)]
    pub memory: MemoryEntry,
    pub score: f32,
    /// The text around the match.
    pub snippet: String,
    pub why: WhyFound,
    /// Memories that this one supersedes, newest first.
    pub history: Vec<MemoryEntry>,
    /// IDs of further matching summaries with the same title, which are not listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same: Vec<String>,
    /// IDs of memories that this one claims to supersede, but whose own files do not confirm it.
    pub not_verified: Vec<String>,
}

/// Why a memory matched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WhyFound {
    /// Query terms that the memory contains.
    pub terms: Vec<String>,
    /// The part of the score based on word matches.
    pub lexical: f32,
    /// Semantic similarity to the query, from 0 to 1.
    pub similarity: f32,
    /// Links from other memories that increased the score.
    pub edges: Vec<MemoryEdge>,
}

names! {
    /// The kind of link between two memories.
    pub enum EdgeKind {
        Supersedes = "supersedes",
        SupersededBy = "superseded by",
        Contradicts = "contradicts",
        /// A newer memory with nearly the same content.
        NewerThan = "newer than",
        Related = "related",
        SameSession = "same session",
        SameFile = "same file",
        SameSymbol = "same symbol",
        SharedTag = "shared tag",
    }
}

/// A link from one memory to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct MemoryEdge {
    pub kind: EdgeKind,
    pub id: String,
    /// The tag, file or symbol that the two memories share.
    pub shared: Option<String>,
}

/// The memory whose related memories are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryRelatedRequest {
    /// The memory's ID or a prefix of it.
    pub id: String,
    /// Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
    pub limit: Option<usize>,
    pub scope: Option<Scope>,
}

/// Memories related to one memory, closest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryRelatedReport {
    pub id: String,
    pub related: Vec<RelatedMemory>,
    /// Total number of related memories, including those not listed.
    pub total: usize,
    /// Other memory files with the same ID.
    pub also_in: Vec<OtherPlace>,
}

/// A related memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelatedMemory {
    pub edge: MemoryEdge,
    #[serde(flatten)]
    pub memory: MemoryEntry,
}

/// The state of the search indexes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexStatusReport {
    pub indexes: Vec<IndexState>,
}

/// The state of the index of one store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexState {
    pub scope: StoreScope,
    pub path: String,
    pub records: usize,
    pub segments: usize,
    pub bytes: u64,
    /// The name of the embedding model.
    pub model: String,
    /// Number of files changed since the index was written.
    pub outdated: usize,
}

/// The rebuilt indexes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexRebuildReport {
    /// Always `rebuilt`.
    pub done: String,
    pub indexes: Vec<RebuiltIndex>,
}

/// One rebuilt index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RebuiltIndex {
    pub scope: StoreScope,
    pub records: usize,
}

names! {
    /// The ranking method.
    #[derive(Default)]
    pub enum SearchMode {
        /// Combines word search and semantic search.
        #[default]
        Hybrid = "hybrid",
        /// Searches by words.
        Lexical = "lexical",
        /// Searches by meaning.
        Semantic = "semantic",
    }

    /// The stores to search.
    pub enum Scope {
        /// Searches the project store first, then the user's global store.
        ProjectFallbackGlobal = "project_fallback_global",
        /// Only the project store.
        ProjectOnly = "project_only",
        /// Only the user's global store.
        GlobalOnly = "global_only",
    }

    /// The store that contains a memory.
    pub enum StoreScope {
        Project = "project",
        Global = "global",
    }
}

/// Another file with the same ID.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OtherPlace {
    pub scope: StoreScope,
    pub path: String,
}

/// Selects the memories in the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GraphRequest {
    /// Maximum number of memories, at most 5000. Defaults to 500.
    pub limit: Option<usize>,
    /// Include archived memories.
    pub archived: bool,
    /// Include session summaries.
    pub all: bool,
    pub scope: Option<Scope>,
}

/// Memories and the edges between them. Above the limit, only the memories with the most edges are
/// included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphReport {
    /// Memories, sorted by number of edges in descending order.
    pub nodes: Vec<GraphNode>,
    /// Edges between included memories, at most one per pair.
    pub edges: Vec<GraphEdge>,
    /// Number of memories omitted.
    pub left_out: usize,
    /// Number of omitted edges between included memories.
    pub left_out_edges: usize,
}

/// A memory in the graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphNode {
    #[serde(flatten)]
    pub memory: MemoryEntry,
    /// Number of linked memories, including omitted ones.
    pub degree: usize,
}

/// An edge between two memories. A `supersedes` edge points from the newer to the older memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GraphEdge {
    /// The ID of a memory.
    pub from: String,
    pub to: String,
    pub kind: EdgeKind,
    /// The session, file, symbol or tag that the two memories share.
    pub shared: Option<String>,
}
