//! What a sync would read, and file by file what it would change.

use std::collections::BTreeSet;
use std::path::Path;

use nacre_api::wire::{
    PlannedSession, StrategyChoice, SyncPreviewReport, SyncRequest, SyncTracePreviewReport,
    SyncTraceRequest,
};
use nacre_core::catalog::{Outcome, QueueFilter};
use nacre_engine::flows::run::WORKSPACE;
use nacre_engine::flows::sync::{preview_session, rehearse_session};

use super::queue::{claim_next, finish_claim};
use super::rehearsal::{Rehearsal, rehearsal_scope};
use super::resources::SyncResources;
use super::session::{RunOptions, SessionToSync};
use super::{refresh_options, report_progress, wire};
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, STORE_FOLDER, WaitingQueue, open_queue};
use crate::operations::changes::shared_changes;
use crate::operations::extract::core_strategy;
use crate::operations::intake::waiting;
use crate::operations::run::session_run;

/// Reports what a sync would do; each session is compared with the store as the earlier ones would leave it.
pub fn preview(
    host: &Host,
    request: &SyncRequest,
    events: &Events,
) -> Result<SyncPreviewReport, OpError> {
    let options = refresh_options(host, request)?;
    let mut queue = open_queue(host)?;
    let (sources, refreshed, sessions, waiting) = if request.no_extract {
        let (sources, refreshed) = queue.catalog.preview(&options)?;
        (sources, refreshed, Vec::new(), None)
    } else {
        let mut copy = queue.catalog.rehearsal()?;
        if queue.shared().is_some() {
            copy.adopt(&queue.jobs().jobs(&QueueFilter::default())?)?;
        }
        let (sources, refreshed) =
            copy.refresh_sources(&options, |progress| report_progress(events, progress))?;
        let mut copy = WaitingQueue::local(copy);
        let sessions = due_sessions(host, &mut copy, request.max_sessions)?;
        (sources, refreshed, sessions, Some(waiting(host, &copy)?))
    };
    let run = RunOptions::new(request.mode, request.force);
    Ok(SyncPreviewReport {
        would_read: sources.iter().map(wire::source_entry).collect(),
        sources: refreshed.sources,
        unchanged: refreshed.unchanged,
        sessions: plan_all(host, &sessions, (run, request.strategy), events)?,
        waiting,
    })
}

/// Reports what a sync of one session would do.
pub fn preview_trace(
    host: &Host,
    request: &SyncTraceRequest,
    events: &Events,
) -> Result<SyncTracePreviewReport, OpError> {
    let SyncTraceRequest { trace, mode, force, strategy, runtime: _ } = request;
    let session = SessionToSync::named(host, trace)?;
    let run = RunOptions::new(*mode, *force);
    let sessions = plan_all(host, std::slice::from_ref(&session), (run, *strategy), events)?;
    Ok(SyncTracePreviewReport { sessions })
}

/// The sessions that a sync would work off, in its order; claimed as a sync claims them, in a copy of the catalog.
fn due_sessions(
    host: &Host,
    copy: &mut WaitingQueue,
    max_sessions: Option<usize>,
) -> Result<Vec<SessionToSync>, OpError> {
    let now = host.now();
    let mut sessions = Vec::new();
    while max_sessions.is_none_or(|max| sessions.len() < max) {
        let Some(claimed) = claim_next(host, copy, now)? else { break };
        finish_claim(host, copy, &claimed.claim, &Outcome::Done { run: String::new() })?;
        sessions.push(claimed.session);
    }
    Ok(sessions)
}

/// Plans one session after the other. A store that several of them go to is copied, and they are done there.
fn plan_all(
    host: &Host,
    sessions: &[SessionToSync],
    (options, strategy): (RunOptions, Option<StrategyChoice>),
    events: &Events,
) -> Result<Vec<PlannedSession>, OpError> {
    let mut resources = SyncResources::without_lead(host, strategy.map(core_strategy), events)?;
    let n_of = |project: &Path| sessions.iter().filter(|one| one.project == project).count();
    let shared: BTreeSet<&Path> = sessions
        .iter()
        .map(|one| one.project.as_path())
        .filter(|project| n_of(project) > 1)
        .collect();
    let scope = if shared.is_empty() { None } else { Some(rehearsal_scope(host)?) };
    let mut rehearsal = scope.as_ref().map(|scope| Rehearsal::begin(host, scope)).transpose()?;
    if let Some(rehearsal) = &mut rehearsal {
        for project in &shared {
            let copy = rehearsal.copy(host, resources.store(host, project)?, project)?;
            resources.put_copy(project, copy);
        }
    }
    let plan = |one: &SessionToSync| {
        events.cancel().check()?;
        plan(host, &mut resources, one, options, shared.contains(one.project.as_path()))
    };
    sessions.iter().map(plan).collect()
}

fn plan(
    host: &Host,
    resources: &mut SyncResources,
    session: &SessionToSync,
    options: RunOptions,
    is_on_copy: bool,
) -> Result<PlannedSession, OpError> {
    let order = session.order(host, options, None);
    let (mut report, changes) = resources.in_project(host, &session.project, |ctx| {
        if is_on_copy { rehearse_session(ctx, &order) } else { preview_session(ctx, &order) }
    })??;
    let store = session.project.join(STORE_FOLDER);
    (report.memory_root, report.workspace_root) = (store.join("memory"), store.join(WORKSPACE));
    Ok(PlannedSession { report: session_run(report), changes: shared_changes(changes) })
}
