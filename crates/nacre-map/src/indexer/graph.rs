//! Who imports whom, as it is now: what was kept, less the files whose imports are others since, which are followed again.
//!
//! Where an import leads depends on all paths and manifests, so other ones make another graph, of another key. In languages where
//! it depends on what other files define, a change of that makes everything followed anew.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read as _;

use xxhash_rust::xxh3::Xxh3;

use super::refresh::{CacheWrites, Current};
use crate::artifact::{Cache, FileHash, Graph, Imports, RelativePath};
use crate::languages::{Language, Outline};
use crate::resolve::{
    Leads, MAX_FOLDER_FILES, Manifest, Resolver, Source, Target, is_manifest, leads_alike,
    looks_into_others,
};

/// With more files than these to follow again, all are, and that is kept.
const MAX_AGAIN: usize = 256;

/// So many threads follow all imports; the result does not depend on it.
const N_THREADS: usize = 4;

/// A manifest is a text that people write; a larger file is none.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// The files that a graph is of, in the order of their paths, and what they hold.
pub(super) type Listing<'l> = [(&'l str, FileHash)];

/// Who imports whom. Files are places in the listing.
#[derive(Debug)]
pub(super) struct Links {
    graph: Graph,
    /// Files whose imports are not those that were kept.
    again: BTreeSet<usize>,
    /// What they import now: who imports a node.
    now: HashMap<usize, Vec<usize>>,
}

impl Links {
    /// The files that import a file itself, or the folder that it lies in as a whole.
    pub(super) fn importers(&self, file: usize) -> impl Iterator<Item = usize> {
        let nodes = [Some(file), self.graph.folder_of(file)];
        nodes.into_iter().flatten().flat_map(|node| self.importers_of(node))
    }

    fn importers_of(&self, node: usize) -> impl Iterator<Item = usize> {
        let kept = self.graph.importers(node).filter(|from| !self.again.contains(from));
        kept.chain(self.now.get(&node).into_iter().flatten().copied())
    }
}

impl Current {
    /// What each file imports, by the places of files in the order of their paths: each one once, in order.
    pub fn imported(&self, cache: &Cache, keeping: CacheWrites) -> Vec<Vec<usize>> {
        let files: Vec<(&str, FileHash)> =
            self.artifact.files().into_iter().map(|(path, row)| (path, row.hash)).collect();
        let links = self.links(cache, keeping, &files);
        let mut imported: Vec<Vec<usize>> = vec![Vec::new(); files.len()];
        let mut n_files_of: HashMap<usize, usize> = HashMap::new();
        for file in 0..files.len() {
            let folder = links.graph.folder_of(file).filter(|folder| {
                let n_files = n_files_of.entry(*folder).or_default();
                *n_files += 1;
                *n_files <= MAX_FOLDER_FILES
            });
            let nodes = [Some(file), folder].into_iter().flatten();
            for from in nodes.flat_map(|node| links.importers_of(node)) {
                if let Some(all) = imported.get_mut(from).filter(|_| from != file)
                    && all.last() != Some(&file)
                {
                    all.push(file);
                }
            }
        }
        imported
    }

    /// Follows the imports of some files: as they were kept, as far as they still hold.
    pub(super) fn links(&self, cache: &Cache, keeping: CacheWrites, files: &Listing<'_>) -> Links {
        let key = self.graph_key(files);
        let kept = cache.graph(&self.project, key);
        if let Some(links) = kept.and_then(|graph| self.brought_up_to_date(graph, files)) {
            return links;
        }
        let graph = Graph::new(&self.followed(files));
        if keeping == CacheWrites::On {
            // Nobody needs it: what could not be kept is found again.
            let _ = cache.keep_graph(&self.project, key, &graph);
        }
        Links { graph, again: BTreeSet::new(), now: HashMap::new() }
    }

    /// What decides, besides the files' own texts, where imports lead. Everything is looked at more closely when it is
    /// read again.
    fn graph_key(&self, files: &Listing<'_>) -> u64 {
        let mut hasher = Xxh3::new();
        hasher.update(&self.artifact.head().verified_ns.to_le_bytes());
        for (path, hash) in files {
            hasher.update(path.as_bytes());
            hasher.update(&[0]);
            if is_manifest(name_of(path)) {
                hasher.update(&hash.0.to_le_bytes());
            }
        }
        hasher.digest()
    }

