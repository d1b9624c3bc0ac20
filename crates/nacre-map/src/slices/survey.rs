//! Where the imports of a project lead, and the little else that an overview needs of each file.
//!
//! It is made from what is known of all files. What an overview needs besides the imports is kept; where those lead is kept once for
//! all who ask ([`crate::artifact::Graph`]). After an edit only what was edited is looked at again, unless that may change where
//! imports lead.

use std::panic::resume_unwind;

use super::churn::Churn;
use super::entry_kind::{EntryKind, entry_kind};
use super::made_paths::MadePaths;
use super::places::{CodeRole, place_of};
use super::rank::ranks;
use crate::artifact::{ChangedFile, FileOutline, Imports, Lists, OutsideImports, Revision};
use crate::languages::{Language, Outline, Problem};
use crate::resolve::leads_alike;

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
    /// What leads to no file of the project.
    pub(super) outside: OutsideImports,
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

    fn new(
        path: &str,
        language: Option<Language>,
        outline: &Outline<'_>,
        made: &MadePaths,
    ) -> Self {
        let place = place_of(path);
        let is_made = place == CodeRole::Source && made.has(path);
        let place = if is_made { CodeRole::Generated } else { place };
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
    /// Takes files in the order of their paths, and where their imports lead; what git tells is asked for last.
    pub fn new(
        state: SurveyState,
        files: &[FileOutline<'_>],
        imports: Imports,
        made: &MadePaths,
        churn: impl FnOnce() -> Churn,
    ) -> Self {
        let imported = imports.inside.files();
        let ranked =
            || ranks(imported.len(), |from| imported.of(from).iter().map(|to| *to as usize));
        let node =
            |file: &FileOutline<'_>| Node::new(file.path, file.language, &file.outline, made);
        let (ranks, nodes, commits) = std::thread::scope(|scope| {
            let ranks = scope.spawn(ranked);
            let nodes = files.iter().map(node).collect();
            let commits = commits_of(&churn(), files.iter().map(|file| file.path));
            (ranks.join().unwrap_or_else(|panic| resume_unwind(panic)), nodes, commits)
        });
        Self { state, nodes, imported, outside: imports.outside, ranks, commits }
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
    pub fn with_changes(
        mut self,
        revision: Revision,
        changed: &[ChangedFile<'_>],
        made: &MadePaths,
    ) -> Option<Self> {
        self.state.revision = revision;
        for ChangedFile { idx, path, before, after, .. } in changed {
            let node = self.nodes.get_mut(*idx)?;
            if !leads_alike(node.language, before, after) {
                return None;
            }
            *node = Node::new(path, node.language, after, made);
        }
        Some(self)
    }

    /// Takes a closer look at a file over: what it offers, not its imports, which were followed already.
    pub fn refine(&mut self, idx: usize, path: &str, outline: &Outline<'_>, made: &MadePaths) {
        if let Some(node) = self.nodes.get_mut(idx) {
            *node = Node::new(path, node.language, outline, made);
        }
    }
}

/// How many commits changed each file; nothing where git knows nothing.
fn commits_of<'p>(churn: &Churn, paths: impl Iterator<Item = &'p str>) -> Vec<u32> {
    if churn.is_empty() { Vec::new() } else { paths.map(|path| churn.of(path)).collect() }
}
