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
        (Some(id), false) => Ok(vec![key(queue, id)?]),
        (None, true) => {
            let filter = QueueFilter { state: Some(state), ..QueueFilter::default() };
            Ok(queue.jobs().jobs(&filter)?.into_iter().map(|job| job.key).collect())
        }
        (Some(_), true) | (None, false) => Err(OpError::usage("Name one session, or ask for all")
            .hint("`nacre queue` shows the sessions")),
    }
}

fn key(queue: &WaitingQueue, id: &str) -> Result<String> {
    let mut keys = queue.keys_starting(id)?;
    match (keys.pop(), keys.len()) {
        (None, _) => Err(CatalogError::UnknownTrace { id: id.to_owned() }.into()),
        (Some(key), 0) => Ok(key),
        (Some(_), n_more) => {
            Err(CatalogError::Ambiguous { id: id.to_owned(), n_found: n_more + 1 }.into())
        }
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
