//! Sync: new sessions are found, read, and made into memories.
//!
//! One run over everything that is connected, or over one session; each can be previewed. A preview finds, admits and
//! claims sessions with the code of a sync, on a copy of the catalog.

mod lead;
mod lead_claude;
mod learned;
mod leases;
mod preview;
mod queue;
mod rehearsal;
mod report;
mod resources;
mod session;
#[cfg(test)]
mod tests;
mod wire;

use std::ops::ControlFlow;
use std::time::Duration;

use nacre_api::wire::{
    ErrorCode, LearnedMemory, SessionOutcome, SyncReport, SyncRequest, SyncResult, SyncTraceReport,
    SyncTraceRequest, SyncedSession, WaitingSessions,
};
use nacre_core::catalog::{Catalog, Progress, RefreshOptions, RefreshReport};
use nacre_core::safefs::{Access, FsError, Owner, WriteScope, Writer};
use nacre_engine::flows::sync::sync_session;

use self::lead_claude::lead_runtime;
pub use self::lead_claude::{LeadQuestion, allow_lead, lead_question};
pub use self::preview::{preview, preview_trace};
use self::queue::{QueueOptions, process_queue};
use self::report::QueueReport;
use self::resources::SyncResources;
use self::session::{RunOptions, SessionToSync};
use super::extract::core_strategy;
use super::intake::{not_set_up_here, places_of_sessions, switched_off, waiting};
use crate::error::OpError;
use crate::events::Events;
use crate::host::{
    self, Host, agent_named, as_task, index_texts, open_queue, parse_when, rebuild_texts,
};

/// How a sync that was cancelled ended, in the catalog.
const CANCELLED: &str = "cancelled";

/// Reads new and changed sessions, and works off the queue.
pub fn sync(host: &Host, request: &SyncRequest, events: &Events) -> Result<SyncReport, OpError> {
    as_task(host, ("sync", "Read new and changed sessions"), events, |events| {
        sync_all(host, request, events)
    })
}

fn sync_all(host: &Host, request: &SyncRequest, events: &Events) -> Result<SyncReport, OpError> {
    let options = refresh_options(host, request)?;
    // A model that cannot be asked at all is reported before anything is read.
    let resources = if request.no_extract {
        None
    } else {
        let means = (request.strategy.map(core_strategy), lead_runtime(host, request.runtime));
        Some(SyncResources::open(host, means, events)?)
    };
    let scope = lock_scope(host)?;
    let lock = lock(host, &scope, request.ignore_lock)?;
    let mut queue = open_queue(host)?;
    let run = request.run_id.clone().unwrap_or_else(|| default_run_id(host));
    queue.jobs().begin_run(&run, "sync", host.now())?;
    let refreshed = refresh(host, &mut queue.catalog, &options, events)?;
    if events.cancel().is_cancelled() {
        queue.jobs().end_run(&run, CANCELLED, host.now())?;
        return Err(OpError::cancelled());
    }
    queue.offer(host)?;
    let worked = match resources {
        Some(resources) => {
            let options = QueueOptions {
                max_sessions: request.max_sessions,
                is_alone: lock.is_some(),
                run: RunOptions::new(request.mode, request.force),
                change: run.clone(),
            };
            process_queue(host, &mut queue, resources, &options, events)?
        }
        None => QueueReport::default(),
    };
    let is_cancelled = worked.is_cancelled;
    let outcome = if is_cancelled { CANCELLED.to_owned() } else { outcome(&refreshed, &worked) };
    queue.jobs().end_run(&run, &outcome, host.now())?;
    if is_cancelled {
        return Err(cancelled_after(worked.sessions.len()));
    }
    let learned = learned::learned(host, &worked.sessions)?;
    let waiting = waiting(host, &queue)?;
    let report = wire::sync_report(run, refreshed, worked);
    let looked_in = if report.sources == 0 { places_of_sessions(host)? } else { Vec::new() };
    let report = SyncReport {
        totals: learned::totals(&report.sessions, &learned),
        not_set_up_here: not_set_up_here(host, &waiting),
        looked_in,
        switched_off: switched_off(host),
        learned,
        waiting,
        ..report
    };
    Ok(SyncReport { next: next(host, &report), ..report })
}

/// The command to try after a sync.
fn next(host: &Host, report: &SyncReport) -> Option<String> {
    let SyncReport { learned, waiting, not_set_up_here, looked_in, switched_off, .. } = report;
    let WaitingSessions { ready, active, .. } = waiting;
    let command = match learned.as_slice() {
        _ if not_set_up_here.is_some() => "nacre init",
        learned if learned.iter().any(is_here_to_review(host)) => "nacre review",
        _ if *ready > 0 => "nacre sync",
        [_, ..] => "nacre brief",
        [] if active.is_some() => "nacre sync",
        [] if !switched_off.is_empty() => "nacre connect auto",
        [] if looked_in.iter().any(|place| place.exists) => return None,
        [] if !looked_in.is_empty() => "nacre connect AGENT --path FOLDER",
        [] => return None,
    };
    Some(command.to_owned())
}

/// Whether a memory waits for a person's word in the project around.
fn is_here_to_review(host: &Host) -> impl Fn(&LearnedMemory) -> bool + use<> {
    let here = host.project.as_ref().and_then(|project| project.name.clone());
    move |memory| memory.is_candidate && here.as_ref() == Some(&memory.project)
}

/// Says what a cancelled sync leaves: what it had finished.
fn cancelled_after(n_synced: usize) -> OpError {
    let mut error = OpError::cancelled().hint("`nacre sync` goes on where it ended");
    if n_synced > 0 {
        let sessions = if n_synced == 1 { "session is" } else { "sessions are" };
        error.causes.push(format!("{n_synced} {sessions} done, the others wait"));
    }
    error
}

