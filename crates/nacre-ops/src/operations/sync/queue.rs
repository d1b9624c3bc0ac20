//! Works off the queue: one claimed session after the other, oldest first.
//!
//! Order matters: what a later session says overturns an earlier one. Only one sync runs at a time, so a job that is
//! held when one starts was held by a sync that died.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use nacre_api::wire::{ErrorCode, SyncResult, SyncedSession};
use nacre_core::catalog::{
    Catalog, Claim, ClaimOrder, Job, JobState, Outcome, QueueFilter, RetryPolicy,
};
use nacre_engine::flows::sync::{Pause, RunReport, sync_session};

use super::report::QueueReport;
use super::resources::SyncResources;
use super::session::{RunOptions, SessionToSync};
use super::wire;
use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

/// By rules a session takes seconds, by a slow model hours; a holder that needs longer than this is gone.
const LEASE: Duration = Duration::from_secs(12 * 3600);

/// What the tokens of a sync begin with.
const TOKEN: &str = "sync-";

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
    catalog: &mut Catalog,
    now: Timestamp,
) -> Result<Option<ClaimedSession>, OpError> {
    let token = format!("{TOKEN}{}", host.environment.pid);
    let Some(claim) = catalog.claim(&token, now, LEASE, ClaimOrder::OldestFirst)? else {
        return Ok(None);
    };
    let row = catalog.session(&claim.key)?;
    let project = claim.project.as_deref().map(PathBuf::from).unwrap_or_default();
    let session = SessionToSync { key: claim.key.clone(), trace: row.trace, project };
    Ok(Some(ClaimedSession { claim, session, title: row.facts.title.unwrap_or_default() }))
}

/// Ends a claim.
pub(super) fn finish_claim(
    host: &Host,
    catalog: &mut Catalog,
    claim: &Claim,
    outcome: &Outcome,
) -> Result<(), OpError> {
    catalog.finish(claim, outcome, host.now(), &RetryPolicy::default())?;
    Ok(())
}

/// Works off everything that is due. A session that has to wait for a model is held until the end and then given
/// back: what was said later in its project comes after it.
pub(super) fn process_queue(
    host: &Host,
    catalog: &mut Catalog,
    mut resources: SyncResources,
    options: &QueueOptions,
    events: &Events,
) -> Result<QueueReport, OpError> {
    let now = host.now();
    if options.is_alone {
        catalog.give_back(TOKEN, now)?;
    }
    let (mut report, mut held) = (QueueReport::default(), Vec::new());
    let n_due = count_due(catalog, options, now)?;
    while options.max_sessions.is_none_or(|max| report.sessions.len() < max) {
        if events.cancel().is_cancelled() {
            report.is_cancelled = true;
            break;
        }
        events.progress(report.sessions.len() as u64, n_due, 0);
        let Some(claimed) = claim_next(host, catalog, now)? else { break };
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
        finish_claim(host, catalog, &claimed.claim, &job_outcome(&result))?;
        report.sessions.push(synced(claimed, result, took()));
    }
    for claim in &held {
        finish_claim(host, catalog, claim, &Outcome::Released)?;
    }
    if !report.is_busy && !report.is_cancelled {
        resources.finish(host)?;
    }
    Ok(report)
}

/// How many sessions are worked off, unless some turn out to wait.
fn count_due(catalog: &Catalog, options: &QueueOptions, now: Timestamp) -> Result<u64, OpError> {
    let pending = QueueFilter { state: Some(JobState::Pending), ..QueueFilter::default() };
    let is_due = |job: &Job| job.not_before.is_none_or(|time| time <= now);
    let n_due = catalog.jobs(&pending)?.iter().filter(|job| is_due(job)).count();
    Ok(options.max_sessions.map_or(n_due, |max| max.min(n_due)) as u64)
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
