//! Where imports lead, as it is now: what was kept, less the files whose imports are others since, which are followed again.
//!
//! Where an import leads depends on all paths and manifests, so other ones make another graph, of another key. In languages where
//! it depends on what other files define, a change of that makes everything followed anew.

use std::collections::BTreeMap;
use std::io::Read as _;

use xxhash_rust::xxh3::Xxh3;

use super::options::CacheWrites;
use super::refresh::Current;
use crate::artifact::{
    Cache, FileHash, FileOutline, FileRow, Graph, Imports, InsideImports, Lists, RelativePath,
};
use crate::languages::{Language, Outline};
use crate::resolve::{
    Leads, Manifest, Resolver, Source, Target, is_manifest, leads_alike, looks_into_others,
};

/// With more files than these to follow again, all are, and that is kept.
const MAX_AGAIN: usize = 256;

/// So many threads follow all imports; the result does not depend on it.
const N_THREADS: usize = 4;

/// A manifest is a text that people write; a larger file is none.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// The files that a graph is of, in the order of their paths, and what they hold.
pub(super) type Listing<'l> = [(&'l str, FileHash)];

/// Files that are followed again, with the nodes that they import now.
type Again = Vec<(usize, Vec<u32>)>;

impl Current {
    /// What each file imports, by the places of files in the order of their paths: each one once, in order.
    pub fn imported(
        &self,
        cache: &Cache,
        keeping: CacheWrites,
        files: &[(&str, FileRow)],
    ) -> Lists {
        let files: Vec<(&str, FileHash)> =
            files.iter().map(|(path, row)| (*path, row.hash)).collect();
        self.links(cache, keeping, &files).files()
    }

    /// Where all imports of all files lead. `outlines` are of all files, in the order of their paths; they are asked for where
    /// nothing that was kept holds for all of them.
    pub fn imports<'o>(
        &self,
        cache: &Cache,
        keeping: CacheWrites,
        outlines: impl FnOnce() -> &'o [FileOutline<'o>],
    ) -> Imports {
        let files = self.listing();
        let key = self.graph_key(&files);
        self.kept_imports(cache, key, &files).unwrap_or_else(|| {
            let outlines = outlines().iter().map(|file| &file.outline);
            let imports = self.followed(&files, &outlines.collect::<Vec<_>>());
            self.keep_imports(cache, keeping, key, &files, &imports);
            imports
        })
    }

    /// Where all imports lead as it was kept; `None` where that is not so any more for all of them.
    pub fn known_imports(&self, cache: &Cache) -> Option<Imports> {
        let files = self.listing();
        self.kept_imports(cache, self.graph_key(&files), &files)
    }

    fn kept_imports(&self, cache: &Cache, key: u64, files: &Listing<'_>) -> Option<Imports> {
        let graph = cache.graph(&self.project, key)?;
        let again = self.to_follow_again(&graph, files)?;
        let outside = if again.is_empty() { graph.outside() } else { None };
        Some(Imports { inside: graph.inside(&[]), outside: outside? })
    }

    fn keep_imports(
        &self,
        cache: &Cache,
        keeping: CacheWrites,
        key: u64,
        files: &Listing<'_>,
        imports: &Imports,
    ) {
        if keeping == CacheWrites::On {
            let hashes: Vec<FileHash> = files.iter().map(|(_, hash)| *hash).collect();
            // Best effort: what could not be kept is found again.
            let _ = cache.keep_graph(&self.project, key, &hashes, imports);
        }
    }

    fn listing(&self) -> Vec<(&str, FileHash)> {
        self.artifact.files().into_iter().map(|(path, row)| (path, row.hash)).collect()
    }

    /// Follows the imports of some files: as they were kept, as far as they still hold.
    pub(super) fn links(
        &self,
        cache: &Cache,
        keeping: CacheWrites,
        files: &Listing<'_>,
    ) -> InsideImports {
        let key = self.graph_key(files);
        let kept = cache.graph(&self.project, key);
        if let Some(links) = kept.and_then(|graph| self.brought_up_to_date(&graph, files)) {
            return links;
        }
        let outline = |(path, hash): &(&str, FileHash)| {
            let outline =
                Language::of_path(path).and_then(|language| self.outline_of(language, *hash));
            outline.unwrap_or_default()
        };
        let outlines: Vec<Outline<'_>> = files.iter().map(outline).collect();
        let imports = self.followed(files, &outlines.iter().collect::<Vec<_>>());
        self.keep_imports(cache, keeping, key, files, &imports);
        imports.inside
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
    fn brought_up_to_date(&self, graph: &Graph, files: &Listing<'_>) -> Option<InsideImports> {
        let again = self.to_follow_again(graph, files)?;
        if again.values().all(|outline| outline.imports.is_empty()) {
            let none = |idx: usize| (idx, Vec::new());
            return Some(graph.inside(&again.into_keys().map(none).collect::<Vec<_>>()));
        }
        let kept = graph.inside(&[]);
        let now = self.nodes_of(&again, &kept, files)?;
        Some(graph.inside(&now))
    }

    /// Files whose imports may lead elsewhere than they did, with what is known of them now; `None` when those are too many, or
    /// others lead elsewhere for it.
    fn to_follow_again(
        &self,
        graph: &Graph,
        files: &Listing<'_>,
    ) -> Option<BTreeMap<usize, Outline<'_>>> {
        if graph.n_files() != files.len() {
            return None;
        }
        let mut again = BTreeMap::new();
        for (idx, ((path, hash), before)) in files.iter().zip(graph.hashes()).enumerate() {
            if before == *hash {
                continue;
            }
            let Some(language) = Language::of_path(path) else { continue };
            let [old, new] = [before, *hash].map(|hash| self.outline_of(language, hash));
            if is_alike(language, old.as_ref(), new.as_ref()) {
                continue;
            }
            if looks_into_others(language) || again.len() == MAX_AGAIN {
                return None;
            }
            again.insert(idx, new.unwrap_or_default());
        }
        Some(again)
    }

    /// The nodes that some files import; `None` when one is a folder which nobody imported before.
    fn nodes_of(
        &self,
        again: &BTreeMap<usize, Outline<'_>>,
        kept: &InsideImports,
        files: &Listing<'_>,
    ) -> Option<Again> {
        let unknown = Outline::default();
        let sources = sources(files, |idx| again.get(&idx).unwrap_or(&unknown));
        let manifests = self.manifests(files.iter().map(|(path, _)| *path));
        let resolver = Resolver::new(&sources, &manifests);
        let mut following = resolver.following();
        let mut leads = Leads::default();
        let mut now = Again::new();
        for (from, outline) in again {
            leads.follow(&mut following, *from, outline);
            let node = |target: &Target| match *target {
                Target::File(to) => u32::try_from(to).ok(),
                Target::Folder(one) => u32::try_from(kept.folder_of(one)?).ok(),
            };
            let mut nodes = leads.inside.iter().map(node).collect::<Option<Vec<u32>>>()?;
            nodes.sort_unstable();
            nodes.dedup();
            now.push((*from, nodes));
        }
        Some(now)
    }

    /// Follows all imports of all files.
    fn followed(&self, files: &Listing<'_>, outlines: &[&Outline<'_>]) -> Imports {
        let unknown = Outline::default();
        let sources = sources(files, |idx| outlines.get(idx).copied().unwrap_or(&unknown));
        let manifests = self.manifests(files.iter().map(|(path, _)| *path));
        Resolver::new(&sources, &manifests).follow_all(N_THREADS)
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

pub(super) fn sources<'s>(
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
