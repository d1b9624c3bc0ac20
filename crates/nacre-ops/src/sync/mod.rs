//! Finds and reads new sessions, and turns them into memories. A preview runs the same code on
//! copies of the catalog and the stores.

pub mod candidate;
pub mod evidence;
pub mod extract;
pub mod pipeline;
mod queue;
mod resources;
mod steps;
pub mod strategy;
pub mod summarize;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use nacre_base::fs::{Access, FsError, Owner, WriteScope, Writer};
use nacre_traces::catalog::{Catalog, Progress, RefreshOptions, RefreshReport};
use nacre_types::{
    CandidateVerb, ErrorCode, LearnedChange, LearnedMemory, SessionOutcome, SessionRun, SyncReport,
    SyncRequest, SyncResult, SyncTotals, SyncTraceReport, SyncTraceRequest, SyncedSession,
    WaitingSessions,
};

pub use self::pipeline::RemarkIndex;
use self::queue::{QueueOptions, QueueReport, process_queue};
pub use self::queue::{preview, preview_trace};
pub use self::resources::SessionModels;
use self::resources::{SessionToSync, SyncResources};
use crate::error::{OpError, Result};
use crate::events::Events;
use crate::host::{
    self, Host, agent_named, as_task, index_texts, millis, open_queue, parse_when, rebuild_texts,
};
use crate::status::{find_disconnected, not_set_up_here, places_of_sessions, waiting};
use crate::sync::pipeline::sync_session;

const CANCELLED: &str = "cancelled";

/// How long a sync triggered by the end of a session waits for another sync, such as the one
/// started by the session's last turn.
const ENDED_WAIT: Duration = Duration::from_secs(60);

pub fn sync(host: &Host, request: &SyncRequest, events: &Events) -> Result<SyncReport> {
    as_task(host, "sync", "Read new and changed sessions", events, |events| {
        sync_all(host, request, events)
    })
}

