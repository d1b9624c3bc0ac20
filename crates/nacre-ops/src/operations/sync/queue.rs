//! Works off the queue: one claimed session after the other, oldest first.
//!
//! Order matters: what a later session says overturns an earlier one. Only one sync of a home runs at a time, so a job that is
//! held by it when one starts was held by a sync that died.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use nacre_api::wire::{ErrorCode, SyncResult, SyncedSession};
use nacre_core::catalog::{CatalogError, Claim, ClaimOrder, Outcome, RetryPolicy};
use nacre_engine::flows::sync::{Pause, RunReport, sync_session};

use super::leases::LeaseKeeper;
use super::report::QueueReport;
use super::resources::SyncResources;
use super::session::{RunOptions, SessionToSync};
use super::wire;
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, WaitingQueue, clock};

/// How often, and how far apart, it is tried to end a claim while the database is away: as long as a lease lasts.
const MAX_TRIES: u32 = 24;
const TRY_AGAIN: Duration = Duration::from_millis(500);

/// How the queue is worked off.
pub(super) struct QueueOptions {
    pub(super) max_sessions: Option<usize>,
    /// No other sync is running.
    pub(super) is_alone: bool,
    pub(super) run: RunOptions,
    /// The id of the whole sync.
    pub(super) change: String,
}

/// A session that this process may work on.
pub(super) struct ClaimedSession {
    pub(super) claim: Claim,
    pub(super) session: SessionToSync,
    title: String,
}

/// Claims the next session that is due at `now`.
pub(super) fn claim_next(
    host: &Host,
    queue: &mut WaitingQueue,
    now: Timestamp,
) -> Result<Option<ClaimedSession>, OpError> {
    let token = format!("{}{}", queue.token_prefix(), host.environment.pid);
    let lease = queue.lease();
    loop {
        let claimed = queue.jobs().claim(&token, now, lease, ClaimOrder::OldestFirst)?;
        let Some(claim) = claimed else { return Ok(None) };
        let Some(row) = queue.session(&claim.key)? else {
            finish_claim(host, queue, &claim, &Outcome::Released)?;
            continue;
        };
        let project = claim.project.as_deref().map(PathBuf::from).unwrap_or_default();
        let session = SessionToSync { key: claim.key.clone(), trace: row.trace, project };
        let title = row.facts.title.unwrap_or_default();
        return Ok(Some(ClaimedSession { claim, session, title }));
    }
}

/// Ends a claim. A database that is away is waited for as long as the lease may last.
pub(super) fn finish_claim(
    host: &Host,
    queue: &mut WaitingQueue,
    claim: &Claim,
    outcome: &Outcome,
) -> Result<(), OpError> {
    let mut n_tries = 0;
    loop {
        let ended = queue.jobs().finish(claim, outcome, host.now(), &RetryPolicy::default());
        match ended {
            Err(CatalogError::Shared { is_passing: true, .. }) if n_tries < MAX_TRIES => {
                n_tries += 1;
                std::thread::sleep(TRY_AGAIN);
            }
            // Another server has it by now, and finds what this one wrote.
            Err(CatalogError::LeaseLost { .. }) if queue.shared().is_some() => return Ok(()),
            ended => return ended.map(|_| ()).map_err(OpError::from),
        }
    }
}

