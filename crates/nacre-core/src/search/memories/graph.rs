//! All memories and what ties them together, for a picture of the whole store.
//!
//! One pass over the index: own links as they stand in it, and what memories share as the terms that hold it. No file is
//! read before it is known which memories are shown.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::MemoryIndex;
use super::related::SHARED;
use super::{outline, units};
use crate::memory::{Located, Memory, MemoryType};
use crate::search::kin::KinKind;
use crate::search::record::{Link, LinkKind, Standing};
use crate::search::words;

/// A property that more memories than this have ties none of them: the lines would hide the picture.
const MAX_SHARING: usize = 20;

/// Which memories are in the picture.
#[derive(Clone, Copy, Debug)]
pub struct GraphOptions {
    /// Archived ones too.
    pub archived: bool,
    /// Summaries of sessions too.
    pub summaries: bool,
    /// At most this many.
    pub limit: usize,
}

/// The memories of a store and their ties, without a look at a file.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Those with most ties first, then the newest.
    pub nodes: Vec<GraphNode>,
    /// Between two of the nodes at most one, the nearest. The nearest kinds first.
    pub ties: Vec<Tie>,
    /// Memories beyond the limit.
    pub n_left_out: usize,
}

/// A memory of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    pub id: String,
    row: usize,
    /// How many memories it is tied to, in the picture or not.
    pub degree: usize,
}

/// Why two memories belong together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tie {
    pub kind: KinKind,
    /// Its id.
    pub from: String,
    pub to: String,
    /// The session, file, symbol or tag that both have, in lower case.
    pub shared: Option<String>,
}

/// What one row says of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowLink {
    kind: KinKind,
    from: usize,
    to: usize,
}

/// Rows that share a value of a property.
struct Sharing<'s> {
    kind: KinKind,
    value: &'s [u8],
    rows: Vec<usize>,
}

/// What ties rows together. Pairs are made as they are asked for: there are far more than are shown.
struct RowTies<'s> {
    /// By the lower row of the two, the nearest kinds first.
    links: HashMap<usize, Vec<RowLink>>,
    sharings: Vec<Sharing<'s>>,
    /// The sharings of each row, the nearest kinds first.
    of_row: Vec<Vec<usize>>,
}

impl<'s> RowTies<'s> {
    /// Hands the nearest tie of each pair of marked rows to `take`: from, to, kind, and the value that they share.
    fn each(&self, rows: &[bool], mut take: impl FnMut(usize, usize, KinKind, Option<&'s [u8]>)) {
        // The lower row for which a row was taken last: each pair is taken once.
        let mut taken_for = vec![usize::MAX; rows.len()];
        for low in taken(rows) {
            let links = self.links.get(&low).into_iter().flatten();
            let linked = links.map(|link| (link.from, link.to, link.kind, None));
            let sharings = self.of_row[low].iter().map(|number| &self.sharings[*number]);
            let sharing = sharings.flat_map(|Sharing { kind, value, rows }| {
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
    /// The memories of the store and what ties them together.
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
            let shared = shared.map(|value| String::from_utf8_lossy(value).into_owned());
            ties.push(Tie { kind, from: id(from), to: id(to), shared });
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
        let mut nodes: Vec<GraphNode> = taken(rows).map(node).collect();
        nodes.sort_by_cached_key(|node| {
            let time = self.snapshot.row(node.row).time_ms;
            (Reverse(node.degree), Reverse(time), node.id.clone())
        });
        nodes
    }

    /// Reads the memory of a node; `None` when it went away since the look.
    pub fn read_node(&self, node: &GraphNode) -> Option<Memory> {
        let at = Located::from_path(self.snapshot.unit_key(node.row))?;
        self.pages().reader.borrow_mut().read_leniently(&at)
    }

    /// Which rows are in the picture, limit or not.
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
                sharings.push(Sharing { kind: *kind, value, rows: sharing });
            }
        }
        RowTies { links: self.row_links(rows), sharings, of_row }
    }

    /// What the memories themselves say.
    fn row_links(&self, rows: &[bool]) -> HashMap<usize, Vec<RowLink>> {
        let ids: HashMap<&str, usize> =
            taken(rows).map(|row| (self.snapshot.key(row), row)).collect();
        let mut links: HashMap<usize, Vec<RowLink>> = HashMap::new();
        for row in taken(rows) {
            for Link { kind, to } in self.snapshot.links(row) {
                let other = ids.get(to.as_str()).copied().filter(|other| *other != row);
                let Some(other) = other else { continue };
                // One kind for both ways of saying it: from the newer to the older.
                let link = match kind {
                    LinkKind::SupersededBy => {
                        RowLink { kind: KinKind::Supersedes, from: other, to: row }
                    }
                    LinkKind::Supersedes | LinkKind::Contradicts | LinkKind::Related => {
                        RowLink { kind: KinKind::of_link(kind), from: row, to: other }
                    }
                };
                links.entry(row.min(other)).or_default().push(link);
            }
        }
        links.values_mut().for_each(|links| links.sort_unstable());
        links
    }

    /// Who has the same value of a property, where that are few.
    fn sharing_rows(&self, rows: &[bool], name: &str) -> BTreeMap<&[u8], Vec<usize>> {
        let mut sharing: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for (value, row) in self.snapshot.rows_under(&words::facet(name, "")) {
            if rows[row] {
                sharing.entry(value).or_default().push(row);
            }
        }
        sharing.retain(|_, rows| (2..=MAX_SHARING).contains(&rows.len()));
        sharing
    }
}

/// The rows that are marked.
fn taken(rows: &[bool]) -> impl Iterator<Item = usize> {
    rows.iter().enumerate().filter(|(_, is_taken)| **is_taken).map(|(row, _)| row)
}

/// The properties of a memory by which it is tied to others, as it spells them itself: by their lower case.
pub fn spellings(memory: &Memory) -> HashMap<String, String> {
    let facets = units::facets_of(memory).into_iter();
    let shared = facets.filter(|(name, _)| SHARED.iter().any(|(shared, _)| shared == name));
    shared.map(|(_, value)| (value.to_lowercase(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{World, later};
    use super::*;

    const ALL: GraphOptions = GraphOptions { archived: false, summaries: false, limit: 100 };

    fn ties(graph: &Graph) -> Vec<(&str, &str, &str, Option<&str>)> {
        let plain = |tie| {
            let Tie { kind, from, to, shared }: &Tie = tie;
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