fn sync_all(host: &Host, request: &SyncRequest, events: &Events) -> Result<SyncReport> {
    let options = refresh_options(host, request)?;
    // Report an unusable model before reading anything.
    let resources = if request.no_extract {
        None
    } else {
        Some(SyncResources::open(host, request.strategy, events)?)
    };
    let scope = WriteScope::create_inside(host.home_scope()?.path(), "run", Access::Private)?;
    let lock = lock(host, &scope, request)?;
    let mut queue = open_queue(host)?;
    let run = request.run_id.clone().map_or_else(|| default_run_id(host), Ok)?;
    queue.jobs().begin_run(&run, "sync", host.now())?;
    let refreshed = refresh(host, &mut queue.catalog, &options, events)?;
    if events.cancel().is_cancelled() {
        queue.jobs().end_run(&run, CANCELLED, host.now())?;
        return Err(OpError::cancelled());
    }
    if let Some(session) = &request.ended {
        queue.catalog.stop_waiting(session, options.now)?;
    }
    queue.offer(host)?;
    let worked = match resources {
        Some(resources) => {
            let options = QueueOptions {
                max_sessions: request.max_sessions,
                is_alone: lock.is_some(),
                mode: request.mode,
                force: request.force,
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
        let mut error = OpError::cancelled().hint("`nacre sync` continues where it stopped");
        let n_synced = worked.sessions.len();
        if n_synced > 0 {
            let sessions = if n_synced == 1 { "session is" } else { "sessions are" };
            error.causes.push(format!("{n_synced} {sessions} done, the others are still queued"));
        }
        return Err(error);
    }
    let learned = collect_learned(host, &worked.sessions)?;
    let waiting = waiting(host, &queue)?;
    let looked_in = if refreshed.sources == 0 { places_of_sessions(host)? } else { Vec::new() };
    let mut report = SyncReport {
        run,
        sources: refreshed.sources,
        unchanged: refreshed.unchanged,
        read: refreshed.read,
        resumed: refreshed.resumed,
        bytes: refreshed.bytes,
        reworded: refreshed.reworded,
        readmitted: refreshed.readmitted,
        gone: refreshed.gone,
        left: refreshed.left,
        problems: refreshed.problems,
        totals: totals(&worked.sessions, &learned),
        sessions: worked.sessions,
        paused: worked.paused,
        busy: worked.is_busy,
        not_set_up_here: not_set_up_here(host, &waiting),
        looked_in,
        switched_off: find_disconnected(host),
        learned,
        waiting,
        next: None,
    };
    report.next = next(host, &report);
    Ok(report)
}

fn next(host: &Host, report: &SyncReport) -> Option<String> {
    let SyncReport { learned, waiting, not_set_up_here, looked_in, switched_off, .. } = report;
    let WaitingSessions { ready, active, .. } = waiting;
    let here = host.project.as_ref().and_then(|project| project.name.as_ref());
    let is_here_to_review =
        |memory: &LearnedMemory| memory.is_candidate && here == Some(&memory.project);
    let command = match learned.as_slice() {
        _ if not_set_up_here.is_some() => "nacre init",
        learned if learned.iter().any(is_here_to_review) => "nacre review",
        _ if *ready > 0 => "nacre sync",
        learned if learned.iter().any(|memory| memory.is_candidate) => "nacre review --all",
        [_, ..] => "nacre brief",
        [] if active.is_some() => "nacre sync",
        [] if !switched_off.is_empty() => "nacre connect auto",
        [] if looked_in.iter().any(|place| place.exists) => return None,
        [] if !looked_in.is_empty() => "nacre connect AGENT --path FOLDER",
        [] => return None,
    };
    Some(command.to_owned())
}

/// Reads one session, even if it has been synced before.
pub fn sync_trace(
    host: &Host,
    request: &SyncTraceRequest,
    events: &Events,
) -> Result<SyncTraceReport> {
    let title = format!("Read the session {}", request.trace);
    as_task(host, "sync", &title, events, |events| sync_one(host, request, events))
}

fn sync_one(host: &Host, request: &SyncTraceRequest, events: &Events) -> Result<SyncTraceReport> {
    let SyncTraceRequest { trace, mode, force, strategy } = request;
    let session = SessionToSync::find_by_name(host, trace)?;
    let took = host.stopwatch();
    let mut resources = SyncResources::open(host, *strategy, events)?;
    let order = session.order(host, *mode, *force, None);
    let report = resources.in_project(host, &session.project, |ctx| {
        sync_session(ctx, &order, |step| {
            events.step(format!("{}: {}", session.key, step.as_str()));
        })
    })??;
    resources.finish(host)?;
    let root = session.project.display().to_string();
    if host::has_catalog(host) && host.check_owner().is_ok() {
        host::open_catalog(host)?.assign(&session.key, &root, &report.run_id, host.now())?;
    }
    let agent = session.trace.source.agent.as_str().to_owned();
    let ms = millis(took());
    let result = done(report);
    let (id, title) = (session.key, String::new());
    let sessions = vec![SyncedSession { id, agent, title, project: root, ms, result }];
    let learned = collect_learned(host, &sessions)?;
    let totals = totals(&sessions, &learned);
    let mut runs = sessions.iter().filter_map(run_of);
    let change = runs.find(|run| run.outcome != SessionOutcome::Unchanged);
    let change = change.map(|run| run.run_id.clone());
    Ok(SyncTraceReport { totals, learned, change, sessions })
}

fn refresh_options(host: &Host, request: &SyncRequest) -> Result<RefreshOptions> {
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

fn lock<'s>(host: &Host, scope: &'s WriteScope, of: &SyncRequest) -> Result<Option<Writer<'s>>> {
    let wait = if of.ended.is_some() { ENDED_WAIT } else { Duration::ZERO };
    match scope.lock(&host.owner("sync"), wait) {
        Err(FsError::Busy { .. }) if of.ignore_lock => Ok(None),
        // A second sync would read the same sessions, so it usually returns an error immediately.
        Err(FsError::Busy { owner, .. }) => {
            let by =
                owner.map(|Owner { pid, since, .. }| format!(" since {since} (process {pid})"));
            let message = format!("Another sync is running{}", by.unwrap_or_default());
            Err(OpError::new(ErrorCode::Busy, message)
                .hint("That sync reads the same sessions. `nacre events` shows its progress"))
        }
        lock => Ok(Some(lock?)),
    }
}

fn refresh(
    host: &Host,
    catalog: &mut Catalog,
    options: &RefreshOptions,
    events: &Events,
) -> Result<RefreshReport> {
    let report = catalog.refresh(options, |progress| report_progress(events, progress))?;
    if events.cancel().is_cancelled() {
        // The next sync updates the index for these sessions.
        return Ok(report);
    }
    if report.reworded > 0 {
        rebuild_texts(host, catalog)?;
    } else if report.read > 0 || report.readmitted > 0 || !options.adopted.is_empty() {
        index_texts(host, catalog)?;
    }
    Ok(report)
}

/// Reports the progress. Returns `Break` if the caller has cancelled.
fn report_progress(events: &Events, progress: Progress<'_>) -> ControlFlow<()> {
    events.progress(progress.done, progress.total, progress.bytes);
    if events.cancel().is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Returns a new run id. The id is random, because a server can start several runs in one second.
fn default_run_id(host: &Host) -> Result<String> {
    let stamp = host.now().strftime("%Y%m%d-%H%M%S").to_string();
    let random = u32::from_le_bytes(host.environment.random_bytes()?);
    Ok(format!("sync-{stamp}-{random:08x}"))
}

fn outcome(refreshed: &RefreshReport, queue: &QueueReport) -> String {
    let is_failed = |session: &&SyncedSession| matches!(session.result, SyncResult::Failed { .. });
    let n_failed = queue.sessions.iter().filter(is_failed).count();
    match refreshed.problems.len() + n_failed {
        0 if !queue.paused.is_empty() => format!("{} sessions wait", queue.paused.len()),
        0 => "done".to_owned(),
        n_problems => format!("{n_problems} problems"),
    }
}

fn done(report: SessionRun) -> SyncResult {
    let dropped = report.dropped.values().sum();
    SyncResult::Done { report: Box::new(report), dropped }
}

/// Returns the memories that were learned, except those superseded by a later session.
fn collect_learned(host: &Host, sessions: &[SyncedSession]) -> Result<Vec<LearnedMemory>> {
    let mut learned = Vec::new();
    for (project, changes) in changes_by_project(sessions) {
        let root = Path::new(&project);
        let store = host.store_at(root)?.store;
        let name = host.name_of(root);
        for (id, change) in changes {
            let memory = store.get(&id).ok().filter(|memory| !memory.says_overturned());
            learned.extend(memory.map(|memory| LearnedMemory {
                r#type: memory.at.memory_type,
                is_candidate: memory.is_candidate(),
                title: memory.title,
                project: name.clone(),
                change,
                id,
            }));
        }
    }
    Ok(learned)
}

type Changes = Vec<(String, LearnedChange)>;

fn changes_by_project(sessions: &[SyncedSession]) -> BTreeMap<String, Changes> {
    let mut projects: BTreeMap<String, Changes> = BTreeMap::new();
    for session in sessions {
        let Some(run) = run_of(session) else { continue };
        let changes = projects.entry(session.project.clone()).or_default();
        for action in &run.actions {
            let change = match action.action {
                CandidateVerb::Add | CandidateVerb::Supersede => LearnedChange::Added,
                CandidateVerb::Update => LearnedChange::Updated,
                CandidateVerb::NoOp => continue,
            };
            let Some(id) = &action.target else { continue };
            // Later changes are ignored, so a memory that was added and then updated counts as new.
            if !changes.iter().any(|(known, _)| known == id) {
                changes.push((id.clone(), change));
            }
        }
    }
    projects.retain(|_, changes| !changes.is_empty());
    projects
}

fn totals(sessions: &[SyncedSession], learned: &[LearnedMemory]) -> SyncTotals {
    let runs: Vec<&SessionRun> = sessions.iter().filter_map(run_of).collect();
    let count = |is_counted: &dyn Fn(&LearnedMemory) -> bool| {
        learned.iter().filter(|memory| is_counted(memory)).count() as u64
    };
    let is_added = |memory: &LearnedMemory| memory.change == LearnedChange::Added;
    let is_read = |run: &&&SessionRun| run.outcome == SessionOutcome::Done;
    SyncTotals {
        sessions: runs.len() as u64,
        failed: (sessions.len() - runs.len()) as u64,
        added: count(&is_added),
        active: count(&|memory| is_added(memory) && !memory.is_candidate),
        to_review: count(&|memory| is_added(memory) && memory.is_candidate),
        updated: count(&|memory| !is_added(memory)),
        superseded: runs.iter().map(|run| run.counts.supersede).sum(),
        // An empty float iterator sums to negative zero.
        cost_usd: runs.iter().fold(0.0, |sum, run| sum + run.cost_usd),
        summaries: runs.iter().filter(is_read).filter(|run| run.summary_path.is_some()).count()
            as u64,
    }
}

fn run_of(session: &SyncedSession) -> Option<&SessionRun> {
    match &session.result {
        SyncResult::Done { report, .. } => Some(report),
        SyncResult::Failed { .. } => None,
    }
}
