//! Where the imports of a project lead, and the little else that an overview needs of each file.
//!
//! It is made from what is known of all files, and kept. After an edit only what was edited is looked at again, unless that
//! may change where imports lead.

use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::OnceLock;

use foldhash::fast::RandomState;

use super::churn::Churn;
use super::entry_kind::{EntryKind, entry_kind};
use super::lists::Lists;
use super::package::package;
use super::places::{CodeRole, folder_of, place_of};
use super::rank::ranks;
use crate::artifact::{ChangedFile, FileOutline, Revision};
use crate::languages::{Language, Outline, Problem};
use crate::resolve::{Leads, MAX_FOLDER_FILES, Manifest, Resolver, Source, Target, leads_alike};

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
    pub(super) place: CodeRole,
    pub(super) entry: Option<EntryKind>,
    pub(super) problem: Option<Problem>,
    /// Whether it is a file of tests.
    pub(super) is_test: bool,
    /// Whether it offers anything to others.
    pub(super) is_public: bool,
}

impl Node {
    /// Whether it is code of the project itself.
    pub(super) fn is_own(&self) -> bool {
        self.language.is_some() && self.place == CodeRole::Source
    }

    fn new(path: &str, language: Option<Language>, outline: &Outline<'_>) -> Self {
        let place = place_of(path);
        let is_source = place == CodeRole::Source;
        let entry = entry_kind(path, path.matches('/').count(), is_source && outline.is_entry);
        Self {
            language,
            place,
            entry: entry.filter(|_| is_source),
            problem: outline.problem,
            is_test: language.is_some() && (place == CodeRole::Test || outline.is_test),
            is_public: outline.is_public,
        }
    }
}

impl Survey {
    /// Follows all imports. The files come in the order of their paths; what git tells is asked for last.
    pub fn new(
        state: SurveyState,
        files: &[FileOutline<'_>],
        manifests: &[Manifest],
        churn: impl FnOnce() -> Churn,
        n_threads: usize,
    ) -> Self {
        let sources: Vec<Source<'_>> = files
            .iter()
            .map(|FileOutline { path, language, outline }| Source {
                path,
                language: *language,
                outline,
            })
            .collect();
        let resolver = Resolver::new(&sources, manifests);
        let follower = Follower { resolver, sources: &sources, mates: OnceLock::new() };
        let mut survey = Self { state, ..Self::default() };
        let mut numbers = HashMap::new();
        for followed in follower.follow_all(n_threads) {
            survey.take_in(followed, &mut numbers);
        }
        let imported = &survey.imported;
        let ranked =
            || ranks(imported.len(), |from| imported.of(from).iter().map(|to| *to as usize));
        let (ranks, commits) = std::thread::scope(|scope| {
            let ranks = scope.spawn(ranked);
            let commits = commits_of(&churn(), files.iter().map(|file| file.path));
            (ranks.join().unwrap_or_else(|panic| resume_unwind(panic)), commits)
        });
        Self { ranks, commits, ..survey }
    }

    /// Takes the history up to another commit over, for files in the order of their paths.
    pub fn retold<'p>(
        mut self,
        commit: u64,
        churn: &Churn,
        paths: impl Iterator<Item = &'p str>,
    ) -> Self {
        self.state.commit = commit;
        self.commits = commits_of(churn, paths);
        self
    }

    pub fn state(&self) -> SurveyState {
        self.state
    }

    pub fn n_files(&self) -> usize {
        self.nodes.len()
    }

    /// Takes the texts that changed up to a revision over; `None` when they may change where imports lead.
    pub fn with_changes(mut self, revision: Revision, changed: &[ChangedFile<'_>]) -> Option<Self> {
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
    pub fn refine(&mut self, idx: usize, path: &str, outline: &Outline<'_>) {
        if let Some(node) = self.nodes.get_mut(idx) {
            *node = Node::new(path, node.language, outline);
        }
    }

    /// Adds what was followed next, and the numbers of packages that are new by it.
    fn take_in(&mut self, followed: Followed, numbers: &mut HashMap<String, u32>) {
        let mut renumbered = Vec::with_capacity(followed.packages.len());
        for name in followed.packages {
            let next = u32::try_from(self.packages.len()).unwrap_or(u32::MAX);
            let number = *numbers.entry(name).or_insert_with_key(|name| {
                self.packages.push(name.clone());
                next
            });
            renumbered.push(number);
        }
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

/// How many commits changed each file; nothing where git knows nothing.
fn commits_of<'p>(churn: &Churn, paths: impl Iterator<Item = &'p str>) -> Vec<u32> {
    if churn.is_empty() { Vec::new() } else { paths.map(|path| churn.of(path)).collect() }
}

/// Where the imports of some files lead.
#[derive(Default)]
struct Followed {
    nodes: Vec<Node>,
    imported: Lists,
    strangers: Lists,
    packages: Vec<String>,
    numbers: HashMap<String, u32, RandomState>,
    n_missing: u32,
}

/// Files of one language in one folder.
type Mates<'a> = HashMap<(&'a str, Option<Language>), Vec<u32>, RandomState>;

struct Follower<'a> {
    resolver: Resolver<'a>,
    sources: &'a [Source<'a>],
    /// Made when the first import leads to a folder.
    mates: OnceLock<Mates<'a>>,
}

impl<'a> Follower<'a> {
    /// Follows the imports of all files, in batches that come in order.
    fn follow_all(&self, n_threads: usize) -> Vec<Followed> {
        let take = |followed: &mut Followed, from: usize, leads: &Leads<'_>| {
            self.take(followed, from, leads);
        };
        self.resolver.follow_all(n_threads, take)
    }

    fn take(&self, followed: &mut Followed, from: usize, leads: &Leads<'_>) {
        let source = &self.sources[from];
        followed.nodes.push(Node::new(source.path, source.language, source.outline));
        let (mut targets, mut strangers) = (Vec::new(), Vec::new());
        leads.inside.iter().for_each(|target| self.reach(from, *target, &mut targets));
        for import in &leads.outside {
            strangers.extend(followed.number_of(package(source.language, import)));
        }
        for list in [&mut targets, &mut strangers] {
            list.sort_unstable();
            list.dedup();
        }
        followed.imported.push(targets);
        followed.strangers.push(strangers);
        followed.n_missing += leads.n_missing;
    }

    fn reach(&self, from: usize, target: Target, targets: &mut Vec<u32>) {
        let number = |idx: usize| u32::try_from(idx).unwrap_or(u32::MAX);
        match target {
            Target::File(to) => targets.push(number(to)),
            Target::Folder(one) => {
                let source = &self.sources[one];
                let mates = self.mates.get_or_init(|| self.mates());
                let all = mates.get(&(folder_of(source.path), source.language));
                targets.extend(all.into_iter().flatten().filter(|to| **to != number(from)));
            }
        }
    }

    fn mates(&self) -> Mates<'a> {
        let mut mates = Mates::default();
        for (idx, source) in (0..).zip(self.sources) {
            let files = mates.entry((folder_of(source.path), source.language)).or_default();
            if files.len() < MAX_FOLDER_FILES {
                files.push(idx);
            }
        }
        mates
    }
}

impl Followed {
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
}
