//! Who has to look again when something that others use has changed its shape or is gone.
//!
//! Asked is who uses the symbol, not who imports its file (`uses`). The texts that may mention it are read for that, and only
//! when something changed its shape: an edit inside of bodies costs nothing and affects nobody.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::delta::{ChangeKind, Delta, FileChange, SymbolChange};
use super::graph::sources;
use super::mentioned::{FileMentions, is_script};
use super::options::CacheWrites;
use super::origins::Origins;
use super::refresh::Current;
use super::uses::{Sought, Uses, is_akin};
use crate::artifact::{Cache, FileHash, Importers};
use crate::languages::{Language, Outline, SoughtNames, SymbolKind};
use crate::resolve::Resolver;
use crate::shares::in_batches;

/// So many texts are read by a thread at once.
const BATCH: usize = 64;

/// Types that build on a changed one, and those on others: for each, the texts are read once more.
const MAX_GENERATIONS: usize = 3;

/// Of more symbols than these the rest is not looked for: a delta of that size is another project.
const MAX_SOUGHT: usize = 20_000;

/// A file that uses something whose shape changed or that is gone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Affected {
    pub path: String,
    /// Imports between it and what changed: 1 for a file that imports it itself, or needs no import.
    pub depth: u32,
    /// What it uses, by name; empty for a file that imports one that is gone.
    pub symbols: Vec<String>,
}

/// What a file uses, and how far it is from that.
#[derive(Default)]
struct Use {
    depth: u32,
    symbols: BTreeSet<String>,
}

impl Current {
    /// Lists the files that a delta affects, by how far they are from it and then by path.
    pub fn affected(
        &self,
        cache: &Cache,
        keeping: CacheWrites,
        delta: &Delta,
        n_threads: usize,
    ) -> Vec<Affected> {
        if !delta.files.iter().any(|file| is_gone(file) || felt(file).next().is_some()) {
            return Vec::new();
        }
        let gone = self.gone(delta);
        let mut files: Vec<(&str, FileHash)> =
            self.artifact.files().into_iter().map(|(path, row)| (path, row.hash)).collect();
        files.extend(gone.iter().map(|(path, hash)| (*path, *hash)));
        files.sort_unstable();
        let links = self.links(cache, keeping, &files);
        let links = links.importers();
        let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        let importers = |idx: usize| {
            let all = links.of(idx).filter(|importer| *importer < paths.len());
            all.collect::<Vec<_>>()
        };
        let mut found: BTreeMap<usize, Use> = BTreeMap::new();
        let mut names = SoughtNames::default();
        let mut sought = self.sought(delta, &paths, &mut names);
        let mut mentions = self.mentions(&sought, &paths, &names, n_threads);
        let unknown = Outline::default();
        let has_python = sought.iter().any(|one| one.language == Language::Python);
        // Where modules of Python lie is told by their paths alone.
        let sources = if has_python { sources(&files, |_| &unknown) } else { Vec::new() };
        let resolver = has_python.then(|| Resolver::new(&sources, &[]));
        let resolver = resolver.as_ref();
        for _ in 0..MAX_GENERATIONS {
            let origins = Origins::new(&paths, &mentions, &names, resolver);
            let heirs: Vec<_> = sought.iter().map(|one| one.heirs(&origins)).collect();
            let add = |(one, heirs): (&mut Sought, _)| one.add_heirs(heirs, &mut names);
            if sought.iter_mut().zip(heirs).map(add).filter(|is_new| *is_new).count() == 0 {
                break;
            }
            mentions = self.mentions(&sought, &paths, &names, n_threads);
        }
        for one in &mut sought {
            one.add_other_names(&mentions);
        }
        let uses = Uses {
            paths: &paths,
            mentions: &mentions,
            importers: &importers,
            names: &names,
            origins: &Origins::new(&paths, &mentions, &names, resolver),
        };
        for symbol in &sought {
            for (file, depth) in uses.of(symbol) {
                let one = found.entry(file).or_default();
                one.depth = if one.depth == 0 { depth } else { one.depth.min(depth) };
                one.symbols.insert(symbol.full_name.clone());
            }
        }
        for file in importers_of_gone(delta, &paths, &links) {
            found.entry(file).or_default().depth = 1;
        }
        told(found, &paths, &gone)
    }

