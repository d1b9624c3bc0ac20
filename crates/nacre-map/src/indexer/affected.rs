//! Who has to look again when something that others use has changed its shape.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Read as _;

use serde::Serialize;

use super::delta::Delta;
use super::refresh::Current;
use crate::artifact::{FileFacts, FileHash, RelativePath, Stamp};
use crate::languages::{Analysis, Language};
use crate::resolve::{Manifest, Resolver, Source, Target, is_manifest};

/// A file that imports, directly or by others, one whose symbols changed their shape.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Affected {
    pub path: String,
    /// 1 for a file that imports a changed one itself.
    pub depth: u32,
}

/// Lists the files that a delta affects, by how far they are from it and then by path.
///
/// `edges` are resolved imports: who imports, and what. A change inside of bodies affects nobody.
pub fn affected<'e>(
    delta: &Delta,
    edges: impl IntoIterator<Item = (&'e str, &'e str)>,
) -> Vec<Affected> {
    let reshaped = delta.reshaped();
    if reshaped.is_empty() {
        return Vec::new();
    }
    let mut importers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (importer, imported) in edges {
        importers.entry(imported).or_default().push(importer);
    }
    let mut seen: BTreeSet<&str> = reshaped.iter().copied().collect();
    let mut waiting: VecDeque<(&str, u32)> = reshaped.iter().map(|path| (*path, 0)).collect();
    let mut found = Vec::new();
    while let Some((path, depth)) = waiting.pop_front() {
        for importer in importers.get(path).into_iter().flatten() {
            if seen.insert(importer) {
                found.push(Affected { path: (*importer).to_owned(), depth: depth + 1 });
                waiting.push_back((importer, depth + 1));
            }
        }
    }
    found.sort_by(|a, b| (a.depth, &a.path).cmp(&(b.depth, &b.path)));
    found
}

/// A manifest is a text that people write; a larger file is none.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

impl Current {
    /// Lists the files that a delta affects. Imports are followed only where something changed its shape.
    pub fn affected(&self, delta: &Delta) -> Vec<Affected> {
        let reshaped = delta.reshaped();
        if reshaped.is_empty() {
            return Vec::new();
        }
        let mut facts = self.facts();
        // Who imported a file that is gone still names it.
        let gone = reshaped.iter().filter(|path| self.artifact.find(path).is_none());
        facts.extend(gone.filter_map(|path| unknown(path)));
        facts.sort_by(|a, b| a.path.cmp(&b.path));
        let manifests = self.manifests(facts.iter().map(|file| &file.path));
        let sources: Vec<Source<'_>> = facts
            .iter()
            .map(|file| Source {
                path: &file.path,
                language: file.language,
                analysis: &file.analysis,
            })
            .collect();
        let edges = Resolver::new(&sources, &manifests).resolve_all().edges;
        let mut pairs = Vec::with_capacity(edges.len());
        for edge in edges {
            let from = facts[edge.from].path.as_str();
            match edge.to {
                Target::File(to) => pairs.push((from, facts[to].path.as_str())),
                Target::Folder(to) => {
                    let mates = reshaped.iter().filter(|path| is_mate(path, &facts[to]));
                    pairs.extend(mates.map(|path| (from, *path)));
                    // Others pass on what they import, whichever of them does.
                    pairs.push((from, facts[to].path.as_str()));
                }
            }
        }
        affected(delta, pairs)
    }

    /// The texts that give names to folders.
    pub fn manifests<'p>(
        &self,
        paths: impl IntoIterator<Item = &'p RelativePath>,
    ) -> Vec<Manifest> {
        let read = |path: &RelativePath| {
            let mut text = String::new();
            let file = std::fs::File::open(path.below(&self.project.root)).ok()?;
            file.take(MAX_MANIFEST_BYTES).read_to_string(&mut text).ok()?;
            Some(Manifest { path: path.clone(), text })
        };
        let named = paths.into_iter().filter(|path| is_manifest(path.name()));
        named.filter_map(read).collect()
    }
}

/// A file of which nothing but its path is known.
fn unknown(path: &str) -> Option<FileFacts> {
    Some(FileFacts {
        path: RelativePath::new(path)?,
        stamp: Stamp::default(),
        hash: FileHash::default(),
        language: Language::of_path(path),
        lines: 0,
        tokens: 0,
        analysis: Analysis::default(),
    })
}

/// Whether a path lies in the same folder as a file of its language.
fn is_mate(path: &str, file: &FileFacts) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder == file.path.folder() && Language::of_path(path) == file.language
}