    /// Follows again what is not as it was kept; `None` when that is too much, or others lead elsewhere for it.
    fn brought_up_to_date(&self, graph: Graph, files: &Listing<'_>) -> Option<Links> {
        if graph.n_files() != files.len() {
            return None;
        }
        let mut again = BTreeMap::new();
        for (idx, (path, hash)) in files.iter().enumerate() {
            let before = graph.hash_of(idx);
            let Some(language) = Language::of_path(path).filter(|_| before != *hash) else {
                continue;
            };
            let [old, new] = [before, *hash].map(|hash| self.outline_of(language, hash));
            if is_alike(language, old.as_ref(), new.as_ref()) {
                continue;
            }
            if looks_into_others(language) || again.len() == MAX_AGAIN {
                return None;
            }
            again.insert(idx, new.unwrap_or_default());
        }
        let now = self.imports_of(&again, &graph, files)?;
        Some(Links { graph, again: again.into_keys().collect(), now })
    }

    /// What some files import, as who imports a node; `None` when that is a folder which nobody imported before.
    fn imports_of(
        &self,
        again: &BTreeMap<usize, Outline<'_>>,
        graph: &Graph,
        files: &Listing<'_>,
    ) -> Option<HashMap<usize, Vec<usize>>> {
        let mut now: HashMap<usize, Vec<usize>> = HashMap::new();
        if again.values().all(|outline| outline.imports.is_empty()) {
            return Some(now);
        }
        let unknown = Outline::default();
        let sources = sources(files, |idx| again.get(&idx).unwrap_or(&unknown));
        let manifests = self.manifests(files.iter().map(|(path, _)| *path));
        let resolver = Resolver::new(&sources, &manifests);
        let mut following = resolver.following();
        let mut leads = Leads::default();
        for (from, outline) in again {
            leads.follow(&mut following, *from, outline);
            for target in &leads.inside {
                let node = match *target {
                    Target::File(to) => to,
                    Target::Folder(one) => graph.folder_of(one)?,
                };
                now.entry(node).or_default().push(*from);
            }
        }
        Some(now)
    }

    /// Follows all imports of all files.
    fn followed(&self, files: &Listing<'_>) -> Imports {
        let hashes = files.iter().map(|(_, hash)| *hash).collect();
        let outline = |(path, hash): &(&str, FileHash)| {
            let outline =
                Language::of_path(path).and_then(|language| self.outline_of(language, *hash));
            outline.unwrap_or_default()
        };
        let outlines: Vec<Outline<'_>> = files.iter().map(outline).collect();
        let sources = sources(files, |idx| &outlines[idx]);
        let manifests = self.manifests(files.iter().map(|(path, _)| *path));
        let take = |edges: &mut Vec<(usize, Target)>, from: usize, leads: &Leads<'_>| {
            edges.extend(leads.inside.iter().map(|to| (from, *to)));
        };
        let found = Resolver::new(&sources, &manifests).follow_all(N_THREADS, take);
        let place = |idx: usize| (folder_of(files[idx].0), sources[idx].language);
        let mut numbers = HashMap::new();
        let mut edges = BTreeSet::new();
        for (from, to) in found.into_iter().flatten() {
            let node = match to {
                Target::File(to) => to,
                Target::Folder(one) => {
                    let n_known = numbers.len();
                    files.len() + *numbers.entry(place(one)).or_insert(n_known)
                }
            };
            edges.insert((from, node));
        }
        let folders = (0..files.len()).map(|idx| numbers.get(&place(idx)).copied()).collect();
        Imports { hashes, folders, n_folders: numbers.len(), edges }
    }

    /// The texts that give names to folders.
    pub fn manifests<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> Vec<Manifest> {
        let read = |path: &str| {
            let path = RelativePath::new(path)?;
            let mut text = String::new();
            let file = std::fs::File::open(path.below(&self.project.root)).ok()?;
            file.take(MAX_MANIFEST_BYTES).read_to_string(&mut text).ok()?;
            Some(Manifest { path, text })
        };
        let named = paths.into_iter().filter(|path| is_manifest(name_of(path)));
        named.filter_map(read).collect()
    }
}

/// Whether all imports lead where they did, as far as both texts are known.
fn is_alike(language: Language, old: Option<&Outline<'_>>, new: Option<&Outline<'_>>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => leads_alike(Some(language), old, new),
        (old, new) => old.is_none() && new.is_none(),
    }
}

fn sources<'s>(
    files: &'s Listing<'_>,
    outline: impl Fn(usize) -> &'s Outline<'s>,
) -> Vec<Source<'s>> {
    let source = |(idx, (path, _)): (usize, &'s (&str, FileHash))| Source {
        path,
        language: Language::of_path(path),
        outline: outline(idx),
    };
    files.iter().enumerate().map(source).collect()
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
