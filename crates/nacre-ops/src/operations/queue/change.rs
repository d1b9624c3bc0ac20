//! Puts sessions back into the queue, and takes them out of it.

use nacre_api::wire::{QueueChange, QueueChangeReport, QueueChangeRequest};
use nacre_core::catalog::{CatalogError, JobState, QueueFilter};

use crate::error::OpError;
use crate::host::{Host, WaitingQueue, open_queue};

/// Puts a session, or all dead ones, back into the queue.
pub fn retry(host: &Host, request: &QueueChangeRequest) -> Result<QueueChangeReport, OpError> {
    let mut queue = open_queue(host)?;
    let keys = keys(&mut queue, request, JobState::Dead)?;
    let ids = queue.jobs().retry(&keys, host.now())?;
    Ok(QueueChangeReport { done: QueueChange::Queued, ids })
}

/// Takes a session, or all pending ones, out of the queue.
pub fn skip(host: &Host, request: &QueueChangeRequest) -> Result<QueueChangeReport, OpError> {
    let mut queue = open_queue(host)?;
    let keys = keys(&mut queue, request, JobState::Pending)?;
    let ids = queue.jobs().skip(&keys, "by hand", host.now())?;
    Ok(QueueChangeReport { done: QueueChange::Skipped, ids })
}

/// The session that was named, or all in the given state.
fn keys(
    queue: &mut WaitingQueue,
    request: &QueueChangeRequest,
    state: JobState,
) -> Result<Vec<String>, OpError> {
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

fn key(queue: &WaitingQueue, id: &str) -> Result<String, OpError> {
    let mut keys = queue.keys_starting(id)?;
    match (keys.pop(), keys.len()) {
        (None, _) => Err(CatalogError::UnknownTrace { id: id.to_owned() }.into()),
        (Some(key), 0) => Ok(key),
        (Some(_), n_more) => {
            Err(CatalogError::Ambiguous { id: id.to_owned(), n_found: n_more + 1 }.into())
        }
    }
}
