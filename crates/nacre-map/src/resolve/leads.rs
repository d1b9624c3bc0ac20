//! Where all imports of a file, and of all files, lead: the one place that follows them, for overviews, deltas and tasks.
//!
//! What decides whether it still holds after an edit stands here, too.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::files::folder_of;
use super::package::package;
use super::{Following, Resolution, Resolver, Source, Target};
use crate::artifact::{Imports, InsideImports, Lists, OutsideImports};
use crate::languages::{ImportRef, Language, Outline, SymbolKind, SymbolRef};
use crate::shares::in_batches;

/// So many files are followed by a thread at once: imports are not spread evenly.
const BATCH: usize = 512;

/// Where the imports of one file lead.
#[derive(Debug, Default)]
pub struct Leads<'a> {
    /// Files and folders of the project, each once and in order, without the file itself.
    pub inside: Vec<Target>,
    /// Imports that lead to packages of others.
    pub outside: Vec<ImportRef<'a>>,
    /// Imports that should lead to a file and do not.
    pub n_missing: u32,
}

impl<'a> Leads<'a> {
    /// Follows the imports of the file at a place of the list.
    pub fn follow(
        &mut self,
        following: &mut Following<'_, 'a>,
        from: usize,
        outline: &Outline<'a>,
    ) {
        self.inside.clear();
        self.outside.clear();
        self.n_missing = 0;
        for import in &outline.imports {
            match following.resolve(from, import) {
                Resolution::Inside(targets) => {
                    let others = targets.iter().filter(|to| **to != Target::File(from));
                    self.inside.extend(others.copied());
                }
                Resolution::Missing => self.n_missing += 1,
                Resolution::Outside => self.outside.push(*import),
            }
        }
        self.inside.sort_unstable();
        self.inside.dedup();
    }
}

impl<'a> Resolver<'a> {
    /// Follows the imports of all files.
    pub fn follow_all(&self, n_threads: usize) -> Imports {
        let batches = in_batches(self.sources.len(), BATCH, n_threads, |batch| {
            let mut followed = Followed::default();
            let mut following = self.following();
            let mut leads = Leads::default();
            for from in batch {
                leads.follow(&mut following, from, self.sources[from].outline);
                followed.take(&self.sources[from], &leads);
            }
            followed
        });
        let mut outside = OutsideImports::default();
        let mut numbers = HashMap::new();
        let mut targets = Vec::with_capacity(self.sources.len());
        for followed in batches {
            targets.extend(followed.take_in(&mut outside, &mut numbers));
        }
        Imports { inside: self.numbered(&targets), outside }
    }

    /// Gives numbers to the folders that are imported as a whole.
    fn numbered(&self, targets: &[Vec<Target>]) -> InsideImports {
        let place = |idx: usize| (folder_of(self.sources[idx].path), self.sources[idx].language);
        let n_files = self.sources.len();
        let mut numbers: HashMap<(&str, Option<Language>), usize, RandomState> = HashMap::default();
        let mut nodes = Lists::default();
        for all in targets {
            let mut own: Vec<u32> = Vec::with_capacity(all.len());
            for target in all {
                let node = match *target {
                    Target::File(to) => to,
                    Target::Folder(one) => {
                        let n_known = numbers.len();
                        n_files + *numbers.entry(place(one)).or_insert(n_known)
                    }
                };
                own.extend(u32::try_from(node));
            }
            own.sort_unstable();
            own.dedup();
            nodes.push(own);
        }
        let number = |idx: usize| u32::try_from(*numbers.get(&place(idx))?).ok();
        let folders = match numbers.is_empty() {
            true => vec![None; n_files],
            false => (0..n_files).map(number).collect(),
        };
        InsideImports { nodes, folders, n_folders: numbers.len() }
    }
}

/// Where the imports of some files lead.
#[derive(Default)]
struct Followed {
    inside: Vec<Vec<Target>>,
    outside: Lists,
    packages: Vec<String>,
    numbers: HashMap<String, u32, RandomState>,
    n_missing: u32,
}

impl Followed {
    fn take(&mut self, source: &Source<'_>, leads: &Leads<'_>) {
        self.inside.push(leads.inside.clone());
        let mut strangers: Vec<u32> = Vec::new();
        for import in &leads.outside {
            strangers.extend(self.number_of(package(source.language, import)));
        }
        strangers.sort_unstable();
        strangers.dedup();
        self.outside.push(strangers);
        self.n_missing += leads.n_missing;
    }

    /// The number of a package; `None` for what says nothing.
    fn number_of(&mut self, name: Cow<'_, str>) -> Option<u32> {
        if name.is_empty() {
            return None;
        }
        if let Some(number) = self.numbers.get(&*name) {
            return Some(*number);
        }
        let number = u32::try_from(self.packages.len()).ok()?;
        self.packages.push(name.clone().into_owned());
        self.numbers.insert(name.into_owned(), number);
        Some(number)
    }

    /// Adds what was followed next, with the numbers of packages that are new by it; returns what leads inside.
    fn take_in(
        self,
        outside: &mut OutsideImports,
        numbers: &mut HashMap<String, u32>,
    ) -> Vec<Vec<Target>> {
        let mut renumbered = Vec::with_capacity(self.packages.len());
        for name in self.packages {
            let next = u32::try_from(outside.packages.len()).unwrap_or(u32::MAX);
            let number = *numbers.entry(name).or_insert_with_key(|name| {
                outside.packages.push(name.clone());
                next
            });
            renumbered.push(number);
        }
        for list in self.outside.iter() {
            outside.of_files.push(list.iter().map(|local| renumbered[*local as usize]));
        }
        outside.n_missing += self.n_missing;
        self.inside
    }
}

/// Whether two texts of one file ask for the same, and can be asked for by the same names.
pub fn leads_alike(language: Option<Language>, before: &Outline<'_>, after: &Outline<'_>) -> bool {
    let is_same = |(one, other): (&ImportRef<'_>, &ImportRef<'_>)| {
        let is_own = |outline: &Outline<'_>| {
            let first = one.text.split("::").next().unwrap_or_default();
            outline.symbols.iter().any(|symbol| symbol.name == first)
        };
        let is_alike = one.text == other.text && one.kind == other.kind;
        // `use Tide::*`: whether that is the file's own is told by what it defines.
        is_alike && (language != Some(Language::Rust) || is_own(before) == is_own(after))
    };
    before.imports.len() == after.imports.len()
        && before.imports.iter().zip(&after.imports).all(is_same)
        && names(language, before).eq(names(language, after))
}

/// The names that others may ask for a file by.
fn names<'a>(
    language: Option<Language>,
    outline: &'a Outline<'_>,
) -> impl Iterator<Item = (SymbolKind, &'a str)> {
    let is_asked = move |symbol: &&SymbolRef<'_>| match language {
        Some(Language::Java | Language::Kotlin | Language::Scala) => !symbol.name.contains('.'),
        Some(Language::Php) => !symbol.name.contains("::"),
        Some(Language::Elixir) => {
            matches!(symbol.kind, SymbolKind::Module | SymbolKind::Interface)
        }
        Some(Language::CSharp) => true,
        _ => false,
    };
    let asked = outline.symbols.iter().filter(is_asked);
    asked.map(|symbol| (symbol.kind, symbol.name))
}
