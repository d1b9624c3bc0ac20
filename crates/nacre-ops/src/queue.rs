//! Lists and edits the session queue.

use nacre_traces::catalog::{CatalogError, Job, JobState, QueueFilter};
use nacre_types::{
    QueueChange, QueueChangeReport, QueueChangeRequest, QueueJob, QueueListReport, QueueListRequest,
};

use crate::error::{OpError, Result};
use crate::host::{Host, WaitingQueue, open_queue};

pub fn list(host: &Host, request: &QueueListRequest) -> Result<QueueListReport> {
    let filter = QueueFilter { state: request.status, ..QueueFilter::default() };
    let jobs = open_queue(host)?.jobs().jobs(&filter)?;
    let total = jobs.len();
    let limit = host.max_results(request.limit);
    Ok(QueueListReport { jobs: jobs.into_iter().take(limit).map(queue_job).collect(), total })
}

/// Requeues one session, or all dead sessions.
pub fn retry(host: &Host, request: &QueueChangeRequest) -> Result<QueueChangeReport> {
    let mut queue = open_queue(host)?;
    let keys = keys(&mut queue, request, JobState::Dead)?;
    let ids = queue.jobs().retry(&keys, host.now())?;
    Ok(QueueChangeReport { done: QueueChange::Queued, ids })
}

/// Removes one session, or all pending sessions, from the queue.
pub fn skip(host: &Host, request: &QueueChangeRequest) -> Result<QueueChangeReport> {
    let mut queue = open_queue(host)?;
    let keys = keys(&mut queue, request, JobState::Pending)?;
    let ids = queue.jobs().skip(&keys, "by hand", host.now())?;
    Ok(QueueChangeReport { done: QueueChange::Skipped, ids })
}

fn keys(
    queue: &mut WaitingQueue,
    request: &QueueChangeRequest,
    state: JobState,
) -> Result<Vec<String>> {
    match (&request.id, request.all) {
        (Some(id), false) => {
            let keys = queue.keys_starting(id)?;
            let id = id.clone();
            match keys.len() {
                0 => Err(CatalogError::UnknownTrace { id }.into()),
                1 => Ok(keys),
                n_found => Err(CatalogError::Ambiguous { id, n_found }.into()),
            }
        }
        (None, true) => {
            let filter = QueueFilter { state: Some(state), ..QueueFilter::default() };
            Ok(queue.jobs().jobs(&filter)?.into_iter().map(|job| job.key).collect())
        }
        (Some(_), true) | (None, false) => Err(OpError::usage("Name a session, or select all")
            .hint("`nacre queue` lists the sessions")),
    }
}

fn queue_job(job: Job) -> QueueJob {
    QueueJob {
        id: job.key,
        state: job.state,
        reason: job.reason,
        attempts: job.attempts,
        not_before: job.not_before.map(|time| time.to_string()),
        run: job.run,
        changed: job.changed.to_string(),
        agent: job.agent,
        title: job.title,
        project: job.project,
    }
}
