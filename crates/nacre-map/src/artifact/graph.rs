//! Who imports whom, kept beside an artifact: found by what is imported, because that is what is asked when something changed.
//!
//! Files are places in a list of paths that both sides know. A folder that is imported as a whole is a node of its own, behind
//! the files, and its files say that they belong to it. Each file has the hash that its imports were read from, so that
//! whoever asks sees what has changed since.

use std::collections::BTreeSet;

use nacre_core::safefs::FsError;
use xxhash_rust::xxh3::Xxh3;

use super::cache::Cache;
use super::mapped::Mapped;
use super::model::{FileHash, Project};

/// Grows whenever the meaning of any byte changes, or imports are followed otherwise.
const GRAPH_FORMAT: u32 = 1;

const MAGIC: [u8; 8] = *b"NACREGRA";

/// Magic, format, three counts, and a checksum of all but itself.
const HEADER_BYTES: usize = 32;
const CHECKSUM_AT: usize = 24;

/// A file that belongs to no folder that is imported as a whole.
const NO_FOLDER: u32 = u32::MAX;

/// So many graphs are kept of a project: of the files that are there, and of those with some that are gone.
const MAX_GRAPHS: usize = 2;

const PREFIX: &str = "graph-";

/// The imports of a project, to be kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imports {
    /// What each file held.
    pub hashes: Vec<FileHash>,
    /// The folder that each file belongs to, by its number, where somebody imports that as a whole.
    pub folders: Vec<Option<usize>>,
    pub n_folders: usize,
    /// Who imports, and what: a file, or a folder behind all files. Each pair once.
    pub edges: BTreeSet<(usize, usize)>,
}

impl Imports {
    fn render(&self) -> Vec<u8> {
        let n_nodes = self.hashes.len() + self.n_folders;
        let mut edges: Vec<(usize, usize)> =
            self.edges.iter().map(|(from, to)| (*to, *from)).collect();
        edges.sort_unstable();
        let mut file = Vec::with_capacity(
            HEADER_BYTES + self.hashes.len() * 12 + (n_nodes + 1 + edges.len()) * 4,
        );
        file.extend(MAGIC);
        for number in [GRAPH_FORMAT, small(self.hashes.len()), small(self.n_folders)] {
            file.extend(number.to_le_bytes());
        }
        file.extend(small(edges.len()).to_le_bytes());
        file.extend([0; 8]);
        for hash in &self.hashes {
            file.extend(hash.0.to_le_bytes());
        }
        for folder in &self.folders {
            file.extend(folder.map_or(NO_FOLDER, small).to_le_bytes());
        }
        let mut start = 0;
        for node in 0..=n_nodes {
            start += edges[start..].iter().take_while(|(to, _)| *to < node).count();
            file.extend(small(start).to_le_bytes());
        }
        for (_, from) in &edges {
            file.extend(small(*from).to_le_bytes());
        }
        let checksum = checksum(&file).to_le_bytes();
        file[CHECKSUM_AT..HEADER_BYTES].copy_from_slice(&checksum);
        file
    }
}

/// Of everything but itself.
fn checksum(file: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(&file[..CHECKSUM_AT]);
    hasher.update(&file[HEADER_BYTES..]);
    hasher.digest()
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Imports, looked at where they lie.
#[derive(Debug)]
pub struct Graph {
    map: Mapped,
    n_files: usize,
    n_folders: usize,
    n_edges: usize,
}

impl Graph {
    /// A graph that lies in memory.
    pub fn new(imports: &Imports) -> Self {
        Self {
            n_files: imports.hashes.len(),
            n_folders: imports.n_folders,
            n_edges: imports.edges.len(),
            map: Mapped::Memory(imports.render()),
        }
    }

    /// Opens a graph; `None` for anything that is not whole and of this format.
    fn open(map: Mapped) -> Option<Self> {
        let header = map.get(..HEADER_BYTES)?;
        let count = |at: usize| {
            let bytes = header.get(at..at + 4)?.try_into().ok()?;
            usize::try_from(u32::from_le_bytes(bytes)).ok()
        };
        let is_ours = header.starts_with(&MAGIC) && header[8..12] == GRAPH_FORMAT.to_le_bytes();
        let (n_files, n_folders, n_edges) = (count(12)?, count(16)?, count(20)?);
        let graph = Self { n_files, n_folders, n_edges, map };
        let is_whole = is_ours
            && graph.map.len() == graph.importers_at() + n_edges * 4
            && checksum(&graph.map).to_le_bytes() == graph.map[CHECKSUM_AT..HEADER_BYTES];
        is_whole.then_some(graph)
    }

    pub fn n_files(&self) -> usize {
        self.n_files
    }

    /// What a file held when its imports were read.
    pub fn hash_of(&self, file: usize) -> FileHash {
        let at = HEADER_BYTES + file * 8;
        let bytes = self.map.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        FileHash(bytes.map_or(0, u64::from_le_bytes))
    }

    /// The node of the folder that a file belongs to, where somebody imports that as a whole.
    pub fn folder_of(&self, file: usize) -> Option<usize> {
        let number = self.number(HEADER_BYTES + self.n_files * 8 + file * 4);
        (number < self.n_folders).then_some(self.n_files + number)
    }

    /// The files that import a node, in order.
    pub fn importers(&self, node: usize) -> impl Iterator<Item = usize> {
        let (start, end) = match node < self.n_files + self.n_folders {
            true => (self.start(node), self.start(node + 1)),
            false => (0, 0),
        };
        let first = self.importers_at();
        (start..end.min(self.n_edges)).map(move |idx| self.number(first + idx * 4))
    }

    fn start(&self, node: usize) -> usize {
        self.number(HEADER_BYTES + self.n_files * 12 + node * 4)
    }

    fn importers_at(&self) -> usize {
        HEADER_BYTES + self.n_files * 12 + (self.n_files + self.n_folders + 1) * 4
    }

    fn number(&self, at: usize) -> usize {
        let bytes = self.map.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(usize::MAX, |bytes| u32::from_le_bytes(bytes) as usize)
    }
}

impl Cache {
    /// The imports of a project's files that were kept under this key.
    pub fn graph(&self, project: &Project, key: u64) -> Option<Graph> {
        Graph::open(self.bytes(&self.name_in(&self.name_of(project.id), PREFIX, key))?)
    }

    /// Keeps imports.
    pub fn keep_graph(&self, project: &Project, key: u64, graph: &Graph) -> Result<(), FsError> {
        let scope = self.scope()?;
        let id = self.name_of(project.id);
        let writer = self.writer(&scope, &id)?;
        self.put(&writer, &self.name_in(&id, PREFIX, key), &graph.map)?;
        self.remove_oldest(&writer, &id, PREFIX, MAX_GRAPHS)
    }
}