/// Works off everything that is due. A session that has to wait for a model is held until the end and then given
/// back: what was said later in its project comes after it.
pub(super) fn process_queue(
    host: &Host,
    queue: &mut WaitingQueue,
    mut resources: SyncResources,
    options: &QueueOptions,
    events: &Events,
) -> Result<QueueReport, OpError> {
    let begun = host.now();
    if options.is_alone {
        let prefix = queue.token_prefix();
        queue.jobs().give_back(&prefix, begun)?;
    }
    let (mut report, mut held) = (QueueReport::default(), Vec::new());
    let n_due = count_due(queue, options, begun)?;
    let keeper = LeaseKeeper::start(queue.shared(), clock(host))?;
    while options.max_sessions.is_none_or(|max| report.sessions.len() < max) {
        if events.cancel().is_cancelled() {
            report.is_cancelled = true;
            break;
        }
        events.progress(report.sessions.len() as u64, n_due, 0);
        // What this machine alone works on is what was due when it began; a lease that is shared counts from now.
        let now = if queue.shared().is_some() { host.now() } else { begun };
        let Some(claimed) = claim_next(host, queue, now)? else { break };
        keeper.keep(&claimed.claim);
        let took = host.stopwatch();
        let result = match sync_claimed(host, &mut resources, &claimed, options, events) {
            Ok(run) => Ok(run),
            Err(SessionFailure::Failed(reason)) => Err(reason),
            Err(SessionFailure::Busy) => {
                report.is_busy = true;
                held.push(claimed.claim);
                break;
            }
            Err(SessionFailure::Paused(Pause::Cancelled, _)) => {
                report.is_cancelled = true;
                held.push(claimed.claim);
                break;
            }
            Err(SessionFailure::Paused(pause, reason)) => {
                report.paused.push(wire::paused(&claimed.claim.key, &pause, reason));
                held.push(claimed.claim);
                match pause {
                    // Another session would only wait as long for the same model.
                    Pause::Model | Pause::Cancelled => break,
                    Pause::Limit(_) => continue,
                }
            }
        };
        finish_claim(host, queue, &claimed.claim, &job_outcome(&result))?;
        keeper.let_go(&claimed.claim);
        report.sessions.push(synced(claimed, result, took()));
    }
    for claim in &held {
        finish_claim(host, queue, claim, &Outcome::Released)?;
    }
    drop(keeper);
    if !report.is_busy && !report.is_cancelled {
        resources.finish(host)?;
    }
    Ok(report)
}

/// How many sessions are worked off, unless some turn out to wait.
fn count_due(queue: &WaitingQueue, options: &QueueOptions, now: Timestamp) -> Result<u64, OpError> {
    let n_due = queue.waiting(now)?.ready;
    Ok(options.max_sessions.map_or(n_due, |max| n_due.min(max as u64)))
}

fn job_outcome(result: &Result<RunReport, String>) -> Outcome {
    match result {
        Ok(report) => Outcome::Done { run: report.run_id.as_str().to_owned() },
        Err(reason) => Outcome::Failed { reason: reason.clone() },
    }
}

fn synced(
    claimed: ClaimedSession,
    result: Result<RunReport, String>,
    took: Duration,
) -> SyncedSession {
    SyncedSession {
        agent: claimed.session.trace.source.agent.as_str().to_owned(),
        id: claimed.session.key,
        title: claimed.title,
        project: claimed.session.project.display().to_string(),
        ms: wire::millis(took),
        result: result.map_or_else(|reason| SyncResult::Failed { reason }, wire::done),
    }
}

/// Why a session was not worked off.
enum SessionFailure {
    Failed(String),
    /// Another process holds the store.
    Busy,
    /// It has to wait for a model.
    Paused(Pause, String),
}

impl From<OpError> for SessionFailure {
    fn from(error: OpError) -> Self {
        if error.code == ErrorCode::Busy {
            return Self::Busy;
        }
        Self::Failed([std::slice::from_ref(&error.message), &error.causes].concat().join(": "))
    }
}

fn sync_claimed(
    host: &Host,
    resources: &mut SyncResources,
    claimed: &ClaimedSession,
    options: &QueueOptions,
    events: &Events,
) -> Result<RunReport, SessionFailure> {
    let ClaimedSession { session, .. } = claimed;
    let order = session.order(host, options.run, Some(&options.change));
    let agent = session.trace.source.agent.as_str();
    let synced = resources.in_project(host, &session.project, |ctx| {
        sync_session(ctx, &order, |step| {
            events.step(format!("{} {agent}: {}", session.key, step.as_str()));
        })
    });
    synced?.map_err(|error| match error.pause() {
        Some(pause) => SessionFailure::Paused(pause, error.to_string()),
        None => OpError::from(error).into(),
    })
}
