//! Lists and edits the session queue.

use nacre_traces::catalog::{CatalogError, JobState, QueueFilter};
use nacre_types::{
    QueueChange, QueueChangeReport, QueueChangeRequest, QueueListReport, QueueListRequest,
};

use crate::error::{OpError, Result};
use crate::host::{Host, WaitingQueue, open_queue};

pub fn list(host: &Host, request: &QueueListRequest) -> Result<QueueListReport> {
    let filter = QueueFilter { state: request.status, ..QueueFilter::default() };
    let mut jobs = open_queue(host)?.jobs().jobs(&filter)?;
    let total = jobs.len();
    jobs.truncate(host.max_results(request.limit));
    Ok(QueueListReport { jobs, total })
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
            Ok(queue.jobs().jobs(&filter)?.into_iter().map(|job| job.id).collect())
        }
        (Some(_), true) | (None, false) => Err(OpError::usage("Name a session, or select all")
            .hint("`nacre queue` lists the sessions")),
    }
}
