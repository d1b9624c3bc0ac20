//! Runs the calls of a step: those whose footprints meet in the order they were asked for, the others together.
//!
//! A call that is stopped is told so by its own `Cancel`. One that changes files is then waited for, because its answer
//! alone says whether the change happened; everything else is dropped on the spot.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_core::safefs::RelPath;
use tokio::sync::Mutex;
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, sleep};

use super::super::footprint::{Exec, Footprint, MemoryUse};
use super::super::tool::{Output, ToolContext, ToolError};
use super::super::workspace::Workspace;
use super::approve::Gate;
use super::broken::broken;
use super::cache::{Cache, CacheKey, Lookup};
use super::effects::{EffectDone, EffectReport, EffectRunner};
use super::job::Job;
use super::undo::Before;
use super::watch::{ProgramChanges, Watched};
use crate::model::{Cancel, CancelSource};
use crate::record::CacheUse;
use crate::record::{Change, Fault};

/// More calls at once only wait for the same disk.
const MAX_AT_ONCE: usize = 8;

/// What calls run with.
#[derive(Clone)]
pub(super) struct Bench {
    pub(super) workspace: Arc<Workspace>,
    pub(super) cache: Arc<Cache>,
    pub(super) effects: Option<Arc<dyn EffectRunner>>,
    pub(super) spill: Arc<PathBuf>,
    pub(super) gate: Gate,
    pub(super) watched: Watched,
    /// Held while a call changes files and their effects run: what an effect does to other files must not be taken for
    /// the work of a call beside it, nor the other way round.
    pub(super) changing: Arc<Mutex<()>>,
}

/// What came of a call, before it is shaped.
#[derive(Debug)]
pub(super) struct Performed {
    pub(super) result: Result<Output, ToolError>,
    /// What effects added for the model.
    pub(super) appended: String,
    pub(super) changed: Vec<Change>,
    pub(super) effects: Vec<EffectDone>,
    /// The files that it could change, as they were.
    pub(super) before: Option<Before>,
    /// What a program did to files, where one was started.
    pub(super) by_program: Option<ProgramChanges>,
    /// What effects did to files that the call did not name.
    pub(super) by_effects: Option<ProgramChanges>,
    pub(super) changes_memory: bool,
    /// Whether it changed the repository itself, which is no file of the workspace.
    pub(super) records_in_git: bool,
    pub(super) cache: CacheUse,
    pub(super) took: Duration,
}

impl Performed {
    pub(super) fn refused(error: ToolError) -> Self {
        Self {
            result: Err(error),
            appended: String::new(),
            changed: Vec::new(),
            effects: Vec::new(),
            before: None,
            by_program: None,
            by_effects: None,
            changes_memory: false,
            records_in_git: false,
            cache: CacheUse::Off,
            took: Duration::ZERO,
        }
    }
}

/// Runs all jobs; each starts when no earlier one that it meets is unfinished.
pub(super) async fn run_all(
    jobs: Vec<Job>,
    bench: &Bench,
    cancel: &Cancel,
    now: Timestamp,
) -> Vec<(usize, Performed)> {
    let mut unfinished: Vec<(usize, Footprint)> =
        jobs.iter().map(|job| (job.idx, job.footprint.clone())).collect();
    let mut waiting: Vec<Job> = jobs;
    let mut running: JoinSet<Performed> = JoinSet::new();
    let mut places: HashMap<Id, (usize, String)> = HashMap::new();
    let mut done = Vec::new();
    loop {
        let (ready, blocked) = split_ready(waiting, &unfinished, MAX_AT_ONCE - running.len());
        waiting = blocked;
        for job in ready {
            let place = (job.idx, job.tool.spec().name.to_owned());
            let performed = perform(job, bench.clone(), cancel.clone(), now);
            places.insert(running.spawn(performed).id(), place);
        }
        let (id, performed) = match running.join_next_with_id().await {
            None => return done,
            Some(Ok((id, performed))) => (id, Some(performed)),
            Some(Err(error)) => (error.id(), None),
        };
        let Some((idx, name)) = places.remove(&id) else { continue };
        unfinished.retain(|(place, _)| *place != idx);
        done.push((idx, performed.unwrap_or_else(|| Performed::refused(broken(&name)))));
    }
}

/// Takes out the jobs that may start now.
fn split_ready(
    waiting: Vec<Job>,
    unfinished: &[(usize, Footprint)],
    n_free: usize,
) -> (Vec<Job>, Vec<Job>) {
    let (mut ready, mut blocked) = (Vec::new(), Vec::new());
    for job in waiting {
        let meets = |(idx, footprint): &&(usize, Footprint)| {
            *idx < job.idx && footprint.conflicts_with(&job.footprint)
        };
        let is_ready = ready.len() < n_free && !unfinished.iter().any(|other| meets(&other));
        if is_ready { ready.push(job) } else { blocked.push(job) }
    }
    (ready, blocked)
}

