//! Where imports lead, kept beside an artifact: the one place, for overviews, deltas and tasks.
//!
//! Files are places in a list of paths that both sides know. Each file has the hash that its imports were read from, so that
//! whoever asks sees what has changed since. Imports that lead to strangers stand behind the others, and are read only for an
//! overview.

use nacre_core::safefs::FsError;
use xxhash_rust::xxh3::Xxh3;

use super::cache::Cache;
use super::codec::{Decoder, Encoder};
use super::imports::{Imports, InsideImports, OutsideImports};
use super::lists::Lists;
use super::mapped::Mapped;
use super::model::{FileHash, Project};

/// Grows whenever the meaning of any byte changes, or imports are followed otherwise.
const GRAPH_FORMAT: u32 = 3;

const MAGIC: [u8; 8] = *b"NACREGRA";

/// Magic, format, three counts, and a checksum of all but itself.
const HEADER_BYTES: usize = 32;
const CHECKSUM_AT: usize = 24;

/// A file that belongs to no folder that is imported as a whole.
const NO_FOLDER: u32 = u32::MAX;

/// So many graphs are kept of a project: of the files that are there, and of those with some that are gone.
const MAX_GRAPHS: usize = 2;

const PREFIX: &str = "graph-";

/// The bytes of a graph: hashes of the files, their folders, where the imports of each end, all imports, and the strangers.
fn render(hashes: &[FileHash], imports: &Imports) -> Vec<u8> {
    let Imports { inside, outside } = imports;
    let (n_files, n_edges) = (hashes.len(), inside.nodes.n_items());
    let mut file = Vec::with_capacity(HEADER_BYTES + n_files * 20 + n_edges * 4);
    file.extend(MAGIC);
    for number in [GRAPH_FORMAT, small(n_files), small(inside.n_folders), small(n_edges)] {
        file.extend(number.to_le_bytes());
    }
    file.extend([0; 8]);
    hashes.iter().for_each(|hash| file.extend(hash.0.to_le_bytes()));
    for idx in 0..n_files {
        let folder = inside.folders.get(idx).copied().flatten().unwrap_or(NO_FOLDER);
        file.extend(folder.to_le_bytes());
    }
    let mut end = 0;
    for idx in 0..n_files {
        end += inside.nodes.of(idx).len();
        file.extend(small(end).to_le_bytes());
    }
    inside.nodes.items().iter().for_each(|node| file.extend(node.to_le_bytes()));
    let mut to = Encoder::onto(file);
    to.list(&outside.packages, |to, name| to.text(name));
    outside.of_files.encode(&mut to);
    to.number(u64::from(outside.n_missing));
    let mut file = to.into_bytes();
    let checksum = checksum(&file).to_le_bytes();
    file[CHECKSUM_AT..HEADER_BYTES].copy_from_slice(&checksum);
    file
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

/// Imports that were kept, looked at where they lie.
#[derive(Debug)]
pub struct Graph {
    map: Mapped,
    n_files: usize,
    n_folders: usize,
    n_edges: usize,
}

impl Graph {
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
            && graph.outside_at() <= graph.map.len()
            && checksum(&graph.map).to_le_bytes() == graph.map[CHECKSUM_AT..HEADER_BYTES];
        is_whole.then_some(graph)
    }

    pub fn n_files(&self) -> usize {
        self.n_files
    }

    /// What each file held when its imports were read.
    pub fn hashes(&self) -> impl Iterator<Item = FileHash> {
        let bytes = self.map.get(HEADER_BYTES..HEADER_BYTES + self.n_files * 8).unwrap_or_default();
        bytes.as_chunks().0.iter().map(|bytes| FileHash(u64::from_le_bytes(*bytes)))
    }

    /// Imports that lead to files of the project. `again` are files that are followed anew, with what they import now.
    pub fn inside(&self, again: &[(usize, Vec<u32>)]) -> InsideImports {
        let folders_at = HEADER_BYTES + self.n_files * 8;
        let (ends_at, nodes_at) = (folders_at + self.n_files * 4, folders_at + self.n_files * 8);
        let n_nodes = self.n_files + self.n_folders;
        let folder = |number: u32| ((number as usize) < self.n_folders).then_some(number);
        let mut again = again.iter().peekable();
        let nodes = self.numbers(nodes_at, self.n_edges);
        let node = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
        let mut kept = Lists::default();
        let mut start = 0;
        for (file, end) in self.numbers(ends_at, self.n_files).iter().map(node).enumerate() {
            let end = (end as usize).clamp(start, nodes.len());
            match again.next_if(|(other, _)| *other == file) {
                Some((_, now)) => kept.push(now.iter().copied()),
                None => {
                    let own = nodes[start..end].iter().map(node);
                    kept.push(own.filter(|node| (*node as usize) < n_nodes));
                }
            }
            start = end;
        }
        InsideImports {
            nodes: kept,
            folders: self.numbers(folders_at, self.n_files).iter().map(node).map(folder).collect(),
            n_folders: self.n_folders,
        }
    }

    /// Imports that lead to none; `None` where they cannot be read.
    pub fn outside(&self) -> Option<OutsideImports> {
        let mut from = Decoder::new(self.map.get(self.outside_at()..)?);
        let packages = from.list(|from| from.text().map(str::to_owned))?;
        let of_files = Lists::decode(&mut from, packages.len())?;
        let n_missing = from.small()?;
        let is_whole = from.is_empty() && of_files.len() == self.n_files;
        is_whole.then_some(OutsideImports { of_files, packages, n_missing })
    }

    fn outside_at(&self) -> usize {
        HEADER_BYTES + self.n_files * 16 + self.n_edges * 4
    }

    fn numbers(&self, at: usize, count: usize) -> &[[u8; 4]] {
        self.map.get(at..at + count * 4).unwrap_or_default().as_chunks().0
    }
}

impl Cache {
    /// The imports of a project's files that were kept under this key.
    pub fn graph(&self, project: &Project, key: u64) -> Option<Graph> {
        Graph::open(self.bytes(&self.name_in(&self.name_of(project.id), PREFIX, key))?)
    }

    /// Keeps imports of files that held this.
    pub fn keep_graph(
        &self,
        project: &Project,
        key: u64,
        hashes: &[FileHash],
        imports: &Imports,
    ) -> Result<(), FsError> {
        let scope = self.scope()?;
        let id = self.name_of(project.id);
        let writer = self.writer(&scope, &id)?;
        self.put(&writer, &self.name_in(&id, PREFIX, key), &render(hashes, imports))?;
        self.remove_oldest(&writer, &id, PREFIX, MAX_GRAPHS)
    }
}
