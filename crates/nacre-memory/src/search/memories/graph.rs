//! Finds relations between memories that link to each other or share a session, tag, file or
//! symbol.
//!
//! Relations are not stored. Relations are derived from the links in the files and the facets in
//! the index, so they are always up to date.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use nacre_types::{EdgeKind, GraphEdge, MemoryEdge};

use super::MemoryIndex;
use super::{outline, units};
use crate::search::record::{Link, LinkKind, Standing, facet_term};
use crate::search::settle::{edge, edge_of_link, reverse};
use crate::{Memory, MemoryType};

const SHARED: &[(&str, EdgeKind)] = &[
    ("session", EdgeKind::SameSession),
    ("file", EdgeKind::SameFile),
    ("symbol", EdgeKind::SameSymbol),
    ("tag", EdgeKind::SharedTag),
];

/// A shared value relates memories only if at most this many of them have it.
const MAX_RELATED: usize = 50;

/// Like `MAX_RELATED`, but for the displayed graph, which would be unreadable with more edges.
const MAX_SHARING: usize = 20;

#[derive(Clone, Copy, Debug)]
pub struct GraphOptions {
    pub archived: bool,
    pub summaries: bool,
    pub limit: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Sorted by number of edges, then newest first.
    pub nodes: Vec<GraphNode>,
    /// At most one edge between any two nodes: the one of the strongest kind. Strong kinds come
    /// first.
    pub ties: Vec<GraphEdge>,
    pub n_left_out: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    pub id: String,
    row: usize,
    pub degree: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowLink {
    kind: EdgeKind,
    from: usize,
    to: usize,
}

/// How rows are related. Pairs are enumerated on demand, because only a few of them are shown.
struct RowTies<'s> {
    /// Links keyed by the lower row of each pair, strongest kind first.
    links: HashMap<usize, Vec<RowLink>>,
    sharings: Vec<(EdgeKind, &'s str, Vec<usize>)>,
    /// For each row, indexes into `sharings`, strongest kind first.
    of_row: Vec<Vec<usize>>,
}

impl<'s> RowTies<'s> {
    /// Calls `take` once for each related pair of marked rows, with the strongest edge's kind and
    /// the shared value.
    fn each(&self, rows: &[bool], mut take: impl FnMut(usize, usize, EdgeKind, Option<&'s str>)) {
        // For each row, the last lower row it was paired with, so that no pair is visited twice.
        let mut taken_for = vec![usize::MAX; rows.len()];
        for low in list_taken(rows) {
            let links = self.links.get(&low).into_iter().flatten();
            let linked = links.map(|link| (link.from, link.to, link.kind, None));
            let sharings = self.of_row[low].iter().map(|number| &self.sharings[*number]);
            let sharing = sharings.flat_map(|(kind, value, rows)| {
                let others = rows.iter().filter(move |high| **high > low);
                others.map(move |high| (low, *high, *kind, Some(*value)))
            });
            for (from, to, kind, value) in linked.chain(sharing) {
                let high = from.max(to);
                if rows[high] && std::mem::replace(&mut taken_for[high], low) != low {
                    take(from, to, kind, value);
                }
            }
        }
    }
}

impl MemoryIndex<'_> {
    pub fn find_related(&self, id: &str) -> Vec<(MemoryEdge, Memory)> {
        let Some(row) = self.snapshot.row_of(id) else { return Vec::new() };
        let links = self.snapshot.links(row);
        let mut found: Vec<MemoryEdge> =
            links.map(|link| edge(edge_of_link(link.kind), &link.to)).collect();
        found.extend(self.linking_to(id));
        found.extend(self.sharing(row));
        found.retain(|kin| kin.id != id);
        found.sort();
        let mut seen = HashSet::new();
        found.retain(|kin| seen.insert(kin.id.clone()));
        let read = |kin: MemoryEdge| {
            let memory = self.read_row(self.snapshot.row_of(&kin.id)?)?;
            Some((kin, memory))
        };
        found.into_iter().filter_map(read).collect()
    }

