//! Finds files that use a symbol that was removed or whose signature changed.
//!
//! Only uses of the symbol itself count; importing its file does not (see `uses`). Files are read
//! only if a signature changed, because edits inside function bodies do not affect other files.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nacre_types::{AffectedFile, CodeChange};

use super::delta::{BrokenSymbol, Delta, FileChange};
use super::mentions::{FileMentions, Origins};
use super::options::CacheWrites;
use super::refresh::Current;
use super::uses::{Sought, Uses, is_akin};
use crate::artifact::{Cache, FileHash, FileOutline};
use crate::languages::{Language, Outline, SoughtNames, SymbolKind, Visibility};
use crate::resolve::Resolver;
use crate::shares::in_batches;

const BATCH: usize = 64;

/// How many levels of derived types to follow from a changed type. Every level requires reading the
/// files again.
const MAX_GENERATIONS: usize = 3;

/// Maximum number of broken symbols to search for.
const MAX_SOUGHT: usize = 20_000;

impl Current {
    /// Returns the affected files, sorted by import distance, then by path.
    pub fn find_affected(
        &self,
        cache: &Cache,
        keeping: CacheWrites,
        delta: &Delta,
        n_threads: usize,
    ) -> Vec<AffectedFile> {
        if !delta.files.iter().any(|file| is_gone(file) || visible(file).next().is_some()) {
            return Vec::new();
        }
        let gone = self.gone(delta);
        let mut files: Vec<(&str, FileHash)> =
            self.artifact.files().into_iter().map(|(path, row)| (path, row.hash)).collect();
        files.extend(gone.iter().map(|(path, hash)| (*path, *hash)));
        files.sort_unstable();
        let imports = self.imports_of(cache, keeping, &files, n_threads);
        let links = imports.importers();
        let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        let importers = |idx: usize| {
            let all = links(idx).into_iter().filter(|importer| *importer < paths.len());
            all.collect::<Vec<_>>()
        };
        // Each file's import distance and the symbols it uses.
        let mut found: BTreeMap<usize, (u32, BTreeSet<String>)> = BTreeMap::new();
        let mut names = SoughtNames::default();
        let mut sought = self.collect_sought(delta, &paths, &mut names);
        let mut mentions = self.mentions(&sought, &paths, &names, n_threads);
        let has_python = sought.iter().any(|one| one.language == Language::Python);
        // Finding Python modules requires only the paths.
        let source = |path| FileOutline {
            path,
            language: Language::of_path(path),
            outline: Outline::default(),
        };
        let sources: Vec<FileOutline<'_>> = paths.iter().copied().map(source).collect();
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
                let (known, symbols) = found.entry(file).or_insert((depth, BTreeSet::new()));
                *known = depth.min(*known);
                symbols.insert(symbol.full_name.clone());
            }
        }
        for file in importers_of_gone(delta, &paths, &links) {
            found.entry(file).or_default().0 = 1;
        }
        let found = found.into_iter().filter(|(file, _)| !gone.contains_key(paths[*file]));
        let mut affected: Vec<AffectedFile> = found
            .map(|(file, (depth, symbols))| {
                let symbols = symbols.into_iter().collect();
                AffectedFile { path: paths[file].to_owned(), depth, symbols }
            })
            .collect();
        affected.sort_by(|a, b| (a.depth, &a.path).cmp(&(b.depth, &b.path)));
        affected
    }

    /// Returns removed files with their last hashes. Other files may still import them.
    fn gone<'d>(&self, delta: &'d Delta) -> BTreeMap<&'d str, FileHash> {
        let changes = delta.files.iter().filter(|file| is_gone(file));
        let before =
            changes.map(|file| (file.from.as_deref().unwrap_or(&file.path), file.old_hash));
        before
            .filter(|(path, _)| self.artifact.find(path).is_none())
            .map(|(path, hash)| (path, hash.unwrap_or_default()))
            .collect()
    }

    fn collect_sought(
        &self,
        delta: &Delta,
        paths: &[&str],
        names: &mut SoughtNames,
    ) -> Vec<Sought> {
        let mut sought = Vec::new();
        for file in &delta.files {
            let Some(language) = Language::of_path(&file.path) else { continue };
            let Ok(idx) = paths.binary_search(&file.path.as_str()) else { continue };
            sought.extend(
                visible(file).filter_map(|symbol| Sought::new(idx, language, symbol, names)),
            );
            let is_rust = language == Language::Rust;
            let is_read = language.is_script() || is_rust;
            let text = if is_read { self.text(&file.path) } else { None };
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
        let language_of = |path: &str| {
            let language = Language::of_path(path)?;
            languages.iter().any(|one| is_akin(*one, language)).then_some(language)
        };
        let files: Vec<(usize, Language)> =
            (0..paths.len()).filter_map(|idx| Some((idx, language_of(paths[idx])?))).collect();
        let batches = in_batches(files.len(), BATCH, n_threads, |batch| {
            let read = |(idx, language): &(usize, Language)| {
                let text = self.text(paths[*idx])?;
                let mentions = FileMentions::read(*language, &text, names);
                (!mentions.is_empty()).then_some((*idx, mentions))
            };
            files[batch].iter().filter_map(read).collect::<Vec<_>>()
        });
        batches.into_iter().flatten().collect()
    }
}

