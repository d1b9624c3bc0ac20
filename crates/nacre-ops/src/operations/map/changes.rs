//! What changed since a state of the map, and which files are affected.

use std::collections::BTreeMap;

use nacre_api::wire::{AffectedFolder, CodeDelta, FileDelta, Since};
use nacre_map::artifact::Revision;
use nacre_map::indexer::{Affected, Delta, FileChange, delta_of_all, delta_since, delta_since_git};
use nacre_map::slices::TooSmall;

use super::code_map::{CodeMap, check_client};
use super::wire;
use crate::error::OpError;

/// Which part of a delta is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Page<'a> {
    /// At most this many files; 0 for all.
    pub(super) limit: usize,
    /// Only files after this path.
    pub(super) after: Option<&'a str>,
}

impl<'a> Page<'a> {
    pub(super) fn new(limit: Option<usize>, after: Option<&'a String>) -> Self {
        Self { limit: limit.unwrap_or(0), after: after.map(String::as_str) }
    }
}

/// A list that is longer is told by folders, too.
const MAX_PLAIN_AFFECTED: usize = 40;

/// Cuts a delta until the report around it costs no more than the budget: first affected files, whose folders stay, then
/// files, which the next page has.
pub(super) fn fit(
    mut delta: CodeDelta,
    budget: usize,
    cost: &dyn Fn(&CodeDelta) -> usize,
) -> Result<CodeDelta, TooSmall> {
    if cost(&delta) <= budget {
        return Ok(delta);
    }
    if delta.affected_folders.is_empty() {
        delta.affected_folders = folders_of(delta.affected.iter().map(|file| file.path.as_str()));
    }
    let cut = |n_affected: usize, n_folders: usize, n_files: usize| {
        let mut cut = delta.clone();
        cut.affected.truncate(n_affected);
        cut.affected_folders.truncate(n_folders);
        if n_files < cut.files.len() {
            cut.files.truncate(n_files);
            // Without a file there is no place to go on from: the page begins where it was asked to.
            cut.next = cut.files.last().map(|file| file.path.clone());
        }
        cut
    };
    let (n_folders, n_files) = (delta.affected_folders.len(), delta.files.len());
    let fits = |tried: &CodeDelta| cost(tried) <= budget;
    let by_affected = most(delta.affected.len(), &|n| cut(n, n_folders, n_files), &fits);
    let by_folders = || most(n_folders, &|n| cut(0, n, n_files), &fits);
    let by_files = || most(n_files, &|n| cut(0, 0, n), &fits);
    let found = by_affected.or_else(by_folders).or_else(by_files);
    // An answer without any file would never come to an end.
    let found = found.filter(|cut| n_files == 0 || !cut.files.is_empty());
    found.ok_or_else(|| TooSmall { budget, needed: cost(&cut(0, 0, n_files.min(1))) })
}

/// The longest cut that fits.
fn most(
    n_all: usize,
    cut: &dyn Fn(usize) -> CodeDelta,
    fits: &dyn Fn(&CodeDelta) -> bool,
) -> Option<CodeDelta> {
    let mut best = Some(cut(0)).filter(|tried| fits(tried))?;
    let (mut low, mut high) = (0, n_all + 1);
    while low + 1 < high {
        let middle = low.midpoint(high);
        let tried = cut(middle);
        if fits(&tried) {
            (low, best) = (middle, tried);
        } else {
            high = middle;
        }
    }
    Some(best)
}

fn folders(affected: &[Affected]) -> Vec<AffectedFolder> {
    match MAX_PLAIN_AFFECTED < affected.len() {
        true => folders_of(affected.iter().map(|file| file.path.as_str())),
        false => Vec::new(),
    }
}

/// Counts files by folder, most first.
fn folders_of<'p>(paths: impl Iterator<Item = &'p str>) -> Vec<AffectedFolder> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in paths {
        *counts.entry(path.rsplit_once('/').map_or("", |(folder, _)| folder)).or_default() += 1;
    }
    let mut folders: Vec<AffectedFolder> = counts
        .into_iter()
        .map(|(path, files)| AffectedFolder { path: path.to_owned(), files })
        .collect();
    folders.sort_by(|one, other| (other.files, &one.path).cmp(&(one.files, &other.path)));
    folders
}

impl CodeMap {
    /// What changed since a revision, a commit or what a client has seen.
    pub(super) fn delta(&self, since: &Since) -> Result<Delta, OpError> {
        let current = &self.current;
        match since {
            Since::Beginning => Ok(delta_of_all(current)),
            Since::Revision(revision) => Ok(delta_since(current, wire::core_revision(*revision))?),
            Since::Git(reference) => Ok(delta_since_git(current, &self.options, reference)?),
            Since::Client(name) => {
                check_client(name)?;
                let seen = self.cache.seen_by(&current.project, name);
                let seen = seen.filter(|seen| current.artifact.knows(*seen));
                let delta = seen.map(|seen| delta_since(current, seen.revision));
                // A client that has seen nothing, or nothing that is still known, gets everything.
                Ok(delta.and_then(Result::ok).unwrap_or_else(|| delta_of_all(current)))
            }
        }
    }

    /// What changed since the last commit or, where there is none, since the map was first made.
    pub(super) fn delta_by_default(&self) -> Result<(Since, Delta), OpError> {
        let since = Since::Git("HEAD".to_owned());
        if let Ok(delta) = self.delta(&since) {
            return Ok((since, delta));
        }
        let first = Revision { number: 1, ..self.current.revision() };
        let since = Since::Revision(wire::revision(first));
        let delta = self.delta(&since)?;
        Ok((since, delta))
    }

    /// The part of a delta that was asked for, with the counts of all of it and the files that it affects.
    pub(super) fn page(&self, since: Since, delta: Delta, page: Page<'_>) -> CodeDelta {
        let n_threads = self.options.n_threads;
        let affected = self.current.affected(&self.cache, self.keeping(), &delta, n_threads);
        let counts = delta.counts();
        let is_after =
            |file: &FileChange| page.after.is_none_or(|after| after < file.path.as_str());
        let mut files: Vec<FileDelta> =
            delta.files.into_iter().filter(is_after).map(wire::file_delta).collect();
        let is_cut = page.limit != 0 && page.limit < files.len();
        if is_cut {
            files.truncate(page.limit);
        }
        CodeDelta {
            since,
            added: counts.added,
            modified: counts.modified,
            removed: counts.removed,
            renamed: counts.renamed,
            next: files.last().filter(|_| is_cut).map(|file| file.path.clone()),
            files,
            affected_total: affected.len(),
            affected_folders: folders(&affected),
            affected: affected.into_iter().map(wire::affected).collect(),
        }
    }
}
