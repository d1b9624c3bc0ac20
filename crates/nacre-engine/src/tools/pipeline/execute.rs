//! Runs a step's calls. Calls with conflicting footprints run in order; all others run
//! concurrently.
//!
//! After a cancellation, calls that change files are still awaited, because only their result shows
//! whether the change happened.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::RelPath;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, sleep};

use crate::model::Cancel;
use crate::record::{Fault, FileChange};
use crate::tools::effects::{EffectDone, EffectReport, EffectRunner};
use crate::tools::footprint::{Exec, Footprint, MemoryUse};
use crate::tools::pipeline::approve::Gate;
use crate::tools::pipeline::undo::{FilesBefore, look_before};
use crate::tools::pipeline::watch::{ProgramChanges, Watched};
use crate::tools::tool::{AnyTool, Output, Result, ToolContext, ToolError};
use crate::tools::workspace::Workspace;

/// Maximum number of concurrent calls. More than this would only increase disk contention.
const MAX_AT_ONCE: usize = 8;

#[derive(Clone)]
pub(super) struct Bench {
    pub(super) workspace: Arc<Workspace>,
    pub(super) effects: Option<Arc<dyn EffectRunner>>,
    pub(super) spill: Arc<PathBuf>,
    pub(super) gate: Gate,
    pub(super) watched: Watched,
    /// Held while a call and its effects change files, so that changes are attributed to the
    /// correct call.
    pub(super) changing: Arc<Mutex<()>>,
}

#[derive(Debug)]
pub(super) struct Performed {
    pub(super) result: Result<Output>,
    pub(super) appended: String,
    pub(super) changed: Vec<FileChange>,
    pub(super) effects: Vec<EffectDone>,
    pub(super) before: Option<FilesBefore>,
    pub(super) by_program: Option<ProgramChanges>,
    pub(super) by_effects: Option<ProgramChanges>,
    pub(super) changes_memory: bool,
    /// Whether the call changed the git repository, whose own files do not count as workspace
    /// files.
    pub(super) records_in_git: bool,
    pub(super) took: Duration,
}

impl Performed {
    pub(super) fn from_error(error: ToolError) -> Self {
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
            took: Duration::ZERO,
        }
    }
}

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
        let mut blocked = Vec::new();
        for job in waiting {
            let must_wait = |(idx, footprint): &(usize, Footprint)| {
                *idx < job.idx && footprint.conflicts_with(&job.footprint)
            };
            if MAX_AT_ONCE <= running.len() || unfinished.iter().any(must_wait) {
                blocked.push(job);
                continue;
            }
            let place = (job.idx, job.tool.spec().name.to_owned());
            let performed = perform(job, bench.clone(), cancel.clone(), now);
            places.insert(running.spawn(performed).id(), place);
        }
        waiting = blocked;
        let (id, performed) = match running.join_next_with_id().await {
            None => return done,
            Some(Ok((id, performed))) => (id, Some(performed)),
            Some(Err(error)) => (error.id(), None),
        };
        let Some((idx, name)) = places.remove(&id) else { continue };
        unfinished.retain(|(place, _)| *place != idx);
        done.push((idx, performed.unwrap_or_else(|| Performed::from_error(internal_error(&name)))));
    }
}

async fn perform(job: Job, bench: Bench, cancel: Cancel, now: Timestamp) -> Performed {
    if let Err(error) = bench.gate.pass(&job, &bench.workspace, &cancel).await {
        return Performed::from_error(error);
    }
    let has_effects = bench.effects.is_some() && !job.footprint.writes.is_empty();
    let _changing = if has_effects { Some(bench.changing.lock().await) } else { None };
    // Time spent waiting for the user's approval does not count toward the tool's time.
    let start = Instant::now();
    let before = files_before(&job, &bench.workspace).await;
    let is_watched = job.footprint.exec == Exec::Anything;
    if is_watched {
        bench.watched.look(&bench.workspace, now).await;
    }
    let result = run_limited(&job, &bench, &cancel, now).await;
    let mut changed = result.as_ref().map_or_else(|_| Vec::new(), |output| output.changed.clone());
    let (report, by_effects) = run_effects(&bench, &changed, is_watched, &cancel, now).await;
    changed.extend(report.changed);
    let is_named = |path: &RelPath| before.iter().flatten().any(|(known, _)| known == path);
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
        took: start.elapsed(),
    }
}

async fn files_before(job: &Job, workspace: &Arc<Workspace>) -> Option<FilesBefore> {
    if job.footprint.writes.is_empty() {
        return None;
    }
    let (footprint, workspace) = (job.footprint.clone(), Arc::clone(workspace));
    tokio::task::spawn_blocking(move || look_before(&footprint, &workspace)).await.ok().flatten()
}

/// Runs the effects. Compares all files before and after the effects' programs run, unless the
/// caller already does so.
async fn run_effects(
    bench: &Bench,
    changed: &[FileChange],
    is_watched: bool,
    cancel: &Cancel,
    now: Timestamp,
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

async fn run_limited(job: &Job, bench: &Bench, cancel: &Cancel, now: Timestamp) -> Result<Output> {
    let spec = job.tool.spec();
    if cancel.is_cancelled() {
        return Err(cancellation_error(spec.name));
    }
    let stop = Cancel::new();
    let _guard = stop.clone().drop_guard();
    let ctx = ctx(bench, stop.clone(), now);
    let mut running = job.tool.run(job.arguments.clone(), &ctx);
    let why = tokio::select! {
        biased;
        result = &mut running => return result,
        () = cancel.cancelled() => cancellation_error(spec.name),
        () = sleep(spec.time_limit) => timeout_error(spec.name, spec.time_limit),
    };
    stop.cancel();
    if job.settles()
        && let Ok(output) = running.await
    {
        return Ok(output);
    }
    Err(why)
}

fn cancellation_error(name: &str) -> ToolError {
    let what = format!("`{name}` was cancelled");
    ToolError::new(Fault::Cancelled, what, "The run is being stopped.")
}

fn timeout_error(name: &str, limit: Duration) -> ToolError {
    let what = format!("`{name}` was stopped after {} seconds", limit.as_secs());
    ToolError::new(Fault::TimedOut, what, "Request less at once.")
}

pub(super) struct Job {
    pub(super) idx: usize,
    pub(super) call: String,
    pub(super) tool: Arc<dyn AnyTool>,
    pub(super) arguments: Value,
    pub(super) footprint: Footprint,
}

impl Job {
    /// Returns whether the call only changes files, so that only its result shows whether the
    /// change happened.
    pub(super) fn settles(&self) -> bool {
        !self.footprint.writes.is_empty()
            && self.footprint.exec == Exec::Nothing
            && self.footprint.host.is_none()
    }
}

pub(super) fn internal_error(name: &str) -> ToolError {
    let name: String = name.chars().take(80).collect();
    let what = format!("Internal error of `{name}`");
    ToolError::new(Fault::Io, what, "This is a bug in the tool; try a different approach.")
}