/// Answers one call from the cache or by running it.
async fn perform(job: Job, bench: Bench, cancel: Cancel, now: Timestamp) -> Performed {
    if let Err(error) = bench.gate.pass(&job, &bench.workspace, &cancel).await {
        return Performed::refused(error);
    }
    let has_effects = bench.effects.is_some() && !job.footprint.writes.is_empty();
    let _changing = if has_effects { Some(bench.changing.lock().await) } else { None };
    // How long a person thinks is not the tool's time.
    let start = Instant::now();
    let before = look_before(&job, &bench.workspace).await;
    let is_watched = bench.watched.begin(&job, &bench.workspace, now).await;
    let key = CacheKey::of(&job, &bench.workspace);
    let (result, cache) = match key {
        None => (run_limited(&job, &bench, &cancel, now).await, CacheUse::Off),
        Some(key) => match bench.cache.look_up(key, &job.footprint, &bench.workspace, now).await {
            Lookup::Hit(output) => (Ok(*output), CacheUse::Hit),
            Lookup::Miss(slot) => {
                let result = run_limited(&job, &bench, &cancel, now).await;
                if let (Ok(output), Some(slot)) = (&result, slot) {
                    bench.cache.keep(slot, output, &bench.workspace).await;
                }
                (result, CacheUse::Miss)
            }
        },
    };
    let mut changed = result.as_ref().map_or_else(|_| Vec::new(), |output| output.changed.clone());
    let (report, by_effects) = run_effects(&bench, &changed, is_watched, (&cancel, now)).await;
    changed.extend(report.changed);
    let is_named = |path: &RelPath| before.as_ref().is_some_and(|before| before.has(path));
    let by_effects = by_effects.map(|found| found.without(is_named));
    changed.extend(by_effects.iter().flat_map(ProgramChanges::changes));
    let by_program = match is_watched {
        true => Some(bench.watched.look(&bench.workspace, now).await),
        false => None,
    };
    changed.extend(by_program.iter().flat_map(ProgramChanges::changes));
    let changes_memory = result.is_ok() && job.footprint.memory == MemoryUse::Changes;
    Performed {
        result,
        appended: report.text,
        changed,
        effects: report.done,
        before,
        by_program,
        by_effects,
        changes_memory,
        records_in_git: job.footprint.exec == Exec::Helper && !job.footprint.writes.is_empty(),
        cache,
        took: start.elapsed(),
    }
}

/// Keeps what a call may change, beside the runtime.
async fn look_before(job: &Job, workspace: &Arc<Workspace>) -> Option<Before> {
    if job.footprint.writes.is_empty() {
        return None;
    }
    let (footprint, workspace) = (job.footprint.clone(), Arc::clone(workspace));
    tokio::task::spawn_blocking(move || Before::look(&footprint, &workspace)).await.ok().flatten()
}

/// Runs the effects, and looks at what their programs did to all files, unless that is done already.
async fn run_effects(
    bench: &Bench,
    changed: &[Change],
    is_watched: bool,
    (cancel, now): (&Cancel, Timestamp),
) -> (EffectReport, Option<ProgramChanges>) {
    let Some(effects) = bench.effects.as_ref().filter(|_| !changed.is_empty()) else {
        return (EffectReport::default(), None);
    };
    let ctx = ctx(bench, cancel.clone(), now);
    let are_watched = !is_watched && effects.starts_programs(changed, &ctx);
    if are_watched {
        bench.watched.look(&bench.workspace, now).await;
    }
    let report = effects.after(changed, &ctx).await;
    let found = match are_watched {
        true => Some(bench.watched.look(&bench.workspace, now).await),
        false => None,
    };
    (report, found)
}

fn ctx(bench: &Bench, cancel: Cancel, now: Timestamp) -> ToolContext {
    let workspace = Arc::clone(bench.workspace.root());
    ToolContext { workspace, cancel, now, spill: Arc::clone(&bench.spill) }
}

/// Tells the threads of a call to stop when its future is dropped.
struct StopOnDrop(CancelSource);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Runs a call until it is done, its time is over, or the run is cancelled.
async fn run_limited(
    job: &Job,
    bench: &Bench,
    cancel: &Cancel,
    now: Timestamp,
) -> Result<Output, ToolError> {
    let spec = job.tool.spec();
    if cancel.is_cancelled() {
        return Err(stopped(Stop::Cancelled, spec.time_limit, spec.name));
    }
    let stop = StopOnDrop(CancelSource::new());
    let ctx = ctx(bench, stop.0.token(), now);
    let mut running = job.tool.run(job.arguments.clone(), &ctx);
    let why = tokio::select! {
        biased;
        result = &mut running => return result,
        () = cancel.cancelled() => Stop::Cancelled,
        () = sleep(spec.time_limit) => Stop::TimedOut,
    };
    stop.0.cancel();
    if job.settles()
        && let Ok(output) = running.await
    {
        return Ok(output);
    }
    Err(stopped(why, spec.time_limit, spec.name))
}

/// Why a call was stopped.
#[derive(Clone, Copy)]
enum Stop {
    Cancelled,
    TimedOut,
}

fn stopped(stop: Stop, limit: Duration, name: &str) -> ToolError {
    match stop {
        Stop::Cancelled => {
            let what = format!("`{name}` was cancelled");
            ToolError::new(Fault::Cancelled, what, "The run is being stopped.")
        }
        Stop::TimedOut => {
            let what = format!("`{name}` was stopped after {} seconds", limit.as_secs());
            ToolError::new(Fault::TimedOut, what, "Ask for less at once.")
        }
    }
}