    fn linking_to(&self, id: &str) -> Vec<MemoryEdge> {
        let rows = (0..self.snapshot.n_rows()).filter(|row| self.snapshot.is_live(*row));
        rows.flat_map(|row| {
            let links = self.snapshot.links(row).filter(|link| link.to == id);
            let kind = |link: Link| reverse(edge_of_link(link.kind));
            links.map(move |link| edge(kind(link), self.snapshot.key(row)))
        })
        .collect()
    }

    fn sharing(&self, row: usize) -> Vec<MemoryEdge> {
        let mut found = Vec::new();
        let Some(memory) = self.read_row(row) else { return found };
        for (name, value) in units::facets_of(&memory) {
            let kind = SHARED.iter().find(|(shared, _)| *shared == name).map(|(_, kind)| *kind);
            let Some(kind) = kind else { continue };
            let term = facet_term(name, &value);
            if self.snapshot.n_holding(&term) > MAX_RELATED {
                continue;
            }
            found.extend(self.snapshot.postings(&term).map(|(row, _)| MemoryEdge {
                shared: Some(value.clone()),
                ..edge(kind, self.snapshot.key(row))
            }));
        }
        found
    }

    pub fn graph(&self, options: &GraphOptions) -> Graph {
        let rows = self.graph_rows(options);
        let row_ties = self.row_ties(&rows);
        let mut degrees = vec![0; rows.len()];
        row_ties.each(&rows, |from, to, _, _| {
            degrees[from] += 1;
            degrees[to] += 1;
        });
        let mut nodes = self.nodes(&rows, &degrees);
        let n_left_out = nodes.len().saturating_sub(options.limit);
        nodes.truncate(options.limit);
        let mut is_shown = vec![false; rows.len()];
        for node in &nodes {
            is_shown[node.row] = true;
        }
        let mut ties = Vec::new();
        let id = |row: usize| self.snapshot.key(row).to_owned();
        row_ties.each(&is_shown, |from, to, kind, shared| {
            let shared = shared.map(str::to_owned);
            ties.push(GraphEdge { kind, from: id(from), to: id(to), shared });
        });
        ties.sort_by_key(|tie| tie.kind);
        Graph { nodes, ties, n_left_out }
    }

    fn nodes(&self, rows: &[bool], degrees: &[usize]) -> Vec<GraphNode> {
        let node = |row: usize| GraphNode {
            id: self.snapshot.key(row).to_owned(),
            row,
            degree: degrees[row],
        };
        let mut nodes: Vec<GraphNode> = list_taken(rows).map(node).collect();
        nodes.sort_by_cached_key(|node| {
            let time = self.snapshot.row(node.row).time_ms;
            (Reverse(node.degree), Reverse(time), node.id.clone())
        });
        nodes
    }

    pub fn read_node(&self, node: &GraphNode) -> Option<Memory> {
        self.read_row(node.row)
    }

    fn graph_rows(&self, options: &GraphOptions) -> Vec<bool> {
        let snapshot = &self.snapshot;
        let is_meant = |row: usize| {
            let memory_type = outline::type_of(snapshot.unit_key(row));
            snapshot.is_live(row)
                && (options.archived || snapshot.row(row).standing != Standing::Archived)
                && memory_type.is_some_and(|of| options.summaries || of != MemoryType::Summary)
        };
        (0..snapshot.n_rows()).map(is_meant).collect()
    }

    fn row_ties(&self, rows: &[bool]) -> RowTies<'_> {
        let mut sharings = Vec::new();
        let mut of_row = vec![Vec::new(); rows.len()];
        for (name, kind) in SHARED {
            for (value, sharing) in self.sharing_rows(rows, name) {
                for row in &sharing {
                    of_row[*row].push(sharings.len());
                }
                sharings.push((*kind, value, sharing));
            }
        }
        RowTies { links: self.row_links(rows), sharings, of_row }
    }

