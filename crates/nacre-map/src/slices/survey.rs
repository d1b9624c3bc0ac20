//! Where the imports of a project lead, and the little else that an overview needs of each file.
//!
//! It is made from what is known of all files, and kept. After an edit only what was edited is looked at again, unless that
//! may change where imports lead.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::churn::Churn;
use super::lists::Lists;
use super::overview::{EntryKind, entry_kind};
use super::package::package;
use super::places::{Place, place_of};
use super::rank::ranks;
use crate::artifact::{ChangedFile, FileOutline, Outline, Revision};
use crate::languages::{Analysis, Import, Language, Problem, SymbolFacts, SymbolKind};
use crate::resolve::{Manifest, Resolution, Resolver, Source, Target};

/// A folder that an import leads to gives its weight to at most so many of its files.
const MAX_FOLDER_FILES: usize = 64;

/// What a survey was made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SurveyState {
    pub revision: Revision,
    /// When every byte was last read, and looked at by its grammar.
    pub verified_ns: i64,
    /// The commit that the history was told from.
    pub commit: u64,
}

/// Files in the order of their paths, and what they import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    pub(super) state: SurveyState,
    pub(super) nodes: Vec<Node>,
    /// What each file imports, each one once, in order.
    pub(super) imported: Lists,
    /// The packages of others that each file imports.
    pub(super) strangers: Lists,
    pub(super) packages: Vec<String>,
    /// Imports that should lead to a file and do not.
    pub(super) n_missing: u32,
    pub(super) ranks: Vec<f64>,
    /// Recent commits that changed each file; empty where git knows nothing.
    pub(super) commits: Vec<u32>,
}

/// What an overview needs of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) language: Option<Language>,
    pub(super) place: Place,
    pub(super) entry: Option<EntryKind>,
    pub(super) problem: Option<Problem>,
    /// Whether it is a file of tests.
    pub(super) is_test: bool,
    /// Whether it offers anything to others.
    pub(super) is_public: bool,
}

impl Node {
    fn new(path: &str, language: Option<Language>, outline: &Outline) -> Self {
        let place = place_of(path);
        let Outline { analysis, is_public } = outline;
        let is_source = place == Place::Source;
        let entry = entry_kind(path, path.matches('/').count(), is_source && analysis.is_entry);
        Self {
            language,
            place,
            entry: entry.filter(|_| is_source),
            problem: analysis.problem,
            is_test: language.is_some() && (place == Place::Test || analysis.is_test),
            is_public: *is_public,
        }
    }
}

impl Survey {
    /// Follows all imports. The files come in the order of their paths; what git tells is asked for last.
    pub fn new(
        state: SurveyState,
        files: &[FileOutline],
        manifests: &[Manifest],
        churn: impl FnOnce() -> Churn,
        n_threads: usize,
    ) -> Self {
        let sources: Vec<Source<'_>> = files
            .iter()
            .map(|file| Source {
                path: &file.path,
                language: file.language,
                analysis: &file.outline.analysis,
            })
            .collect();
        let follower = Follower {
            resolver: Resolver::new(&sources, manifests),
            sources: &sources,
            files,
            mates: OnceLock::new(),
        };
        let mut survey = Self { state, ..Self::default() };
        for followed in follower.follow_all(n_threads) {
            survey.take_in(followed);
        }
        survey.ranks = ranks(survey.imported.len(), |from| {
            survey.imported.of(from).iter().map(|to| *to as usize)
        });
        survey.take_commits(&churn(), files.iter().map(|file| file.path.as_str()));
        survey
    }

    /// Takes the history up to another commit over, for files in the order of their paths.
    pub fn retold<'p>(
        mut self,
        commit: u64,
        churn: &Churn,
        paths: impl Iterator<Item = &'p str>,
    ) -> Self {
        self.state.commit = commit;
        self.take_commits(churn, paths);
        self
    }

    fn take_commits<'p>(&mut self, churn: &Churn, paths: impl Iterator<Item = &'p str>) {
        self.commits.clear();
        if !churn.is_empty() {
            self.commits = paths.map(|path| churn.of(path)).collect();
        }
    }

    pub fn state(&self) -> SurveyState {
        self.state
    }

    pub fn n_files(&self) -> usize {
        self.nodes.len()
    }

    /// Takes the texts that changed up to a revision over; `None` when they may change where imports lead.
    pub fn with_changes(mut self, revision: Revision, changed: &[ChangedFile]) -> Option<Self> {
        self.state.revision = revision;
        for ChangedFile { idx, path, before, after } in changed {
            let node = self.nodes.get_mut(*idx)?;
            if !leads_alike(node.language, before, after) {
                return None;
            }
            *node = Node::new(path, node.language, after);
        }
        Some(self)
    }

    /// Takes a closer look at a file over: what it offers, not its imports, which were followed already.
    pub fn refine(&mut self, idx: usize, path: &str, outline: &Outline) {
        if let Some(node) = self.nodes.get_mut(idx) {
            *node = Node::new(path, node.language, outline);
        }
    }

    fn take_in(&mut self, followed: Followed) {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let known = std::mem::take(&mut self.packages);
        let number = |idx: usize| u32::try_from(idx).unwrap_or(u32::MAX);
        numbers.extend(known.iter().enumerate().map(|(idx, name)| (name.as_str(), number(idx))));
        let mut names: Vec<&str> = known.iter().map(String::as_str).collect();
        let mut renumbered = Vec::with_capacity(followed.packages.len());
        for name in &followed.packages {
            let next = number(names.len());
            let own = *numbers.entry(name).or_insert(next);
            if own == next {
                names.push(name);
            }
            renumbered.push(own);
        }
        self.packages = names.into_iter().map(str::to_owned).collect();
        self.nodes.extend(followed.nodes);
        for list in followed.imported.iter() {
            self.imported.push(list.iter().copied());
        }
        for list in followed.strangers.iter() {
            self.strangers.push(list.iter().map(|local| renumbered[*local as usize]));
        }
        self.n_missing += followed.n_missing;
    }
}