    /// Files that are not there any more, with what they held: who imported one still names it.
    fn gone<'d>(&self, delta: &'d Delta) -> BTreeMap<&'d str, FileHash> {
        let changes = delta.files.iter().filter(|file| is_gone(file));
        let before =
            changes.map(|file| (file.from.as_deref().unwrap_or(&file.path), file.old_hash));
        before
            .filter(|(path, _)| self.artifact.find(path).is_none())
            .map(|(path, hash)| (path, hash.unwrap_or_default()))
            .collect()
    }

    /// The symbols that somebody may use and that are not what they were.
    fn sought(&self, delta: &Delta, paths: &[&str], names: &mut SoughtNames) -> Vec<Sought> {
        let mut sought = Vec::new();
        for file in &delta.files {
            let Some(language) = Language::of_path(&file.path) else { continue };
            let Ok(idx) = paths.binary_search(&file.path.as_str()) else { continue };
            for symbol in felt(file) {
                let found = Sought::new(
                    idx,
                    language,
                    &symbol.name,
                    symbol.kind,
                    symbol.visibility(),
                    names,
                );
                sought.extend(found);
            }
            let is_rust = language == Language::Rust;
            let text = if is_script(language) || is_rust { self.text(&file.path) } else { None };
            for one in sought.iter_mut().filter(|one| one.file == idx) {
                match &text {
                    Some(text) if is_rust => one.read_traits(text, names),
                    Some(text) => one.is_default = is_default(text, &one.full_name),
                    None => {}
                }
            }
        }
        sought.truncate(MAX_SOUGHT);
        sought
    }

    /// What the files of the same languages mention.
    fn mentions(
        &self,
        sought: &[Sought],
        paths: &[&str],
        names: &SoughtNames,
        n_threads: usize,
    ) -> HashMap<usize, FileMentions> {
        let languages: BTreeSet<&str> = sought.iter().map(|one| one.language.name()).collect();
        let languages: Vec<Language> =
            Language::all().filter(|one| languages.contains(one.name())).collect();
        let is_asked = |path: &str| {
            let language = Language::of_path(path)?;
            languages.iter().any(|one| is_akin(*one, language)).then_some(language)
        };
        let asked: Vec<(usize, Language)> =
            (0..paths.len()).filter_map(|idx| Some((idx, is_asked(paths[idx])?))).collect();
        let batches = in_batches(asked.len(), BATCH, n_threads, |batch| {
            let read = |(idx, language): &(usize, Language)| {
                let text = self.text(paths[*idx])?;
                let mentions = FileMentions::read(*language, &text, names);
                (!mentions.is_empty()).then_some((*idx, mentions))
            };
            asked[batch].iter().filter_map(read).collect::<Vec<_>>()
        });
        batches.into_iter().flatten().collect()
    }
}

fn is_gone(file: &FileChange) -> bool {
    matches!(file.change, ChangeKind::Removed | ChangeKind::Renamed)
}

/// What others can notice of a change. An interface whose members changed is told by these.
fn felt(file: &FileChange) -> impl Iterator<Item = &SymbolChange> {
    let language = Language::of_path(&file.path);
    let changed = file.symbols.as_ref().map_or(&[][..], |symbols| &symbols.changed);
    let all = changed.iter().chain(&file.lost);
    let has_changed_member = |symbol: &SymbolChange| {
        let is_in = |member: &SymbolChange| {
            let rest = member.name.strip_prefix(symbol.name.as_str());
            member.is_signature && rest.is_some_and(|rest| rest.starts_with(['.', ':']))
        };
        symbol.kind == SymbolKind::Interface && changed.iter().any(is_in)
    };
    all.filter(move |symbol| {
        let is_usable = !matches!(symbol.kind, SymbolKind::Module | SymbolKind::Implementation);
        is_usable
            && language.is_some_and(|language| symbol.is_felt(language))
            && !has_changed_member(symbol)
    })
}

/// Who imports a file by its path that is not there any more. Where packages give the names, a file's own does not matter.
fn importers_of_gone(delta: &Delta, paths: &[&str], links: &Importers<'_>) -> BTreeSet<usize> {
    let is_named_by_path = |path: &str| {
        let language = Language::of_path(path);
        language.is_some_and(|language| {
            matches!(
                language,
                Language::Python
                    | Language::Rust
                    | Language::C
                    | Language::Cpp
                    | Language::Ruby
                    | Language::Lua
                    | Language::Bash
            ) || is_script(language)
        })
    };
    let before = delta.files.iter().filter(|file| is_gone(file));
    let before = before.map(|file| file.from.as_deref().unwrap_or(&file.path));
    let places = before
        .filter(|path| is_named_by_path(path))
        .filter_map(|path| paths.binary_search(&path).ok());
    places
        .flat_map(|idx| links.of(idx).collect::<Vec<_>>())
        .filter(|from| *from < paths.len())
        .collect()
}

/// Whether a text exports something without a name that its importers must use.
fn is_default(text: &str, name: &str) -> bool {
    text.split("export default").skip(1).any(|rest| {
        let words = rest.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
        let mut words =
            words.filter(|word| !matches!(*word, "" | "async" | "function" | "class" | "abstract"));
        words.next() == Some(name)
    })
}

fn told(
    found: BTreeMap<usize, Use>,
    paths: &[&str],
    gone: &BTreeMap<&str, FileHash>,
) -> Vec<Affected> {
    let mut affected: Vec<Affected> = found
        .into_iter()
        .filter(|(file, _)| !gone.contains_key(paths[*file]))
        .map(|(file, one)| Affected {
            path: paths[file].to_owned(),
            depth: one.depth,
            symbols: one.symbols.into_iter().collect(),
        })
        .collect();
    affected.sort_by(|a, b| (a.depth, &a.path).cmp(&(b.depth, &b.path)));
    affected
}