    fn row_links(&self, rows: &[bool]) -> HashMap<usize, Vec<RowLink>> {
        let ids: HashMap<&str, usize> =
            list_taken(rows).map(|row| (self.snapshot.key(row), row)).collect();
        let mut links: HashMap<usize, Vec<RowLink>> = HashMap::new();
        for row in list_taken(rows) {
            for Link { kind, to } in self.snapshot.links(row) {
                let other = ids.get(to.as_str()).copied().filter(|other| *other != row);
                let Some(other) = other else { continue };
                // Links in either direction are stored as one kind, from the newer memory to the
                // older one.
                let link = match kind {
                    LinkKind::SupersededBy => {
                        RowLink { kind: EdgeKind::Supersedes, from: other, to: row }
                    }
                    LinkKind::Supersedes | LinkKind::Contradicts | LinkKind::Related => {
                        RowLink { kind: edge_of_link(kind), from: row, to: other }
                    }
                };
                links.entry(row.min(other)).or_default().push(link);
            }
        }
        links.values_mut().for_each(|links| links.sort_unstable());
        links
    }

    fn sharing_rows(&self, rows: &[bool], name: &str) -> BTreeMap<&str, Vec<usize>> {
        let mut sharing: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (value, row) in self.snapshot.values_of(name) {
            if rows[row] {
                sharing.entry(value).or_default().push(row);
            }
        }
        sharing.retain(|_, rows| (2..=MAX_SHARING).contains(&rows.len()));
        sharing
    }
}

fn list_taken(rows: &[bool]) -> impl Iterator<Item = usize> {
    rows.iter().enumerate().filter(|(_, is_taken)| **is_taken).map(|(row, _)| row)
}

/// Maps a memory's lowercase facet values to their original spelling.
pub fn spellings(memory: &Memory) -> HashMap<String, String> {
    let facets = units::facets_of(memory).into_iter();
    let shared = facets.filter(|(name, _)| SHARED.iter().any(|(shared, _)| shared == name));
    shared.map(|(_, value)| (value.to_lowercase(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::memories::tests::{World, later};

    const ALL: GraphOptions = GraphOptions { archived: false, summaries: false, limit: 100 };

    fn ties(graph: &Graph) -> Vec<(&str, &str, &str, Option<&str>)> {
        let plain = |tie| {
            let GraphEdge { kind, from, to, shared }: &GraphEdge = tie;
            (from.as_str(), kind.as_str(), to.as_str(), shared.as_deref())
        };
        graph.ties.iter().map(plain).collect()
    }

    #[test]
    fn two_memories_have_one_tie_and_it_is_the_nearest() {
        let world = World::new();
        world.write("20260101-old", "Use Redis", "status: superseded\n", "Fast.");
        world.write(
            "20260102-new",
            "Use SQLite",
            "supersedes: [20260101-old]\nrelated: [20260101-old]\ntags: [Queue]\n",
            "One file.",
        );
        world.write("20260103-tagged", "Queue is durable", "tags: [queue]\n", "It is kept.");
        world.write("20260104-alone", "Tabs", "", "Nobody knows why.");
        let index = world.open(later());
        let graph = index.graph(&ALL);
        assert_eq!(
            ties(&graph),
            [
                ("20260102-new", "supersedes", "20260101-old", None),
                ("20260102-new", "shared tag", "20260103-tagged", Some("queue")),
            ]
        );
        let nodes: Vec<(&str, usize)> =
            graph.nodes.iter().map(|node| (node.id.as_str(), node.degree)).collect();
        assert_eq!(nodes[0], ("20260102-new", 2));
        assert_eq!(nodes[3], ("20260104-alone", 0));
        let memory = index.read_node(&graph.nodes[0]).unwrap();
        assert_eq!(memory.title, "Use SQLite");
        assert_eq!(spellings(&memory)["queue"], "Queue");
        let two = index.graph(&GraphOptions { limit: 2, ..ALL });
        assert_eq!((two.nodes.len(), two.ties.len(), two.n_left_out), (2, 1, 2));
    }

    #[test]
    fn what_too_many_share_ties_none_of_them() {
        let world = World::new();
        for n in 0..=MAX_SHARING {
            let tags = if n < MAX_SHARING { "tags: [all, most]\n" } else { "tags: [all]\n" };
            world.write(&format!("20260101-m{n:02}"), &format!("Memory {n}"), tags, "Text.");
        }
        let graph = world.open(later()).graph(&ALL);
        assert_eq!(graph.ties.len(), MAX_SHARING * (MAX_SHARING - 1) / 2);
        assert!(graph.ties.iter().all(|tie| tie.shared.as_deref() == Some("most")));
        assert_eq!(graph.nodes.last().map(|node| node.degree), Some(0));
    }
}