fn is_gone(file: &FileChange) -> bool {
    matches!(file.change, CodeChange::Removed | CodeChange::Renamed)
}

/// Returns the broken symbols that other files may use. If an interface changed, its changed
/// members are returned instead.
fn visible(file: &FileChange) -> impl Iterator<Item = &BrokenSymbol> {
    let language = Language::of_path(&file.path);
    // In Python, privacy is only a convention. In Rust, child modules can use private items.
    let sees_private = matches!(language, Some(Language::Python | Language::Rust));
    let changed = file.symbols.as_ref().map_or(&[][..], |symbols| &symbols.changed);
    let has_changed_member = |symbol: &BrokenSymbol| {
        let is_in = |member: &str| {
            let rest = member.strip_prefix(symbol.name.as_str());
            rest.is_some_and(|rest| rest.starts_with(['.', ':']))
        };
        symbol.kind == SymbolKind::Interface
            && changed.iter().any(|member| member.is_signature && is_in(&member.name))
    };
    file.broken.iter().filter(move |symbol| {
        let is_usable = !matches!(symbol.kind, SymbolKind::Module | SymbolKind::Implementation);
        is_usable
            && language.is_some()
            && (sees_private || symbol.visibility != Visibility::Private)
            && !has_changed_member(symbol)
    })
}

/// Returns the files that import a removed file by its path. Removed files in languages that import
/// by package name are skipped.
fn importers_of_gone(
    delta: &Delta,
    paths: &[&str],
    links: &dyn Fn(usize) -> Vec<usize>,
) -> BTreeSet<usize> {
    let is_named_by_path = |path: &&str| {
        Language::of_path(path).is_some_and(|language| {
            language.is_script()
                || matches!(
                    language,
                    Language::Python
                        | Language::Rust
                        | Language::C
                        | Language::Cpp
                        | Language::Ruby
                        | Language::Lua
                        | Language::Bash
                )
        })
    };
    let gone = delta.files.iter().filter(|file| is_gone(file));
    let before = gone.map(|file| file.from.as_deref().unwrap_or(&file.path));
    let places = before.filter(is_named_by_path).filter_map(|path| paths.binary_search(&path).ok());
    let importers = places.flat_map(links);
    importers.filter(|from| *from < paths.len()).collect()
}

/// Returns whether `text` exports `name` as its default export, which importers may rename.
fn is_default(text: &str, name: &str) -> bool {
    text.split("export default").skip(1).any(|rest| {
        let words = rest.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
        let mut words =
            words.filter(|word| !matches!(*word, "" | "async" | "function" | "class" | "abstract"));
        words.next() == Some(name)
    })
}
