//! Collects every file's role, imports and importance for the overview.

use std::collections::BTreeMap;

use nacre_types::EntryKind;

use super::made_paths::MadePaths;
use super::places::{CodeRole, entry_kind, place_of};
use super::weights::as_number;
use crate::artifact::{FileOutline, Imports, Lists};
use crate::languages::{Language, Outline, Problem};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    pub(super) nodes: Vec<Node>,
    pub(super) imported: Lists,
    pub(super) packages_of: Lists,
    pub(super) packages: Vec<String>,
    pub(super) n_missing: u32,
    /// Each file's `PageRank` in the import graph, scaled to a mean of 1.
    pub(super) ranks: Vec<f64>,
    /// How many recent commits changed each file. Empty without a git history.
    pub(super) commits: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) language: Option<Language>,
    pub(super) place: CodeRole,
    pub(super) entry: Option<EntryKind>,
    pub(super) problem: Option<Problem>,
    pub(super) is_test: bool,
    pub(super) is_public: bool,
}

impl Node {
    pub(super) fn is_own(&self) -> bool {
        self.language.is_some() && self.place == CodeRole::Source
    }

    fn new(path: &str, language: Option<Language>, outline: &Outline, made: &MadePaths) -> Self {
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
    /// `files` must be sorted by path.
    pub fn new(
        files: &[FileOutline<'_>],
        imports: Imports,
        made: &MadePaths,
        churn: &BTreeMap<String, u32>,
    ) -> Self {
        let imported = imports.files();
        let commits = |file: &FileOutline<'_>| churn.get(file.path).copied().unwrap_or_default();
        let counted = files.iter().filter(|_| !churn.is_empty());
        Self {
            nodes: files
                .iter()
                .map(|file| Node::new(file.path, file.language, &file.outline, made))
                .collect(),
            ranks: ranks(&imported),
            imported,
            packages_of: imports.packages_of,
            packages: imports.packages,
            n_missing: imports.n_missing,
            commits: counted.map(commits).collect(),
        }
    }

    /// Updates a file with a deeper analysis. Its imports are not updated.
    pub fn refine(&mut self, idx: usize, path: &str, outline: &Outline, made: &MadePaths) {
        if let Some(node) = self.nodes.get_mut(idx) {
            *node = Node::new(path, node.language, outline, made);
        }
    }
}

const DAMPING: f64 = 0.85;
const ROUNDS: usize = 20;

fn ranks(imported: &Lists) -> Vec<f64> {
    let n_files = imported.len();
    let mut ranks = vec![1.0; n_files];
    for _ in 0..ROUNDS {
        let mut next = vec![0.0; n_files];
        let mut loose = 0.0;
        for (all, rank) in imported.iter().zip(&ranks) {
            if all.is_empty() {
                loose += rank;
            }
            for to in all {
                next[*to as usize] += rank / as_number(all.len());
            }
        }
        // Files without imports distribute their rank evenly among all files.
        let spread = loose / as_number(n_files.max(1));
        for rank in &mut next {
            *rank = (1.0 - DAMPING) + DAMPING * (*rank + spread);
        }
        ranks = next;
    }
    ranks
}