/// Whether two texts of one file ask for the same, and can be asked for by the same names.
fn leads_alike(language: Option<Language>, before: &Outline, after: &Outline) -> bool {
    let (before, after) = (&before.analysis, &after.analysis);
    let is_same = |(one, other): (&Import, &Import)| {
        let is_own = |analysis: &Analysis| {
            let first = one.text.split("::").next().unwrap_or_default();
            analysis.symbols.iter().any(|symbol| symbol.name == first)
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
fn names(
    language: Option<Language>,
    analysis: &Analysis,
) -> impl Iterator<Item = (SymbolKind, &str)> {
    let is_asked = move |symbol: &&SymbolFacts| match language {
        Some(Language::Java | Language::Kotlin | Language::Scala) => !symbol.name.contains('.'),
        Some(Language::Php) => !symbol.name.contains("::"),
        Some(Language::Elixir) => {
            matches!(symbol.kind, SymbolKind::Module | SymbolKind::Interface)
        }
        Some(Language::CSharp) => true,
        _ => false,
    };
    let asked = analysis.symbols.iter().filter(is_asked);
    asked.map(|symbol| (symbol.kind, symbol.name.as_str()))
}

/// Where the imports of some files lead.
#[derive(Default)]
struct Followed {
    nodes: Vec<Node>,
    imported: Lists,
    strangers: Lists,
    packages: Vec<String>,
    numbers: HashMap<String, u32>,
    n_missing: u32,
}

/// Files of one language in one folder.
type Mates<'a> = HashMap<(&'a str, Option<Language>), Vec<u32>>;

struct Follower<'a> {
    resolver: Resolver<'a>,
    sources: &'a [Source<'a>],
    files: &'a [FileOutline],
    /// Made when the first import leads to a folder.
    mates: OnceLock<Mates<'a>>,
}

impl<'a> Follower<'a> {
    /// Follows the imports of all files, in shares that come in order.
    fn follow_all(&self, n_threads: usize) -> Vec<Followed> {
        let n_files = self.sources.len();
        let size = n_files.div_ceil(n_threads.max(1)).max(1);
        std::thread::scope(|scope| {
            let shares = (0..n_files).step_by(size);
            let running: Vec<_> = shares
                .map(|first| scope.spawn(move || self.follow(first..n_files.min(first + size))))
                .collect();
            // A share that is lost would shift all others; the panic that lost it is passed on.
            running.into_iter().filter_map(|share| share.join().ok()).collect()
        })
    }

    fn follow(&self, share: std::ops::Range<usize>) -> Followed {
        let mut followed = Followed::default();
        let (mut targets, mut strangers) = (Vec::new(), Vec::new());
        for from in share {
            let file = &self.files[from];
            followed.nodes.push(Node::new(file.path.as_str(), file.language, &file.outline));
            targets.clear();
            strangers.clear();
            self.follow_one(from, &mut followed, &mut targets, &mut strangers);
            for list in [&mut targets, &mut strangers] {
                list.sort_unstable();
                list.dedup();
            }
            followed.imported.push(targets.iter().copied());
            followed.strangers.push(strangers.iter().copied());
        }
        followed
    }

    fn follow_one(
        &self,
        from: usize,
        followed: &mut Followed,
        targets: &mut Vec<u32>,
        strangers: &mut Vec<u32>,
    ) {
        let source = &self.sources[from];
        for import in &source.analysis.imports {
            match self.resolver.resolve(from, import) {
                Resolution::Inside(found) => {
                    for target in found {
                        self.reach(from, target, targets);
                    }
                }
                Resolution::Missing => followed.n_missing += 1,
                Resolution::Outside => {
                    let name = package(source.language, import);
                    strangers.extend(followed.number_of(name));
                }
            }
        }
    }

    fn reach(&self, from: usize, target: Target, targets: &mut Vec<u32>) {
        let number = |idx: usize| u32::try_from(idx).unwrap_or(u32::MAX);
        match target {
            Target::File(to) => targets.extend((to != from).then(|| number(to))),
            Target::Folder(one) => {
                let source = &self.sources[one];
                let mates = self.mates.get_or_init(|| self.mates());
                let all = mates.get(&(source.path.folder(), source.language));
                targets.extend(all.into_iter().flatten().filter(|to| **to != number(from)));
            }
        }
    }

    fn mates(&self) -> Mates<'a> {
        let mut mates = Mates::new();
        for (idx, source) in (0..).zip(self.sources) {
            let files = mates.entry((source.path.folder(), source.language)).or_default();
            if files.len() < MAX_FOLDER_FILES {
                files.push(idx);
            }
        }
        mates
    }
}

impl Followed {
    /// The number of a package; `None` for what says nothing.
    fn number_of(&mut self, name: String) -> Option<u32> {
        if name.is_empty() {
            return None;
        }
        if let Some(number) = self.numbers.get(&name) {
            return Some(*number);
        }
        let number = u32::try_from(self.packages.len()).ok()?;
        self.packages.push(name.clone());
        self.numbers.insert(name, number);
        Some(number)
    }
}
