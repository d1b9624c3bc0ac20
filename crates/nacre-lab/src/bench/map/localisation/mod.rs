//! Measures whether `context` finds the files that commits in a repository's history changed.
//!
//! The tasks are the subjects of the most recent suitable commits. All of them are tested on the
//! parent of the oldest one, so that a single copy and a single map are enough. The copy has no
//! history and the host has no memories, so nothing from later commits is visible.

mod bm25;
mod history;
mod old_state;
mod score;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::{Duration, Instant};

use nacre_base::git::{Git, GitFault, GitFolder};
use nacre_map::artifact::Cache;
use nacre_map::indexer::CacheWrites;
use nacre_ops::Host;
use nacre_ops::host::Environment;
use nacre_types::{ContextReport, ContextRequest};

use self::bm25::WordSearch;
use self::history::{PastTask, recent_tasks};
use self::old_state::OldState;
use self::score::Scores;
use super::report::{BenchedLocalisation, LocalisedTask};
use super::{context, git, millis, owner, read_map};
use crate::{AnyError, host};

pub(super) const MAX_TASKS: usize = 200;

/// Minimum number of tasks for a meaningful result.
const MIN_TASKS: usize = 5;

const GIT_PATIENCE: Duration = Duration::from_secs(60);

/// After this long, the remaining tasks are skipped.
const MAX_TIME: Duration = Duration::from_secs(300);

/// Number of map refreshes before the measurement. Each refresh indexes as many files as its time
/// limit allows, and the last refresh confirms that nothing has changed.
const MAX_LOOKS: usize = 8;

pub(super) struct Pilot<'p> {
    pub(super) root: &'p Path,
    pub(super) n_tasks: usize,
    pub(super) budget: usize,
}

#[derive(Debug)]
pub(super) enum Unmeasured {
    /// The reason, to be reported, why localisation cannot be measured for this repository.
    Reason(String),
    Failed(AnyError),
}

impl From<GitFault> for Unmeasured {
    fn from(fault: GitFault) -> Self {
        Self::Reason(fault.to_string())
    }
}

impl From<AnyError> for Unmeasured {
    fn from(error: AnyError) -> Self {
        Self::Failed(error)
    }
}

impl From<std::io::Error> for Unmeasured {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl Pilot<'_> {
    pub(super) fn measure(&self) -> Result<BenchedLocalisation, Unmeasured> {
        let git = self.open_git()?;
        let tasks = recent_tasks(&git, self.n_tasks)?;
        let oldest = tasks.last().filter(|_| MIN_TASKS.min(self.n_tasks) <= tasks.len());
        let oldest = oldest.ok_or_else(|| too_few(tasks.len()))?;
        let state = OldState::write(&git, &oldest.parent)?;
        let known = tasks.iter().map(|task| PastTask {
            files: task.files.iter().filter(|path| state.has(path)).cloned().collect(),
            ..task.clone()
        });
        let known: Vec<PastTask> = known.filter(|task| !task.files.is_empty()).collect();
        if known.is_empty() {
            return Err(too_few(0));
        }
        let left_out = tasks.len() - known.len();
        Ok(BenchedLocalisation { left_out, ..self.ask(&state, &oldest.parent, &known)? })
    }

    fn open_git(&self) -> Result<Git, Unmeasured> {
        let folder = GitFolder::of(self.root)
            .ok_or_else(|| Unmeasured::Reason("not a git repository".to_owned()))?;
        Ok(git().with_patience(GIT_PATIENCE).open(folder)?)
    }

    fn ask(
        &self,
        state: &OldState,
        commit: &str,
        tasks: &[PastTask],
    ) -> Result<BenchedLocalisation, Unmeasured> {
        let host = self.open_settled_host(state)?;
        let cache = Cache::new(state.folder().join("map"), owner());
        let current = read_map(&cache, &state.tree(), CacheWrites::Off)?;
        let search = WordSearch::read(&current, tasks.iter().map(|task| task.subject.as_str()));
        let (mut named_by_context, mut bm25) = (Scores::default(), Scores::default());
        let (mut times, mut asked) = (Vec::new(), Vec::new());
        let begun = Instant::now();
        for task in tasks.iter().take_while(|_| begun.elapsed() < MAX_TIME) {
            let asking = Instant::now();
            let answer = self.context(&host, state, &task.subject)?;
            times.push(asking.elapsed());
            let named = list_files(&answer);
            let searched: Vec<&str> =
                search.rank(&task.subject).into_iter().take(named.len()).collect();
            asked.push(LocalisedTask {
                commit: task.commit.clone(),
                task: task.subject.clone(),
                files: task.files.iter().cloned().collect(),
                context_rank: named_by_context.add(&named, &task.files),
                bm25_rank: bm25.add(&searched, &task.files),
            });
        }
        times.sort_unstable();
        Ok(BenchedLocalisation {
            state: commit.to_owned(),
            files: current.stats.file_count,
            budget: self.budget,
            context: named_by_context.means(),
            bm25: bm25.means(),
            p50_ms: times.get(times.len() / 2).copied().map_or(0.0, millis),
            left_out: 0,
            postponed: tasks.len() - asked.len(),
            tasks: asked,
        })
    }

    /// Opens a host with a complete map of the copy but without memories or settings.
    fn open_settled_host(&self, state: &OldState) -> Result<Host, AnyError> {
        let folder = state.folder().to_owned();
        let home = folder.join("home");
        std::fs::create_dir_all(&home)?;
        let environment = host::environment()?;
        let kept = environment.vars.iter().filter(|(name, _)| name == "PATH").cloned();
        let environment =
            Environment { vars: kept.collect(), folder, home: Some(home), ..environment };
        let host = host::open_in(environment).map_err(host::format_error)?;
        for _ in 0..MAX_LOOKS {
            if self.context(&host, state, "everything")?.map.stats.postponed_files == 0 {
                break;
            }
        }
        Ok(host)
    }

    fn context(
        &self,
        host: &Host,
        state: &OldState,
        task: &str,
    ) -> Result<ContextReport, AnyError> {
        let request = ContextRequest {
            project: Some(state.tree().display().to_string()),
            task: Some(task.to_owned()),
            budget: Some(self.budget),
            ..ContextRequest::default()
        };
        Ok(context(host, &request)?.report)
    }
}

/// Returns the files in a result in order: first those shown with code, then those that are only
/// listed.
fn list_files(answer: &ContextReport) -> Vec<&str> {
    let mut named: Vec<&str> = answer.slice.files.iter().map(|file| file.path.as_str()).collect();
    for (path, _) in &answer.slice.left_out.listed {
        if !named.contains(&path.as_str()) {
            named.push(path);
        }
    }
    named
}

fn too_few(n_tasks: usize) -> Unmeasured {
    Unmeasured::Reason(format!(
        "only {n_tasks} recent commits are suitable as tasks; {MIN_TASKS} are required"
    ))
}
