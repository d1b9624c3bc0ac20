//! Whether `context` names the files that commits of a repository's own history changed.
//!
//! The newest suitable commits are the tasks, in the words of their subjects. All are asked about one state, the one before the
//! oldest of them, so that a single copy and a single map serve. Nothing that came later is seen: the copy has no history, and
//! what memory knows is left out.

mod bm25;
mod history;
mod old_state;
mod score;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::Duration;

use nacre_api::wire::{BenchedLocalisation, LocalisedTask, MapCommand, MapFormat};
use nacre_core::base::git::{Git, GitFault, GitFolder};
use nacre_core::config::AtRest;
use nacre_core::safefs::{Access, FsError, WriteScope};
use nacre_map::slices::ContextSlice;

use self::bm25::WordSearch;
use self::history::{PastTask, recent_tasks};
use self::old_state::OldState;
use self::score::Scores;
use super::super::code_map::{CodeMap, MapCopy};
use super::super::context::{self, Task};
use super::millis;
use crate::cancel::Cancel;
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

/// How many commits are taken unless the request says otherwise, and how many at most.
pub(super) const DEFAULT_TASKS: usize = 40;
pub(super) const MAX_TASKS: usize = 200;

/// Fewer say nothing.
const MIN_TASKS: usize = 5;

/// The folder for copies, in the cache of the global folder.
const FOLDER: &str = "bench";

/// How long git may take for the history and the files of one old state.
const GIT_PATIENCE: Duration = Duration::from_secs(60);

/// Tasks that have not begun by then are postponed.
const MAX_TIME: Duration = Duration::from_secs(300);

/// How often the copy is looked at before it is asked about: each look reads as much as it has time for, and the last one finds
/// that what was written just now has not changed since.
const MAX_LOOKS: usize = 8;

/// What is asked for.
pub(super) struct Pilot<'p> {
    pub(super) host: &'p Host,
    /// The root of the repository.
    pub(super) root: &'p Path,
    pub(super) n_tasks: usize,
    pub(super) budget: usize,
    pub(super) events: &'p Events,
}

/// Why nothing was measured.
#[derive(Debug)]
pub(super) enum Unmeasured {
    /// This repository has no answer, which is reported.
    Reason(String),
    Failed(OpError),
}

impl From<GitFault> for Unmeasured {
    fn from(fault: GitFault) -> Self {
        Self::Reason(fault.to_string())
    }
}

impl From<FsError> for Unmeasured {
    fn from(error: FsError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<OpError> for Unmeasured {
    fn from(error: OpError) -> Self {
        Self::Failed(error)
    }
}

impl Pilot<'_> {
    pub(super) fn measure(&self) -> Result<BenchedLocalisation, Unmeasured> {
        let Self { host, n_tasks, events, .. } = self;
        if host.settings().map.at_rest == AtRest::Encrypted {
            let reason = "`map.at_rest` is `encrypted`, and a copy of an old state is not";
            return Err(Unmeasured::Reason(reason.to_owned()));
        }
        events.step("Reading the history");
        let git = self.open_git()?;
        let tasks = recent_tasks(&git, *n_tasks)?;
        let oldest = tasks.last().filter(|_| MIN_TASKS.min(*n_tasks) <= tasks.len());
        let oldest = oldest.ok_or_else(|| too_few(tasks.len()))?;
        events.step("Copying an old state");
        let state = self.old_state(&git, &oldest.parent)?;
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
        let program = self.host.fresh_git().with_patience(GIT_PATIENCE);
        let folder = GitFolder::of(self.root)
            .ok_or_else(|| Unmeasured::Reason("there is no git repository".to_owned()))?;
        Ok(program.open(folder)?)
    }

    fn old_state(&self, git: &Git, commit: &str) -> Result<OldState, Unmeasured> {
        let home = self.host.home_scope()?;
        let cache = WriteScope::create(&home.path().join("cache"), Access::Private)?;
        OldState::write(git, commit, &cache.path().join(FOLDER), self.events.cancel())
    }

    /// Asks the copy for every task.
    fn ask(
        &self,
        state: &OldState,
        commit: &str,
        tasks: &[PastTask],
    ) -> Result<BenchedLocalisation, Unmeasured> {
        let Self { host, events, budget, .. } = self;
        let (tree, cache) = (state.tree(), state.cache());
        let cancel: &Cancel = events.cancel();
        let copy = MapCopy { root: &tree, cache: &cache, settings_of: self.root, cancel };
        let map = self.settle(&copy)?;
        let files = map.current.stats.file_count;
        let search = WordSearch::read(&map.current, tasks.iter().map(|task| task.subject.as_str()));
        let (mut context, mut bm25) = (Scores::default(), Scores::default());
        let (mut times, mut asked) = (Vec::new(), Vec::new());
        let passed = host.stopwatch();
        for (number, task) in tasks.iter().enumerate() {
            cancel.check()?;
            if MAX_TIME < passed() {
                break;
            }
            events.progress(number as u64, tasks.len() as u64, 0);
            let clock = host.stopwatch();
            let slice = self.context(&copy, &task.subject)?;
            times.push(clock());
            let named = named(&slice);
            let searched: Vec<&str> =
                search.rank(&task.subject).into_iter().take(named.len()).collect();
            asked.push(LocalisedTask {
                commit: task.commit.clone(),
                task: task.subject.clone(),
                files: task.files.iter().cloned().collect(),
                context_rank: context.add(&named, &task.files),
                bm25_rank: bm25.add(&searched, &task.files),
            });
        }
        times.sort_unstable();
        Ok(BenchedLocalisation {
            state: commit.to_owned(),
            files,
            budget: *budget,
            context: context.means(),
            bm25: bm25.means(),
            p50_ms: times.get(times.len() / 2).copied().map_or(0.0, millis),
            left_out: 0,
            postponed: tasks.len() - asked.len(),
            tasks: asked,
        })
    }

    /// Looks at the copy until everything was read.
    fn settle(&self, copy: &MapCopy<'_>) -> Result<CodeMap, Unmeasured> {
        let mut map = CodeMap::open_copy(self.host, copy)?;
        for _ in 1..MAX_LOOKS {
            self.events.cancel().check()?;
            if map.current.stats.postponed_files == 0 {
                break;
            }
            map = CodeMap::open_copy(self.host, copy)?;
        }
        Ok(map)
    }

    /// What `nacre context TASK` answers, as an agent asks for it.
    fn context(&self, copy: &MapCopy<'_>, words: &str) -> Result<ContextSlice, OpError> {
        let mut map = CodeMap::open_copy(self.host, copy)?;
        let task = Task {
            words: words.to_owned(),
            files: Vec::new(),
            budget: self.budget,
            is_files_only: false,
            format: MapFormat::Json,
            without_memory: true,
        };
        let slice = context::collect(self.host, &mut map, &task)?;
        let _printed = context::payload(&map.header(MapCommand::Context), task.format, &slice);
        Ok(slice)
    }
}

/// The files that an answer names, in its order: those with code, then those that are only listed.
fn named(slice: &ContextSlice) -> Vec<&str> {
    let shown = slice.files.iter().map(|file| file.path.as_str());
    let mut named: Vec<&str> = shown.collect();
    for (path, _) in &slice.left_out.listed {
        if !named.contains(&path.as_str()) {
            named.push(path);
        }
    }
    named
}

fn too_few(n_tasks: usize) -> Unmeasured {
    Unmeasured::Reason(format!(
        "only {n_tasks} recent commits can be taken as tasks, and {MIN_TASKS} are needed"
    ))
}