/// Syncs one session into the project around, whether it was seen before or not.
pub fn sync_trace(
    host: &Host,
    request: &SyncTraceRequest,
    events: &Events,
) -> Result<SyncTraceReport, OpError> {
    let title = format!("Read the session {}", request.trace);
    as_task(host, ("sync", &title), events, |events| sync_one(host, request, events))
}

fn sync_one(
    host: &Host,
    request: &SyncTraceRequest,
    events: &Events,
) -> Result<SyncTraceReport, OpError> {
    let SyncTraceRequest { trace, mode, force, strategy, runtime } = request;
    let session = SessionToSync::named(host, trace)?;
    let took = host.stopwatch();
    let means = (strategy.map(core_strategy), lead_runtime(host, *runtime));
    let mut resources = SyncResources::open(host, means, events)?;
    let order = session.order(host, RunOptions::new(*mode, *force), None);
    let report = resources.in_project(host, &session.project, |ctx| {
        sync_session(ctx, &order, |step| {
            events.step(format!("{}: {}", session.key, step.as_str()));
        })
    })??;
    resources.finish(host)?;
    let agent = session.trace.source.agent.as_str().to_owned();
    let ms = wire::millis(took());
    let result = wire::done(report);
    let project = session.project.display().to_string();
    let synced =
        SyncedSession { id: session.key, agent, title: String::new(), project, ms, result };
    let sessions = vec![synced];
    let learned = learned::learned(host, &sessions)?;
    let totals = learned::totals(&sessions, &learned);
    Ok(SyncTraceReport { totals, learned, change: change_of(&sessions), sessions })
}

/// The id of what a sync of one session changed.
fn change_of(sessions: &[SyncedSession]) -> Option<String> {
    sessions.iter().find_map(|session| match &session.result {
        SyncResult::Done { report, .. } if report.outcome != SessionOutcome::Unchanged => {
            Some(report.run_id.clone())
        }
        SyncResult::Done { .. } | SyncResult::Failed { .. } => None,
    })
}

/// What a request chooses of the traces.
fn refresh_options(host: &Host, request: &SyncRequest) -> Result<RefreshOptions, OpError> {
    let now = host.now();
    let when =
        |text: &Option<String>| text.as_deref().map(|text| parse_when(text, now)).transpose();
    let agents = request.agents.iter().map(|name| agent_named(name));
    let agents = agents.collect::<Result<Vec<_>, _>>()?;
    Ok(RefreshOptions {
        since: when(&request.since)?,
        until: when(&request.until)?,
        max_sessions: request.max_sessions,
        force: request.force,
        ..host::refresh_options(host, &agents)?
    })
}

/// The folder whose lock a sync holds.
fn lock_scope(host: &Host) -> Result<WriteScope, OpError> {
    host.home_scope()?;
    Ok(WriteScope::create_inside(host.home()?, "run", Access::Private)?)
}

fn lock<'s>(
    host: &Host,
    scope: &'s WriteScope,
    ignore_lock: bool,
) -> Result<Option<Writer<'s>>, OpError> {
    match scope.lock(&host.owner("sync"), Duration::ZERO) {
        Err(FsError::Busy { .. }) if ignore_lock => Ok(None),
        Err(FsError::Busy { owner, .. }) => Err(another_sync(owner.as_ref())),
        lock => Ok(Some(lock?)),
    }
}

/// Only one sync runs at a time, and this one does not wait for the other: it reads the same sessions.
fn another_sync(owner: Option<&Owner>) -> OpError {
    let by = owner.map(|Owner { pid, since, .. }| format!(" since {since} (process {pid})"));
    let message = format!("Another sync is running{}", by.unwrap_or_default());
    OpError { code: ErrorCode::Busy, ..OpError::failed(message) }
        .hint("It reads the same sessions. `nacre events` shows how far it is")
}

/// Reads what changed, and makes it searchable at once.
fn refresh(
    host: &Host,
    catalog: &mut Catalog,
    options: &RefreshOptions,
    events: &Events,
) -> Result<RefreshReport, OpError> {
    let report = catalog.refresh(options, |progress| report_progress(events, progress))?;
    if events.cancel().is_cancelled() {
        // What was read is indexed by the next sync.
        return Ok(report);
    }
    if report.reworded > 0 {
        rebuild_texts(host, catalog)?;
    } else if report.read > 0 || report.readmitted > 0 {
        index_texts(host, catalog)?;
    }
    Ok(report)
}

/// Tells how far it is; breaks off once the caller wants that.
fn report_progress(events: &Events, progress: Progress<'_>) -> ControlFlow<()> {
    events.progress(progress.done, progress.total, progress.bytes);
    match events.cancel().is_cancelled() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

fn default_run_id(host: &Host) -> String {
    let stamp = host.now().strftime("%Y%m%d-%H%M%S").to_string();
    format!("sync-{stamp}-{:x}", host.environment.pid)
}

/// How a sync ended, in a few words for the catalog.
fn outcome(refreshed: &RefreshReport, queue: &QueueReport) -> String {
    let is_failed = |session: &&SyncedSession| matches!(session.result, SyncResult::Failed { .. });
    let n_failed = queue.sessions.iter().filter(is_failed).count();
    match refreshed.problems.len() + n_failed {
        0 if !queue.paused.is_empty() => format!("{} sessions wait", queue.paused.len()),
        0 => "done".to_owned(),
        n_problems => format!("{n_problems} problems"),
    }
}
