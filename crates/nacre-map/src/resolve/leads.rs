//! Where all imports of a file, and of all files, lead: the one place that follows them, for the survey and for the graph.
//!
//! Both keep what came out in a form of their own: the survey what an overview needs of each file, found by who imports; the graph
//! who imports whom, found by what is imported. What decides whether it still holds after an edit stands here, too.

use super::{Following, Resolution, Resolver, Target};
use crate::languages::{ImportRef, Language, Outline, SymbolKind, SymbolRef};
use crate::shares::in_batches;

/// A folder that is imported as a whole stands for at most so many of its files.
pub const MAX_FOLDER_FILES: usize = 64;

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
    /// Follows the imports of all files. Each batch of them is taken over into a value of its own; those come in order.
    pub fn follow_all<R: Default + Send>(
        &self,
        n_threads: usize,
        take: impl Fn(&mut R, usize, &Leads<'a>) + Sync,
    ) -> Vec<R> {
        in_batches(self.sources.len(), BATCH, n_threads, |batch| {
            let mut taken = R::default();
            let mut following = self.following();
            let mut leads = Leads::default();
            for from in batch {
                leads.follow(&mut following, from, self.sources[from].outline);
                take(&mut taken, from, &leads);
            }
            taken
        })
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
