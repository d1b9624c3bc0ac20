//! What changed since a state of the map, and which files are affected.

use nacre_api::wire::{CodeDelta, FileDelta, Since};
use nacre_map::artifact::Revision;
use nacre_map::indexer::{Delta, FileChange, delta_of_all, delta_since, delta_since_git};

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
        let affected = self.current.affected(&self.cache, self.keeping(), &delta);
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
            affected: affected.into_iter().map(wire::affected).collect(),
        }
    }
}
