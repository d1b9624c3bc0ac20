//! All memories and what ties them together: a picture of the whole store.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EdgeKind, MemoryEntry, Report, Scope};

/// Which memories to put into the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GraphRequest {
    /// At most this many memories, 5000 at most. Without it, 500.
    pub limit: Option<usize>,
    /// Archived ones too.
    pub archived: bool,
    /// Summaries of sessions too.
    pub all: bool,
    pub scope: Option<Scope>,
}

/// Memories and their edges. Where there are too many memories, those with most edges are shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphReport {
    /// Those with most edges first.
    pub nodes: Vec<GraphNode>,
    /// Between two memories at most one; both of its ends are among the nodes.
    pub edges: Vec<GraphEdge>,
    /// How many memories are not shown.
    pub left_out: usize,
    /// How many edges between shown memories are not shown.
    pub left_out_edges: usize,
}

impl Report for GraphReport {}

/// A memory in a graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphNode {
    #[serde(flatten)]
    pub memory: MemoryEntry,
    /// How many memories it is tied to, shown or not.
    pub degree: usize,
}

/// An edge between two memories. `supersedes` goes from the newer to the older.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GraphEdge {
    /// A memory's id.
    pub from: String,
    pub to: String,
    pub kind: EdgeKind,
    /// The session, file, symbol or tag that both have.
    pub shared: Option<String>,
}
