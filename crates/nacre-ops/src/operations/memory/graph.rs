//! All memories and what ties them together: those with most edges, where there are too many.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use nacre_api::wire::{GraphEdge, GraphNode, GraphReport, GraphRequest};
use nacre_core::search::{Graph, GraphOptions, Tie, spellings};

use super::wire::{edge_kind, entry};
use crate::error::OpError;
use crate::host::{Host, SearchableStore};

const DEFAULT_LIMIT: usize = 500;
const MAX_LIMIT: usize = 5000;

/// More edges a memory than this, on average, are a blot.
const EDGES_PER_NODE: usize = 10;

pub fn graph(host: &Host, request: &GraphRequest) -> Result<GraphReport, OpError> {
    let GraphRequest { limit, archived, all, scope } = request;
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    if MAX_LIMIT < limit {
        return Err(OpError::usage(format!("`limit` is {limit}; at most {MAX_LIMIT} fit")));
    }
    let options = GraphOptions { archived: *archived, summaries: *all, limit };
    let mut report =
        GraphReport { nodes: Vec::new(), edges: Vec::new(), left_out: 0, left_out_edges: 0 };
    for searchable in &host.searchable_stores(*scope, "memory graph")? {
        add_store(&mut report, searchable, &options)?;
    }
    // Stable: of memories with as many edges, the project's stay first.
    report.nodes.sort_by_key(|node| Reverse(node.degree));
    report.left_out += report.nodes.len().saturating_sub(limit);
    report.nodes.truncate(limit);
    bound_edges(&mut report);
    Ok(report)
}

/// Adds what one store has. A memory of an earlier store hides one of the same id.
fn add_store(
    report: &mut GraphReport,
    searchable: &SearchableStore,
    options: &GraphOptions,
) -> Result<(), OpError> {
    let index = searchable.index()?;
    let Graph { nodes, ties, n_left_out } = index.graph(options);
    report.left_out += n_left_out + index.n_postponed();
    let known: HashSet<String> = report.nodes.iter().map(|node| node.memory.id.clone()).collect();
    let mut spelled: HashMap<String, HashMap<String, String>> = HashMap::new();
    for node in nodes.iter().filter(|node| !known.contains(&node.id)) {
        let Some(memory) = index.read_node(node) else { continue };
        spelled.insert(node.id.clone(), spellings(&memory));
        let memory = entry(&memory, &searchable.scoped);
        report.nodes.push(GraphNode { memory, degree: node.degree });
    }
    report.edges.extend(ties.into_iter().filter_map(|tie| edge(tie, &spelled)));
    Ok(())
}

/// The edge as the memory that it starts at spells it; `None` where one of its ends is not there.
fn edge(tie: Tie, spelled: &HashMap<String, HashMap<String, String>>) -> Option<GraphEdge> {
    let Tie { kind, from, to, shared } = tie;
    let (own, _) = (spelled.get(&from)?, spelled.get(&to)?);
    let shared = shared.map(|shared| own.get(&shared).cloned().unwrap_or(shared));
    Some(GraphEdge { from, to, kind: edge_kind(kind), shared })
}

/// Leaves edges whose ends are shown, the nearest kinds first, and no more than can be told apart.
fn bound_edges(report: &mut GraphReport) {
    let GraphReport { nodes, edges, left_out_edges, .. } = report;
    let shown: HashSet<&str> = nodes.iter().map(|node| node.memory.id.as_str()).collect();
    edges.retain(|edge| shown.contains(edge.from.as_str()) && shown.contains(edge.to.as_str()));
    edges.sort_by_key(|edge| edge.kind as u8);
    let max_edges = nodes.len() * EDGES_PER_NODE;
    *left_out_edges = edges.len().saturating_sub(max_edges);
    edges.truncate(max_edges);
}
