//! How a memory came to be what it is.
//!
//! Git knows when the store is in git. Otherwise the run folders do: each run left a list of what it
//! did.

use serde::Deserialize;

use super::id::MemoryId;
use super::layout::Located;
use super::store::{MemoryError, Store};
use crate::base::bounded::at_most;
use crate::base::git::{GitFolder, GitProgram};
use crate::safefs::{EntryKind, RelPath};

/// A run's list of actions is small; a larger one is not ours.
const MAX_ACTIONS_BYTES: u64 = 4 << 20;
const MAX_ACTIONS: usize = 50_000;

/// Of all runs together so much is read, the newest first.
const MAX_ALL_BYTES: u64 = 32 << 20;

/// More versions than anybody reads.
const MAX_VERSIONS: usize = 200;

/// One earlier state of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub source: VersionSource,
    pub when: String,
    pub who: String,
    pub what: String,
}

/// Where an earlier state is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionSource {
    /// A commit, by its short hash.
    Git(String),
    /// A run, by its folder.
    Run(String),
}

/// What is read of a run's report, whichever flow wrote it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RunActions {
    mode: String,
    finished_at: String,
    #[serde(deserialize_with = "at_most::<_, _, MAX_ACTIONS>")]
    actions: Vec<RunAction>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RunAction {
    action: String,
    target: Option<String>,
    reason: String,
}

impl Store {
    /// The versions of a memory, newest first.
    pub fn history(&self, program: &GitProgram, at: &Located) -> Result<Vec<Version>, MemoryError> {
        let versions = self.commits_of(program, &at.path).unwrap_or_default();
        if versions.is_empty() { self.runs_naming(&at.id, MAX_ALL_BYTES) } else { Ok(versions) }
    }

    /// The commits that touched `path`; `None` where there is no git or no repository.
    fn commits_of(&self, program: &GitProgram, path: &RelPath) -> Option<Vec<Version>> {
        // A store that looks like a bare repository is not taken for one: only a `.git` above it counts.
        let git = program.open(GitFolder::around(self.path().parent()?)?).ok()?;
        let file = self.path().join(path.as_str());
        let file = file.strip_prefix(git.folder().tree()).ok()?.to_str()?;
        let most = format!("--max-count={MAX_VERSIONS}");
        let shape = "--format=%h%x1f%ad%x1f%an%x1f%s";
        let log = git.ask(&["log", "--follow", "--date=iso-strict", &most, shape, "--", file]);
        let log = String::from_utf8_lossy(&log.ok()?).into_owned();
        Some(log.lines().filter_map(commit_of).collect())
    }

    /// What runs did to a memory, the newest run first, until `n_left` bytes were read.
    fn runs_naming(&self, id: &MemoryId, mut n_left: u64) -> Result<Vec<Version>, MemoryError> {
        let workspace = RelPath::new("workspace")?;
        let mut versions = Vec::new();
        for run in self.scope().list(&workspace)?.into_iter().rev() {
            let Ok(folder) = workspace.join(&run.name) else { continue };
            if run.kind != EntryKind::Folder {
                continue;
            }
            if versions.len() >= MAX_VERSIONS || n_left == 0 {
                break;
            }
            for file in ["memory_actions.json", "maintain_actions.json"] {
                let bytes = self.scope().read_optional(&folder.join(file)?, MAX_ACTIONS_BYTES)?;
                n_left =
                    n_left.saturating_sub(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64));
                let report =
                    bytes.and_then(|bytes| serde_json::from_slice::<RunActions>(&bytes).ok());
                versions.extend(report.iter().flat_map(|report| actions_on(report, &run.name, id)));
            }
        }
        Ok(versions)
    }
}

/// The actions of a run's report whose target is `id`.
fn actions_on(report: &RunActions, run: &str, id: &MemoryId) -> Vec<Version> {
    let targeted =
        report.actions.iter().filter(|action| action.target.as_deref() == Some(id.as_str()));
    let version = |action: &RunAction| Version {
        source: VersionSource::Run(run.to_owned()),
        when: report.finished_at.clone(),
        who: report.mode.clone(),
        what: format!("{}: {}", action.action, action.reason).trim_end_matches(": ").to_owned(),
    };
    targeted.map(version).collect()
}

fn commit_of(line: &str) -> Option<Version> {
    let mut fields = line.splitn(4, '\u{1f}').map(str::to_owned);
    let hash = fields.next()?;
    let when = fields.next()?;
    let who = fields.next()?;
    Some(Version { source: VersionSource::Git(hash), when, who, what: fields.next()? })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests write their own runs")]

    use std::fs;

    use super::*;
    use crate::memory::Rules;
    use crate::safefs::{Access, WriteScope};

    #[test]
    fn the_runs_that_are_read_are_bounded_in_sum_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        let id: MemoryId = "20260101-a".parse().unwrap();
        let report = format!(r#"{{"mode":"sync","actions":[{{"action":"add","target":"{id}"}}]}}"#);
        for n in 0..5 {
            let run = folder.path().join(format!("workspace/sync-20260101-00000{n}-aaaaaaaa"));
            fs::create_dir_all(&run).unwrap();
            fs::write(run.join("memory_actions.json"), &report).unwrap();
        }
        let scope = WriteScope::open(folder.path(), Access::Private).unwrap();
        let store = Store::new(scope, Rules::default());
        let runs = |n_left: usize| {
            let versions = store.runs_naming(&id, n_left as u64).unwrap();
            versions.into_iter().map(|version| version.source).collect::<Vec<_>>()
        };
        let run = |n: usize| VersionSource::Run(format!("sync-20260101-00000{n}-aaaaaaaa"));
        assert_eq!(runs(2 * report.len()), [run(4), run(3)]);
        assert_eq!(runs(1 << 20).len(), 5);
    }

    #[test]
    fn a_report_of_more_actions_than_a_run_has_is_not_read() {
        let report = |n: usize| format!(r#"{{"actions":[{}]}}"#, vec!["{}"; n].join(","));
        let read = |n: usize| serde_json::from_str::<RunActions>(&report(n)).is_ok();
        assert_eq!((read(MAX_ACTIONS), read(MAX_ACTIONS + 1)), (true, false));
    }
}
